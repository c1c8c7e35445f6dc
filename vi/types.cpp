#include "vi/types.hpp"

#include <algorithm>

namespace vi {

std::string_view to_string(Return value) {
  switch (value) {
    case Return::Success: return "Success";
    case Return::NotDone: return "NotDone";
    case Return::InvalidParameter: return "InvalidParameter";
    case Return::ErrorResource: return "ErrorResource";
    case Return::Timeout: return "Timeout";
    case Return::Reject: return "Reject";
    case Return::InvalidReliabilityLevel: return "InvalidReliabilityLevel";
    case Return::InvalidMtu: return "InvalidMtu";
    case Return::InvalidQos: return "InvalidQos";
    case Return::InvalidPtag: return "InvalidPtag";
    case Return::InvalidRdmaRead: return "InvalidRdmaRead";
    case Return::DescriptorError: return "DescriptorError";
    case Return::InvalidState: return "InvalidState";
    case Return::ErrorNameservice: return "ErrorNameservice";
    case Return::NoMatch: return "NoMatch";
    case Return::NotReachable: return "NotReachable";
  }
  return "?";
}

std::string_view to_string(ReliabilityLevel value) {
  switch (value) {
    case ReliabilityLevel::UnreliableDelivery: return "Unreliable Delivery";
    case ReliabilityLevel::ReliableDelivery: return "Reliable Delivery";
    case ReliabilityLevel::ReliableReception: return "Reliable Reception";
  }
  return "?";
}

std::string_view to_string(State value) {
  switch (value) {
    case State::Idle: return "Idle";
    case State::Connected: return "Connected";
    case State::ConnectPending: return "Pending Connect";
    case State::Error: return "Error";
  }
  return "?";
}

std::string_view to_string(ErrorCode value) {
  switch (value) {
    case ErrorCode::PostDesc: return "Post Descriptor Error";
    case ErrorCode::ConnLost: return "Connection Lost";
    case ErrorCode::RecvQEmpty: return "Receive Queue Empty";
    case ErrorCode::ViOverrun: return "VI Overrun";
    case ErrorCode::RdmaWProt: return "RDMA Write Protection Error";
    case ErrorCode::RdmaWData: return "RDMA Write Data Error";
    case ErrorCode::RdmaWAbort: return "RDMA Write Packet Abort";
    case ErrorCode::RdmaRProt: return "RDMA Read Protection Error";
    case ErrorCode::CompProt: return "Completion Protection Error";
    case ErrorCode::RdmaTransport: return "RDMA Transport Error";
    case ErrorCode::Catastrophic: return "Catastrophic Error";
  }
  return "?";
}

std::string_view to_string(ResourceCode value) {
  switch (value) {
    case ResourceCode::Nic: return "NIC";
    case ResourceCode::Vi: return "VI";
    case ResourceCode::Cq: return "Completion Queue";
    case ResourceCode::Descriptor: return "Descriptor";
  }
  return "?";
}

NetAddress NetAddress::make(const wire::IpAddress& host, std::span<const std::uint8_t> discriminator) {
  NetAddress address;
  address.host = host;
  const std::size_t length = std::min(discriminator.size(), max_discriminator_bytes);
  address.discriminator_length = static_cast<std::uint8_t>(length);
  std::copy_n(discriminator.begin(), length, address.discriminator.begin());
  return address;
}

Return conflict_between(const ViAttributes& ours, const ViAttributes& theirs) {
  if (ours.reliability != theirs.reliability) return Return::InvalidReliabilityLevel;
  return ours.max_transfer_size_bytes != theirs.max_transfer_size_bytes ? Return::InvalidMtu : Return::Success;
}

}  // namespace vi
