// Further N_Ports of one ENode: FDISC inside FIP (FC-BB-5, N_Port_ID virtualization).
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/ethernet_world.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::EStation;
using support::EthernetWorld;

NPortConfig virtual_config(std::size_t index) {
  NPortConfig config = support::port_config(index);
  config.virtual_n_port = true;
  return config;
}

}  // namespace
}  // namespace fc2::fcoe
