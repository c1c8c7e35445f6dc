#include "tools/faults/connections.hpp"

#include "wire/fcvi/connect_resp1.hpp"
#include "wire/header_fields.hpp"

namespace faults {
namespace fcvi = wire::fcvi;

static std::string discriminator_of(const fcvi::NetAddress& address) {
  return {address.discriminator.begin(), address.discriminator.end()};
}

Connections::Connections(const std::vector<std::string>& discriminators) {
  for (std::size_t i = 0; i < discriminators.size(); ++i) {
    std::string padded = discriminators[i];
    padded.resize(fcvi::NetAddress{}.discriminator.size());
    servers_.emplace(std::move(padded), i);
  }
}

std::optional<std::size_t> Connections::of(const wire::FcHeader& header, wire::Bytes data_field, bool first) {
  if (header.type != wire::Type::fc_vi || data_field.size() < sizeof(wire::FcviHandle)) return std::nullopt;
  if (first)
    if (const auto connection = set_up_by(header, data_field)) return connection;
  const std::uint64_t end = key(header.d_id, fcvi::handle_of(data_field));
  if (last_end_ == end) return last_;
  const auto found = ends_.find(end);
  last_end_ = end;
  last_ = found == ends_.end() ? std::nullopt : std::optional(found->second);
  return last_;
}

std::optional<std::size_t> Connections::set_up_by(const wire::FcHeader& header, wire::Bytes data_field) {
  const std::size_t size = header.device_header_size();
  if (const auto rqst = fcvi::ConnectRqst::parse(size, data_field))
    return learn(header.s_id, rqst->payload, rqst->payload.remote_address);
  if (const auto resp = fcvi::ConnectResp1::parse(size, data_field))
    return learn(header.s_id, resp->payload, resp->payload.local_address);
  return std::nullopt;
}

std::optional<std::size_t> Connections::learn(wire::FcId port, const fcvi::ConnectPayload& payload,
                                              const fcvi::NetAddress& server) {
  last_end_.reset();
  const auto found = servers_.find(discriminator_of(server));
  if (found == servers_.end()) return std::nullopt;
  if (payload.handle != wire::FcviHandle::unassigned) ends_[key(port, payload.handle)] = found->second;
  return found->second;
}

}  // namespace faults
