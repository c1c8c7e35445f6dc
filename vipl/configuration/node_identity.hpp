// The identity of a NIC on its network: node name and host address, whatever the transport; and the numbers that a
// transport makes names of its own from.
//
// A node name makes a host: processes with one name share one address, two names on one machine are two hosts. All of
// it derives from h, the 64-bit FNV-1a hash of the short name and a zero byte (the name up to the first dot, in lower
// case; an address text is not cut):
//   address    fdfc:7669::h, a unique local address (RFC 4193); of a NIC of VI over TCP those of the host's interfaces
// Another hash, over short name, process id, start time and NIC name, tells this process's NIC from every other.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vipl/configuration/configuration.hpp"
#include "wire/types.hpp"

namespace vipl {

/// What distinguishes this process from others.
struct ProcessFacts {
  std::string node_name;  // $FCVI_NODE, else host_name
  std::string host_name;  // gethostname()
  std::string program;    // "vicp"
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;                      // of the process, in clock ticks since the machine started
  std::vector<wire::IpAddress> host_addresses = {};  // of its interfaces (host_addresses.hpp)
};
/// Reads environment, host name, interfaces and /proc. Error: $FCVI_NODE is no host name.
[[nodiscard]] ConfigurationResult<ProcessFacts> read_process_facts();

struct NodeIdentity {
  std::string node_name;                   // as given
  std::string host_name;                   // the system's name of this host, usually unique
  std::string nic_of_process;              // for people: "vicp[1234] VINIC"
  std::vector<wire::IpAddress> addresses;  // at least one; the first is the NIC's
  std::uint64_t node_hash = 0;             // the same for all NICs of the node, in all processes
  std::uint64_t nic_hash = 0;              // of this NIC in this process
};
/// Settings that the configuration leaves open are derived from the process.
[[nodiscard]] NodeIdentity derive(const NicConfiguration& nic, const ProcessFacts& process);

/// "node1" of "Node1.example.org"; "10.0.0.1" and "fd00::1" stay whole.
[[nodiscard]] std::string short_name(std::string_view node_name);
/// fdfc:7669::/64 with the hash of the short name.
[[nodiscard]] wire::IpAddress default_address(std::string_view node_name);
/// Within fdfc:7669::/64: an address that default_address() could return.
[[nodiscard]] bool is_default_address(const wire::IpAddress& address);
/// 1 to 255 letters (ASCII), digits, '.', '-', '_' and ':', not beginning with '.'.
[[nodiscard]] bool is_node_name(std::string_view text);

/// Whether a requested name means a host known by another name: Exact if only the letter case differs; Short if only
/// one of the two has a domain, as "node1" and "Node1.example.org".
enum class NameMatch : std::uint8_t { None, Short, Exact };
[[nodiscard]] NameMatch match(std::string_view asked, std::string_view known);

/// An address that a host on a fabric can have: not unspecified, loopback or multicast.
[[nodiscard]] bool is_host_address(const wire::IpAddress& address);
/// 127.0.0.0/8, ::1: a host's own, whichever host it is.
[[nodiscard]] bool is_loopback_address(const wire::IpAddress& address);
/// One that another host can have, as a NIC with these addresses sees it: where its first is a loopback address, others
/// of that kind are.
[[nodiscard]] bool is_reachable(const wire::IpAddress& address, const std::vector<wire::IpAddress>& own_addresses);

}  // namespace vipl
