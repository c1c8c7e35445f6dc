// Frames that came in their turn and wait all the same: for RESP2, which they overtook (FC-VI C.5.4), or for read data
// that is still to go out (VI-ARCH 6.3.1.1). On an out-of-order fabric they are part of an epoch:
// message_receiver_epochs.cpp.
#include "fc2_fabric/node/class_2.hpp"
#include "fcvi/message_receiver.hpp"

namespace fcvi {
namespace mr = machines::message_responder;
using wire::fcvi::DeviceHeader;

/// VI-ARCH 6.3.1.1, Reliable Reception: a Send or RDMA Write that comes behind a RDMA Read has no effect here before
/// all read data were transmitted. (Our own sender waits for them at the other end already.)
bool MessageReceiver::waits_for_reads(const DeviceHeader& header) const {
  return needs_response(false) && header.opcode != wire::fcvi::Opcode::read_rqst && endpoint_.listener.answers_reads();
}

/// In-order fabric: nothing is before this frame that it has to wait for.
bool MessageReceiver::takes_straight(const DeviceHeader& header) {
  nothing_waits_ = !endpoint_.awaits_resp2() && !endpoint_.listener.answers_reads();
  return !waits_in_order() && !waits_for_reads(header) && !is_before_resp2(header);
}

/// By FCVI_MSG_ID and relative offset, which tells synonyms of SEQ_CNT apart (5.6).
MessageReceiver::Place MessageReceiver::place_of(const IuFrame& iu) const {
  const std::int32_t messages = wire::serial_distance(expected_, iu.header.msg_id);
  if (messages < 0) return Place::Past;
  if (messages > 0) return Place::Ahead;
  const std::uint64_t next = machine_.is<mr::Expecting>() ? 0 : message_->bytes_received;
  if (iu.offset() < next) return Place::Past;
  if (iu.offset() > next) return Place::Ahead;
  // C.5.10.1: no response before RESP3, which was overtaken: it counts as message 0 (Annex F). RESP2 likewise.
  const bool read = iu.header.opcode == wire::fcvi::Opcode::read_rqst;
  const bool early = is_before_resp2(iu.header) || (needs_response(read) && endpoint_.awaits_resp3());
  return early || waits_for_reads(iu.header) ? Place::Ahead : Place::Next;
}

void MessageReceiver::sort_frame(const IuFrame& iu) {
  if (place_of(iu) == Place::Ahead) return keep_frame(iu);
  take_frame(iu);  // of the past: an error here (rules 4 to 6)
}

void MessageReceiver::keep_frame(const IuFrame& iu) {
  if (!keep().early.add(iu)) return no_room(iu.frame);
  services().message_exchanges.opened(endpoint_.peer_port, iu.ox_id(), endpoint_.handle);
}

/// Nothing comes any more between those that wait.
void MessageReceiver::take_early_frames() {
  while (waits_in_order() && !stopped() && !waits_for_reads(kept_->early.first().header)) {
    const EarlyFrames::Entry next = kept_->early.take_first();
    if (place_of(next.iu()) == Place::Past)
      services().discard(Discard::NotReceiving);
    else
      take_frame(next.iu());
  }
}

void MessageReceiver::go_on() {
  if (!in_epoch()) return take_early_frames();
  if (reliable()) deliver_in_order();  // else nothing waits for a set-up or for reads
}

void MessageReceiver::resp3_received() { go_on(); }
void MessageReceiver::reads_answered() { go_on(); }

}  // namespace fcvi
