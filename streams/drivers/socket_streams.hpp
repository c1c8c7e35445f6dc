// Streams over the system's TCP sockets, IPv4 and IPv6.
#pragma once
#include <boost/asio/io_context.hpp>

#include "runtime/core_guard.hpp"
#include "runtime/drivers/descriptor.hpp"
#include "runtime/scheduler.hpp"
#include "streams/stream.hpp"

namespace streams::drivers {
class SocketSet;

/// The host's own. Sockets have TCP_NODELAY and SO_OOBINLINE (a peer's urgent mark would else remove an octet),
/// listeners SO_REUSEADDR; a listener at the unspecified address takes IPv4 and IPv6. Reading and writing are one
/// system call each, in the caller's thread. Who polls the core's inputs (CoreGuard::add_input) is told in its own
/// thread, of all streams with one system call; else the io_context's thread waits, and enters the core to tell. No
/// other end sees a child of fork() hold a stream open. mark_urgent() is always false: Linux points one octet too far,
/// whatever tcp_stdurg says (VI-TCP 3.7, ruling V-22).
class SocketStreams final : public Streams {
 public:
  /// All of them outlive it and its streams; the io_context has been stopped, or polled out, before `guard` goes.
  /// Throws boost::system::system_error: the process has too many open files.
  SocketStreams(boost::asio::io_context& io, runtime::CoreGuard& guard, runtime::Scheduler& scheduler);
  ~SocketStreams();
  SocketStreams(const SocketStreams&) = delete;
  SocketStreams& operator=(const SocketStreams&) = delete;

  std::unique_ptr<Stream> connect(const Address& to, const Address& from, StreamUser& user) override;
  boost::system::result<std::unique_ptr<Listener>, Reason> listen(const Address& at, ListenerUser& user) override;
  /// A TCP socket that somebody else accepted, as a stream as of a listener. Null: it is none.
  std::unique_ptr<Stream> adopt(runtime::drivers::Descriptor accepted);
  /// The same of one that was accepted here, non-blocking and closed on exec, from a listening_socket().
  std::unique_ptr<Stream> take(runtime::drivers::Descriptor accepted, const Address& remote);
  /// For other sockets of the core that are to be waited for together with these.
  [[nodiscard]] const std::shared_ptr<SocketSet>& sockets() const { return set_; }
  [[nodiscard]] runtime::Scheduler& scheduler() const { return scheduler_; }

 private:
  std::shared_ptr<SocketSet> set_;
  runtime::Scheduler& scheduler_;
};

}  // namespace streams::drivers
