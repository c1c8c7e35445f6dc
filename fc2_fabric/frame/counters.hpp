// Counters of an N_Port or a switch, and every reason for which they discard a frame. An FC-4 counts here what the
// reasons name; it has others of its own (fcvi/counters.hpp).
#pragma once
#include <cstdint>
#include <string_view>

#include "fc2_fabric/frame/discard_counts.hpp"

namespace fc2 {

enum class Discard : std::uint8_t {
  Truncated,  // shorter than its headers
  BadHeader,  // a field that FC-FS does not allow
  BadCrc,
  WrongAddress,  // D_ID is not ours, or S_ID is not the port's
  NotLoggedIn,   // from a port without login
  UnknownType,   // no FC-4 for it
  UnknownExchange,
  WrongSequence,    // out of order, or without the sequence initiative
  AbortedExchange,  // its ABTS was faster (FC-FS: Recovery_Qualifier)
  TooLong,          // an IU above its limit
  NoResources,      // a table is full
  BadPayload,       // a message that does not parse
  UnexpectedIu,     // an IU that its exchange does not wait for, or its receiver
  Unroutable,       // switch: no port has that D_ID
  HeldTooLong,      // switch: the port that it goes to takes no frames, or it is too old
  PathChanged,      // switch: on a path that is none any more, where order is promised
  Count,
};
std::string_view to_string(Discard reason);

struct Counters : DiscardCounts<Discard> {
  std::uint64_t frames_received = 0;
  std::uint64_t data_bytes_received = 0;
  std::uint64_t link_failures = 0;      // the link went down, or was interrupted
  std::uint64_t unexpected_events = 0;  // a machine had no row: a defect of ours, not the peer's
  // Entries evicted from full tables: unused ones.
  std::uint64_t ports_evicted = 0, addresses_evicted = 0;
};

}  // namespace fc2
