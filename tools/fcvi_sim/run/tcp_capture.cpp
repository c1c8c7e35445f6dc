#include "tools/fcvi_sim/run/tcp_capture.hpp"

#include <algorithm>

namespace sim {
namespace {

using Kind = streams::SegmentSeen::Kind;

// RFC 9293 3.1.
constexpr std::uint8_t fin = 0x01, syn = 0x02, rst = 0x04, psh = 0x08, ack = 0x10, urg = 0x20;
constexpr std::uint8_t tcp_protocol = 6, hop_limit = 64;
constexpr unsigned window_scale = 8;  // RFC 7323: 16 MiB
constexpr std::size_t ethernet_bytes = 14, ipv4_bytes = 20, ipv6_bytes = 40, tcp_bytes = 20;
// Maximum Segment Size, and a NOP before Window Scale.
constexpr std::uint8_t syn_options[] = {2, 4, 0xFD, 0xE8, 1, 3, 3, window_scale};

void put(std::vector<std::uint8_t>& to, wire::Bytes octets) { to.insert(to.end(), octets.begin(), octets.end()); }
void put_16(std::vector<std::uint8_t>& to, std::uint64_t value) {
  to.push_back(static_cast<std::uint8_t>(value >> 8));
  to.push_back(static_cast<std::uint8_t>(value));
}
void put_32(std::vector<std::uint8_t>& to, std::uint64_t value) {
  put_16(to, value >> 16);
  put_16(to, value & 0xFFFF);
}

wire::Bytes octets_of(const wire::IpAddress& address) {
  const wire::Bytes all(address.bytes);
  return address.is_v4_mapped() ? all.last(4) : all;
}

/// Locally administered, with the last octets of the IP address.
void put_mac(std::vector<std::uint8_t>& to, const wire::IpAddress& address) {
  put_16(to, 0x0200);
  put(to, wire::Bytes(address.bytes).last(4));
}

/// RFC 1071, not complemented.
std::uint32_t sum_of(wire::Bytes octets, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < octets.size(); i += 2)
    sum += static_cast<std::uint32_t>(octets[i] << 8) | (i + 1 < octets.size() ? octets[i + 1] : 0U);
  return sum;
}
std::uint16_t checksum_of(std::uint32_t sum) {
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

std::size_t size_of(const streams::SegmentSeen& segment) { return segment.first.size() + segment.rest.size(); }

std::uint8_t flags_of(const streams::SegmentSeen& segment) {
  switch (segment.kind) {
    case Kind::syn: return syn;
    case Kind::syn_ack: return syn | ack;
    case Kind::data: return ack | psh | (segment.urgent ? urg : 0);
    case Kind::fin: return fin | ack;
    case Kind::rst: return rst | ack;
  }
  return ack;
}

}  // namespace

void TcpCapture::sent(runtime::TimeNs at, const streams::SegmentSeen& segment, std::string_view comment) {
  if (segment.kind == Kind::syn) begin(segment);
  write(at, segment, flags_of(segment), comment);
  if (segment.kind == Kind::fin) direction(segment.from, segment.to).end_sent = true;
}

void TcpCapture::acknowledged(runtime::TimeNs at, const streams::SegmentSeen& segment) { write(at, segment, ack, {}); }

// The third segment of the handshake goes with the first octets.
void TcpCapture::begin(const streams::SegmentSeen& seen) {
  constexpr std::uint32_t apart = 0x1000000;
  ++streams_;
  direction(seen.from, seen.to) = {streams_ * 2 * apart};
  direction(seen.to, seen.from) = {(streams_ * 2 + 1) * apart};
}

void TcpCapture::write(runtime::TimeNs at, const streams::SegmentSeen& segment, std::uint8_t flags,
                       std::string_view comment) {
  const bool v4 = segment.from.ip.is_v4_mapped();
  const std::size_t tcp_size = tcp_bytes + ((flags & syn) != 0 ? sizeof syn_options : 0) + size_of(segment);
  packet_.clear();
  put_mac(packet_, segment.to.ip);
  put_mac(packet_, segment.from.ip);
  put_16(packet_, v4 ? 0x0800 : 0x86DD);
  if (v4) {
    put_16(packet_, 0x4500);
    put_16(packet_, ipv4_bytes + tcp_size);
    put_16(packet_, ++identification_);
    put_16(packet_, 0x4000);  // not to be fragmented
    packet_.insert(packet_.end(), {hop_limit, tcp_protocol, 0, 0});
  } else {
    put_32(packet_, 0x60000000);
    put_16(packet_, tcp_size);
    packet_.insert(packet_.end(), {tcp_protocol, hop_limit});
  }
  put(packet_, octets_of(segment.from.ip));
  put(packet_, octets_of(segment.to.ip));
  if (v4) {
    const std::uint16_t sum = checksum_of(sum_of(wire::Bytes(packet_).subspan(ethernet_bytes, ipv4_bytes)));
    wire::store_big<2>(packet_.data() + ethernet_bytes + 10, sum);
  }
  add_tcp(segment, flags);
  capture_.write_ethernet_frame(interface_, at, packet_, packet_.size(), true, comment);
}

void TcpCapture::add_tcp(const streams::SegmentSeen& segment, std::uint8_t flags) {
  const Direction &own = direction(segment.from, segment.to), &other = direction(segment.to, segment.from);
  const bool has_syn = (flags & syn) != 0;
  const std::size_t begin = packet_.size();
  const auto sequence = static_cast<std::uint32_t>(own.first_sequence + (has_syn ? 0 : 1) + segment.at +
                                                   (own.end_sent && (flags & fin) == 0 ? 1 : 0));
  const auto acknowledged =
      static_cast<std::uint32_t>(other.first_sequence + 1 + segment.acknowledged + (segment.end_acknowledged ? 1 : 0));
  put_16(packet_, segment.from.port);
  put_16(packet_, segment.to.port);
  put_32(packet_, sequence);
  put_32(packet_, (flags & ack) != 0 ? acknowledged : 0);
  packet_.push_back(static_cast<std::uint8_t>((tcp_bytes + (has_syn ? sizeof syn_options : 0)) / 4 << 4));
  packet_.push_back(flags);
  put_16(packet_, std::min<std::size_t>(has_syn ? 0xFFFF : segment.window_bytes >> window_scale, 0xFFFF));
  put_16(packet_, 0);  // checksum
  put_16(packet_, (flags & urg) != 0 ? segment.urgent_at - segment.at : 0);
  if (has_syn) put(packet_, syn_options);
  put(packet_, segment.first);
  put(packet_, segment.rest);
  // RFC 9293 3.1: the pseudo header, of IPv4 and IPv6 the same numbers.
  const wire::Bytes whole = wire::Bytes(packet_).subspan(begin);
  std::uint32_t sum = sum_of(octets_of(segment.from.ip), sum_of(octets_of(segment.to.ip)));
  sum += tcp_protocol + static_cast<std::uint32_t>(whole.size());
  wire::store_big<2>(packet_.data() + begin + 16, checksum_of(sum_of(whole, sum)));
}

}  // namespace sim
