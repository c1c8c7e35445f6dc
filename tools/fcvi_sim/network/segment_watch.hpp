// Who sees the segments of hosts on TCP before they are sent, and says what befalls them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/time.hpp"
#include "tools/fcvi_sim/network/stream_codec.hpp"

namespace sim {

/// A segment that a host has written, whole, before an octet of it is sent. Its octets may be changed, but for their
/// number.
struct SegmentMet : StreamSegment {
  runtime::TimeNs at = 0;
  std::size_t stream = 0;  // from 1, in the order in which they were begun
  std::size_t from = 0, to = 0;
  std::uint64_t first_octet = 0;  // its number in the direction
  std::size_t stream_octets = 0;  // that it has there
};

/// What becomes of it, and of all that its sender writes behind it.
struct SegmentFate {
  enum class Kind : std::uint8_t {
    Pass,
    Hold,     // what stands behind `octets` waits for `hold`
    Reset,    // the connection, behind `octets`
    Close,    // its receiver reads the end there
    Silence,  // nothing comes any more
  };
  Kind kind = Kind::Pass;
  std::size_t octets = 0;  // of the segment in the stream, that go on before
  runtime::TimeNs hold = runtime::never;
  bool seal = false;  // its CRCs are made right again
};

class SegmentWatch {
 public:
  /// In the order in which they are written. Called from inside the model: takes note, and calls nobody.
  virtual SegmentFate segment_met(const SegmentMet& segment) = 0;

 protected:
  ~SegmentWatch() = default;
};

}  // namespace sim
