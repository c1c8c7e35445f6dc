// Who sees the VI segments of hosts on TCP before they are sent, and says what befalls them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/time.hpp"
#include "wire/vitcp/segment.hpp"

namespace sim {

/// A VI segment that a host has written, whole, before an octet of it is sent.
struct SegmentMet {
  runtime::TimeNs at = 0;
  std::size_t stream = 0;  // from 1, in the order in which they were begun
  std::size_t from = 0, to = 0;
  std::uint64_t first_octet = 0;        // its number in the direction
  wire::MutableBytes octets;            // may be changed, but for their number
  const wire::vitcp::Segment& segment;  // as its sender wrote it
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
  std::size_t octets = 0;  // of the segment, that go on before
  runtime::TimeNs hold = runtime::never;
};

class SegmentWatch {
 public:
  /// In the order in which they are written. Called from inside the model: takes note, and calls nobody.
  virtual SegmentFate segment_met(const SegmentMet& segment) = 0;

 protected:
  ~SegmentWatch() = default;
};

}  // namespace sim
