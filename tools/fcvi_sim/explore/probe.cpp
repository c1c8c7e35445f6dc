#include "tools/fcvi_sim/explore/probe.hpp"

#include <algorithm>

namespace sim::explore {
namespace {

constexpr std::uint64_t gap_bytes = 64;  // between buffers, nobody's

std::uint64_t memory_size(const std::vector<Message>& ours, const std::vector<Message>& theirs) {
  std::uint64_t size = gap_bytes;
  for (const Message& message : ours) size += message.content.size() + gap_bytes;
  for (const Message& message : theirs) size += 2 * (message.content.size() + gap_bytes);
  return size;
}

std::uint64_t longest_receive(const std::vector<Message>& theirs) {
  std::uint64_t longest = 0;
  for (const Message& message : theirs)
    if (message.operation == Operation::Send) longest = std::max<std::uint64_t>(longest, message.content.size());
  return longest;
}

/// In each queue: an address segment, and the data segments of the longest list.
std::uint32_t most_segments(const std::vector<Message>& ours, const std::vector<Message>& theirs) {
  std::uint32_t most = 1;
  for (const auto* messages : {&ours, &theirs})
    for (const Message& message : *messages) most = std::max(most, message.segments);
  return most + 1;
}

std::uint32_t next_random(std::uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

std::uint16_t control_of(const Message& message) {
  std::uint16_t control = vi::control::op_send_receive;
  if (message.operation == Operation::RdmaWrite) control = vi::control::op_rdma_write;
  if (message.operation == Operation::RdmaRead) control = vi::control::op_rdma_read;
  return message.immediate ? control | vi::control::immediate : control;
}

}  // namespace

std::vector<Message> messages_of(const WorkloadSpec& workload, Side side, std::uint32_t salt) {
  std::vector<Message> messages;
  std::uint32_t state = 0x9E3779B9u * (2 * salt + static_cast<std::uint32_t>(side) + 1);
  const auto content = [&state](std::uint64_t size_bytes) {
    std::vector<std::uint8_t> bytes(size_bytes);
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(next_random(state) >> 8);
      if (byte == untouched) ++byte;  // written shows
    }
    return bytes;
  };
  for (const TransferSpec& transfer : workload.transfers) {
    const bool own = transfer.initiator == side;
    if (!own && !transfer.reply_bytes) continue;
    const Layout layout(transfer.data.size_bytes, transfer.message_bytes, 1);
    for (std::uint64_t i = 0; i < transfer.message_count() * transfer.repeat; ++i) {
      if (!own) {
        messages.push_back({Operation::Send, content(*transfer.reply_bytes), {}});
        continue;
      }
      Message message{
          transfer.operation, content(layout.message_length(i % transfer.message_count())), {}, transfer.segments};
      if (transfer.immediate) message.immediate = *transfer.immediate + static_cast<std::uint32_t>(messages.size());
      messages.push_back(std::move(message));
    }
  }
  return messages;
}

Probe::Probe(Node& node, const WorkloadSpec& workload, End& record, const std::vector<Message>& theirs)
    : node_(node), record_(record), theirs_(theirs), send_depth_(workload.queue_depth),
      receive_depth_(workload.attributes.reliability == vi::ReliabilityLevel::ReliableReception ? workload.queue_depth
                                                                                                : theirs.size()) {
  const auto depth = static_cast<std::uint32_t>(std::max(record.messages.size(), theirs.size()) + 1);
  endpoint_ = std::make_unique<Endpoint>(node, workload.attributes, depth, most_segments(record.messages, theirs),
                                         workload.name);
  memory_ = endpoint_->allocate(memory_size(record.messages, theirs) + theirs.size() * longest_receive(theirs),
                                workload.attributes.enable_rdma_write, workload.attributes.enable_rdma_read);
  for (const Message& message : record.messages) {
    own_.push_back(reserve(message.content.size()));
    if (message.operation != Operation::RdmaRead) fill(own_.back(), message.content);
  }
  for (const Message& message : theirs) {
    remote_.push_back(message.operation == Operation::Send ? Slot{} : reserve(message.content.size()));
    if (message.operation == Operation::RdmaRead) fill(remote_.back(), message.content);
    if (!message.takes_receive()) continue;
    receives_.push_back(reserve(longest_receive(theirs)));
    receive_segments_.push_back(message.segments);
  }
  record.port = node.name();
  record.states.push_back({node.driver().now(), vi().state()});
}

Probe::Slot Probe::reserve(std::uint64_t size_bytes) {
  next_offset_ += gap_bytes;
  const Slot slot{next_offset_, size_bytes};
  next_offset_ += size_bytes;
  return slot;
}

void Probe::fill(const Slot& slot, const std::vector<std::uint8_t>& content) {
  std::copy(content.begin(), content.end(), memory_.bytes().begin() + static_cast<std::ptrdiff_t>(slot.offset));
}

std::vector<std::uint8_t> Probe::bytes_of(const Slot& slot) const {
  const auto bytes = memory_.bytes().subspan(slot.offset, slot.size_bytes);
  return {bytes.begin(), bytes.end()};
}

bool Probe::holds(const Slot& slot, const std::vector<std::uint8_t>& content) const {
  const auto bytes = memory_.bytes().subspan(slot.offset, content.size());
  return std::equal(bytes.begin(), bytes.end(), content.begin());
}

// Cut at odd places; the last one has the rest.
std::vector<Piece> Probe::pieces_of(const Slot& slot, std::uint32_t segments) {
  std::vector<Piece> pieces;
  const std::uint64_t each = slot.size_bytes / segments | (segments > 1 ? 1 : 0);
  for (std::uint64_t at = 0, left = segments; left > 0; --left) {
    const std::uint64_t size = left == 1 ? slot.size_bytes - at : std::min(each, slot.size_bytes - at);
    pieces.push_back({slot.offset + at, static_cast<std::uint32_t>(size)});
    at += size;
  }
  return pieces;
}

void Probe::post_receive() {
  const std::size_t i = record_.receives.size();
  const auto pieces = pieces_of(receives_[i], receive_segments_[i]);
  Posting posting{.pieces = pieces, .base = memory_.address(), .handle = memory_.handle()};
  Descriptor descriptor{.message = i};
  descriptor.address = endpoint_->post_receive(posting);
  record_.receives.push_back(std::move(descriptor));
}

void Probe::post_receives() {
  while (record_.receives.size() < std::min(receives_.size(), receive_depth_)) post_receive();
}

void Probe::post_send() {
  const std::size_t i = record_.sends.size();
  const Message& message = record_.messages[i];
  const auto pieces = pieces_of(own_[i], message.segments);
  Posting posting{
      .control = control_of(message), .pieces = pieces, .base = memory_.address(), .handle = memory_.handle()};
  posting.immediate_data = message.immediate.value_or(0);
  posting.remote_address = peer_->memory_.address() + peer_->remote_[i].offset;
  posting.remote_handle = peer_->memory_.handle();
  Descriptor descriptor{.message = i};
  record_.sends.push_back(std::move(descriptor));
  record_.sends.back().address = endpoint_->post_send(posting);
}

void Probe::allow_sends(std::size_t messages) {
  sends_allowed_ += messages;
  while (record_.sends.size() < sends_allowed_ && record_.sends.size() - sends_completed_ < send_depth_) post_send();
}

// While the connection stands. A receive is there before the answer to the message before it can bring another one.
void Probe::fill_queues() {
  if (vi().state() != vi::State::Connected || connection_lost()) return;
  while (record_.receives.size() < receives_.size() && record_.receives.size() - receives_completed_ < receive_depth_)
    post_receive();
  allow_sends(0);
}

bool Probe::peer_has(std::size_t message) const {
  const Message& sent = record_.messages[message];
  if (sent.operation == Operation::RdmaRead) return holds(own_[message], sent.content);
  if (sent.operation == Operation::RdmaWrite && !peer_->holds(peer_->remote_[message], sent.content)) return false;
  if (!sent.takes_receive()) return true;
  std::size_t receive = 0;
  for (std::size_t i = 0; i < message; ++i) receive += record_.messages[i].takes_receive();
  if (receive >= peer_->record_.receives.size()) return false;
  const Descriptor& taken = peer_->record_.receives[receive];
  return taken.completions == 1 && (taken.status & vi::status::error_mask) == 0;
}

bool Probe::writes_before_are_in_place(std::size_t receive) const {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < theirs_.size(); ++i) {
    if (theirs_[i].operation == Operation::RdmaWrite && !holds(remote_[i], theirs_[i].content)) return false;
    if (theirs_[i].takes_receive() && seen++ == receive) return true;
  }
  return true;
}

