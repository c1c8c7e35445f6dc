// A process's part of the port that all processes of a user share: it says which ConnectRequests it waits for, and gets
// their streams. The service that holds the port is started when it is needed, and started again when it ended.
#pragma once
#include <boost/asio/io_context.hpp>

#include <memory>
#include <string>

#include "runtime/core_guard.hpp"
#include "streams/drivers/socket_streams.hpp"
#include "vitcp/port_service/waiters.hpp"

namespace vitcp::drivers {
using port_service::WaitId;
using port_service::Wanted;

struct PortClientOptions {
  streams::Address listen{};        // where the service listens; port 0 cannot be shared
  std::string runtime_directory{};  // empty: RuntimeDirectory::default_path()
  std::string service_program{};    // empty: found, see port_program()
  std::string process_name{};       // for people; empty: the program's own
  bool start_service = true;
  // Passed to a service that we start:
  int service_idle_seconds = 30;                         // how long it stays without a process
  std::size_t half_open = 256;                           // PortLimits
  runtime::TimeNs request_time = 10 * runtime::second;   // the same; whole milliseconds
  runtime::TimeNs connect_limit = 10 * runtime::second;  // after so long without a service the user hears of it
};

/// Told inside the core, one notice at a time; may call the client, or destroy it.
class PortUser {
 public:
  /// The ConnectRequest of that wait has come, and the wait is over. Nothing of the stream was read: it begins with the
  /// request.
  virtual void handed_over(WaitId id, std::unique_ptr<streams::Stream> stream) = 0;
  /// Whether the port listens, so far as is known; if not, `trouble` says why, and what can be done.
  virtual void port_changed(bool listens, const std::string& trouble) = 0;

 protected:
  ~PortUser() = default;
};

/// Created, used and destroyed inside the core; never blocks. io_context, guard, scheduler, streams and user outlive
/// it; one thread, any, runs the io_context. What waits goes on waiting across an end of the service, which is told to
/// nobody: connections that are set up meanwhile stay in the system's queue, since each process keeps a copy of the
/// listening socket. Streams that were handed over have nothing to do with the service.
class PortClient {
 public:
  PortClient(boost::asio::io_context& io, runtime::CoreGuard& guard, streams::drivers::SocketStreams& streams,
             PortClientOptions options, PortUser& user);
  ~PortClient();
  PortClient(const PortClient&) = delete;
  PortClient& operator=(const PortClient&) = delete;

  /// Of several that wait for the same, the one that came first is first. Its number is that of no other as long as it
  /// waits.
  [[nodiscard]] WaitId wait(const Wanted& wanted);
  /// What was on its way goes to the next that waits. No effect where the wait is over.
  void cancel(WaitId id);
  [[nodiscard]] bool listens() const;
  /// Why the port does not listen; empty: it does, or that is not known yet.
  [[nodiscard]] const std::string& trouble() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace vitcp::drivers
