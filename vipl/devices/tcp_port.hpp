// How streams that others set up come to a NIC of VI over TCP.
#pragma once
#include <memory>
#include <string>

#include "streams/stream.hpp"
#include "vitcp/wait_book.hpp"

namespace vipl {

/// Told inside the engine.
class TcpPortUser {
 public:
  /// A stream whose ConnectRequest the NIC waits for. Nothing of it was read.
  virtual void stream_came(std::unique_ptr<streams::Stream> stream) = 0;
  /// A stream of which nobody has seen anything, nor limited how many there are.
  virtual void stream_accepted(std::unique_ptr<streams::Stream> stream) = 0;
  /// listens() or trouble() is another now.
  virtual void port_changed() = 0;

 protected:
  ~TcpPortUser() = default;
};

/// Made, used and destroyed inside the engine. Is told what the NIC waits for.
class TcpPort : public vitcp::WaitListener {
 public:
  TcpPort() = default;
  virtual ~TcpPort() = default;
  TcpPort(const TcpPort&) = delete;
  TcpPort& operator=(const TcpPort&) = delete;

  /// Others can set up streams, so far as is known.
  [[nodiscard]] virtual bool listens() const = 0;
  /// Why it never will. Empty: it may.
  [[nodiscard]] virtual std::string failure() const { return {}; }
  /// For people: why it does not, and what can be done. Empty: nothing is known.
  [[nodiscard]] virtual std::string trouble() const { return {}; }
};

}  // namespace vipl
