#include "vitcp/conversions.hpp"

#include <algorithm>

namespace vitcp {
namespace vt = wire::vitcp;

vt::ReliabilityLevel to_wire(vi::ReliabilityLevel level) {
  switch (level) {
    case vi::ReliabilityLevel::UnreliableDelivery: return vt::ReliabilityLevel::unreliable;
    case vi::ReliabilityLevel::ReliableDelivery: return vt::ReliabilityLevel::reliable_delivery;
    case vi::ReliabilityLevel::ReliableReception: return vt::ReliabilityLevel::reliable_reception;
  }
  return vt::ReliabilityLevel::unreliable;
}

vi::ReliabilityLevel from_wire(vt::ReliabilityLevel level) {
  switch (level) {
    case vt::ReliabilityLevel::unreliable: return vi::ReliabilityLevel::UnreliableDelivery;
    case vt::ReliabilityLevel::reliable_delivery: return vi::ReliabilityLevel::ReliableDelivery;
    case vt::ReliabilityLevel::reliable_reception: return vi::ReliabilityLevel::ReliableReception;
  }
  return vi::ReliabilityLevel::UnreliableDelivery;
}

bool fits(const vi::NetAddress& address) { return address.discriminator_length <= vt::Discriminator::max_bytes; }

vt::Discriminator discriminator_of(const vi::NetAddress& address) {
  return vt::Discriminator::of(address.discriminator_bytes());
}

vi::NetAddress address_of(const wire::IpAddress& host, const vt::Discriminator& discriminator) {
  return vi::NetAddress::make(host, discriminator.view());
}

vt::CeHeader ce_header(const ProviderConfig& config, const vi::ViAttributes& attributes) {
  return {.level = to_wire(attributes.reliability),
          .rdma_write_enable = attributes.enable_rdma_write,
          .rdma_read_enable = attributes.enable_rdma_read,
          .descriptor_flow_control = config.descriptor_flow_control,
          .mtu_size_bytes = attributes.max_transfer_size_bytes,
          .rdma_read_window = config.rdma_read_window};
}

vi::ViAttributes attributes_of(const vt::CeHeader& ce) {
  return {.reliability = from_wire(ce.level),
          .max_transfer_size_bytes = ce.mtu_size_bytes,
          .enable_rdma_write = ce.rdma_write_enable,
          .enable_rdma_read = ce.rdma_read_enable};
}

Terms terms_of(const vt::Segment& ours, const vt::Segment& theirs) {
  Terms terms{.level = from_wire(ours.ce.level),
              .mtu_bytes = std::min(ours.ce.mtu_size_bytes, theirs.ce.mtu_size_bytes),
              .crc = ours.ce.options.crc && theirs.ce.options.crc,
              .waits_for_receives = ours.ce.descriptor_flow_control,
              .tells_receives = theirs.ce.descriptor_flow_control,
              .urgent_marks = theirs.ce.options.urgent_marker,
              .read_window = ours.ce.rdma_read_window,
              .peer_read_window = theirs.ce.rdma_read_window,
              .receives_told = ours.header.rx_descriptors_posted,
              .peer_receives_posted = theirs.header.rx_descriptors_posted,
              .first_number = ours.header.message_number,
              .peer_first_number = theirs.header.message_number,
              .peer = attributes_of(theirs.ce)};
  terms.peer.max_transfer_size_bytes = terms.mtu_bytes;
  return terms;
}

}  // namespace vitcp
