#include "tools/fcvi_sim/capture/tcp_reader.hpp"

#include <algorithm>

#include "wire/types.hpp"
#include "wire/vitcp/segment.hpp"

namespace sim::capture {
namespace {

constexpr std::uint8_t fin = 0x01, syn = 0x02, rst = 0x04, ack = 0x10;
constexpr std::size_t ethernet_bytes = 14, least_ipv4_bytes = 20, ipv6_bytes = 40, least_tcp_bytes = 20;
constexpr std::uint8_t tcp_protocol = 6;

/// The TCP segment of the packet, and the addresses on both sides; empty: there is none.
struct Ip {
  wire::IpAddress from{}, to{};
  wire::Bytes content{};
};

Ip ipv4_in(wire::Bytes packet) {
  if (packet.size() < least_ipv4_bytes || packet[0] >> 4 != 4 || packet[9] != tcp_protocol) return {};
  const std::size_t header = (packet[0] & 0xFU) * std::size_t{4}, whole = wire::load_big<2>(packet.data() + 2);
  const bool is_fragment = (wire::load_big<2>(packet.data() + 6) & 0x3FFF) != 0;
  if (header < least_ipv4_bytes || whole < header || whole > packet.size() || is_fragment) return {};
  return {wire::IpAddress::v4(packet[12], packet[13], packet[14], packet[15]),
          wire::IpAddress::v4(packet[16], packet[17], packet[18], packet[19]), packet.subspan(header, whole - header)};
}

Ip ipv6_in(wire::Bytes packet) {
  if (packet.size() < ipv6_bytes || packet[0] >> 4 != 6 || packet[6] != tcp_protocol) return {};
  const std::size_t size = wire::load_big<2>(packet.data() + 4);
  if (size > packet.size() - ipv6_bytes) return {};
  Ip ip{.content = packet.subspan(ipv6_bytes, size)};
  std::copy_n(packet.begin() + 8, ip.from.bytes.size(), ip.from.bytes.begin());
  std::copy_n(packet.begin() + 24, ip.to.bytes.size(), ip.to.bytes.begin());
  return ip;
}

Ip ip_in(wire::Bytes ethernet) {
  if (ethernet.size() < ethernet_bytes) return {};
  const auto type = wire::load_big<2>(ethernet.data() + 12);
  if (type == 0x0800) return ipv4_in(ethernet.subspan(ethernet_bytes));
  return type == 0x86DD ? ipv6_in(ethernet.subspan(ethernet_bytes)) : Ip{};
}

std::string end_words(const wire::IpAddress& ip, std::uint16_t port) {
  const std::string text = to_string(ip);
  return (ip.is_v4_mapped() ? text : "[" + text + "]") + ":" + std::to_string(port);
}

/// A ConnectRequest or an answer begins there: so it is VI over TCP.
bool begins_connection(wire::Bytes octets) {
  return octets.size() > 1 && octets[0] == wire::vitcp::SegmentHeader::version &&
         wire::vitcp::is_known(static_cast<wire::vitcp::SegmentType>(octets[1] & 0x1F)) &&
         info_of(static_cast<wire::vitcp::SegmentType>(octets[1] & 0x1F)).is_connection;
}

}  // namespace

struct TcpReader::Packet {
  std::uint32_t sequence = 0;
  std::uint8_t flags = 0;
  wire::Bytes octets{};
};

std::string TcpReader::words_of(wire::Bytes ethernet) {
  const Ip ip = ip_in(ethernet);
  const wire::Bytes tcp = ip.content;
  if (tcp.size() < least_tcp_bytes || (tcp[12] >> 4) * std::size_t{4} > tcp.size()) return {};
  const std::string from = end_words(ip.from, wire::load_big<2>(tcp.data())),
                    to = end_words(ip.to, wire::load_big<2>(tcp.data() + 2));
  const Packet packet{wire::load_big<4>(tcp.data() + 4), tcp[13],
                      tcp.subspan(std::max(least_tcp_bytes, (tcp[12] >> 4) * std::size_t{4}))};
  if (flows_.size() >= most_flows) flows_.clear();
  if ((packet.flags & syn) != 0) flows_[from + to] = {.next = packet.sequence + 1, .follows = true, .segment = {}};
  std::string text = from + " > " + to;
  for (const auto& [flag, name] : {std::pair{syn, " SYN"}, {fin, " FIN"}, {rst, " RST"}})
    if ((packet.flags & flag) != 0) text += name;
  if ((packet.flags & ack) != 0 && packet.octets.empty() && (packet.flags & (fin | rst)) == 0) text += " ACK";
  if (packet.octets.empty()) return text;
  Flow* const flow = find(from + to);
  const std::string segments = flow == nullptr ? "" : read(*flow, find(to + from), packet);
  return text + " " + std::to_string(packet.octets.size()) + " octets" + segments;
}

// What was retransmitted is not new; what is missing leaves the rest unknown.
std::string TcpReader::read(Flow& flow, const Flow* other, const Packet& packet) {
  const std::uint32_t known = flow.next - packet.sequence;
  if (!flow.follows || (known != 0 && known >= packet.octets.size())) {
    const bool is_old = known != 0 && known < 0x80000000U;
    flow.follows = flow.follows && is_old;
    return flow.follows ? ", again" : "";
  }
  const wire::Bytes fresh = packet.octets.subspan(known);
  flow.next += static_cast<std::uint32_t>(fresh.size());
  flow.segment.insert(flow.segment.end(), fresh.begin(), fresh.end());
  return take_segments(flow, other);
}

std::string TcpReader::take_segments(Flow& flow, const Flow* other) {
  std::string text;
  while (flow.follows && flow.segment.size() >= wire::vitcp::segment_header_bytes) {
    const wire::Bytes octets(flow.segment);
    const bool is_connection = begins_connection(octets);
    const std::size_t size = wire::load_big<2>(octets.data() + 2);
    const bool agreed = flow.crc && other != nullptr && other->crc;
    if (size < wire::vitcp::segment_header_bytes || octets[0] != wire::vitcp::SegmentHeader::version) {
      flow.follows = false;  // no VI segment
      return text;
    }
    if (size > octets.size()) return text;
    const auto segment = wire::vitcp::Segment::parse(octets.first(size), agreed);
    text += ": " + (segment ? segment->to_string() : "VITCP malformed: " + to_string(segment.error()));
    if (segment && is_connection) flow.crc = segment->ce.options.crc;
    flow.segment.erase(flow.segment.begin(), flow.segment.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return text;
}

}  // namespace sim::capture
