// pcapng: blocks; those of packets, interfaces, their statistics and sections are read, others passed over.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "tools/fcvi_sim/capture/file.hpp"
#include "tools/fcvi_sim/capture/file_order.hpp"
#include "wire/pcapng.hpp"

namespace sim::capture {
namespace {

namespace pcapng = wire::pcapng;
namespace option = wire::pcapng::option;
using pcapng::Block;
constexpr std::size_t largest_block = std::size_t{1} << 24;  // as other readers of pcapng have it

Direction direction_of(std::uint32_t flags) {
  const std::uint32_t direction = flags & pcapng::direction_mask;
  if (direction == pcapng::inbound) return Direction::received;
  return direction == pcapng::outbound ? Direction::sent : Direction::unknown;
}

/// The options of a block, one after the other; what does not fit into the block is none.
class Options {
 public:
  Options(wire::Bytes bytes, FileOrder order) : rest_(bytes), order_(order) {}
  bool next() {
    if (rest_.size() < 4) return false;
    code_ = order_.u16(rest_.data());
    const std::size_t size = order_.u16(rest_.data() + 2), padded = (size + 3) & ~std::size_t{3};
    if (code_ == option::end_of_options || rest_.size() - 4 < size) return false;
    value_ = rest_.subspan(4, size);
    rest_ = rest_.subspan(std::min(4 + padded, rest_.size()));
    return true;
  }
  [[nodiscard]] std::uint16_t code() const { return code_; }
  [[nodiscard]] wire::Bytes value() const { return value_; }
  [[nodiscard]] std::string text() const { return {value_.begin(), value_.end()}; }

 private:
  wire::Bytes rest_, value_;
  FileOrder order_;
  std::uint16_t code_ = 0;
};

/// if_tsresol: a power of 10, or of 2 where its highest bit is set.
std::uint64_t ticks_of(std::uint8_t resolution) {
  const unsigned exponent = resolution & 0x7F;
  if ((resolution & 0x80) != 0) return std::uint64_t{1} << std::min(exponent, 63U);
  std::uint64_t ticks = 1;
  for (unsigned i = 0; i < std::min(exponent, 19U); ++i) ticks *= 10;
  return ticks;
}

std::int64_t to_nanoseconds(std::uint64_t ticks, const Interface& interface) {
  const std::uint64_t per_second = interface.ticks_per_second, seconds = ticks / per_second;
  const auto fraction = static_cast<long double>(ticks % per_second) * 1e9L / static_cast<long double>(per_second);
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max() / 4'000'000'000;
  const auto offset = std::clamp<std::int64_t>(interface.offset_s, -static_cast<std::int64_t>(most), most);
  return (static_cast<std::int64_t>(std::min(seconds, most)) + offset) * 1'000'000'000 +
         static_cast<std::int64_t>(fraction);
}

class Pcapng final : public Format {
 public:
  explicit Pcapng(ByteSource& source) : source_(source) {}
  bool begin();
  bool next(Packet& packet) override;

 private:
  enum class Found : std::uint8_t { packet, other, error };
  bool read_block();
  bool read_body();
  bool read_section();
  Found use_block(Packet& packet);
  bool describe_interface();
  void read_statistics();
  Found enhanced(Packet& packet);
  Found simple(Packet& packet);
  Found old(Packet& packet);
  Found take(Packet& packet, std::size_t interface, std::size_t at, std::size_t captured);
  void options(Packet& packet, std::size_t at);
  Found broken(std::string why) {
    fail(std::move(why));
    return Found::error;
  }
  [[nodiscard]] std::uint32_t field(std::size_t at) const { return order_.u32(body_.data() + at); }
  [[nodiscard]] bool has(std::size_t bytes) const { return body_.size() >= bytes; }

