#include "fcvi/conversions.hpp"

#include <algorithm>
#include <array>

namespace fcvi {
namespace {
using wire::fcvi::Reason;
constexpr std::array<std::uint8_t, 5> info_signature{'F', 'C', 'V', 'I', 1};
constexpr std::size_t local_length_at = 5, remote_length_at = 6;

bool has_signature(const wire::fcvi::ConnectPayload& payload) {
  return payload.connect_info &&
         std::equal(info_signature.begin(), info_signature.end(), payload.connect_info->begin());
}

vi::NetAddress from_wire(const wire::fcvi::NetAddress& address, std::optional<std::uint8_t> callers_length) {
  vi::NetAddress result;
  result.host = address.host;
  result.discriminator = address.discriminator;
  result.discriminator_length = address.discriminator_length;
  if (callers_length && *callers_length <= address.discriminator_length) result.discriminator_length = *callers_length;
  return result;
}
}  // namespace

wire::fcvi::ReliabilityLevel to_wire(vi::ReliabilityLevel level) {
  switch (level) {
    case vi::ReliabilityLevel::UnreliableDelivery: return wire::fcvi::ReliabilityLevel::unreliable_delivery;
    case vi::ReliabilityLevel::ReliableDelivery: return wire::fcvi::ReliabilityLevel::reliable_delivery;
    case vi::ReliabilityLevel::ReliableReception: return wire::fcvi::ReliabilityLevel::reliable_reception;
  }
  return wire::fcvi::ReliabilityLevel::unreliable_delivery;
}

std::optional<vi::ReliabilityLevel> from_wire(wire::fcvi::ReliabilityLevel level) {
  switch (level) {
    case wire::fcvi::ReliabilityLevel::unreliable_delivery: return vi::ReliabilityLevel::UnreliableDelivery;
    case wire::fcvi::ReliabilityLevel::reliable_delivery: return vi::ReliabilityLevel::ReliableDelivery;
    case wire::fcvi::ReliabilityLevel::reliable_reception: return vi::ReliabilityLevel::ReliableReception;
  }
  return std::nullopt;
}

wire::fcvi::Attributes to_wire(const vi::ViAttributes& attributes, std::uint32_t pipeline_depth, bool preference) {
  wire::fcvi::Attributes result;
  result.reliability_level = to_wire(attributes.reliability);
  result.rdma_write_enabled = attributes.enable_rdma_write;
  result.rdma_read_enabled = attributes.enable_rdma_read;
  result.max_transfer_size = attributes.max_transfer_size_bytes;
  result.qos.pref = preference ? wire::fcvi::Qos::preference : std::uint8_t{0};
  result.qos.pipeline_depth = pipeline_depth;
  return result;
}

std::optional<vi::ViAttributes> from_wire(const wire::fcvi::Attributes& attributes) {
  const auto level = from_wire(attributes.reliability_level);
  if (!level || (attributes.qos.pref != 0 && attributes.qos.pref != wire::fcvi::Qos::preference)) return std::nullopt;
  return vi::ViAttributes{.reliability = *level,
                          .max_transfer_size_bytes = attributes.max_transfer_size,
                          .ptag = {},
                          .enable_rdma_write = attributes.rdma_write_enabled,
                          .enable_rdma_read = attributes.rdma_read_enabled};
}

wire::fcvi::NetAddress to_wire(const vi::NetAddress& address) {
  return wire::fcvi::NetAddress::of(address.host, address.discriminator_bytes());
}

std::optional<wire::fcvi::ConnectInfo> discriminator_lengths(const vi::NetAddress& local,
                                                             const vi::NetAddress& remote) {
  constexpr auto told = wire::fcvi::NetAddress::min_discriminator_length;
  if (local.discriminator_length >= told && remote.discriminator_length >= told) return std::nullopt;
  wire::fcvi::ConnectInfo info{};
  std::copy(info_signature.begin(), info_signature.end(), info.begin());
  info[local_length_at] = local.discriminator_length;
  info[remote_length_at] = remote.discriminator_length;
  return info;
}

vi::NetAddress local_address(const wire::fcvi::ConnectPayload& payload) {
  if (!has_signature(payload)) return from_wire(payload.local_address, std::nullopt);
  return from_wire(payload.local_address, (*payload.connect_info)[local_length_at]);
}

vi::NetAddress remote_address(const wire::fcvi::ConnectPayload& payload) {
  if (!has_signature(payload)) return from_wire(payload.remote_address, std::nullopt);
  return from_wire(payload.remote_address, (*payload.connect_info)[remote_length_at]);
}

machines::connect_originator::Verdict verdict_of(const std::optional<wire::fcvi::ConnectionStatus>& status) {
  using machines::connect_originator::Verdict;
  if (!status) return Verdict::Accept;
  const Reason reason = status->reason;
  if (reason == Reason::no_discriminator_match || reason == Reason::no_waiting_remote_connectionpoint)
    return Verdict::NoMatch;
  if (reason == Reason::connect_reject_concurrent_matching_peer_requests) return Verdict::ConcurrentPeers;
  if (reason == Reason::connect_reject_transport_error) return Verdict::TransportError;
  return wire::fcvi::is_non_error_response(status->reason) ? Verdict::Reject : Verdict::OtherError;
}

machines::peer_arbitration::Resp1 arbitrated(const std::optional<wire::fcvi::ConnectionStatus>& status,
                                             machines::connect_originator::Verdict verdict) {
  using machines::peer_arbitration::Resp1;
  if (verdict == machines::connect_originator::Verdict::Accept) return Resp1::Accept;
  if (!status) return Resp1::Other;  // accepts, but with nothing to use
  switch (status->reason) {
    case Reason::no_discriminator_match: return Resp1::NoDiscriminatorMatch;
    case Reason::no_waiting_remote_connectionpoint: return Resp1::NoWaitingConnectionpoint;
    case Reason::connect_reject_concurrent_matching_peer_requests: return Resp1::ConcurrentPeers;
    case Reason::connect_reject_transport_error: return Resp1::TransportError;
    case Reason::connect_reject_protocol_error: return Resp1::ProtocolError;
    default: return Resp1::Other;
  }
}

std::optional<wire::fcvi::ConnectionStatus> status_of(machines::connect_responder::Answer answer) {
  using machines::connect_responder::Answer;
  switch (answer) {
    case Answer::Accept: return std::nullopt;
    case Answer::NoDiscriminatorMatch: return {{.reason = Reason::no_discriminator_match}};
    case Answer::NoWaitingConnectionpoint: return {{.reason = Reason::no_waiting_remote_connectionpoint}};
    case Answer::ConnectReject: return {{.reason = Reason::connect_reject}};
    case Answer::ConcurrentPeers: return {{.reason = Reason::connect_reject_concurrent_matching_peer_requests}};
    case Answer::InvalidServiceParm: return {{.reason = Reason::connect_reject_invalid_service_parm}};
    case Answer::ProtocolError: return {{.reason = Reason::connect_reject_protocol_error}};
    case Answer::TransportError: return {{.reason = Reason::connect_reject_transport_error}};
  }
  return std::nullopt;
}

}  // namespace fcvi
