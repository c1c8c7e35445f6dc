// What the NICs of VI over TCP of one engine share.
#pragma once
#include "streams/drivers/socket_streams.hpp"
#include "vipl/engine/engine.hpp"

namespace vipl {

/// Outlives them.
class TcpShared {
 public:
  /// Pre: the engine has sockets; a simulation's has none.
  explicit TcpShared(Engine& engine) : engine_(engine), streams_(*engine.runtime().io(), engine, engine.scheduler()) {}
  Engine& engine() { return engine_; }
  streams::drivers::SocketStreams& streams() { return streams_; }

 private:
  Engine& engine_;
  streams::drivers::SocketStreams streams_;
};

}  // namespace vipl
