#include "tools/fcvi_sim/replay/pairs.hpp"

#include <string_view>

#include "tools/fcvi_sim/capture/copies.hpp"

namespace sim::replay {
namespace {

bool is_between_ports(const wire::FcHeader& header) {
  const bool to_port = header.d_id == wire::well_known::broadcast || !wire::is_of_fabric(header.d_id);
  return header.s_id != wire::well_known::unidentified && !wire::is_of_fabric(header.s_id) && to_port;
}

std::size_t hash_of(wire::Bytes frame) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(frame.data()), frame.size()});
}

}  // namespace

Pairs::End Pairs::add(const capture::Seen& seen, const wire::FcHeader& header, wire::Bytes frame) {
  if (seen.packet.direction != capture::Direction::unknown || !is_between_ports(header)) return End::only;
  ++frames_;
  const auto [departure, is_new] = departed_.try_emplace(hash_of(frame), seen.since_first);
  if (is_new) return End::departure;
  if (seen.since_first - departure->second > capture::Copies::longest_way) {
    departure->second = seen.since_first;
    return End::departure;
  }
  departed_.erase(departure);
  ++arrivals_;
  return End::arrival;
}

}  // namespace sim::replay
