// Memory regions, handles and protection tags of one NIC, with every check of VI-ARCH 3.2.
// Not thread-safe: the owner serialises. No allocation in translate calls (they are on the frame path).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "vi/caught_access.hpp"
#include "vi/handle_table.hpp"
#include "vi/memory_guard.hpp"
#include "vi/types.hpp"

namespace vi {

/// What a reference wants to do. Local references need the tag only, and memory that may be written if they write;
/// remote ones also the RDMA enables of the region (VI-ARCH 3.2.2.2) - the VI's own enables are the caller's check.
enum class Access : std::uint8_t { Local, LocalWrite, RemoteWrite, RemoteRead };

struct MemoryLimits {
  std::uint32_t max_regions = 1u << 20;
  std::uint32_t max_ptags = 1u << 17;
  std::uint64_t max_region_bytes = std::uint64_t{1} << 40;
  std::uint64_t max_registered_bytes = std::uint64_t{1} << 50;  // of all regions together
};

class MemoryTable {
 public:
  /// `guard` must outlive the table; nullptr where registered memory is always there.
  explicit MemoryTable(MemoryLimits limits = {}, const MemoryGuard* guard = nullptr)
      : limits_(limits), guard_(guard), catches_(guard == nullptr || guard->catches_accesses()),
        regions_(limits.max_regions), tags_(limits.max_ptags) {}

  /// Registers [address, address + length) as seen by descriptors and peers, backed by `host`. In a process
  /// the two are the same; the simulator gives fixed addresses so that captures repeat (one seed, same
  /// bytes). Errors: InvalidParameter (length 0, no host memory, wrap-around), InvalidPtag, ErrorResource.
  /// Atomic: all or nothing. Handles are unique while registered, never 0 or FFFFFFFFh, positive as int, and
  /// not reused soon. Memory that is not `writable` is never written to (VI-DG 3.4.3); with RDMA Write enabled it is
  /// InvalidParameter, here and in set_attributes.
  Return register_region(std::uint64_t address, std::byte* host, std::uint64_t length_bytes,
                         MemoryAttributes attributes, wire::MemHandle& handle, bool writable = true);
  /// InvalidParameter unless `address` lies in the region of `handle` (ruling 252).
  Return deregister(std::uint64_t address, wire::MemHandle handle);
  /// InvalidParameter unless `address` is the first of the region of `handle` (VI-DG 3.7.4, 3.7.5); both.
  Return query(std::uint64_t address, wire::MemHandle handle, MemoryAttributes& attributes) const;
  /// All or nothing (VI-DG 3.7.4). Errors: InvalidParameter, InvalidPtag.
  Return set_attributes(std::uint64_t address, wire::MemHandle handle, MemoryAttributes attributes);

  /// VI-DG 3.4.1, 3.4.2. ErrorResource at the limit; destroying a tag in use is ErrorResource, an unknown one
  /// (and the NULL tag) InvalidParameter.
  Return create_ptag(Ptag& tag);
  Return destroy_ptag(Ptag tag);
  [[nodiscard]] bool is_valid(Ptag tag) const;  // NULL is valid unless the NIC is strict: the caller's rule
  void add_user(Ptag tag);                      // a VI uses it; the NULL tag does not count its users
  void remove_user(Ptag tag);

  /// Host address of [address, address + length) when the whole range lies in the region, the tag matches (a
  /// NULL VI tag matches any region of this NIC, ruling 22) and the access is enabled; else nullptr. Zero
  /// length: the handle and tag are still checked, and any address within or at the end of the region passes.
  [[nodiscard]] std::byte* translate(wire::MemHandle handle, std::uint64_t address, std::uint64_t length_bytes,
                                     Ptag vi_tag, Access access) const;

  /// What a reference to `address` may touch: `length_bytes` from there to the end of its region. Without `host`:
  /// nothing. Good as long as generation() is the same: whoever keeps it need not look up the handle again.
  struct Grant {
    std::byte* host = nullptr;
    std::uint64_t length_bytes = 0;
  };
  [[nodiscard]] Grant grant(wire::MemHandle handle, std::uint64_t address, Ptag vi_tag, Access access) const;
  /// Another one after each change that takes away what was granted. Never 0.
  [[nodiscard]] std::uint32_t generation() const { return generation_; }
  /// A VI has another tag: what it was granted is looked up anew.
  void end_grants() { generation_ += generation_ == 0xFFFFFFFF ? 2 : 1; }

  // False: some of it is not there any more, or is protected: a protection error, as for memory that is not registered
  // (VI-ARCH 3.2.1); what was done before stands. Everything that reads or writes a consumer's memory goes through
  // here.

