#include "vi/nic.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "state_machines/consistency.hpp"

namespace vi {
namespace {

/// One level that the transport has; a consumer can write any number.
bool offers(const Capabilities& transport, ReliabilityLevel level) {
  return std::has_single_bit(bit_of(level)) && (bit_of(level) & transport.levels) != 0;
}

NicLimits within(NicLimits limits, const Capabilities& transport) {
  limits.max_transfer_size_bytes = std::min(limits.max_transfer_size_bytes, transport.max_transfer_size_bytes);
  return limits;
}

}  // namespace

Nic::Nic(Transport& transport, Listener& listener, NicLimits limits, const MemoryGuard* guard)
    : transport_(transport), listener_(listener), capabilities_(transport.capabilities()),
      limits_(within(limits, capabilities_)), memory_(limits.memory, guard) {}

// VipCloseNic: whatever the VIs have under way, the transport forgets them.
Nic::~Nic() {
  for (const auto& vi : vis_) transport_.detach(*vi);
}

Return Nic::create_vi(const ViAttributes& attributes, CompletionQueue* send_queue, CompletionQueue* receive_queue,
                      Vi*& vi) {
  if (!owns(send_queue) || !owns(receive_queue)) return Return::InvalidParameter;
  ViAttributes checked = attributes;
  if (const Return result = check(checked); result != Return::Success) return result;
  if (vis_.size() >= limits_.max_vis) return Return::ErrorResource;
  vis_.push_back(std::make_unique<Vi>(*this, checked, send_queue, receive_queue));
  Vi& created = *vis_.back();
  created.nic_index_ = static_cast<std::uint32_t>(vis_.size() - 1);
  Return result = Return::ErrorResource;
  try {
    result = transport_.attach(created);
  } catch (...) {  // no memory: as if it had not been called
    remove(created);
    throw;
  }
  if (result != Return::Success) {
    remove(created);
    return result;
  }
  vi = &created;
  FCVI_ASSERT_CONSISTENT(*this);
  return Return::Success;
}

Return Nic::destroy_vi(Vi& vi) {
  if (vi.state() != State::Idle || !vi.send_queue_empty() || !vi.receive_queue_empty()) return Return::InvalidState;
  transport_.detach(vi);
  remove(vi);
  FCVI_ASSERT_CONSISTENT(*this);
  return Return::Success;
}

Return Nic::set_vi_attributes(Vi& vi, const ViAttributes& attributes) {
  if (vi.state() != State::Idle) return Return::InvalidState;
  ViAttributes checked = attributes;
  if (const Return result = check(checked); result != Return::Success) return result;
  memory_.add_user(checked.ptag);
  memory_.remove_user(vi.attributes_.ptag);
  if (checked.ptag != vi.attributes_.ptag) memory_.end_grants();  // what receives that are posted were granted
  vi.attributes_ = checked;
  FCVI_ASSERT_CONSISTENT(*this);
  return Return::Success;
}

Return Nic::check_completion_queue(std::uint64_t entry_count) const {
  return entry_count > limits_.max_completion_queue_entries ? Return::ErrorResource : Return::Success;
}

Return Nic::create_completion_queue(std::uint64_t entry_count, CompletionQueue*& queue) {
  if (const Return result = check_completion_queue(entry_count); result != Return::Success) return result;
  if (queues_.size() >= limits_.max_completion_queues) return Return::ErrorResource;
  queues_.push_back(std::make_unique<CompletionQueue>());
  queue = queues_.back().get();
  FCVI_ASSERT_CONSISTENT(*this);
  return Return::Success;
}

Return Nic::destroy_completion_queue(CompletionQueue& queue) {
  if (queue.in_use()) return Return::ErrorResource;  // VI-DG 3.6.2
  std::erase_if(queues_, [&queue](const auto& owned) { return owned.get() == &queue; });
  FCVI_ASSERT_CONSISTENT(*this);
  return Return::Success;
}

Return Nic::register_memory(std::uint64_t address, std::byte* host, std::uint64_t length_bytes,
                            MemoryAttributes attributes, wire::MemHandle& handle, bool writable) {
  if (!is_valid(attributes.ptag)) return Return::InvalidPtag;
  return memory_.register_region(address, host, length_bytes, attributes, handle, writable);
}

Return Nic::set_memory_attributes(std::uint64_t address, wire::MemHandle handle, MemoryAttributes attributes) {
  if (!is_valid(attributes.ptag)) return Return::InvalidPtag;
  return memory_.set_attributes(address, handle, attributes);
}

Return Nic::check(ViAttributes& attributes) const {
  if (!offers(capabilities_, attributes.reliability)) return Return::InvalidReliabilityLevel;
  if (attributes.max_transfer_size_bytes > limits_.max_transfer_size_bytes) return Return::InvalidMtu;
  if (!is_valid(attributes.ptag)) return Return::InvalidPtag;
  if (attributes.max_transfer_size_bytes == 0) attributes.max_transfer_size_bytes = limits_.max_transfer_size_bytes;
  return Return::Success;
}

bool Nic::is_valid(Ptag tag) const { return memory_.is_valid(tag) && !(limits_.strict_tags && tag.is_null()); }

bool Nic::owns(const CompletionQueue* queue) const {
  return queue == nullptr ||
         std::any_of(queues_.begin(), queues_.end(), [queue](const auto& owned) { return owned.get() == queue; });
}

bool Nic::is_consistent() const {
  for (std::size_t i = 0; i != vis_.size(); ++i)
    if (!vis_[i]->is_consistent() || vis_[i]->nic_index_ != i || !owns(vis_[i]->send_completion_queue()) ||
        !owns(vis_[i]->receive_completion_queue()))
      return false;
  return vis_.size() <= limits_.max_vis && queues_.size() <= limits_.max_completion_queues;
}

void Nic::remove(const Vi& vi) {
  const std::uint32_t index = vi.nic_index_;
  assert(index < vis_.size() && vis_[index].get() == &vi);
  std::swap(vis_[index], vis_.back());
  vis_[index]->nic_index_ = index;
  vis_.pop_back();
}

}  // namespace vi
