// A party whose messages are due at times of their own, or are answered one by one; and when each was there.
#include <algorithm>

#include "tools/fcvi_sim/host/pace.hpp"
#include "tools/fcvi_sim/host/party.hpp"

namespace sim {

/// In an open loop a message that could not be posted in time is posted as soon as it can be, and the next one is due
/// when it is: what a message waited for counts as its latency.
Task<> Party::post_at_pace(std::size_t run, const Offer& offer, const Layout& layout, const Region& region) {
  const TransferSpec& transfer = transfer_of(run);
  const bool closed = transfer.pace.loop != PaceSpec::Loop::Open;
  Pace pace(transfer.pace, Random(contents_.seed(), "pace " + name_of(run)));
  replied_ = 0;
  allowed_ = takes_receives(transfer) ? offer.window : transfer.message_count();
  runtime::TimeNs due = now() + (closed ? 0 : pace.first_gap());
  for (std::uint64_t message = 0; message < transfer.message_count() && first_error_ == 0; ++message) {
    const bool begins_burst = message != 0 && message % transfer.pace.burst == 0;
    if (begins_burst && closed) co_await answers(run);
    if (begins_burst) due = (closed ? now() : due) + pace.next_gap();
    co_await endpoint_.node().driver().sleep(due - now());
    co_await wait_for_room(run, message, offer);
    if (first_error_ != 0) break;
    note_due(run, due);
    post_message(transfer, message, offer, layout, region);
  }
  co_await answers(run);
}

/// In the target's receive queue, and in the own send queue.
Task<> Party::wait_for_room(std::size_t run, std::uint64_t message, const Offer& offer) {
  if (transfer_of(run).reply_bytes) {
    while (message == offer.window + replied_) co_await take_reply(run);
  } else if (message == allowed_) {
    const Credit credit = co_await receive_control<Credit>(run);
    allowed_ += credit.messages;
  }
  if (endpoint_.sends_posted() == workload_.queue_depth) co_await reap();
}

/// To all messages that were posted: the replies, or the completions of their descriptors.
Task<> Party::answers(std::size_t run) {
  if (!transfer_of(run).reply_bytes) co_return co_await reap_all();
  while (first_error_ == 0 && replied_ < result_of(run).due.size()) co_await take_reply(run);
}

Task<> Party::take_reply(std::size_t run) {
  const Received received = co_await receive();
  if (received.arrival.kind != Arrival::Kind::Reply) throw Broken{"got another message than it waited for"};
  note_there(run, replied_++, received.completion.at);
}

Task<> Party::reply(std::size_t run) {
  if (endpoint_.sends_posted() == workload_.queue_depth) co_await reap();
  const Region& region = buffer_of(run).reply;
  const Piece piece{0, *transfer_of(run).reply_bytes};
  sent_.push_back({});
  endpoint_.post_send({.pieces = {&piece, 1}, .base = region.address(), .handle = region.handle()});
}

std::shared_ptr<const Content> Party::reply_content_of(std::size_t run) const {
  return contents_.get({.path = "", .size_bytes = *transfer_of(run).reply_bytes}, name_of(run) + " reply");
}

Party::Replies& Party::replies_of(std::size_t run) {
  if (const auto found = replies_.find(run); found != replies_.end()) return found->second;
  const std::uint64_t slots = workload_.queue_depth + spare_receives;
  Replies replies{endpoint_.allocate(slots * *transfer_of(run).reply_bytes), reply_content_of(run)};
  return replies_.emplace(run, std::move(replies)).first->second;
}

void Party::check_reply(const Arrival& arrival, const Completion& completion) {
  const std::uint32_t size_bytes = *transfer_of(arrival.run).reply_bytes;
  const std::uint64_t slot = arrival.message % (workload_.queue_depth + spare_receives);
  const Replies& replies = replies_of(arrival.run);
  const auto got = replies.region.bytes().subspan(slot * size_bytes, size_bytes);
  if (completion.length_bytes != size_bytes || !std::ranges::equal(got, replies.expected->bytes))
    ++result_of(arrival.run).different;
}

// --- times

void Party::note_due(std::size_t run, runtime::TimeNs due) {
  std::vector<runtime::TimeNs>& all = result_of(run).due;
  sent_.push_back({run, all.size()});
  all.push_back(due);
  if (result_.far != nullptr) result_.far->message_due(arrivals_.runs()[run].index, due);
  result_.log.add_due(due);
}

void Party::note_there(std::size_t run, std::uint64_t message, runtime::TimeNs at) {
  const TransferSpec& transfer = transfer_of(run);
  const std::vector<runtime::TimeNs>& due = result_of(run).due;
  if (message >= due.size()) return;  // others came in its place
  const auto gap = static_cast<runtime::TimeNs>(transfer.pace.gap / PaceSpec::gap_units);
  const runtime::TimeNs since = transfer.pace.loop == PaceSpec::Loop::Closed ? at : due[message];
  result_.log.add(due[message], at, layout_of(transfer, false).message_length(message), since + gap);
}

/// What the target's program does not see is there when its descriptor is completed.
void Party::note_sent(const Completion& completion) {
  const Sent sent = sent_.front();
  sent_.pop_front();
  if (!sent.message || completion.error() != 0 || takes_receives(transfer_of(sent.run))) return;
  note_there(sent.run, *sent.message, completion.at);
}

}  // namespace sim
