// Who is who in a capture: the ports that a ladder diagram has lanes for, and how they are called.
#pragma once
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/fcvi_sim/capture/reading.hpp"
#include "tools/fcvi_sim/picture/ladder.hpp"

namespace sim::capture {

/// Filled by a first pass over the capture, asked by a second one.
class Lanes {
 public:
  /// Any frame: what it tells of names and addresses.
  void learn(const Seen& seen);
  /// A frame that is drawn.
  void use(const Seen& seen);
  /// A lane for each port that is used: by the name of its interface, else by its N_Port_ID; with its IP address or
  /// Port_Name. Several N_Port_IDs of an interface, one after the other, are one lane.
  [[nodiscard]] Ladder make(const std::vector<Interface>& interfaces);

  struct Ends {
    wire::FcId from, to;
  };
  /// Whose lanes a frame joins: a port that logs in has the N_Port_ID that it is going to get; of FIP, whose MAC
  /// addresses they are. nullopt: neither FC nor FIP.
  [[nodiscard]] std::optional<Ends> ends_of(const Seen& seen) const;
  /// The lanes of a TCP packet, after make(): one for each address, two where both ends have the same. nullopt: its
  /// connection is none of VI over TCP.
  [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> lanes_of(const TcpPacket& packet) const;
  [[nodiscard]] bool has_comments() const { return has_comments_; }

 private:
  struct Address {
    std::uint64_t first = 0, last = 0;     // frames that are drawn; 0: none
    std::optional<std::size_t> interface;  // at which it sends
    std::string ip, port_name;
  };
  /// An end of VI/TCP connections: by its address, and where that is the other end's, too, by the port that it listens
  /// at.
  using Host = std::pair<wire::IpAddress, std::uint16_t>;
  [[nodiscard]] static std::pair<Host, Host> hosts_of(const TcpPacket& packet);
  [[nodiscard]] std::vector<Ladder::Lane> host_lanes(std::size_t first);
  void learn_names(const Seen& seen);
  void learn_fip(const Seen& seen);
  void use_id(wire::FcId id, std::uint64_t number);
  [[nodiscard]] wire::FcId id_of(const wire::MacAddress& address) const;
  /// A lane, and whose it is.
  struct Made {
    Ladder::Lane lane;
    std::size_t interface;  // no_interface: behind all that have one
    std::uint64_t last;
    std::vector<wire::FcId> ids;
  };
  static constexpr std::size_t no_interface = std::numeric_limits<std::size_t>::max();
  /// In the order of their first frames.
  [[nodiscard]] std::vector<std::pair<wire::FcId, Address>> used() const;
  void add_lane(std::vector<Made>& lanes, wire::FcId id, const Address& address,
                const std::vector<Interface>& interfaces) const;

  std::set<std::uint64_t> vitcp_connections_;        // TCP connections with a VI segment
  std::map<std::uint64_t, TcpPacket> packets_used_;  // the first that is drawn of each connection, without its octets
  std::map<Host, std::size_t> hosts_;                // their lanes
  std::map<std::uint32_t, Address> addresses_;
  std::map<std::uint64_t, wire::FcId> granted_;  // by the FLOGI's Exchange
  std::map<wire::MacAddress, wire::FcId> macs_;
  std::map<wire::MacAddress, std::pair<std::uint64_t, std::uint64_t>> macs_used_;  // by FIP: first and last frame
  bool has_comments_ = false;
};

}  // namespace sim::capture
