#include "fc2_fabric/fcoe/fcf.hpp"

#include <algorithm>
#include <cassert>

namespace fc2::fcoe {

Fcf::Fcf(Scheduler& scheduler, FramePool& pool, Switch& fabric, FcfConfig config)
    : scheduler_(scheduler), pool_(pool), switch_(fabric), config_(config) {
  assert(config_.period >= FcfTable::least_period);
}

Fcf::~Fcf() { stop(); }

FcfInterface& Fcf::add_interface(EthernetPort& ethernet) {
  return *interfaces_.emplace_back(std::make_unique<FcfInterface>(scheduler_, pool_, switch_, ethernet, config_));
}

void Fcf::remove_interface(FcfInterface& interface) {
  std::erase_if(interfaces_, [&](const auto& known) { return known.get() == &interface; });
}

void Fcf::stop() {
  for (const auto& interface : interfaces_) interface->stop();
}

}  // namespace fc2::fcoe
