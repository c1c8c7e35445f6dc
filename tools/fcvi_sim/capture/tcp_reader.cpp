#include "tools/fcvi_sim/capture/tcp_reader.hpp"

#include <algorithm>
#include <boost/container_hash/hash.hpp>

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

/// A ConnectRequest or an answer begins there: so it is VI over TCP.
bool begins_connection(wire::Bytes octets) {
  return octets.size() > 1 && octets[0] == wire::vitcp::SegmentHeader::version &&
         wire::vitcp::is_known(static_cast<wire::vitcp::SegmentType>(octets[1] & 0x1F)) &&
         info_of(static_cast<wire::vitcp::SegmentType>(octets[1] & 0x1F)).is_connection;
}

}  // namespace

std::string to_string(const TcpPacket::End& end) {
  const std::string text = to_string(end.ip);
  return (end.ip.is_v4_mapped() ? text : "[" + text + "]") + ":" + std::to_string(end.port);
}

std::string flag_words(const TcpPacket& packet) {
  std::string text;
  for (const auto& [flag, name] : {std::pair{packet.syn, "SYN"}, {packet.fin, "FIN"}, {packet.rst, "RST"}})
    if (flag) text.append(text.empty() ? "" : " ").append(name);
  return text;
}

std::string to_string(const TcpPacket& packet) {
  std::string text = to_string(packet.from) + " > " + to_string(packet.to);
  const std::string flags = flag_words(packet);
  if (!flags.empty()) text += " " + flags;
  if (packet.ack && packet.octets == 0 && !packet.fin && !packet.rst) text += " ACK";
  if (packet.octets == 0) return text;
  text += " " + std::to_string(packet.octets) + " octets" + (packet.again ? ", again" : "");
  for (const auto& [octets, segment] : packet.segments)
    text += ": " + (segment ? segment->to_string() : "VITCP malformed: " + to_string(segment.error()));
  return text;
}

std::size_t TcpReader::Hash::operator()(const Ends& ends) const {
  std::size_t hash = ends.first.port;
  boost::hash_combine(hash, ends.second.port);
  for (const wire::IpAddress* ip : {&ends.first.ip, &ends.second.ip})
    boost::hash_range(hash, ip->bytes.begin(), ip->bytes.end());
  return hash;
}

struct TcpReader::Content {
  std::uint32_t sequence = 0;
  wire::Bytes octets{};
};

std::optional<TcpPacket> TcpReader::read(wire::Bytes ethernet) {
  const Ip ip = ip_in(ethernet);
  const wire::Bytes tcp = ip.content;
  if (tcp.size() < least_tcp_bytes || (tcp[12] >> 4) * std::size_t{4} > tcp.size()) return std::nullopt;
  const Content content{wire::load_big<4>(tcp.data() + 4),
                        tcp.subspan(std::max(least_tcp_bytes, (tcp[12] >> 4) * std::size_t{4}))};
  TcpPacket packet{.from = {ip.from, wire::load_big<2>(tcp.data())},
                   .to = {ip.to, wire::load_big<2>(tcp.data() + 2)},
                   .syn = (tcp[13] & syn) != 0,
                   .fin = (tcp[13] & fin) != 0,
                   .rst = (tcp[13] & rst) != 0,
                   .ack = (tcp[13] & ack) != 0,
                   .octets = content.octets.size()};
  if (flows_.size() >= most_flows) flows_.clear();
  if (packet.syn) begin(content, packet);
  belong(packet);
  if (content.octets.empty()) return packet;
  take(*find({packet.from, packet.to}), find({packet.to, packet.from}), content, packet);
  return packet;
}

// One that is sent again begins nothing.
void TcpReader::begin(const Content& content, TcpPacket& packet) {
  Flow& flow = flows_[{packet.from, packet.to}];
  const std::uint32_t next = content.sequence + 1;
  if (flow.connection != 0 && flow.follows && flow.next == next) return;
  const Flow* const other = find({packet.to, packet.from});
  const std::uint64_t connection = packet.ack && other != nullptr ? other->connection : 0;
  flows_[{packet.from, packet.to}] = {.next = next,
                                      .follows = true,
                                      .segment = {},
                                      .connection = connection != 0 ? connection : ++connections_,
                                      .by_connector = !packet.ack};
}

/// To the connection that its direction has, or the other one; else to a new one.
void TcpReader::belong(TcpPacket& packet) {
  Flow& flow = flows_[{packet.from, packet.to}];
  if (flow.connection == 0) {
    const Flow* const other = find({packet.to, packet.from});
    const bool known = other != nullptr && other->connection != 0;
    flow.connection = known ? other->connection : ++connections_;
    flow.by_connector = known ? !other->by_connector : packet.from.port > packet.to.port;
  }
  packet.connection = flow.connection;
  packet.by_connector = flow.by_connector;
}

// What was retransmitted is not new; what is missing leaves the rest unknown.
void TcpReader::take(Flow& flow, const Flow* other, const Content& content, TcpPacket& packet) {
  const std::uint32_t known = flow.next - content.sequence;
  if (!flow.follows || (known != 0 && known >= content.octets.size())) {
    const bool is_old = known != 0 && known < 0x80000000U;
    flow.follows = packet.again = flow.follows && is_old;
    return;
  }
  const wire::Bytes fresh = content.octets.subspan(known);
  flow.next += static_cast<std::uint32_t>(fresh.size());
  flow.segment.insert(flow.segment.end(), fresh.begin(), fresh.end());
  take_segments(flow, other, packet);
}

void TcpReader::take_segments(Flow& flow, const Flow* other, TcpPacket& packet) {
  while (flow.follows && flow.segment.size() >= wire::vitcp::segment_header_bytes) {
    const wire::Bytes octets(flow.segment);
    const bool is_connection = begins_connection(octets);
    const std::size_t size = wire::load_big<2>(octets.data() + 2);
    const bool agreed = flow.crc && other != nullptr && other->crc;
    if (size < wire::vitcp::segment_header_bytes || octets[0] != wire::vitcp::SegmentHeader::version) {
      flow.follows = false;  // no VI segment
      return;
    }
    if (size > octets.size()) return;
    const auto end = flow.segment.begin() + static_cast<std::ptrdiff_t>(size);
    std::vector<std::uint8_t> taken(flow.segment.begin(), end);
    flow.segment.erase(flow.segment.begin(), end);
    const auto segment = wire::vitcp::Segment::parse(taken, agreed);
    if (segment && is_connection) flow.crc = segment->ce.options.crc;
    packet.segments.push_back({std::move(taken), segment});
  }
}

}  // namespace sim::capture
