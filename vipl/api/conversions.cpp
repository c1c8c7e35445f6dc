#include "vipl/api/conversions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>

namespace vipl {
namespace {

// HostAddress is declared with one byte and has as many as the two lengths say (VI-DG 4.9).
const VIP_UINT8* variable_part(const VIP_NET_ADDRESS& address) {
  return static_cast<const VIP_UINT8*>(static_cast<const void*>(&address)) + offsetof(VIP_NET_ADDRESS, HostAddress);
}
VIP_UINT8* variable_part(VIP_NET_ADDRESS& address) {
  return static_cast<VIP_UINT8*>(static_cast<void*>(&address)) + offsetof(VIP_NET_ADDRESS, HostAddress);
}

// As VI-DG 3.2.1 says: which levels can do it is in VIP_NIC_ATTRIBUTES.RDMAReadSupport.
bool asks_for_impossible_read(const vi::Capabilities& transport, const VIP_VI_ATTRIBUTES& attributes) {
  const auto level = static_cast<vi::ReliabilityLevels>(attributes.ReliabilityLevel);
  if (!std::has_single_bit(attributes.ReliabilityLevel)) return false;  // no level at all: told as such
  return attributes.EnableRdmaRead != VIP_FALSE && (level & transport.levels & ~transport.rdma_read_levels) != 0;
}

}  // namespace

std::optional<wire::IpAddress> host_from_api(const VIP_NET_ADDRESS& address) {
  if (address.HostAddressLen != host_address_bytes) return std::nullopt;
  wire::IpAddress host;
  std::memcpy(host.bytes.data(), variable_part(address), host_address_bytes);
  return host;
}

std::optional<vi::NetAddress> from_api(const NicObject& nic, const VIP_NET_ADDRESS& address) {
  const auto host = host_from_api(address);
  if (!host || address.DiscriminatorLen > nic.model().capabilities().max_discriminator_bytes) return std::nullopt;
  return vi::NetAddress::make(*host, std::span(variable_part(address) + host_address_bytes, address.DiscriminatorLen));
}

void to_api(const vi::NetAddress& address, VIP_NET_ADDRESS& to) {
  to.HostAddressLen = host_address_bytes;
  to.DiscriminatorLen = address.discriminator_length;
  VIP_UINT8* bytes = variable_part(to);
  std::memcpy(bytes, address.host.bytes.data(), host_address_bytes);
  std::memcpy(bytes + host_address_bytes, address.discriminator.data(), address.discriminator_length);
}

std::optional<vi::Ptag> tag_from_api(NicObject& nic, VIP_PROTECTION_HANDLE handle) {
  if (handle == nullptr) return vi::Ptag{};
  const TagObject* tag = nic.domain().find<TagObject>(handle);
  return tag != nullptr && tag->nic == &nic ? std::optional(tag->tag) : std::nullopt;
}

VIP_RETURN from_api(NicObject& nic, const VIP_VI_ATTRIBUTES& attributes, vi::ViAttributes& to) {
  const auto tag = tag_from_api(nic, attributes.Ptag);
  if (attributes.MaxTransferSize > std::numeric_limits<std::uint32_t>::max()) return VIP_INVALID_MTU;
  if (attributes.QoS != nullptr) return VIP_INVALID_QOS;
  if (!tag) return VIP_INVALID_PTAG;
  if (asks_for_impossible_read(nic.model().capabilities(), attributes)) return VIP_INVALID_RDMAREAD;
  to.reliability = vi::ReliabilityLevel{attributes.ReliabilityLevel};
  to.max_transfer_size_bytes = static_cast<std::uint32_t>(attributes.MaxTransferSize);
  to.ptag = *tag;
  to.enable_rdma_write = attributes.EnableRdmaWrite != VIP_FALSE;
  to.enable_rdma_read = attributes.EnableRdmaRead != VIP_FALSE;
  return VIP_SUCCESS;
}

VIP_VI_ATTRIBUTES to_api(const NicObject& nic, const vi::ViAttributes& attributes) {
  VIP_VI_ATTRIBUTES result{};
  result.ReliabilityLevel = static_cast<VIP_RELIABILITY_LEVEL>(attributes.reliability);
  result.MaxTransferSize = attributes.max_transfer_size_bytes;
  result.Ptag = nic.handle_of(attributes.ptag);
  result.EnableRdmaWrite = to_api(attributes.enable_rdma_write);
  result.EnableRdmaRead = to_api(attributes.enable_rdma_read);
  return result;
}

VIP_RETURN from_api(NicObject& nic, const VIP_MEM_ATTRIBUTES* attributes, vi::MemoryAttributes& to) {
  to = {};
  if (attributes == nullptr) return VIP_SUCCESS;
  const auto tag = tag_from_api(nic, attributes->Ptag);
  if (!tag) return VIP_INVALID_PTAG;
  to.ptag = *tag;
  to.enable_rdma_write = attributes->EnableRdmaWrite != VIP_FALSE;
  to.enable_rdma_read = attributes->EnableRdmaRead != VIP_FALSE;
  return VIP_SUCCESS;
}

VIP_MEM_ATTRIBUTES to_api(const NicObject& nic, const vi::MemoryAttributes& attributes) {
  VIP_MEM_ATTRIBUTES result{};
  result.Ptag = nic.handle_of(attributes.ptag);
  result.EnableRdmaWrite = to_api(attributes.enable_rdma_write);
  result.EnableRdmaRead = to_api(attributes.enable_rdma_read);
  return result;
}

}  // namespace vipl
