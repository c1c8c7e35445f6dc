// The edge of one part of a fabric: what its switches send to those of other parts, and get from them.
#pragma once
#include "tools/fcvi_sim/parts/byte_stream.hpp"
#include "tools/fcvi_sim/parts/outbox.hpp"

namespace sim {

class Boundary {
 public:
  virtual ~Boundary() = default;
  Boundary(const Boundary&) = delete;
  Boundary& operator=(const Boundary&) = delete;
  /// From now on what is for other parts goes into `outbox`, which outlives it. Until then it gets lost.
  virtual void open(Outbox& outbox) = 0;
  /// The rest of a message of that kind from another part. Between events; it concerns no time that is over.
  virtual void deliver(MessageKind kind, ByteReader& message) = 0;

 protected:
  Boundary() = default;
};

}  // namespace sim
