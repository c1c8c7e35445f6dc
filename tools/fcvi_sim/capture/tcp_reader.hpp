// Packets of a capture that are TCP: what each is, and the VI segments that end in it. Octets that the capture does not
// have, and streams that began before it, stay unknown.
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/types.hpp"
#include "wire/vitcp/segment.hpp"

namespace sim::capture {

/// A TCP segment of a capture.
struct TcpPacket {
  struct End {
    wire::IpAddress ip{};
    std::uint16_t port = 0;
    friend auto operator<=>(const End&, const End&) = default;
  };
  /// A VI segment that ends in it.
  struct Vi {
    std::vector<std::uint8_t> octets;
    wire::Result<wire::vitcp::Segment> segment;  // its views refer to them
  };
  End from{}, to{};
  std::uint64_t connection = 0;  // from 1, in the order of their first packets
  bool by_connector = false;     // who began it; where the capture has no SYN: who has the greater port
  bool syn = false, fin = false, rst = false, ack = false;
  std::size_t octets = 0;
  bool again = false;  // all of it was seen before
  std::vector<Vi> segments{};
};
/// "10.0.0.1:49152", "[fd00::1]:8474"
[[nodiscard]] std::string to_string(const TcpPacket::End& end);
/// "SYN", "FIN RST"; without ACK.
[[nodiscard]] std::string flag_words(const TcpPacket& packet);
/// "10.0.0.1:49152 > 10.0.0.2:8474 164 octets: ConnectRequest length=164 ..."
[[nodiscard]] std::string to_string(const TcpPacket& packet);

class TcpReader {
 public:
  /// Nothing: it is no TCP over IPv4 or IPv6. Packets come in the order of the capture.
  std::optional<TcpPacket> read(wire::Bytes ethernet);
  /// So far: the number of the latest.
  [[nodiscard]] std::uint64_t connections() const { return connections_; }

 private:
  /// One direction, from its SYN on.
  struct Flow {
    std::uint32_t next = 0;             // the sequence number that comes next
    bool follows = false;               // its octets are known, and are those of VI segments
    bool crc = false;                   // its ConnectRequest or ConnectAccept has the CRC option
    std::vector<std::uint8_t> segment;  // that has not ended yet
    std::uint64_t connection = 0;       // 0: it was not seen
    bool by_connector = false;
  };
  using Ends = std::pair<TcpPacket::End, TcpPacket::End>;
  struct Content;
  void begin(const Content& content, TcpPacket& packet);
  void belong(TcpPacket& packet);
  /// Takes the octets that are new, and the VI segments that end in them.
  void take(Flow& flow, const Flow* other, const Content& content, TcpPacket& packet);
  static void take_segments(Flow& flow, const Flow* other, TcpPacket& packet);
  Flow* find(const Ends& key) {
    const auto found = flows_.find(key);
    return found == flows_.end() ? nullptr : &found->second;
  }

  static constexpr std::size_t most_flows = 65'536;
  struct Hash {
    std::size_t operator()(const Ends& ends) const;
  };
  boost::unordered_flat_map<Ends, Flow, Hash> flows_;
  std::uint64_t connections_ = 0;
};

}  // namespace sim::capture
