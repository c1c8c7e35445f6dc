// Memory regions, the STags by which they are named, and who may do what with them (RFC 5040 5.3, 7.2; RFC 5041 7.1).
#pragma once
#include <memory>
#include <optional>
#include <unordered_map>

#include <boost/system/result.hpp>

#include "wire/iwarp/ddp/header.hpp"
#include "wire/iwarp/rdmap/terminate.hpp"

namespace iwarp {
class WrittenOctets;
using wire::ddp::STag;

/// Streams and regions of one protection domain may meet (RFC 5040 8.1.1: PD).
struct ProtectionDomain {
  std::uint32_t value = 0;
  friend constexpr bool operator==(const ProtectionDomain&, const ProtectionDomain&) = default;
};

/// One DDP Stream, as an STag may be limited to it (RFC 5041 8.2: DDP Stream ID). 0: no stream in particular.
struct StreamScope {
  std::uint32_t value = 0;
  friend constexpr bool operator==(const StreamScope&, const StreamScope&) = default;
};
/// Who reaches for memory.
struct Accessor {
  ProtectionDomain domain{};
  StreamScope stream{};
  // NOLINTNEXTLINE(google-explicit-constructor): who has no stream of its own is its domain
  constexpr Accessor(ProtectionDomain of, StreamScope on = {}) : domain(of), stream(on) {}
  constexpr Accessor() = default;
};

/// What may be done with a region, beside reading it locally.
struct Rights {
  bool local_write = false;
  bool remote_read = false;
  bool remote_write = false;
  bool remote_invalidate = false;  // by Send with Invalidate: of a region that one stream alone uses (ruling M-24)
};
/// One of these is asked for.
enum class Right : std::uint8_t { local_read, local_write, remote_read, remote_write, remote_invalidate };

/// Why it is not granted: of several the first one, in this order.
enum class Denial : std::uint8_t {
  invalid_stag,    // there is none, its key is another, or it was invalidated
  not_associated,  // it is of another protection domain, or of another stream
  to_wrap,         // offset and length go beyond 2^64
  base_or_bounds,
  access_rights,
};
[[nodiscard]] std::string_view to_string(Denial denial);
/// As DDP tells it, of a Tagged segment. There is no code for access rights: Invalid STag is the nearest.
[[nodiscard]] wire::ddp::TaggedError tagged_error_of(Denial denial);
/// As RDMAP tells it, of an RDMA Read Request or an Invalidate.
[[nodiscard]] wire::rdmap::ProtectionError protection_error_of(Denial denial);

/// result::value() of a denial is a programmer's error.
[[noreturn]] void throw_exception_from_error(Denial denial, const boost::source_location& location);

/// The regions of one core. Memory must stay, mapped and where it is, until its region is deregistered.
class MemoryTable {
 public:
  static constexpr std::size_t most_regions = 1U << 19;
  /// The same seed, the same STags.
  explicit MemoryTable(std::uint64_t seed = 1);
  ~MemoryTable();

  /// Tagged Offset `base` is the first octet. The STag: 24 bits drawn at random, never 0, and `key` (ruling M-9).
  /// With a `scope` no other stream of the domain can use it. Nothing where all indices are taken.
  std::optional<STag> add(ProtectionDomain domain, wire::MutableBytes memory, std::uint64_t base, Rights rights,
                          std::uint8_t key = 0, StreamScope scope = {});
  /// False: there is none.
  bool remove(STag stag);
  /// Only add(), remove() and revalidate() change an invalidated region (RFC 5040 5.3).
  [[nodiscard]] std::optional<Denial> invalidate(STag stag, const Accessor& who, Right right);
  /// An invalidated region gets another key, by its owner. The new STag; nothing: there is no region, or it is valid.
  std::optional<STag> revalidate(STag stag, std::uint8_t key);

  /// `octets` from `offset` on. Of no octets nothing is checked (RFC 5040 5.2.1, RFC 5041 7.1).
  [[nodiscard]] boost::system::result<wire::MutableBytes, Denial> reach(STag stag, const Accessor& who,
                                                                        std::uint64_t offset, std::uint64_t octets,
                                                                        Right right) const;
  [[nodiscard]] std::size_t size() const { return regions_.size(); }

  /// From now on it is known what streams have written (written_octets.hpp), so that they can place speculatively.
  /// Pre: there are no regions.
  void track_writes();
  /// nullptr: nobody keeps track.
  [[nodiscard]] WrittenOctets* written() const { return written_.get(); }
  /// Its owner gives the region away anew: what streams have written there is of no more worth. Also when the last
  /// region of some memory is removed. False: there is no such region.
  bool renew(STag stag);

 private:
  struct Region {
    ProtectionDomain domain;
    wire::MutableBytes memory;
    std::uint64_t base = 0;
    Rights rights;
    std::uint8_t key = 0;
    StreamScope scope{};
    bool valid = true;
  };
  void forget_written(wire::MutableBytes memory);
  [[nodiscard]] static bool is_associated(const Region& region, const Accessor& who);
  [[nodiscard]] const Region* find(STag stag) const;
  [[nodiscard]] std::uint32_t draw_index();

  std::unordered_map<std::uint32_t, Region> regions_;  // by index
  std::uint64_t state_;
  std::unique_ptr<WrittenOctets> written_;
};

}  // namespace iwarp
