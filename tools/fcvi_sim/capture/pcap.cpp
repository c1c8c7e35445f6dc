// pcap: a header of 24 bytes, then records.
#include <algorithm>

#include "tools/fcvi_sim/capture/file.hpp"
#include "tools/fcvi_sim/capture/file_order.hpp"

namespace sim::capture {
namespace {

constexpr std::uint32_t microseconds = 0xA1B2C3D4, nanoseconds = 0xA1B23C4D;

class Pcap final : public Format {
 public:
  Pcap(ByteSource& source, FileOrder order, std::uint64_t ticks) : source_(source), order_(order), ticks_(ticks) {}
  bool begin();
  bool next(Packet& packet) override;

 private:
  ByteSource& source_;
  FileOrder order_;
  std::uint64_t ticks_;        // per second
  std::size_t fcs_bytes_ = 0;  // at the end of each packet
};

/// The header behind its magic number.
bool Pcap::begin() {
  std::array<std::uint8_t, 20> header{};
  if (!read_all(source_, header, "file header")) return false;
  // Above the link type: whether the packets end with a frame check sequence, and of how many 16-bit words.
  const std::uint32_t link = order_.u32(header.data() + 16);
  fcs_bytes_ = (link & 0x04000000) != 0 ? 2 * (link >> 28) : 0;
  interfaces_.push_back({.name = "", .link_type = static_cast<LinkType>(link & 0x03FFFFFF)});
  return any_fits();
}

bool Pcap::next(Packet& packet) {
  std::array<std::uint8_t, 16> header{};
  const std::size_t got = source_.read(header);
  if (got == 0 && source_.error().empty()) return false;
  if (got < header.size())
    return fail(source_.error().empty() ? "truncated header: " + std::to_string(got) + " of 16 bytes"
                                        : source_.error());
  const std::size_t size = order_.u32(header.data() + 8);
  packet.original_bytes = std::max<std::size_t>(order_.u32(header.data() + 12), size);
  if (size > max_packet_bytes) return fail("a packet of " + std::to_string(size) + " bytes");
  const std::uint64_t fraction = order_.u32(header.data() + 4);
  packet.at = static_cast<std::int64_t>(order_.u32(header.data())) * 1'000'000'000 +
              static_cast<std::int64_t>(fraction * (1'000'000'000 / ticks_));
  packet.interface = 0;
  packet.link_type = interfaces_.front().link_type;
  packet.direction = Direction::unknown;
  packet.comments.clear();
  packet.data.resize(size);
  if (!read_all(source_, packet.data, "frame")) return false;
  packet.original_bytes -= std::min(fcs_bytes_, packet.original_bytes);
  packet.data.resize(std::min(size, packet.original_bytes));
  return true;
}

}  // namespace

std::unique_ptr<Format> open_pcap(ByteSource& source, std::span<const std::uint8_t, 4> magic) {
  for (const bool little : {true, false}) {
    const FileOrder order{little};
    const std::uint32_t number = order.u32(magic.data());
    if (number != microseconds && number != nanoseconds) continue;
    auto pcap = std::make_unique<Pcap>(source, order, number == microseconds ? 1'000'000 : 1'000'000'000);
    pcap->begin();
    return pcap;
  }
  return nullptr;
}

}  // namespace sim::capture
