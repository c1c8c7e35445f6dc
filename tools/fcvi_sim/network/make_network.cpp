#include "tools/fcvi_sim/network/fc_network.hpp"
#include "tools/fcvi_sim/network/tcp_network.hpp"

namespace sim {

std::unique_ptr<Network> make_network(runtime::Scheduler& scheduler, fc2::FramePool& pool, const Scenario& scenario,
                                      fc2::CaptureInterfaces* capture, const Share* share) {
  if (scenario.topology == TopologyKind::Tcp) return std::make_unique<TcpNetwork>(scheduler, scenario);
  return std::make_unique<FcNetwork>(scheduler, pool, scenario, capture, share);
}

}  // namespace sim
