#include "tools/fcvi_sim/replay/pairs.hpp"

#include <string_view>
#include <utility>

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

void Pairs::note_login(const wire::FcHeader& header) {
  if (header.s_id == wire::well_known::f_port && header.r_ctl == wire::RCtl::els_reply) ++logins_[header.d_id.value];
}

std::uint64_t Pairs::logins_of(const wire::FcHeader& header) const {
  const auto of = [this](wire::FcId id) {
    const auto found = logins_.find(id.value);
    return found == logins_.end() ? std::uint64_t{0} : found->second;
  };
  return of(header.s_id) << 32 | of(header.d_id);
}

Pairs::Ids Pairs::ids_of(const wire::FcHeader& header) const {
  const std::uint64_t responder = header.has(wire::f_ctl::exchange_responder) ? 1 : 0;
  const std::uint64_t place = std::uint64_t{header.ox_id.value} << 48 | std::uint64_t{header.seq_cnt.value} << 32 |
                              std::uint64_t{header.seq_id.value} << 16 | static_cast<std::uint8_t>(header.r_ctl) << 8 |
                              responder;
  return {header.s_id.value, header.d_id.value, place, logins_of(header)};
}

Pairs::End Pairs::add(const capture::Seen& seen, const wire::FcHeader& header, wire::Bytes frame) {
  if (seen.packet.direction != capture::Direction::unknown) return End::only;
  note_login(header);
  if (!is_between_ports(header)) return End::only;
  ++frames_;
  const std::size_t hash = hash_of(frame);
  const Ids ids = ids_of(header);
  const std::uint64_t logins = std::get<3>(ids);
  const auto is_recent = [&](std::size_t of) {
    const auto found = left_.find(of);
    return found != left_.end() && seen.since_first - found->second.at <= longest_way_ &&
           (found->second.logins == logins || !found->second.arrived);
  };
  const auto waiting = on_their_way_.find(ids);
  const bool is_changed = waiting != on_their_way_.end() && waiting->second != hash && is_recent(waiting->second);
  if (!is_recent(hash) && !is_changed) {
    left_[hash] = {seen.since_first, logins, false};
    on_their_way_[ids] = hash;
    return End::departure;
  }
  const std::size_t of = is_changed ? waiting->second : hash;
  late_ = late_ || seen.since_first - left_[of].at >= soonest_again;
  if (waiting != on_their_way_.end()) on_their_way_.erase(waiting);
  if (is_changed) left_[hash] = {seen.since_first, logins, false};
  ++arrivals_;
  const bool again = std::exchange(left_[hash].arrived, true);
  return again && header.d_id == wire::well_known::broadcast ? End::elsewhere : End::arrival;
}

}  // namespace sim::replay