void Probe::completed(std::vector<Descriptor>& list, std::size_t& count, const Completion& completion, bool receive) {
  if (count == list.size() || list[count].address != completion.address) {
    ++record_.strange_completions;
    return;
  }
  Descriptor& descriptor = list[count];
  descriptor.completed = node_.driver().now();
  descriptor.status = completion.status;
  descriptor.length_bytes = completion.length_bytes;
  descriptor.immediate_data = completion.immediate_data;
  ++descriptor.completions;
  if (completion.error() == 0) {
    const Slot& slot = receive ? receives_[count] : own_[descriptor.message];
    descriptor.content = bytes_of(slot);
    descriptor.in_place = receive ? writes_before_are_in_place(count) : peer_has(descriptor.message);
  }
  ++count;
}

void Probe::observe() {
  if (endpoint_ == nullptr) return;
  const std::uint64_t announced = endpoint_->completions_announced();
  if (announced != record_.signals) {
    record_.signals = announced;
    // Receives first: what a send's success promises has been seen then.
    while (const auto completion = endpoint_->take_receive())
      completed(record_.receives, receives_completed_, *completion, true);
    if (peer_->endpoint_ != nullptr && peer_->endpoint_->completions_announced() != peer_->record_.signals)
      peer_->observe();
    while (const auto completion = endpoint_->take_send())
      completed(record_.sends, sends_completed_, *completion, false);
    fill_queues();
  }
  if (const vi::State state = vi().state(); state != record_.states.back().state)
    record_.states.push_back({node_.driver().now(), state});
}