  /// Calls body(), which accesses [host, host + length) as translate gave it by functions of consumer_memory that may
  /// be false, and says whether all were true. It may be left in its midst all the same: see MemoryGuard.
  template <class Body>
  [[nodiscard]] bool access(const std::byte* host, std::size_t length_bytes, Body body) const {
    if (catches_) [[likely]]
      return body();
    return access_guarded(host, length_bytes, body);
  }
  /// The same for what body(host) reads; Value() where it was left.
  template <class Value, class Body>
  [[nodiscard]] Value access_value(std::byte* host, std::size_t length_bytes, Body body) const {
    if (catches_) [[likely]]
      return body(host);
    return touch_value<Value>(host, length_bytes, body);
  }
  /// Data in and out, as translate gave it; out as consumer_memory::place() does.
  [[nodiscard]] bool read(std::span<std::uint8_t> to, const std::byte* host) const {
    if (std::uint64_t word = 0; catches_ && is_word(host, to.size())) {
      if (!caught::load(host, word)) return false;
      std::memcpy(to.data(), &word, sizeof word);
      return true;
    }
    return read_any(to, host);
  }
  [[nodiscard]] bool write(std::byte* host, std::span<const std::uint8_t> from) const {
    if (std::uint64_t word = 0; catches_ && is_word(host, from.size())) {
      std::memcpy(&word, from.data(), sizeof word);
      return caught::store(host, word);
    }
    return write_any(host, from);
  }

  /// `count` pieces of `bytes`, each `stride` behind the one before.
  struct Pieces {
    const std::uint8_t* at;
    std::size_t bytes, stride, count;
  };
  /// To `host` and on, one behind another. They may lie in a consumer's memory, too, and be gone; where they lie one
  /// behind another all are placed or none counts. How many are in their place.
  [[nodiscard]] std::size_t write_pieces(std::byte* host, const Pieces& from) const;

  /// Single accesses need no guard around them: access() calls its body, and nothing else.
  [[nodiscard]] bool catches_accesses() const { return catches_; }
  /// Memory that was found registered can be read, all of its pages: for calls that touch it without the guard.
  [[nodiscard]] bool is_there(const std::byte* host, std::size_t length_bytes) const;

  [[nodiscard]] std::size_t region_count() const { return regions_.size(); }
  [[nodiscard]] std::size_t ptag_count() const { return tags_.size(); }

 private:
  struct Region {
    std::uint64_t address = 0;
    std::uint64_t length_bytes = 0;
    std::byte* host = nullptr;
    MemoryAttributes attributes = {};
    bool writable = true;
  };
  struct Tag {
    std::uint32_t users = 0;  // VIs and regions
  };
  /// One access does it.
  [[nodiscard]] static bool is_word(const std::byte* host, std::size_t length_bytes) {
    return length_bytes == sizeof(std::uint64_t) && reinterpret_cast<std::uintptr_t>(host) % sizeof(std::uint64_t) == 0;
  }
  [[nodiscard]] bool read_any(std::span<std::uint8_t> to, const std::byte* host) const;
  [[nodiscard]] bool write_any(std::byte* host, std::span<const std::uint8_t> from) const;
  [[nodiscard]] const Region* find(std::uint64_t address, wire::MemHandle handle) const;
  [[nodiscard]] bool write_dense(std::byte* host, std::span<const std::uint8_t> from) const;
  template <class Body>
  [[nodiscard]] bool touch(const std::byte* host, std::size_t length_bytes, Body body) const {
    if (guard_ != nullptr)
      return guard_->run(
          host, length_bytes, [](void* context) { (*static_cast<Body*>(context))(); }, &body);
    body();
    return true;
  }

  /// By value: what the usual way has stays in registers.
  template <class Body>
  [[nodiscard, gnu::noinline, gnu::cold]] bool access_guarded(const std::byte* host, std::size_t length_bytes,
                                                              Body body) const {
    bool all = true;
    return touch(host, length_bytes, [&] { all = body(); }) && all;
  }
  template <class Value, class Body>
  [[nodiscard, gnu::noinline, gnu::cold]] Value touch_value(std::byte* host, std::size_t length_bytes,
                                                            Body body) const {
    Value value;
    return touch(host, length_bytes, [&] { value = body(host); }) ? value : Value();
  }

  MemoryLimits limits_;
  const MemoryGuard* guard_;
  bool catches_;  // accesses that fault need nobody else
  HandleTable<Region> regions_;
  HandleTable<Tag> tags_;
  std::uint64_t registered_bytes_ = 0;
  std::uint32_t generation_ = 1;
};

// Inline: a message of one frame makes more than ten of these.
inline MemoryTable::Grant MemoryTable::grant(wire::MemHandle handle, std::uint64_t address, Ptag vi_tag,
                                             Access access) const {
  const Region* region = regions_.find(handle.value);
  if (region == nullptr || address < region->address) return {};
  const std::uint64_t offset = address - region->address;
  if (offset > region->length_bytes) return {};
  const MemoryAttributes& attributes = region->attributes;
  if (!vi_tag.is_null() && vi_tag != attributes.ptag) return {};  // VI-ARCH 3.2.2.1, ruling 22
  if (access == Access::LocalWrite && !region->writable) return {};
  if (access == Access::RemoteWrite && !attributes.enable_rdma_write) return {};
  if (access == Access::RemoteRead && !attributes.enable_rdma_read) return {};
  return {region->host + offset, region->length_bytes - offset};
}

inline std::byte* MemoryTable::translate(wire::MemHandle handle, std::uint64_t address, std::uint64_t length_bytes,
                                         Ptag vi_tag, Access access) const {
  const Grant granted = grant(handle, address, vi_tag, access);
  return length_bytes <= granted.length_bytes ? granted.host : nullptr;
}

}  // namespace vi
