// The identity of a NIC on the fabric: node name, host address, Node_Name and Port_Name.
//
// A node name makes a host: processes with one name share one address, two names on one machine are two hosts. All of
// it derives from h, the 64-bit FNV-1a hash of the short name and a zero byte (the name up to the first dot, in lower
// case; an address text is not cut):
//   address    fdfc:7669::h, a unique local address (RFC 4193)
//   Node_Name  NAA 3h (locally assigned), the lower 60 bits of h
// The Port_Name is NAA 3h too, from a hash over short name, process id, start time and NIC name: each process and NIC
// is an N_Port of its own.
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
  std::uint64_t start_time = 0;  // of the process, in clock ticks since the machine started
};
/// Reads environment, host name and /proc. Error: $FCVI_NODE is no host name.
[[nodiscard]] ConfigurationResult<ProcessFacts> read_process_facts();

struct NodeIdentity {
  std::string node_name;                   // symbolic node name (RSNN_NN), as given
  std::string host_name;                   // the system's name of this host, usually unique
  wire::Wwn node_wwn{};                    // Node_Name
  wire::Wwn port_name{};                   // Port_Name
  std::string symbolic_port_name;          // RSPN_ID: "vicp[1234] VINIC"
  std::vector<wire::IpAddress> addresses;  // at least one; the first is the NIC's
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

}  // namespace vipl
