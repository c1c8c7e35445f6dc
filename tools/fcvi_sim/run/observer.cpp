#include "tools/fcvi_sim/run/observer.hpp"

#include <algorithm>

#include "fc2_fabric/frame/frame_header.hpp"
#include "wire/describe.hpp"
#include "wire/fcvi/device_header.hpp"

namespace sim {
namespace {
/// Sent by a service of the fabric: nobody's own frames are seen where they leave.
bool is_service(wire::FcId id) { return id.value >= 0xFFFC00; }

bool begins_sequence(const fc2::Frame& frame) { return frame.sof == wire::Sof::i3 || frame.sof == wire::Sof::i2; }

/// R_CTL, D_ID, CS_CTL and S_ID.
std::uint64_t addresses_of(const fc2::Frame& frame) { return wire::load_big<8>(frame.bytes.data()); }

}  // namespace

Observer::Observer(RunResult& result, const Scenario& scenario, Ladder* ladder, bool draws)
    : result_(result), scenario_(scenario), ladder_(ladder), wire_(scenario, result.wire),
      counts_only_(!draws && !scenario.expectations.wire), f_port_replies_(scenario.ports.size()),
      connections_(connection_points_of(scenario)) {}

fc2::FrameTap& Observer::tap(std::size_t index, fc2::FrameTap* capture) {
  return taps_.emplace_back(*this, index, capture);
}

// A later frame of a message with the same addresses, of the same connection. Its port is the same, too: one N_Port_ID
// has one port at a time, and another one logs in first.
inline bool Observer::goes_on(const fc2::Frame& frame) const {
  return addresses_of(frame) == stream_.addresses && stream_.traffic != nullptr && !begins_sequence(frame) &&
         wire::type_of(frame.bytes) == wire::Type::fc_vi &&
         wire::fcvi::handle_of(wire::Bytes(frame.bytes).subspan(wire::FcHeader::size())) == stream_.handle &&
         frame.size_bytes >= wire::FcHeader::size() + sizeof(wire::FcviHandle);
}

inline bool Observer::count_later_frame(const fc2::Frame& frame) {
  if (!goes_on(frame)) return false;
  ++result_.frame_count;
  result_.byte_count += frame.size_bytes;
  ++stream_.traffic->frames;
  return true;
}

void Observer::Tap::frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) {
  if (capture_ != nullptr) [[unlikely]]
    capture_->frame_passed(at, frame, outbound);
  if (outbound && observer_.count_later_frame(frame)) return;
  if (frame.size_bytes < wire::FcHeader::size()) return;  // cut short by a fault
  if (!outbound && !is_service(fc2::s_id_of(frame)))      // seen where its sender's port is tapped
    return observer_.share_clock_ != nullptr ? observer_.learn(frame) : void();
  observer_.frame_sent(at, port_, frame, outbound);
}

void Observer::begin_stream(const fc2::Frame& frame, const wire::FcHeader& header, Traffic& traffic) {
  const bool control = header.r_ctl == wire::RCtl::unsolicited_control || header.r_ctl == wire::RCtl::solicited_control;
  if (!counts_only_ || control) return;  // by those Connections learns whose later ones are
  const auto data_field = wire::Bytes(frame.bytes).subspan(wire::FcHeader::size());
  stream_ = {addresses_of(frame), wire::fcvi::handle_of(data_field), &traffic};
}

void Observer::frame_sent(runtime::TimeNs at, std::size_t port, const fc2::Frame& frame, bool outbound) {
  stream_.traffic = nullptr;
  const wire::FcId s_id = fc2::s_id_of(frame);
  if (outbound && (s_id != last_sender_ || port != last_port_)) ports_[s_id.value] = port;
  if (outbound) last_sender_ = s_id, last_port_ = port;
  const wire::FcHeader header = fc2::header_of(frame);
  const bool first = begins_sequence(frame);
  const wire::Bytes data_field = frame.content().subspan(wire::FcHeader::size());
  ++result_.frame_count;
  result_.byte_count += frame.size_bytes;
  if (first) {
    ++result_.iu_count;
    ++result_.ius[wire::message_name(header, data_field)];
  } else if (wire::is_link_control(header.r_ctl)) {
    ++result_.ius[wire::message_name(header, data_field)];
  }
  if (scenario_.expectations.wire && outbound)
    wire_notes_ != nullptr ? wire_notes_->sent(at, port, frame) : wire_.sent(at, port, frame);
  if (header.s_id == wire::well_known::f_port && header.r_ctl == wire::RCtl::els_reply) ++f_port_replies_[port];
  if (const auto connection = connections_.of(header, data_field)) {
    WorkloadResult& workload = result_.workloads[*connection];
    ++workload.traffic.frames;
    if (first) ++workload.traffic.ius;
    if (workload.far != nullptr)  // each frame is noted
      workload.sent.push_back({share_clock_->now(), first});
    else
      begin_stream(frame, header, workload.traffic);
  }
  if (counts_only_) return;
  const SeenFrame seen{at, port, outbound, first, frame.eof != wire::Eof::n};
  if (notes_ != nullptr)
    notes_->frame(seen, header, data_field);
  else if (ladder_ != nullptr)
    ladder_->frame(seen, header, data_field);
}

// Of those that are sent here all is known already.
void Observer::learn(const fc2::Frame& frame) {
  const wire::FcHeader header = fc2::header_of(frame);
  if (!port_of(header.s_id)) (void)connections_.of(header, frame.content().subspan(wire::FcHeader::size()));
}

// --- what expectations want to know ------------------------------------------------------------------------------

std::optional<std::size_t> Observer::port_of(wire::FcId id) const {
  const auto found = ports_.find(id.value);
  return found == ports_.end() ? std::nullopt : std::optional(found->second);
}

// A service's frame is seen where it arrives: one that does not is shown as if it had.
void Observer::fault(runtime::TimeNs at, const FaultSpec& fault, std::size_t index, bool outbound,
                     const fc2::Frame& frame) {
  const auto header = wire::FcHeader::parse(frame.content());
  if (!header) return;
  const bool lost = fault.rule.action->loses_frame();
  if (lost && !outbound) taps_[index].frame_passed(at, frame, false);
  if (scenario_.expectations.wire) befell(*fault.rule.action, index, frame);
  if (notes_ != nullptr)
    notes_->fault(index, *header, fault.rule.note, lost);
  else if (ladder_ != nullptr)
    ladder_->fault(*header, fault.rule.note, lost);
}

void Observer::befell(const fc2::FaultAction& action, std::size_t port, const fc2::Frame& frame) {
  fc2::FramePtr changed;
  if (!action.patches.empty()) {
    changed = frame.pool->copy(frame);
    for (const fc2::FramePatch& patch : action.patches) fc2::rewrite(*changed, patch);
  }
  if (!action.loses_frame() && changed == nullptr) return;
  if (wire_notes_ != nullptr)
    wire_notes_->befell(port, frame, action.loses_frame(), changed.get());
  else
    wire_.befell(frame, action.loses_frame(), changed.get());
}

}  // namespace sim
