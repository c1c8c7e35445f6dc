// Unreliable Delivery on an out-of-order fabric (VI-ARCH 2.5.1): no order is owed among messages, and what is lost must not delay
// what comes behind it. Receive queues are strict FIFO queues (VI-ARCH 6.3.1.1): the descriptor at the head goes to the message that
// is whole first. The message that is in it then parks: its data moves to the pool, and when it is whole, to the next descriptor.
#include <utility>

#include "fcvi/connection.hpp"
#include "fcvi/core.hpp"
#include "fcvi/message_receiver.hpp"

namespace fcvi {
namespace mr = machines::message_responder;

namespace {
/// So many frames wait for the descriptor before their message takes it from another one: 256 KiB.
constexpr std::size_t patience_frames = 128;
}  // namespace

/// Where its data goes, if that is free. False: the message was refused, and is gone.
bool MessageReceiver::find_descriptor(OpenMessage& open, const Arrivals::Range& piece) {
  if (open.has_target || open.is_parked()) return true;
  std::optional<ReceiveError> refused;
  if (open.message.is_write()) {
    find_target(open);
    if (!open.has_target) refused = ReceiveError::Protection;
    if (refused && open.message.consumes_descriptor() && !open.message.has_receive) (void)take_descriptor(open);
  } else {
    const bool whole = piece.begin == 0 && open.is_end(piece.end);
    if (epoch_->occupant && !whole && open.held.size() < patience_frames) return true;
    refused = take_descriptor(open);
    if (!refused) place_held(open, true);
  }
  if (refused) refuse_open(open, *refused);
  return !refused;
}

/// The descriptor at the head of the queue.
std::optional<mr::ReceiveError> MessageReceiver::take_descriptor(OpenMessage& open) {
  OpenMessage* other = epoch_->occupant ? epoch_->find(*epoch_->occupant) : nullptr;
  std::optional<vi::ReceiveWork> work;
  if (other != nullptr && park(*other)) {
    work = other->message.receive;
    other->message.has_receive = false;
    connection_.vi()->rewind_receive(*work, open.message.receive_bytes());
  } else {
    if (other != nullptr) give_up_occupant(*other);
    work = connection_.vi()->claim_receive(open.message.receive_bytes());
  }
  if (!work) return ReceiveError::QueueEmpty;
  std::swap(message_, open.message);
  const auto refused = use_receive(*work);
  std::swap(message_, open.message);
  if (!refused && open.message.kind == Kind::Send) {
    open.has_target = true;
    open.data = ScatteredData(work->data, 0);
    epoch_->occupant = open.id();
  }
  return refused;
}

/// False: no room in the pool, or its memory is gone.
bool MessageReceiver::park(OpenMessage& open) {
  const std::size_t length = open.message.length();
  if (!charge(open, length, ReorderPool::Need::Share)) return false;
  vi::ReceiveWork work = open.message.receive;
  connection_.vi()->rewind_receive(work, length);
  std::vector<std::uint8_t> bytes(length);
  if (work.error_bits != 0 || !work.data.gather(std::span(bytes).first(open.arrivals.frontier()))) {
    open.charged -= length;
    share_.give_back(length);
    return false;
  }
  open.parked = std::move(bytes);
  open.has_target = false;
  epoch_->occupant.reset();
  return true;
}

/// It cannot wait elsewhere: its descriptor fails, and the next one is free.
void MessageReceiver::give_up_occupant(OpenMessage& open) {
  connection_.core().reorder_pool_full();
  const fc2::ReceivedFrame* at_hand = std::exchange(frame_, nullptr);
  give_up(open, mr::Loss::Timeout);
  frame_ = at_hand;
}

void MessageReceiver::deliver_whole(OpenMessage& open) {
  if (open.message.consumes_descriptor() && !open.message.has_receive)
    if (const auto refused = take_descriptor(open)) return refuse_open(open, *refused);
  if (open.is_parked() && !open.data.place(0, open.parked)) return refuse_open(open, ReceiveError::Protection);
  place_held(open, true);
  if (open.refused) return refuse_open(open, *open.refused);
  conclude(open);
}

/// VI-ARCH 2.5.1: the error is reported, and the connection persists. What still comes of it is discarded (B.2.4 rule 2).
void MessageReceiver::refuse_open(OpenMessage& open, ReceiveError error) {
  take_out(open);
  process(mr::ClaimRefused{error, true, false});
}

}  // namespace fcvi
