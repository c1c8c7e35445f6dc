#include "tools/fcvi_sim/host/party.hpp"

#include <algorithm>
#include <cstring>

#include "tools/fcvi_sim/scenario/status_text.hpp"

namespace sim {
namespace {

std::uint16_t control_of(const TransferSpec& transfer) {
  std::uint16_t control = vi::control::op_send_receive;
  if (transfer.operation == Operation::RdmaWrite) control = vi::control::op_rdma_write;
  if (transfer.operation == Operation::RdmaRead) control = vi::control::op_rdma_read;
  return transfer.immediate ? control | vi::control::immediate : control;
}

std::uint32_t most_segments(const WorkloadSpec& workload) {
  std::uint32_t most = 1;
  for (const TransferSpec& transfer : workload.transfers) most = std::max(most, transfer.segments + 1);
  return most;
}

}  // namespace

Party::Party(Node& node, const WorkloadSpec& workload, Side side, const ContentStore& contents, WorkloadResult& result)
    : workload_(workload), side_(side), contents_(contents), result_(result), arrivals_(workload, side),
      endpoint_(node, workload.attributes, workload.queue_depth + spare_receives, most_segments(workload),
                workload.name),
      control_out_(endpoint_.allocate(std::uint64_t{workload.queue_depth + spare_receives} * control_bytes)),
      control_in_(endpoint_.allocate(std::uint64_t{workload.queue_depth + spare_receives} * control_bytes)),
      notes_times_(workload.notes_times()), bears_losses_(workload.expect.lost.has_value()) {
  const bool client = side == Side::Client;
  const WorkloadExpectation& expect = workload.expect;
  if (client ? expect.client_sends || expect.failed_client_sends : expect.server_sends || expect.failed_server_sends)
    endpoint_.log_completions(false, client ? result.client_sends : result.server_sends);
  if (client ? expect.client_receives || expect.failed_client_receives
             : expect.server_receives || expect.failed_server_receives)
    endpoint_.log_completions(true, client ? result.client_receives : result.server_receives);
  if (notes_times_) endpoint_.keep_completion_times();
  post_receives();
}

Task<> Party::transfer() {
  for (std::size_t run = 0; run < arrivals_.runs().size(); ++run) {
    first_error_ = 0;
    if (run + 1 < arrivals_.runs().size() && transfer_of(run + 1).concurrent) {
      co_await both_ways(run++);
    } else if (transfer_of(run).initiator == side_) {
      co_await initiate(run);
    } else {
      co_await serve(run);
    }
    co_await reap_all();
  }
}

// --- initiator
// -----------------------------------------------------------------------------------------------------

Task<> Party::initiate(std::size_t run) {
  const Attempt attempt = co_await begin(run);
  co_await finish(run, attempt);
}

Task<Party::Attempt> Party::begin(std::size_t run) {
  const TransferSpec& transfer = transfer_of(run);
  ++result_of(run).begun;
  const auto offer = co_await receive_control<Offer>(run);
  Attempt attempt{offer, layout_of(transfer, false), {}, content_of(run), {}, 0};
  attempt.region = endpoint_.allocate(attempt.layout.size_bytes());
  if (transfer.operation != Operation::RdmaRead && !transfer.buffers)
    fill(attempt.region, attempt.layout, *attempt.content, Messages(attempt.layout));
  result_of(run).due.clear();
  if (result_.far != nullptr) result_.far->transfer_began(arrivals_.runs()[run].index);
  result_of(run).run_started = now();
  attempt.before = result_.traffic;
  attempt.began = now();
  co_await post_messages(run, attempt);
  co_return attempt;
}

Task<> Party::finish(std::size_t run, const Attempt& attempt) {
  const TransferSpec& transfer = transfer_of(run);
  co_await reap_all();
  co_await conclude(run, attempt.offer, attempt.layout, attempt.region);
  TransferResult& result = result_of(run);
  result.messages += transfer.message_count();
  result.bytes += transfer.data.size_bytes;
  result.duration += result.run_finished - result.run_started;
  const Traffic traffic = result_.traffic - attempt.before;
  if (result_.far != nullptr) result_.spans.push_back({arrivals_.runs()[run].index, attempt.began, now()});
  result.traffic.ius += traffic.ius;
  result.traffic.frames += traffic.frames;
  replies_.erase(run);
}

// Both offer, both post their work; then one after the other says what became of it.
Task<> Party::both_ways(std::size_t run) {
  const bool first = transfer_of(run).initiator == side_;
  const std::size_t mine = first ? run : run + 1, theirs = first ? run + 1 : run;
  co_await offer(theirs);
  const Attempt attempt = co_await begin(mine);
  if (first) co_await finish(mine, attempt);
  co_await judge(theirs);
  if (!first) co_await finish(mine, attempt);
  buffers_.erase(theirs);
}

Task<> Party::post_messages(std::size_t run, const Attempt& attempt) {
  const TransferSpec& transfer = transfer_of(run);
  const Offer& offer = attempt.offer;
  if (transfer.is_paced()) co_return co_await post_at_pace(run, offer, attempt.layout, attempt.region);
  std::uint64_t allowed = takes_receives(transfer) ? offer.window : transfer.message_count();
  for (std::uint64_t message = 0; message < transfer.message_count(); ++message) {
    if (message == allowed) {
      const Credit credit = co_await receive_control<Credit>(run);
      allowed += credit.messages;
    }
    if (transfer.buffers && message % (*transfer.buffers / 2) == 0) co_await refill(run, message, attempt);
    if (endpoint_.sends_posted() == workload_.queue_depth) co_await reap();
    if (first_error_ != 0) break;
    if (notes_times_) note_due(run, now());
    post_message(transfer, message, offer, attempt.layout, attempt.region);
  }
}

Task<> Party::refill(std::size_t run, std::uint64_t message, const Attempt& attempt) {
  const std::uint32_t all = *transfer_of(run).buffers, half = all / 2;
  while (endpoint_.sends_posted() > all - half) co_await reap();
  const std::uint64_t end = std::min(message + half, attempt.layout.message_count());
  fill(attempt.region, attempt.layout, *attempt.content, {message, end});
}

void Party::post_message(const TransferSpec& transfer, std::uint64_t message, const Offer& offer, const Layout& layout,
                         const Region& region) {
  layout.pieces(message, pieces_);
  Posting posting{
      .control = control_of(transfer), .pieces = pieces_, .base = region.address(), .handle = region.handle()};
  posting.immediate_data = transfer.immediate ? *transfer.immediate + static_cast<std::uint32_t>(message) : 0;
  posting.remote_address = offer.address + message * transfer.message_bytes;
  posting.remote_handle = {offer.handle};
  endpoint_.post_send(posting);
}

Task<> Party::conclude(std::size_t run, const Offer& offer, const Layout& layout, const Region& region) {
  const TransferSpec& transfer = transfer_of(run);
  TransferResult& result = result_of(run);
  if (first_error_ != transfer.expected_status && !result.unexpected_status) result.unexpected_status = first_error_;
  if (first_error_ != 0 && first_error_ == transfer.expected_status) ++result.ended;
  if (first_error_ != 0 && (takes_receives(transfer) || endpoint_.vi().state() != vi::State::Connected))
    throw Broken{"a descriptor failed with status " + status_text(first_error_)};
  Done done{.run = static_cast<std::uint32_t>(run), .length_bytes = transfer.data.size_bytes, .failed = first_error_};
  done.digest = transfer.buffers ? content_of(run)->digest : digest_of(region, layout, *content_of(run));
  if (transfer.operation == Operation::RdmaRead) {
    note_run_finished(run);
    if (first_error_ == 0 && done.digest != offer.digest) ++result.different;
  }
  co_await send_control(done);
  const Verdict verdict = co_await receive_control<Verdict>(run);
  if (first_error_ != 0) co_return;
  result.digest = verdict.digest;
  if (verdict.digest != done.digest) ++result.different;
  if (transfer.expected_status == 0) ++result.ended;
}

// --- target
// --------------------------------------------------------------------------------------------------------

Task<> Party::serve(std::size_t run) {
  co_await offer(run);
  if (takes_receives(transfer_of(run))) co_await receive_messages(run);
  co_await judge(run);
  buffers_.erase(run);
}

Task<> Party::offer(std::size_t run) {
  const TransferSpec& transfer = transfer_of(run);
  const Buffer& buffer = buffer_of(run);
  Offer offer{.run = static_cast<std::uint32_t>(run),
              .length_bytes = transfer.data.size_bytes,
              .window = transfer.window(workload_.queue_depth)};
  if (transfer.operation != Operation::Send) {
    offer.address = buffer.region.address();
    offer.handle = buffer.region.handle().value;
  }
  if (buffer.content != nullptr) offer.digest = buffer.content->digest;
  co_await send_control(offer);
}

Task<> Party::receive_messages(std::size_t run) {
  const TransferSpec& transfer = transfer_of(run);
  std::uint64_t credits = credit_count(transfer, workload_.queue_depth);
  const std::uint32_t half = transfer.window(workload_.queue_depth) / 2;
  if (bears_losses_) sent_content_ = content_of(run);
  for (std::uint64_t message = 0; message < transfer.message_count(); ++message) {
    const Received received = co_await receive();
    if (bears_losses_ && is_over(run, message, received)) break;
    take_message(run, message, received);
    if (transfer.reply_bytes) co_await reply(run);
    const bool is_half = (message + 1) % half == 0;
    if (transfer.buffers && (is_half || message + 1 == transfer.message_count())) compare(run, message + 1);
    if (!is_half || credits == 0) continue;
    --credits;
    co_await send_control(Credit{.run = static_cast<std::uint32_t>(run), .messages = half});
  }
  note_run_finished(run);
}

void Party::compare(std::size_t run, std::uint64_t end) {
  Buffer& buffer = buffer_of(run);
  if (buffer.expected == nullptr) buffer.expected = content_of(run);
  if (!lies_in(buffer.region, buffer.layout, *buffer.expected, {buffer.compared, end})) buffer.different = true;
  buffer.compared = end;
  post_receives();
}

void Party::take_message(std::size_t run, std::uint64_t place, const Received& received) {
  const TransferSpec& transfer = transfer_of(run);
  if (received.completion.error() != 0) return;  // it came in part
  const std::optional<std::uint64_t> found = bears_losses_ ? find_message(place, received) : place;
  const std::uint64_t message = found.value_or(place);
  const std::uint32_t immediate = transfer.immediate.value_or(0) + static_cast<std::uint32_t>(message);
  const bool has_immediate = (received.completion.status & vi::status::immediate) != 0;
  if (!found || has_immediate != transfer.immediate.has_value() ||
      (has_immediate && received.completion.immediate_data != immediate) ||
      received.completion.length_bytes != layout_of(transfer, true).message_length(message))
    ++result_of(run).different;
  next_message_ = message + 1;
  ++came_;
  if (notes_times_ && !transfer.reply_bytes) note_there(run, message, received.completion.at);
}

std::optional<std::uint64_t> Party::find_message(std::uint64_t place, const Received& received) {
  const TransferSpec& transfer = transfer_of(received.arrival.run);
  const std::uint32_t size_bytes = received.completion.length_bytes;
  const auto got = buffer_of(received.arrival.run).region.bytes().subspan(place * transfer.message_bytes, size_bytes);
  const auto sent = std::span(sent_content_->bytes);
  for (std::uint64_t message = next_message_; message < transfer.message_count(); ++message) {
    const auto whole = sent.subspan(message * transfer.message_bytes);
    if (std::ranges::equal(got, whole.first(std::min<std::size_t>(whole.size(), transfer.message_bytes))))
      return message;
  }
  return std::nullopt;
}

bool Party::is_over(std::size_t run, std::uint64_t place, const Received& received) {
  if (received.completion.error() != 0 || received.completion.length_bytes != sizeof(Done)) return false;
  Done done;
  const auto place_bytes = buffer_of(run).region.bytes().subspan(place * transfer_of(run).message_bytes);
  std::memcpy(&done, place_bytes.data(), sizeof done);
  if (done.kind != ControlKind::Done || done.run != run) return false;
  early_done_ = done;
  return true;
}

void Party::note_run_finished(std::size_t run) {
  result_of(run).run_finished = now();
  if (result_.far != nullptr) result_.far->run_finished(arrivals_.runs()[run].index, now());
}

Task<> Party::judge(std::size_t run) {
  const TransferSpec& transfer = transfer_of(run);
  const Done done = early_done_ ? *early_done_ : co_await receive_control<Done>(run);
  const Buffer& buffer = buffer_of(run);
  if (transfer.operation == Operation::RdmaWrite && !takes_receives(transfer)) note_run_finished(run);
  Verdict verdict{.run = static_cast<std::uint32_t>(run)};
  const auto content = content_of(run);
  const bool read = transfer.operation == Operation::RdmaRead;
  if (transfer.buffers)
    verdict.digest = buffer.different ? Sha256{} : content->digest;  // what was is gone
  else
    verdict.digest = read ? done.digest : digest_of(buffer.region, buffer.layout, *content);
  if (bears_losses_) result_of(run).lost = transfer.message_count() - came_;
  if (result_of(run).lost != 0) verdict.digest = content->digest;  // each that came was compared
  // The simulator knows both ends: a program that lied to its peer would show here.
  if (done.failed == 0 && (verdict.digest != content->digest || done.length_bytes != transfer.data.size_bytes))
    ++result_of(run).different;
  co_await send_control(verdict);
}

Party::Buffer& Party::buffer_of(std::size_t run) {
  if (const auto found = buffers_.find(run); found != buffers_.end()) return found->second;
  const TransferSpec& transfer = transfer_of(run);
  const bool remote = transfer.operation != Operation::Send;
  const Layout layout = layout_of(transfer, true);
  const std::uint64_t size_bytes = remote ? transfer.data.size_bytes : layout.size_bytes();
  Buffer buffer{layout,
                endpoint_.allocate(size_bytes, transfer.operation == Operation::RdmaWrite,
                                   transfer.operation == Operation::RdmaRead),
                nullptr,
                {}};
  if (transfer.reply_bytes && transfer.initiator != side_) {
    buffer.reply = endpoint_.allocate(*transfer.reply_bytes);
    std::ranges::copy(reply_content_of(run)->bytes, buffer.reply.bytes().begin());
  }
  if (transfer.operation == Operation::RdmaRead) {
    buffer.content = content_of(run);
    std::copy(buffer.content->bytes.begin(), buffer.content->bytes.end(), buffer.region.bytes().begin());
  }
  return buffers_.emplace(run, std::move(buffer)).first->second;
}

// --- both
// ----------------------------------------------------------------------------------------------------------

Layout Party::layout_of(const TransferSpec& transfer, bool target) const {
  std::uint32_t segments = transfer.segments;
  if (target) segments = transfer.operation != Operation::Send || segments == 1 ? 1 : segments + 1;  // cut elsewhere
  return {transfer.data.size_bytes, transfer.message_bytes, segments, transfer.buffers.value_or(0)};
}

std::shared_ptr<const Content> Party::content_of(std::size_t run) const {
  return contents_.get(transfer_of(run).data, name_of(run));
}

/// Tells its random numbers from those of others.
std::string Party::name_of(std::size_t run) const {
  const Run& which = arrivals_.runs()[run];
  return workload_.name + " " + std::to_string(which.index) + " " + std::to_string(which.repetition);
}

void Party::post_receives() {
  while (endpoint_.receives_posted() < workload_.queue_depth + spare_receives) {
    const auto arrival = arrivals_.peek();
    if (!arrival || !has_place(*arrival)) return;
    arrivals_.next();
    post_arrival(*arrival);
  }
}

bool Party::has_place(const Arrival& arrival) {
  const std::optional<std::uint32_t>& buffers = transfer_of(arrival.run).buffers;
  return !buffers || arrival.kind != Arrival::Kind::Data ||
         arrival.message < buffer_of(arrival.run).compared + *buffers;
}

void Party::post_arrival(const Arrival& arrival) {
  pieces_.clear();
  Posting posting;
  if (arrival.kind == Arrival::Kind::Control) {
    pieces_.push_back({std::uint64_t{next_in_} * control_bytes, control_bytes});
    posting.base = control_in_.address();
    posting.handle = control_in_.handle();
    posted_slots_.push_back(next_in_);
    next_in_ = (next_in_ + 1) % (workload_.queue_depth + spare_receives);
  } else if (arrival.kind == Arrival::Kind::Reply) {
    const Region& replies = replies_of(arrival.run).region;
    const std::uint32_t size_bytes = *transfer_of(arrival.run).reply_bytes;
    pieces_.push_back({arrival.message % (workload_.queue_depth + spare_receives) * size_bytes, size_bytes});
    posting.base = replies.address();
    posting.handle = replies.handle();
  } else {
    const Buffer& buffer = buffer_of(arrival.run);
    if (arrival.kind == Arrival::Kind::Data) buffer.layout.pieces(arrival.message, pieces_);
    if (bears_losses_)  // the last one, too
      pieces_.front().length_bytes = static_cast<std::uint32_t>(transfer_of(arrival.run).message_bytes);
    posting.base = buffer.region.address();
    posting.handle = buffer.region.handle();
  }
  posting.pieces = pieces_;
  endpoint_.post_receive(posting);
  posted_.push_back(arrival);
}

Task<Party::Received> Party::receive() {
  if (posted_.empty()) throw Broken{"waits for a message that nobody will send"};
  Received received;
  received.completion = co_await endpoint_.next_receive();
  received.arrival = posted_.front();
  posted_.pop_front();
  if (received.arrival.kind == Arrival::Kind::Control) {
    const auto slot = control_in_.bytes().subspan(std::size_t{posted_slots_.front()} * control_bytes, control_bytes);
    posted_slots_.pop_front();
    std::copy(slot.begin(), slot.end(), received.bytes.begin());
  }
  if (received.completion.error() != 0 && !(bears_losses_ && received.arrival.kind == Arrival::Kind::Data))
    throw Broken{"a receive descriptor failed with status " + status_text(received.completion.error())};
  if (received.arrival.kind == Arrival::Kind::Reply) check_reply(received.arrival, received.completion);
  post_receives();
  co_return received;
}

template <class Message>
Task<Message> Party::receive_control(std::size_t run) {
  const Received received = co_await receive();
  Message message;
  const Message expected;
  std::memcpy(&message, received.bytes.data(), sizeof message);
  if (received.arrival.kind != Arrival::Kind::Control || received.completion.length_bytes != sizeof message ||
      message.kind != expected.kind || message.run != run)
    throw Broken{"got another message than it waited for"};
  co_return message;
}

template <class Message>
Task<> Party::send_control(Message message) {
  if (endpoint_.sends_posted() == workload_.queue_depth) co_await reap();
  const std::uint64_t offset = std::uint64_t{next_out_} * control_bytes;
  next_out_ = (next_out_ + 1) % (workload_.queue_depth + spare_receives);
  std::memcpy(control_out_.bytes().data() + offset, &message, sizeof message);
  const Piece piece{offset, sizeof message};
  if (notes_times_) sent_.push_back({});
  endpoint_.post_send({.pieces = {&piece, 1}, .base = control_out_.address(), .handle = control_out_.handle()});
}

Task<> Party::reap() {
  const Completion completion = co_await endpoint_.next_send();
  if (first_error_ == 0) first_error_ = completion.error();
  if (notes_times_) note_sent(completion);
}

Task<> Party::reap_all() {
  while (endpoint_.sends_posted() > 0) co_await reap();
}

}  // namespace sim