void Probe::count_stray_bytes() {
  std::vector<std::uint8_t> bytes(memory_.bytes().begin(), memory_.bytes().end());
  for (const auto* slots : {&own_, &receives_, &remote_})
    for (const Slot& slot : *slots)
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(slot.offset), slot.size_bytes, untouched);
  for (std::size_t i = 0; i < own_.size(); ++i)
    if (record_.messages[i].operation != Operation::RdmaRead && !holds(own_[i], record_.messages[i].content))
      ++record_.stray_bytes;  // somebody wrote into what is sent only
  record_.stray_bytes += static_cast<std::uint64_t>(
      std::count_if(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte != untouched; }));
}

void Probe::finish() {
  for (std::size_t i = 0; i < record_.receives.size(); ++i) record_.receives[i].content_at_end = bytes_of(receives_[i]);
  for (Descriptor& send : record_.sends) send.content_at_end = bytes_of(own_[send.message]);
  for (std::size_t i = 0; i < theirs_.size(); ++i)
    if (theirs_[i].operation == Operation::RdmaWrite) record_.targets.push_back({i, bytes_of(remote_[i])});
  count_stray_bytes();
  const std::size_t before = node_.nic().vi_count();
  memory_ = Region();
  endpoint_.reset();
  record_.vi_destroyed = node_.nic().vi_count() + 1 == before;
}

}  // namespace sim::explore
