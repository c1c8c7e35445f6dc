#include "tools/fcvi_sim/capture/copies.hpp"

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
  if (found == sent_.end()) return std::nullopt;
  rows_.emplace(first_record(seen), found->second);
  return found->second;
}

void Copies::add(const Seen& seen, std::size_t row) {
  rows_.insert_or_assign(first_record(seen), row);
  if (seen.packet.direction != Direction::sent) return;
  if (const auto key = key_of(seen)) sent_.insert_or_assign(*key, row);
}

}  // namespace sim::capture
