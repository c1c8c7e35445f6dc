// Which connection an FC-VI frame belongs to, as somebody on the wire can tell.
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/codec.hpp"
#include "wire/fc_header.hpp"
#include "wire/fcvi/connect_rqst.hpp"

namespace faults {

/// CONNECT_RQST and CONNECT_RESP1 tell which discriminator is set up, and by which FCVI_HANDLE each end is reached from
/// then on. Sees each frame that it is asked for, in the order in which they are sent.
class Connections {
 public:
  /// A connection for each discriminator that a server waits with, by its position. At most 128 bytes each.
  explicit Connections(const std::vector<std::string>& discriminators);
  /// `first`: the first frame of its sequence. nullopt: none of these connections, or it does not say.
  std::optional<std::size_t> of(const wire::FcHeader& header, wire::Bytes data_field, bool first);

 private:
  /// An end of a connection: who holds that FCVI_HANDLE.
  static std::uint64_t key(wire::FcId port, wire::FcviHandle handle) {
    return std::uint64_t{port.value} << 32 | handle.value;
  }
  std::optional<std::size_t> set_up_by(const wire::FcHeader& header, wire::Bytes data_field);
  std::optional<std::size_t> learn(wire::FcId port, const wire::fcvi::ConnectPayload& payload,
                                   const wire::fcvi::NetAddress& server);

  std::map<std::string, std::size_t, std::less<>> servers_;  // by padded discriminator
  boost::unordered_flat_map<std::uint64_t, std::size_t> ends_;
  // What was found there last: frames of a message follow one another.
  std::optional<std::uint64_t> last_end_;
  std::optional<std::size_t> last_;
};

}  // namespace faults
