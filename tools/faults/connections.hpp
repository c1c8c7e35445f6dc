// Which connection an FC-VI frame belongs to, as somebody on the wire can tell.
#pragma once
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/codec.hpp"
#include "wire/fc_header.hpp"
#include "wire/fcvi/net_address.hpp"

namespace faults {

/// Where a server waits. Peers both wait, each at its own address.
struct ConnectionPoint {
  wire::IpAddress host = {};
  std::string discriminator = {};  // at most 128 bytes
  std::size_t connection = 0;
};

/// CONNECT_RQST tells whom a set-up is for, and its Exchange has all that follows of the set-up; CONNECT_RQST and
/// CONNECT_RESP1 tell by which FCVI_HANDLE each end is reached from then on. Sees each frame that it is asked for, in
/// the order in which they are sent.
class Connections {
 public:
  explicit Connections(const std::vector<ConnectionPoint>& points);
  /// nullopt: none of these connections, or it does not say.
  std::optional<std::size_t> of(const wire::FcHeader& header, wire::Bytes data_field);

 private:
  /// An end of a connection: who holds that FCVI_HANDLE.
  static std::uint64_t key(wire::FcId port, wire::FcviHandle handle) {
    return std::uint64_t{port.value} << 32 | handle.value;
  }
  std::optional<std::size_t> of_setup(const wire::FcHeader& header, wire::Bytes data_field);
  std::optional<std::size_t> of_end(const wire::FcHeader& header, wire::Bytes data_field);
  [[nodiscard]] std::optional<std::size_t> asked_for(wire::Bytes address) const;

  /// By host and padded discriminator.
  std::map<std::pair<wire::IpAddress, std::array<std::uint8_t, 128>>, std::size_t> points_;
  boost::unordered_flat_map<std::uint64_t, std::size_t> setups_;  // by originator's N_Port_ID and OX_ID
  boost::unordered_flat_map<std::uint64_t, std::size_t> ends_;
  // What was found there last: frames of a message follow one another.
  std::optional<std::uint64_t> last_end_;
  std::optional<std::size_t> last_;
};

}  // namespace faults
