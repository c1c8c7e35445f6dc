// Out-of-order fabrics (FC-VI 8.1, B.2.5 rules 4c, 5b, 6e, 7): frames that overtook others wait for them. What is between the
// frame that comes next and the first that waits is the epoch's hole; it must be filled within R_A_TOV of its discovery.
#include "fc2_fabric/class_2.hpp"
#include "fcvi/connection.hpp"
#include "fcvi/core.hpp"
#include "fcvi/message_receiver.hpp"

namespace fcvi {
namespace mr = machines::message_responder;
using wire::fcvi::DeviceHeader;

/// VI-ARCH 6.3.1.1, Reliable Reception: a Send or RDMA Write that comes behind a RDMA Read has no effect here before all read
/// data were transmitted. (Our own sender waits for them at the other end already.)
bool MessageReceiver::waits_for_reads(const DeviceHeader& header) const {
  return needs_response(false) && header.opcode != wire::fcvi::Opcode::read_rqst && connection_.answers_reads();
}

/// In-order fabric: nothing is before this frame that it has to wait for.
bool MessageReceiver::takes_straight(const DeviceHeader& header) {
  nothing_waits_ = early_.empty() && !connection_.awaits_resp2() && !connection_.answers_reads();
  return nothing_waits_ || (early_.empty() && !waits_for_reads(header) && !is_before_resp2(header));
}

/// By FCVI_MSG_ID and relative offset, which tells synonyms of SEQ_CNT apart (5.6).
MessageReceiver::Place MessageReceiver::place_of(const fc2::ReceivedFrame& frame, const DeviceHeader& header) const {
  const std::int32_t messages = wire::serial_distance(expected_, header.msg_id);
  if (messages != 0) return messages < 0 ? Place::Past : Place::Ahead;
  const std::uint64_t next = machine_.is<mr::Expecting>() ? 0 : message_.bytes_received;
  if (frame.header.parameter != next) return frame.header.parameter < next ? Place::Past : Place::Ahead;
  // C.5.10.1: no response before RESP3, which was overtaken: it counts as message 0 (Annex F). RESP2 likewise.
  const bool read = header.opcode == wire::fcvi::Opcode::read_rqst;
  const bool early = is_before_resp2(header) || (needs_response(read) && connection_.awaits_resp3());
  return early || waits_for_reads(header) ? Place::Ahead : Place::Next;
}

void MessageReceiver::sort_frame(const fc2::ReceivedFrame& frame, const DeviceHeader& header,
                                 std::span<const std::uint8_t> payload) {
  fc2::NPort& port = connection_.core().port();
  switch (place_of(frame, header)) {
    case Place::Past:
      if (port.in_order()) return take_frame(frame, header, payload);  // an error there (rules 4 to 6)
      discard_frame();
      if (!is_errored(header.msg_id)) port.acknowledger().keep_sequence(frame);  // a duplicate of what is here
      return;
    case Place::Next:
      take_frame(frame, header, payload);
      return take_early_frames();
    case Place::Ahead:
      return keep_frame(frame, header);
  }
}

void MessageReceiver::keep_frame(const fc2::ReceivedFrame& frame, const DeviceHeader& header) {
  Core& core = connection_.core();
  last_frame_at_ = core.scheduler().now();
  const EarlyFrames::Added added = early_.add(frame, header, last_frame_at_);
  switch (added) {
    case EarlyFrames::Added::Duplicate: return core.discard(fc2::Discard::NotReceiving);
    case EarlyFrames::Added::NoRoom: core.port().acknowledger().busy(frame); [[fallthrough]];
    case EarlyFrames::Added::Displaced: core.discard(fc2::Discard::NoResources); break;
    case EarlyFrames::Added::Kept: break;
  }
  if (added != EarlyFrames::Added::NoRoom) core.message_opened(connection_.peer_port(), frame.header.ox_id, connection_);
  if (!epoch_timer_.pending() && !core.port().in_order()) core.scheduler().schedule_after(epoch_timer_, core.port().r_a_tov());
}

/// On an in-order fabric nothing comes any more between those that wait.
void MessageReceiver::take_early_frames() {
  while (!early_.empty() && !stopped()) {
    const EarlyFrames::Entry& first = early_.first();
    const Place place = place_of(first.received, first.header);
    const bool waits = connection_.core().port().in_order() ? waits_for_reads(first.header) : place == Place::Ahead;
    if (waits) return;
    const EarlyFrames::Entry next = early_.take_first();
    if (place == Place::Past) connection_.core().discard(fc2::Discard::NotReceiving);
    else take_frame(next.received, next.header, next.payload());
  }
}

void MessageReceiver::resp3_received() { take_early_frames(); }
void MessageReceiver::reads_answered() { take_early_frames(); }

/// Rule 7. Holes are found in any order; each has its own R_A_TOV.
void MessageReceiver::epoch_timer_expired() {
  fc2::Scheduler& scheduler = connection_.core().scheduler();
  const fc2::TimeNs r_a_tov = connection_.core().port().r_a_tov();
  for (take_early_frames(); !early_.empty() && !stopped(); take_early_frames()) {
    const EarlyFrames::Entry& first = early_.first();
    if (waits_for_reads(first.header)) return scheduler.schedule_after(epoch_timer_, r_a_tov);  // what is missing shows after them
    const fc2::TimeNs due = first.known_since + r_a_tov;
    if (scheduler.now() < due) return scheduler.schedule(epoch_timer_, due);
    give_up_missing();
  }
}

void MessageReceiver::give_up_missing() {
  const wire::MsgId next = early_.first().header.msg_id;
  if (next == expected_) return process(mr::FrameLost{mr::Loss::Timeout});
  message_.header.msg_id = next;  // whole messages never came
  process(mr::MessageGap{.first_frame = true});
}

}  // namespace fcvi
