#include "vi/memory.hpp"

#include <cassert>
#include <cstring>
#include <limits>

#include "vi/consumer_memory.hpp"

namespace vi {

Return MemoryTable::register_region(std::uint64_t address, std::byte* host, std::uint64_t length_bytes,
                                    MemoryAttributes attributes, wire::MemHandle& handle, bool writable) {
  if (length_bytes == 0 || host == nullptr) return Return::InvalidParameter;  // VI-DG 3.4.3
  if (length_bytes - 1 > std::numeric_limits<std::uint64_t>::max() - address) return Return::InvalidParameter;
  if (attributes.enable_rdma_write && !writable) return Return::InvalidParameter;
  if (!is_valid(attributes.ptag)) return Return::InvalidPtag;
  if (length_bytes > limits_.max_region_bytes) return Return::ErrorResource;
  if (length_bytes > limits_.max_registered_bytes - registered_bytes_) return Return::ErrorResource;
  const std::uint32_t value = regions_.insert(Region{address, length_bytes, host, attributes, writable});
  if (value == 0) return Return::ErrorResource;
  registered_bytes_ += length_bytes;
  add_user(attributes.ptag);
  handle = wire::MemHandle{value};
  return Return::Success;
}

Return MemoryTable::deregister(std::uint64_t address, wire::MemHandle handle) {
  const Region* region = find(address, handle);
  if (region == nullptr) return Return::InvalidParameter;
  remove_user(region->attributes.ptag);
  registered_bytes_ -= region->length_bytes;
  regions_.erase(handle.value);
  end_grants();
  return Return::Success;
}

Return MemoryTable::query(std::uint64_t address, wire::MemHandle handle, MemoryAttributes& attributes) const {
  const Region* region = find(address, handle);
  if (region == nullptr || region->address != address)
    return Return::InvalidParameter;  // VI-DG 3.7.5: "the base address"
  attributes = region->attributes;
  return Return::Success;
}

Return MemoryTable::set_attributes(std::uint64_t address, wire::MemHandle handle, MemoryAttributes attributes) {
  const Region* found = find(address, handle);
  if (found == nullptr || found->address != address)
    return Return::InvalidParameter;  // VI-DG 3.7.4: "the base address"
  if (attributes.enable_rdma_write && !found->writable) return Return::InvalidParameter;
  if (!is_valid(attributes.ptag)) return Return::InvalidPtag;
  Region& region = *regions_.find(handle.value);
  add_user(attributes.ptag);
  remove_user(region.attributes.ptag);
  region.attributes = attributes;
  end_grants();
  return Return::Success;
}

Return MemoryTable::create_ptag(Ptag& tag) {
  const std::uint32_t value = tags_.insert({});
  if (value == 0) return Return::ErrorResource;
  tag = Ptag{value};
  return Return::Success;
}

Return MemoryTable::destroy_ptag(Ptag tag) {
  const Tag* found = tags_.find(tag.value);
  if (found == nullptr) return Return::InvalidParameter;
  if (found->users != 0) return Return::ErrorResource;
  tags_.erase(tag.value);
  return Return::Success;
}

bool MemoryTable::is_valid(Ptag tag) const { return tag.is_null() || tags_.find(tag.value) != nullptr; }

void MemoryTable::add_user(Ptag tag) {
  if (tag.is_null()) return;
  Tag* found = tags_.find(tag.value);
  assert(found != nullptr);
  ++found->users;
}

void MemoryTable::remove_user(Ptag tag) {
  if (tag.is_null()) return;
  Tag* found = tags_.find(tag.value);
  assert(found != nullptr && found->users != 0);
  --found->users;
}

bool MemoryTable::read_any(std::span<std::uint8_t> to, const std::byte* host) const {
  if (to.size() <= consumer_memory::few_bytes)
    return access(host, to.size(), [=] { return consumer_memory::read_few(to, host); });
  return touch(host, to.size(), [=] { std::memcpy(to.data(), host, to.size()); });
}

namespace {
/// Where another core wrote the next piece: it comes while this one is copied.
inline void prefetch(const std::uint8_t* piece, std::size_t length_bytes) {
  constexpr std::size_t cache_line_bytes = 64, block_bytes = 8 * cache_line_bytes;
  std::size_t at = 0;
  for (; at + block_bytes <= length_bytes; at += block_bytes) {
#pragma GCC unroll 8
    for (std::size_t line = 0; line != block_bytes; line += cache_line_bytes) __builtin_prefetch(piece + at + line);
  }
  for (; at < length_bytes; at += cache_line_bytes) __builtin_prefetch(piece + at);
}
}  // namespace

std::size_t MemoryTable::write_pieces(std::byte* host, const Pieces& from) const {
  if (from.stride == from.bytes) return write_dense(host, {from.at, from.count * from.bytes}) ? from.count : 0;
  volatile std::size_t placed = 0;  // right also where the loop is left amid a piece
  static_cast<void>(touch(host, from.count * from.bytes, [&] {
    for (std::size_t number = 0; number != from.count; ++number) {
      const std::uint8_t* const piece = from.at + number * from.stride;
      if (number + 1 != from.count) prefetch(piece + from.stride, from.bytes);
      consumer_memory::place(host + number * from.bytes, {piece, from.bytes});
      placed = number + 1;
    }
  }));
  return placed;
}

/// Not where they overlap: frame by frame that gives something else.
bool MemoryTable::write_dense(std::byte* host, std::span<const std::uint8_t> from) const {
  const auto* const source = reinterpret_cast<const std::byte*>(from.data());
  const auto to_at = reinterpret_cast<std::uintptr_t>(host), from_at = reinterpret_cast<std::uintptr_t>(source);
  if (to_at - from_at < from.size() || from_at - to_at < from.size()) return false;
  auto copy = [=] { std::memcpy(host, source, from.size()); };
  if (guard_ == nullptr) return copy(), true;
  return guard_->run_between(
      host, source, from.size(), [](void* context) { (*static_cast<decltype(copy)*>(context))(); }, &copy);
}

bool MemoryTable::is_there(const std::byte* host, std::size_t length_bytes) const {
  constexpr std::size_t page_bytes = 4096;  // or more
  if (guard_ == nullptr || length_bytes == 0) return true;
  return touch(host, length_bytes, [=] {
    const volatile std::byte* const octets = host;
    for (std::size_t at = 0; at < length_bytes; at += page_bytes) static_cast<void>(octets[at]);
    static_cast<void>(octets[length_bytes - 1]);
  });
}

bool MemoryTable::write_any(std::byte* host, std::span<const std::uint8_t> from) const {
  if (from.size() <= consumer_memory::few_bytes)
    return access(host, from.size(), [=] { return consumer_memory::place_few(host, from); });
  return touch(host, from.size(), [=] { consumer_memory::place(host, from); });
}

const MemoryTable::Region* MemoryTable::find(std::uint64_t address, wire::MemHandle handle) const {
  const Region* region = regions_.find(handle.value);
  // An address in front of the region is 2^64 behind it; no region reaches so far.
  return region != nullptr && address - region->address < region->length_bytes ? region : nullptr;
}

}  // namespace vi
