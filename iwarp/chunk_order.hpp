// Chunks of one DDP Stream Session in the order of their DDP-SSN, which SCTP delivers in any (RFC 5043 5.2.1, 6.1, 10).
#pragma once
#include <map>
#include <vector>

#include "wire/iwarp/sctp/adaptation.hpp"

namespace iwarp {

/// User Data of a DATA chunk behind the DDP-SSN, and its Payload Protocol Identifier.
struct Chunk {
  std::uint32_t protocol = 0;
  std::vector<std::uint8_t> octets{};
};

/// Octets that wait for a chunk before them, of all sessions of an association. More is a peer's fault: it has SCTP
/// retransmit what is missing.
struct WaitingOctets {
  static constexpr std::size_t most = 16U << 20;
  static constexpr std::size_t of_a_chunk = 128;  // of memory besides its octets
  std::size_t count = 0;
};

class ChunkOrder {
 public:
  explicit ChunkOrder(WaitingOctets& octets) : octets_(octets) {}
  ChunkOrder(const ChunkOrder&) = delete;
  ChunkOrder& operator=(const ChunkOrder&) = delete;
  ~ChunkOrder();
  static constexpr std::size_t most_chunks = 8192;  // that wait

  enum class Place : std::uint8_t {
    next,   // it is the one that is due: to be taken now, and then take_waiting()
    early,  // kept
    wrong,  // it came already, or leaves a gap that cannot be accounted for (RFC 5043 10)
  };
  Place receive(std::uint16_t ssn, std::uint32_t protocol, wire::Bytes octets);
  /// The one that is due now, if it waits. False: none.
  bool take_waiting(Chunk& chunk);

 private:
  std::uint16_t due_ = 0;
  std::map<std::uint16_t, Chunk> waiting_;  // by DDP-SSN
  WaitingOctets& octets_;
};

}  // namespace iwarp
