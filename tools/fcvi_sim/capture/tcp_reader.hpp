// Packets of a capture that are TCP: what each is, and the VI segments that end in it. Octets that the capture does not
// have, and streams that began before it, stay unknown.
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "wire/bytes.hpp"

namespace sim::capture {

class TcpReader {
 public:
  /// "10.0.0.1:49152 > 10.0.0.2:8474 ConnectRequest length=164 ..."; empty: it is no TCP over IPv4 or IPv6. Packets
  /// come in the order of the capture.
  std::string words_of(wire::Bytes ethernet);

 private:
  /// One direction, from its SYN on.
  struct Flow {
    std::uint32_t next = 0;             // the sequence number that comes next
    bool follows = false;               // its octets are known, and are those of VI segments
    bool crc = false;                   // its ConnectRequest or ConnectAccept has the CRC option
    std::vector<std::uint8_t> segment;  // that has not ended yet
  };
  struct Packet;
  /// Takes the octets that are new; the words of VI segments that end in them.
  std::string read(Flow& flow, const Flow* other, const Packet& packet);
  std::string take_segments(Flow& flow, const Flow* other);
  Flow* find(const std::string& key) {
    const auto found = flows_.find(key);
    return found == flows_.end() ? nullptr : &found->second;
  }

  static constexpr std::size_t most_flows = 65'536;
  boost::unordered_flat_map<std::string, Flow> flows_;  // by both ends
};

}  // namespace sim::capture
