#include "tools/fcvi_sim/host/endpoint.hpp"

#include <cassert>
#include <cstring>

namespace sim {
namespace {

std::uint32_t slot_size(std::uint32_t segments) {
  const std::size_t bytes = sizeof(vi::ControlSegment) + (segments + std::size_t{1}) * sizeof(vi::Segment);
  return static_cast<std::uint32_t>((bytes + vi::descriptor_alignment_bytes - 1) / vi::descriptor_alignment_bytes *
                                    vi::descriptor_alignment_bytes);
}

template <class T>
void append(std::uint8_t*& to, const T& segment) {
  std::memcpy(to, &segment, sizeof segment);
  to += sizeof segment;
}

}  // namespace

Endpoint::Endpoint(Node& node, const vi::ViAttributes& attributes, std::uint32_t depth, std::uint32_t segments,
                   std::string label)
    : node_(node), label_(std::move(label)), lost_(node.driver()) {
  [[maybe_unused]] vi::Return result = node.nic().memory().create_ptag(ptag_);
  assert(result == vi::Return::Success);
  vi::ViAttributes own = attributes;
  own.ptag = ptag_;
  result = node.nic().create_vi(own, nullptr, nullptr, vi_);
  assert(result == vi::Return::Success);
  vi_->consumer_context = this;
  const std::uint32_t slot_bytes = slot_size(segments);
  for (Queue* queue : {&send_, &receive_}) {
    queue->depth = depth;
    queue->slot_bytes = slot_bytes;
    queue->done.resize(depth);
    queue->descriptors = allocate(std::uint64_t{depth} * slot_bytes);
  }
  receive_.receive = true;
  node.endpoints_.push_back(this);
}

// A VI that did not come back to Idle stays with its NIC, which ends with the simulation.
Endpoint::~Endpoint() {
  std::erase(node_.endpoints_, this);
  vi_->consumer_context = nullptr;
  if (node_.nic().destroy_vi(*vi_) != vi::Return::Success) return;
  send_.descriptors = Region();
  receive_.descriptors = Region();
  node_.nic().memory().destroy_ptag(ptag_);
}

Task<vi::Return> Endpoint::connect(const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout) {
  Call<vi::ConnectOperation> call(node_.driver());
  node_.transport().connect_request(*vi_, local, remote, timeout, call);
  co_await call.finished;
  co_return call.result;
}

Task<vi::Return> Endpoint::connect_peer(const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout) {
  Call<vi::ConnectOperation> call(node_.driver());
  const vi::Return posted = node_.transport().connect_peer_request(*vi_, local, remote, timeout, call);
  if (posted != vi::Return::Success) co_return posted;
  co_await call.finished;
  co_return call.result;
}

Task<vi::Return> Endpoint::accept(vi::ConnectionToken token) {
  Call<vi::Operation> call(node_.driver());
  node_.transport().connect_accept(token, *vi_, call);
  co_await call.finished;
  co_return call.result;
}

Task<vi::Return> Endpoint::disconnect() {
  Call<vi::Operation> call(node_.driver());
  node_.transport().disconnect(*vi_, call);
  co_await call.finished;
  co_return call.result;
}

std::uint64_t Endpoint::post(Queue& queue, const Posting& posting) {
  assert(queue.posted < queue.depth);
  const std::uint64_t address = queue.descriptors.address() + std::uint64_t{queue.next_slot} * queue.slot_bytes;
  queue.next_slot = (queue.next_slot + 1) % queue.depth;
  ++queue.posted;
  const bool rdma = (posting.control & vi::control::op_mask) != vi::control::op_send_receive;
  vi::ControlSegment control{.control = posting.control, .immediate_data = posting.immediate_data};
  control.segment_count = static_cast<std::uint16_t>(posting.pieces.size() + (rdma ? 1 : 0));
  for (const Piece& piece : posting.pieces) control.length_bytes += piece.length_bytes;
  std::uint8_t* to = queue.descriptors.host(address);
  append(to, control);
  if (rdma) append(to, vi::Segment{.address = posting.remote_address, .handle = posting.remote_handle.value});
  for (const Piece& piece : posting.pieces)
    append(to, vi::Segment{posting.base + piece.address, posting.handle.value, piece.length_bytes});
  if (queue.receive) {
    vi_->post_receive(address, queue.descriptors.handle());
  } else {
    vi_->post_send(address, queue.descriptors.handle());
  }
  return address;
}

std::optional<Completion> Endpoint::dequeue(Queue& queue) {
  if (queue.dequeued == queue.completed) return std::nullopt;
  const std::size_t place = queue.dequeued++ % queue.depth;
  const std::uint64_t address = queue.done[place];
  --queue.posted;
  vi::ControlSegment control;
  std::memcpy(&control, queue.descriptors.host(address), sizeof control);
  return Completion{control.status, control.length_bytes, control.immediate_data, address,
                    queue.done_at.empty() ? 0 : queue.done_at[place]};
}

Completion Endpoint::Next::await_resume() {
  if (!completion_) completion_ = endpoint_.dequeue(queue_);
  assert(completion_ && "woken by a completion");
  return *completion_;
}

void Endpoint::dequeue_all() {
  while (dequeue(send_)) {}
  while (dequeue(receive_)) {}
}

void Endpoint::completed(bool receive_queue, std::uint64_t descriptor_address) {
  ++completions_announced_;
  Queue& queue = receive_queue ? receive_ : send_;
  if (queue.watched) note_completion(queue, descriptor_address);
  queue.done[queue.completed++ % queue.depth] = descriptor_address;
  if (queue.waiter) node_.driver().wake(std::exchange(queue.waiter, nullptr));
}

void Endpoint::keep_completion_times() {
  for (Queue* queue : {&send_, &receive_}) {
    queue->done_at.resize(queue->depth);
    queue->watched = true;
  }
}

std::uint64_t Endpoint::taken_count(bool receive_queue) const {
  const Queue& queue = receive_queue ? receive_ : send_;
  return queue.completed - queue.dequeued;
}

// Its status has just been written.
void Endpoint::note_completion(Queue& queue, std::uint64_t descriptor_address) {
  constexpr std::size_t most = 100'000;
  if (!queue.done_at.empty()) queue.done_at[queue.completed % queue.depth] = node_.driver().now();
  if (queue.log == nullptr || queue.log->size() == most) return;
  vi::ControlSegment control;
  std::memcpy(&control, queue.descriptors.host(descriptor_address), sizeof control);
  queue.log->push_back({node_.driver().now(), control.status & vi::status::error_mask});
}

void Endpoint::asynchronous_error(vi::ErrorCode error) {
  if (error == vi::ErrorCode::ConnLost) lost_.set();
}

}  // namespace sim
