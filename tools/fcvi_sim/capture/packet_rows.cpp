#include "tools/fcvi_sim/capture/packet_rows.hpp"

#include "tools/fcvi_sim/picture/vitcp_rows.hpp"

namespace sim::capture {

std::vector<std::pair<LadderRow, std::string>> rows_of(const Seen& seen, const TcpPacket& packet) {
  std::vector<std::pair<LadderRow, std::string>> rows;
  const auto add = [&](RowKind kind, const std::string& name, std::size_t octets = 0) {
    rows.push_back({{.row_kind = kind, .at = seen.packet.at, .text = name, .frames = 1, .bytes = octets}, name});
  };
  if (packet.syn) add(RowKind::Login, packet.ack ? "SYN ACK" : "SYN");
  for (const auto& [octets, segment] : packet.segments) {
    if (segment)
      rows.emplace_back(row_of(*segment, seen.packet.at, 0, 0), to_string(segment->header.type));
    else
      add(RowKind::Abort, "VITCP malformed: " + to_string(segment.error()), octets.size());
  }
  if (packet.fin) add(RowKind::Teardown, "FIN");
  if (packet.rst) add(RowKind::Teardown, "RST");
  if (rows.empty() && !seen.packet.comments.empty())
    add(RowKind::Other, std::to_string(packet.octets) + " octets" + (packet.again ? ", again" : ""));
  return rows;
}

}  // namespace sim::capture
