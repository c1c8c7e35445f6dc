// What a port chooses freely, and what it was in the capture: Exchange and Sequence ids, handles, FCVI_CONNECTION_IDs,
// handles of memory. Each is paired with the captured one where it is seen first.
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>
#include <vector>

#include "tools/fcvi_sim/replay/conversation.hpp"

namespace sim::replay {

class Translation {
 public:
  enum class Kind : std::uint8_t { ox_id, rx_id, seq_id, handle, connection_id, memory };
  /// A choice of the port within a frame.
  struct Choice {
    Kind kind{};
    std::size_t offset = 0, size = 0;  // in the frame
    std::uint32_t scope = 0;           // within which it is unique: of a SEQ_ID the peer; of memory that is received
                                       // the FCVI_HANDLE of the VI
  };
  struct Pair {
    Kind kind{};
    std::uint32_t scope = 0, captured = 0, now = 0;
  };

  /// Where the port's choices stand in a frame that it sent or received.
  static std::vector<Choice> choices_in(wire::Bytes frame, bool sent);

  /// A frame that the port sends now as it would be in the capture, should it be `expected`; what is new is in
  /// `learned`.
  [[nodiscard]] std::vector<std::uint8_t> to_captured(wire::Bytes now, const CapturedFrame& expected,
                                                      std::vector<Pair>& learned) const;
  /// A captured frame as the port is to receive it now.
  [[nodiscard]] std::vector<std::uint8_t> to_now(const CapturedFrame& captured) const;
  void learn(const Pair& pair);

 private:
  using Key = std::uint64_t;
  static Key key_of(Kind kind, std::uint32_t scope, std::uint32_t value) {
    const std::uint64_t within = kind == Kind::seq_id ? scope : 0;
    return std::uint64_t{static_cast<std::uint8_t>(kind)} << 60 | within << 32 | value;
  }
  static bool is_new(const Choice& choice, const CapturedFrame& expected);
  [[nodiscard]] std::optional<std::uint32_t> captured_of(const Choice& choice, std::uint32_t now,
                                                         const CapturedFrame& expected,
                                                         const std::vector<Choice>& there,
                                                         std::vector<Pair>& learned) const;
  [[nodiscard]] std::optional<std::uint32_t> now_of(const Choice& choice, std::uint32_t captured) const;

  boost::unordered_flat_map<Key, std::uint32_t> to_now_, to_captured_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> memory_;  // by FCVI_HANDLE and handle, as captured
};

}  // namespace sim::replay
