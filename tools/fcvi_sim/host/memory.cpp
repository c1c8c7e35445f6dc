#include "tools/fcvi_sim/host/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "tools/fcvi_sim/host/data_time.hpp"

namespace sim {
namespace {
constexpr std::uint64_t page = 4096;
constexpr std::uint64_t large_page = 2u << 20;
constexpr int untouched = 0xA5;
#ifdef __SANITIZE_ADDRESS__
constexpr bool keeps_memory = false;  // so that it sees what is touched after its time
#else
constexpr bool keeps_memory = true;
#endif

std::align_val_t alignment_of(std::size_t size_bytes) {
  return std::align_val_t{size_bytes >= large_page ? large_page : page};
}

/// Large pages for large regions, if the system has them to spare: the addresses of 16 MiB of small ones are more than
/// a processor keeps.
std::uint8_t* allocate_bytes(std::size_t size_bytes) {
  auto* memory = static_cast<std::uint8_t*>(::operator new(size_bytes, alignment_of(size_bytes)));
  if (size_bytes >= large_page) madvise(memory, size_bytes, MADV_HUGEPAGE);
  return memory;
}
}  // namespace

HostMemory::~HostMemory() {
  const OnData timed(kept_bytes_);
  for (const Kept& kept : kept_) ::operator delete(kept.memory, alignment_of(kept.size_bytes));
}

std::uint8_t* HostMemory::take(std::size_t size_bytes) {
  const OnData timed(size_bytes);
  const auto found = std::ranges::find(kept_, size_bytes, &Kept::size_bytes);
  std::uint8_t* const memory = found != kept_.end() ? found->memory : allocate_bytes(size_bytes);
  if (found != kept_.end()) {
    kept_.erase(found);
    kept_bytes_ -= size_bytes;
  }
  std::memset(memory, untouched, size_bytes);
  return memory;
}

void HostMemory::give_back(std::uint8_t* memory, std::size_t size_bytes) {
  const OnData timed(size_bytes);
  if (!keeps_memory || size_bytes < OnData::least_bytes || size_bytes > most_kept_bytes - kept_bytes_ ||
      kept_.size() == most_kept)
    return ::operator delete(memory, alignment_of(size_bytes));
  kept_.push_back({memory, size_bytes});
  kept_bytes_ += size_bytes;
}

Region::Region(vi::Nic& nic, std::uint64_t address, std::size_t size_bytes, vi::MemoryAttributes attributes,
               std::shared_ptr<HostMemory> memory)
    : nic_(&nic), address_(address), size_bytes_(size_bytes),
      host_(memory->take(size_bytes), Free{memory, size_bytes}) {
  auto* host = static_cast<std::byte*>(static_cast<void*>(host_.get()));
  [[maybe_unused]] const vi::Return result = nic.register_memory(address, host, size_bytes, attributes, handle_);
  assert(result == vi::Return::Success);
}

Region::~Region() {
  if (nic_ != nullptr) nic_->memory().deregister(address_, handle_);
}

void Region::swap(Region& other) noexcept {
  std::swap(nic_, other.nic_);
  std::swap(address_, other.address_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(handle_, other.handle_);
  std::swap(host_, other.host_);
}

Region AddressSpace::allocate(vi::Nic& nic, std::uint64_t size_bytes, vi::MemoryAttributes attributes) {
  const std::uint64_t size = std::max<std::uint64_t>(size_bytes, 1);
  const std::uint64_t address = next_;
  next_ += (size + 2 * page - 1) / page * page;  // a page between two regions belongs to nobody
  return Region(nic, address, size, attributes, memory_);
}

std::uint32_t Layout::message_length(std::uint64_t message) const {
  const std::uint64_t start = message * message_bytes_;
  return static_cast<std::uint32_t>(start >= total_bytes_ ? 0 : std::min(message_bytes_, total_bytes_ - start));
}

void Layout::pieces(std::uint64_t message, std::vector<Piece>& out) const {
  out.clear();
  const std::uint64_t length = message_length(message);
  const std::uint64_t place = message < slots_ ? message : message % slots_;
  std::uint64_t end = place * stride() + stride();  // pieces are placed downwards from here
  std::uint64_t start = 0;
  if (segments_ == 1) {
    out.push_back({place * stride(), static_cast<std::uint32_t>(length)});
    return;
  }
  for (std::uint32_t i = 0; i < segments_; ++i) {
    std::uint64_t cut = i + 1 == segments_ ? length : length * (i + 1) / segments_ | 1;
    cut = std::clamp(cut, start, length);
    end -= cut - start + 1;
    out.push_back({end, static_cast<std::uint32_t>(cut - start)});
    start = cut;
  }
}

}  // namespace sim
