#include "tools/fcvi_sim/capture/copies.hpp"

#include <cstdlib>

#include "wire/header_fields.hpp"

namespace sim::capture {
namespace {
std::uint64_t first_record(const Seen& seen) { return seen.same != 0 ? seen.same : seen.packet.number; }
}  // namespace

std::optional<Copies::Sent> Copies::key_of(const Seen& seen) {
  if (!seen.frame.header) return std::nullopt;
  const wire::FcHeader& header = *seen.frame.header;
  if (header.s_id == wire::well_known::unidentified || wire::is_of_fabric(header.s_id)) return std::nullopt;
  const std::uint32_t exchange = std::uint32_t{header.ox_id.value} << 16 | static_cast<std::uint8_t>(header.r_ctl);
  const std::uint32_t place = std::uint32_t{header.seq_id.value} << 16 | header.seq_cnt.value;
  return Sent{header.s_id.value, header.d_id.value, exchange, place, seen.frame.by_responder()};
}

std::optional<std::size_t> Copies::row_of(const Seen& seen) {
  if (const auto found = rows_.find(first_record(seen)); found != rows_.end()) return found->second;
  const auto key = seen.packet.direction == Direction::received ? key_of(seen) : std::nullopt;
  if (!key) return std::nullopt;
  const auto found = sent_.find(*key);
  if (found == sent_.end() || std::abs(seen.since_first - found->second.at) > longest_way) return std::nullopt;
  remember(seen, found->second.row, std::nullopt);
  return found->second.row;
}

void Copies::add(const Seen& seen, std::size_t row) {
  const auto key = seen.packet.direction == Direction::sent ? key_of(seen) : std::nullopt;
  if (key) sent_.insert_or_assign(*key, Left{row, seen.since_first});
  remember(seen, row, key);
  while (rows_.size() > remembered_anyway && seen.since_first - ages_.front().at > longest_way) forget_oldest();
}

void Copies::remember(const Seen& seen, std::size_t row, const std::optional<Sent>& sent) {
  const std::uint64_t record = first_record(seen);
  rows_.insert_or_assign(record, row);
  ages_.push_back({seen.since_first, record, sent});
}

/// Where the ids were used anew, the later frame stays.
void Copies::forget_oldest() {
  const Age& oldest = ages_.front();
  if (oldest.sent) {
    const auto found = sent_.find(*oldest.sent);
    if (found != sent_.end() && found->second.at == oldest.at) sent_.erase(found);
  }
  rows_.erase(oldest.record);
  ages_.pop_front();
}

}  // namespace sim::capture
