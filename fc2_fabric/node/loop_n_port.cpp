#include "fc2_fabric/node/loop_n_port.hpp"

#include <cassert>
#include <memory>

#include "fc2_fabric/node/n_port.hpp"

namespace fc2 {
namespace {
constexpr std::uint32_t domain_and_area = 0xFFFF00;
}

FrameReceiver& LoopNPort::receiver() { return port_; }
wire::Wwn LoopNPort::loop_name() const { return port_.config().port_name; }
bool LoopNPort::has_assigned_address() const { return port_.has_fabric(); }

// What has another domain or area is beyond the FL_Port, as are the fabric's services. A private port knows its loop
// only.
std::uint8_t LoopNPort::al_pd(wire::FcId d_id) const {
  const std::uint32_t there = d_id.value & domain_and_area;
  const bool near = there == 0 || there == (port_.n_port_id().value & domain_and_area);
  return near || !port_.has_fabric() ? d_id.port() : std::uint8_t{0};
}

void LoopNPort::loop_interrupted(FramePtr& unsent) { port_.link_interrupted(std::move(unsent)); }

void LoopNPort::loop_active(LoopStation& station, const LoopState& state) {
  if (is_private_ || !state.fl_port)
    port_.link_up_without_fabric(station, {state.al_pa});
  else
    port_.link_up_on_public_loop(station, state.al_pa, state.login_required);
}

void LoopNPort::loop_gone() { port_.link_down(); }
fsm::RowListener* LoopNPort::row_listener() const { return port_.config().rows; }

LoopStation& attach(Loop& loop, NPort& port, const LoopPlace& place) {
  assert(loop.station_of(port) == nullptr);
  return loop.attach(std::make_unique<LoopNPort>(port, place.is_private), place);
}

}  // namespace fc2