  ByteSource& source_;
  FileOrder order_;
  std::array<std::uint8_t, 8> head_{};  // type and length
  Block type_{};
  std::vector<std::uint8_t> body_;
  std::size_t first_interface_ = 0;               // of the section
  bool of_simulator_ = false;                     // the same: it has no options
  std::map<std::size_t, std::uint64_t> missing_;  // frames that were not captured, by interface
  bool gap_ = false;                              // more of them than before the latest packet
};

bool Pcapng::begin() {
  wire::MutableBytes rest = head_;
  std::fill_n(head_.begin(), 4, std::uint8_t{0x0A});
  type_ = Block::section_header;
  return read_all(source_, rest.subspan(4), "section header") && read_section();
}

/// Its length can be read only once its byte order is known.
bool Pcapng::read_section() {
  std::array<std::uint8_t, 4> magic{};
  if (!read_all(source_, magic, "section header")) return false;
  order_.little = FileOrder{true}.u32(magic.data()) == pcapng::byte_order_magic;
  if (order_.u32(magic.data()) != pcapng::byte_order_magic) return fail("a section without its byte order");
  const std::size_t length = order_.u32(head_.data() + 4);
  if (length < 28 || length % 4 != 0 || length > largest_block)
    return fail("a section header of " + std::to_string(length) + " bytes");
  body_.resize(length - 12);
  first_interface_ = interfaces_.size();
  if (!read_all(source_, body_, "section header")) return false;
  of_simulator_ = !Options(wire::Bytes(body_).subspan(12, body_.size() - 16), order_).next();
  return true;
}

bool Pcapng::read_body() {
  const std::size_t length = order_.u32(head_.data() + 4);
  if (length < 12 || length % 4 != 0 || length > largest_block)
    return fail("a block of " + std::to_string(length) + " bytes");
  body_.resize(length - 8);
  if (!read_all(source_, body_, "block")) return false;
  if (order_.u32(body_.data() + body_.size() - 4) != length) return fail("a block with two lengths");
  body_.resize(length - 12);
  return true;
}

bool Pcapng::read_block() {
  const std::size_t got = source_.read(head_);
  if (got == 0 && source_.error().empty()) return false;
  if (got < head_.size())
    return fail(source_.error().empty() ? "truncated block: " + std::to_string(got) + " of 8 bytes" : source_.error());
  type_ = static_cast<Block>(order_.u32(head_.data()));
  return type_ == Block::section_header ? read_section() : read_body();
}

bool Pcapng::describe_interface() {
  if (!has(8)) return fail("an interface description of " + std::to_string(body_.size()) + " bytes");
  Interface interface { .name = "", .link_type = static_cast<LinkType>(order_.u16(body_.data())) };
  interface.of_simulator = of_simulator_;
  for (Options options(wire::Bytes(body_).subspan(8), order_); options.next();) {
    const wire::Bytes value = options.value();
    if (options.code() == option::if_name) interface.name = options.text();
    if (options.code() == option::if_tsresol && value.size() == 1) interface.ticks_per_second = ticks_of(value[0]);
    if (options.code() == option::if_tsoffset && value.size() == 8)
      interface.offset_s = static_cast<std::int64_t>(order_.u64(value.data()));
  }
  interfaces_.push_back(std::move(interface));
  return true;
}

/// How many frames are missing until now, in all, and when the capture ended.
void Pcapng::read_statistics() {
  if (!has(12) || first_interface_ + field(0) >= interfaces_.size()) return;
  const std::size_t interface = first_interface_ + field(0);
  for (Options options(wire::Bytes(body_).subspan(12), order_); options.next();) {
    const wire::Bytes value = options.value();
    if (value.size() != 8) continue;
    if (options.code() == option::isb_ifdrop) {
      const std::uint64_t now = order_.u64(value.data());
      gap_ = now > std::exchange(missing_[interface], now) || gap_;
    } else if (options.code() == option::isb_endtime) {
      const std::uint64_t ticks = std::uint64_t{order_.u32(value.data())} << 32 | order_.u32(value.data() + 4);
      ended_at_ = std::max(ended_at_, to_nanoseconds(ticks, interfaces_[interface]));
    }
  }
}

void Pcapng::options(Packet& packet, std::size_t at) {
  for (Options options(wire::Bytes(body_).subspan(std::min(at, body_.size())), order_); options.next();) {
    const wire::Bytes value = options.value();
    if (options.code() == option::comment) packet.comments.push_back(options.text());
    if (type_ == Block::enhanced_packet && options.code() == option::epb_dropcount && value.size() == 8)
      packet.after_gap = packet.after_gap || order_.u64(value.data()) != 0;
    if (options.code() == option::epb_flags && value.size() == 4)
      packet.direction = direction_of(order_.u32(value.data()));
  }
}

/// The packet's bytes begin `at` in the block.
Pcapng::Found Pcapng::take(Packet& packet, std::size_t interface, std::size_t at, std::size_t captured) {
  if (first_interface_ + interface >= interfaces_.size())
    return broken("interface " + std::to_string(interface) + " is not described");
  if (body_.size() - at < captured)
    return broken(std::to_string(captured) + " bytes in a block that has " + std::to_string(body_.size() - at));
  if (!any_fits()) return Found::error;
  packet.interface = first_interface_ + interface;
  packet.link_type = interfaces_[packet.interface].link_type;
  packet.direction = Direction::unknown;
  packet.comments.clear();
  packet.after_gap = std::exchange(gap_, false);
  const auto begin = body_.begin() + static_cast<std::ptrdiff_t>(at);
  packet.data.assign(begin, begin + static_cast<std::ptrdiff_t>(captured));
  packet.original_bytes = std::max(packet.original_bytes, captured);
  return Found::packet;
}

Pcapng::Found Pcapng::enhanced(Packet& packet) {
  if (!has(20)) return broken("a packet block of " + std::to_string(body_.size() + 12) + " bytes");
  const std::size_t captured = field(12);
  packet.original_bytes = field(16);
  if (const Found found = take(packet, field(0), 20, captured); found != Found::packet) return found;
  packet.at = to_nanoseconds(std::uint64_t{field(4)} << 32 | field(8), interfaces_[packet.interface]);
  options(packet, 20 + ((captured + 3) & ~std::size_t{3}));
  return Found::packet;
}

Pcapng::Found Pcapng::old(Packet& packet) {
  if (!has(20)) return broken("a packet block of " + std::to_string(body_.size() + 12) + " bytes");
  const std::size_t captured = field(12);
  packet.original_bytes = field(16);
  if (const Found found = take(packet, order_.u16(body_.data()), 20, captured); found != Found::packet) return found;
  packet.at = to_nanoseconds(std::uint64_t{field(4)} << 32 | field(8), interfaces_[packet.interface]);
  options(packet, 20 + ((captured + 3) & ~std::size_t{3}));
  return Found::packet;
}

/// Of the section's first interface; without a time.
Pcapng::Found Pcapng::simple(Packet& packet) {
  if (!has(4)) return broken("a packet block of " + std::to_string(body_.size() + 12) + " bytes");
  packet.original_bytes = field(0);
  packet.at = 0;
  return take(packet, 0, 4, std::min(packet.original_bytes, body_.size() - 4));
}

Pcapng::Found Pcapng::use_block(Packet& packet) {
  switch (type_) {
    case Block::interface_description: return describe_interface() ? Found::other : Found::error;
    case Block::interface_statistics: return read_statistics(), Found::other;
    case Block::enhanced_packet: return enhanced(packet);
    case Block::simple_packet: return simple(packet);
    case Block::old_packet: return old(packet);
    case Block::section_header: break;
  }
  return Found::other;  // names, a vendor's own, the next section
}

bool Pcapng::next(Packet& packet) {
  while (read_block()) {
    const Found found = use_block(packet);
    if (found != Found::other) return found == Found::packet;
  }
  return false;
}

}  // namespace

std::unique_ptr<Format> open_pcapng(ByteSource& source, std::span<const std::uint8_t, 4> magic) {
  if (FileOrder{true}.u32(magic.data()) != static_cast<std::uint32_t>(Block::section_header)) return nullptr;
  auto pcapng = std::make_unique<Pcapng>(source);
  pcapng->begin();
  return pcapng;
}

}  // namespace sim::capture
