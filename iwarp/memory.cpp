#include "iwarp/memory.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <stdexcept>

#include "iwarp/written_octets.hpp"
#include "wire/text.hpp"

namespace iwarp {
namespace {

constexpr std::uint32_t key_bits = 8, last_index = 0xFFFFFF;

bool grants(const Rights& rights, Right right) {
  switch (right) {
    case Right::local_read: return true;
    case Right::local_write: return rights.local_write;
    case Right::remote_read: return rights.remote_read;
    case Right::remote_write: return rights.remote_write;
    case Right::remote_invalidate: return rights.remote_invalidate;
  }
  return false;
}

}  // namespace

std::string_view to_string(Denial denial) {
  switch (denial) {
    case Denial::invalid_stag: return "invalid STag";
    case Denial::not_associated: return "STag of another protection domain or stream";
    case Denial::to_wrap: return "TO wrap";
    case Denial::base_or_bounds: return "base or bounds violation";
    case Denial::access_rights: return "access rights violation";
  }
  return wire::text::unknown;
}

wire::ddp::TaggedError tagged_error_of(Denial denial) {
  using wire::ddp::TaggedError;
  switch (denial) {
    case Denial::invalid_stag:
    case Denial::access_rights: break;
    case Denial::not_associated: return TaggedError::stag_not_associated;
    case Denial::to_wrap: return TaggedError::to_wrap;
    case Denial::base_or_bounds: return TaggedError::base_or_bounds;
  }
  return TaggedError::invalid_stag;
}

wire::rdmap::ProtectionError protection_error_of(Denial denial) {
  using wire::rdmap::ProtectionError;
  switch (denial) {
    case Denial::invalid_stag: break;
    case Denial::access_rights: return ProtectionError::access_rights;
    case Denial::not_associated: return ProtectionError::stag_not_associated;
    case Denial::to_wrap: return ProtectionError::to_wrap;
    case Denial::base_or_bounds: return ProtectionError::base_or_bounds;
  }
  return ProtectionError::invalid_stag;
}

void throw_exception_from_error(Denial denial, const boost::source_location&) {
  throw std::logic_error(std::string(to_string(denial)));
}

MemoryTable::MemoryTable(std::uint64_t seed) : state_(seed) {}
MemoryTable::~MemoryTable() = default;

std::uint32_t MemoryTable::draw_index() {
  std::uint64_t value = state_ += 0x9E3779B97F4A7C15U;  // splitmix64
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27) * 0x94D049BB133111EBU;
  return static_cast<std::uint32_t>(value >> 40) & last_index;
}

std::optional<STag> MemoryTable::add(ProtectionDomain domain, wire::MutableBytes memory, std::uint64_t base,
                                     Rights rights, std::uint8_t key, StreamScope scope) {
  static_assert(most_regions <= last_index / 2, "a free index is soon drawn");
  if (regions_.size() >= most_regions) return std::nullopt;
  std::uint32_t index = draw_index();
  while (index == 0 || regions_.contains(index)) index = draw_index();
  regions_.emplace(index, Region{domain, memory, base, rights, key, scope});
  return STag{index << key_bits | key};
}

bool MemoryTable::remove(STag stag) {
  const auto found = regions_.find(stag.value >> key_bits);
  if (found == regions_.end()) return false;
  const wire::MutableBytes memory = found->second.memory;
  regions_.erase(found);
  if (written_ != nullptr) forget_written(memory);
  return true;
}

void MemoryTable::track_writes() {
  assert(regions_.empty());
  written_ = std::make_unique<WrittenOctets>();
}

bool MemoryTable::renew(STag stag) {
  const Region* const region = find(stag);
  if (region == nullptr) return false;
  if (written_ != nullptr) written_->renew(region->memory);
  return true;
}

/// Unless another region has some of it.
void MemoryTable::forget_written(wire::MutableBytes memory) {
  const auto shares = [memory](const auto& entry) {
    const wire::MutableBytes other = entry.second.memory;
    const std::less<const std::uint8_t*> before;
    return before(memory.data(), other.data() + other.size()) && before(other.data(), memory.data() + memory.size());
  };
  if (std::none_of(regions_.begin(), regions_.end(), shares)) written_->renew(memory);
}

const MemoryTable::Region* MemoryTable::find(STag stag) const {
  const auto found = regions_.find(stag.value >> key_bits);
  if (found == regions_.end() || found->second.key != static_cast<std::uint8_t>(stag.value)) return nullptr;
  return found->second.valid ? &found->second : nullptr;
}

/// RFC 5041 8.2: by its protection domain, and by its stream where it is limited to one.
bool MemoryTable::is_associated(const Region& region, const Accessor& who) {
  return region.domain == who.domain && (region.scope == StreamScope{} || region.scope == who.stream);
}

std::optional<Denial> MemoryTable::invalidate(STag stag, const Accessor& who, Right right) {
  const Region* const region = find(stag);
  if (region == nullptr) return Denial::invalid_stag;
  if (!is_associated(*region, who)) return Denial::not_associated;
  if (!grants(region->rights, right)) return Denial::access_rights;
  regions_.at(stag.value >> key_bits).valid = false;
  return std::nullopt;
}

std::optional<STag> MemoryTable::revalidate(STag stag, std::uint8_t key) {
  const auto found = regions_.find(stag.value >> key_bits);
  if (found == regions_.end() || found->second.valid) return std::nullopt;
  found->second.valid = true;
  found->second.key = key;
  if (written_ != nullptr) written_->place(found->second.memory);  // its owner had it, and may have written there
  return STag{found->first << key_bits | key};
}

boost::system::result<wire::MutableBytes, Denial> MemoryTable::reach(STag stag, const Accessor& who,
                                                                     std::uint64_t offset, std::uint64_t octets,
                                                                     Right right) const {
  if (octets == 0) return wire::MutableBytes{};
  const Region* const region = find(stag);
  if (region == nullptr) return Denial::invalid_stag;
  if (!is_associated(*region, who)) return Denial::not_associated;
  if (offset + octets < offset) return Denial::to_wrap;
  const std::uint64_t size = region->memory.size();
  if (offset < region->base || offset - region->base > size || size - (offset - region->base) < octets)
    return Denial::base_or_bounds;
  if (!grants(region->rights, right)) return Denial::access_rights;
  return region->memory.subspan(static_cast<std::size_t>(offset - region->base), static_cast<std::size_t>(octets));
}

}  // namespace iwarp
