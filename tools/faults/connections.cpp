#include "tools/faults/connections.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "wire/fcvi/connect_payload.hpp"
#include "wire/fcvi/device_header.hpp"
#include "wire/header_fields.hpp"

namespace faults {
namespace fcvi = wire::fcvi;
namespace {

// Within the payload of CONNECT_RQST and RESP1. The addresses of a small frame may be cut: their first words do.
constexpr std::size_t handle_at = 8, remote_address_at = 160, address_bytes = 148,
                      least_address_bytes = 4 + 16;  // up to the discriminator

}  // namespace

Connections::Connections(const std::vector<ConnectionPoint>& points) {
  for (const ConnectionPoint& point : points) {
    const std::vector<std::uint8_t> discriminator(point.discriminator.begin(), point.discriminator.end());
    const auto address = fcvi::NetAddress::of(point.host, discriminator);
    points_.emplace(std::pair(address.host, address.discriminator), point.connection);
  }
}

std::optional<std::size_t> Connections::of(const wire::FcHeader& header, wire::Bytes data_field) {
  if (header.type != wire::Type::fc_vi || data_field.size() < sizeof(wire::FcviHandle)) return std::nullopt;
  const bool control = header.r_ctl == wire::RCtl::unsolicited_control || header.r_ctl == wire::RCtl::solicited_control;
  const auto setup = control ? of_setup(header, data_field) : std::nullopt;
  return setup ? setup : of_end(header, data_field);
}

std::optional<std::size_t> Connections::of_end(const wire::FcHeader& header, wire::Bytes data_field) {
  const std::uint64_t end = key(header.d_id, fcvi::handle_of(data_field));
  if (last_end_ == end) return last_;
  const auto found = ends_.find(end);
  last_end_ = end;
  last_ = found == ends_.end() ? std::nullopt : std::optional(found->second);
  return last_;
}

/// A frame of a set-up's Exchange; nullopt: it is of another one.
std::optional<std::size_t> Connections::of_setup(const wire::FcHeader& header, wire::Bytes data_field) {
  const bool answer = header.has(wire::f_ctl::exchange_responder);
  const std::uint64_t exchange = std::uint64_t{(answer ? header.d_id : header.s_id).value} << 16 | header.ox_id.value;
  const auto device_header = fcvi::DeviceHeader::parse(header.device_header_size(), data_field);
  if (!device_header) return std::nullopt;
  const wire::Bytes payload = data_field.subspan(device_header->size());
  const bool first = header.seq_cnt.value == 0;
  if (first && !answer && header.has(wire::f_ctl::first_sequence)) {
    setups_.erase(exchange);
    if (device_header->opcode != fcvi::Opcode::connect_rqst || payload.size() < remote_address_at + least_address_bytes)
      return std::nullopt;
    if (const auto connection = asked_for(payload.subspan(remote_address_at))) setups_[exchange] = *connection;
  }
  const auto found = setups_.find(exchange);
  if (found == setups_.end()) return std::nullopt;
  const bool tells =
      device_header->opcode == fcvi::Opcode::connect_rqst || device_header->opcode == fcvi::Opcode::connect_resp1;
  if (first && tells && payload.size() >= handle_at + sizeof(wire::FcviHandle)) {
    const wire::FcviHandle handle = fcvi::handle_of(payload.subspan(handle_at));
    if (handle != wire::FcviHandle::unassigned) ends_[key(header.s_id, handle)] = found->second;
    last_end_.reset();
  }
  return found->second;
}

/// The one point whose address begins so; all of it, where the frame has all of it.
std::optional<std::size_t> Connections::asked_for(wire::Bytes address) const {
  std::array<std::uint8_t, address_bytes> whole{};
  const std::size_t size = std::min(address.size(), whole.size());
  std::copy_n(address.begin(), size, whole.begin());
  const auto parsed = fcvi::NetAddress::parse(whole);
  if (!parsed) return std::nullopt;
  if (size == address_bytes) {
    const auto found = points_.find(std::pair(parsed->host, parsed->discriminator));
    return found == points_.end() ? std::nullopt : std::optional(found->second);
  }
  const auto begins = [&](const auto& discriminator) {
    const auto end = discriminator.begin() + static_cast<std::ptrdiff_t>(size - least_address_bytes);
    return std::equal(discriminator.begin(), end, parsed->discriminator.begin());
  };
  const auto may_be = [&](const auto& point) {
    return point.first.first == parsed->host && begins(point.first.second);
  };
  const auto found = std::ranges::find_if(points_, may_be);
  const bool only = found != points_.end() && std::find_if(std::next(found), points_.end(), may_be) == points_.end();
  return only ? std::optional(found->second) : std::nullopt;
}

}  // namespace faults
