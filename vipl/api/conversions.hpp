// Converts between the structures of vipl.h and the types of the VI model.
#pragma once
#include <optional>

#include "vi/types.hpp"
#include "vipl/api/objects.hpp"
#include "vipl/vipl.h"

namespace vipl {

inline VIP_RETURN to_api(vi::Return result) { return static_cast<VIP_RETURN>(result); }
inline VIP_BOOLEAN to_api(bool value) { return value ? VIP_TRUE : VIP_FALSE; }

/// Bytes of a host address: VIP_NIC_ATTRIBUTES.NicAddressLen.
inline constexpr VIP_UINT16 host_address_bytes = sizeof(wire::IpAddress::bytes);

/// The host alone, without the discriminator. nullopt unless the host address has 16 bytes.
std::optional<wire::IpAddress> host_from_api(const VIP_NET_ADDRESS& address);
/// For a host address that a call fills in. Programs leave HostAddressLen at 0 (wild.md ruling 2): they have the room.
inline bool has_room_for_host(const VIP_NET_ADDRESS& address) {
  return address.HostAddressLen == 0 || address.HostAddressLen >= host_address_bytes;
}

/// Empty unless the host address has 16 bytes and the discriminator at most as many as the NIC's transport takes.
std::optional<vi::NetAddress> from_api(const NicObject& nic, const VIP_NET_ADDRESS& address);
/// Writes up to 16 + 128 bytes behind the two lengths.
void to_api(const vi::NetAddress& address, VIP_NET_ADDRESS& to);

/// The tag of a handle on this NIC: the NULL tag for NULL; nullopt if it is no tag of this NIC.
std::optional<vi::Ptag> tag_from_api(NicObject& nic, VIP_PROTECTION_HANDLE handle);
/// Checks what the model cannot check: QoS, RDMA Read support, sizes above 32 bits.
VIP_RETURN from_api(NicObject& nic, const VIP_VI_ATTRIBUTES& attributes, vi::ViAttributes& to);
VIP_VI_ATTRIBUTES to_api(const NicObject& nic, const vi::ViAttributes& attributes);
/// NULL: no tag, no RDMA (ruling 22).
VIP_RETURN from_api(NicObject& nic, const VIP_MEM_ATTRIBUTES* attributes, vi::MemoryAttributes& to);
VIP_MEM_ATTRIBUTES to_api(const NicObject& nic, const vi::MemoryAttributes& attributes);

inline std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace vipl
