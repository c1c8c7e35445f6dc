// Unreliable Delivery on an out-of-order fabric (VI-ARCH 2.5.1): no order is owed among messages, and what is lost must
// not delay what comes behind it. Receive queues are strict FIFO queues (VI-ARCH 6.3.1.1): the descriptor at the head
// goes to the message that is whole first. The message that is in it then parks: its data moves to the pool, and when
// it is whole, to the next descriptor. Where there is no room for that, nothing is lost: it stays, and the other one
// takes the next descriptor.
#include <algorithm>
#include <utility>

#include "fcvi/message_receiver.hpp"

namespace fcvi {
namespace mr = machines::message_responder;

namespace {
/// So many frames wait for the descriptor before their message takes it from another one: 256 KiB.
constexpr std::size_t patience_frames = 128;
}  // namespace

/// Where its data goes, if that is free. False: the message was refused, and is gone.
bool MessageReceiver::find_descriptor(OpenMessage& open, const Arrivals::Range& piece) {
  if (open.has_target) return true;
  std::optional<ReceiveError> refused;
  if (open.message.is_write()) {
    find_target(open);
    if (!open.has_target) refused = ReceiveError::Protection;
    if (refused && open.message.consumes_descriptor()) (void)take_descriptor(open);
  } else {
    if (waits_for_descriptor(open, piece)) return true;
    refused = take_descriptor(open);
    if (!refused) place_held(open, true);
  }
  if (refused) refuse_open(open, *refused);
  return !refused;
}

bool MessageReceiver::waits_for_descriptor(const OpenMessage& open, const Arrivals::Range& piece) const {
  const bool whole = piece.begin == 0 && open.is_end(piece.end);
  if (kept_->epoch.occupants.empty() || whole || open.held.size() >= patience_frames) return false;
  return kept_->share.has_room(endpoint_.peer_port, OpenMessage::held_bytes + open.arrivals.bytes_to_grow(piece));
}

/// The descriptor at the head of the queue; the next one, if who is in that cannot park.
std::optional<mr::ReceiveError> MessageReceiver::take_descriptor(OpenMessage& open) {
  OpenMessage* other = kept_->epoch.occupants.empty() ? nullptr : kept_->epoch.find(kept_->epoch.occupants.front());
  std::optional<vi::ReceiveWork> work;
  const bool at_head = other != nullptr && park(*other);
  if (at_head) {
    work = other->message.receive;
    other->message.has_receive = false;
    endpoint_.vi->rewind_receive(*work, open.message.receive_bytes());
  } else {
    work = endpoint_.vi->claim_receive(open.message.receive_bytes());
  }
  if (!work) return ReceiveError::QueueEmpty;
  const Turn turn(*this, open.message);
  const auto refused = use_receive(*work);
  open.has_target = true;
  open.data = ScatteredData(work->data, 0);
  kept_->epoch.occupants.insert(at_head ? kept_->epoch.occupants.begin() : kept_->epoch.occupants.end(),
                                open.id());  // until it is over
  return refused;
}

void MessageReceiver::leave_descriptor(const OpenMessage& open) {
  auto& all = kept_->epoch.occupants;
  all.erase(std::remove(all.begin(), all.end(), open.id()), all.end());
}

/// False: no room in the pool, or its memory is gone.
bool MessageReceiver::park(OpenMessage& open) {
  const std::size_t length = open.message.length();
  if (!charge(open, length, ReorderPool::Need::Share)) return false;
  vi::ReceiveWork work = open.message.receive;
  endpoint_.vi->rewind_receive(work, length);
  std::vector<std::uint8_t> bytes(length);
  if (work.error_bits != 0 || !work.data.gather(std::span(bytes).first(open.arrivals.frontier()))) {
    open.charged -= length;
    kept_->share.give_back(length);
    return false;
  }
  open.parked = std::move(bytes);
  leave_descriptor(open);
  return true;
}

void MessageReceiver::deliver_whole(OpenMessage& open) {
  if (open.message.consumes_descriptor() && !open.message.has_receive)
    if (const auto refused = take_descriptor(open)) return refuse_open(open, *refused);
  if (open.is_parked() && !open.data.place(0, open.parked)) return refuse_open(open, ReceiveError::Protection);
  place_held(open, true);
  if (open.refused) return refuse_open(open, *open.refused);
  conclude(open);
}

/// VI-ARCH 2.5.1: the error is reported, and the connection persists. What still comes of it is discarded (B.2.4 rule
/// 2).
void MessageReceiver::refuse_open(OpenMessage& open, ReceiveError error) {
  Message message = take_out(open);
  const Turn turn(*this, message);
  process(mr::ClaimRefused{.error = error});
}

}  // namespace fcvi
