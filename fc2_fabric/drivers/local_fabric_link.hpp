// The link of a process's N_Port to the local fabric: connects to fcvi-fabricd, starts it if nobody listens, and
// reconnects after it has ended.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "fc2_fabric/node/n_port.hpp"
#include "runtime/core_guard.hpp"
#include "runtime/drivers/doorbell.hpp"

namespace fc2::drivers {

struct LocalFabricOptions {
  std::string runtime_directory;  // empty: RuntimeDirectory::default_path()
  std::string service_program;    // empty: find_service_program()
  std::string process_name;       // for people; empty: the program's own
  bool start_service = true;
  int service_idle_seconds = 30;       // passed to a service that we start: how long it stays without a link
  TimeNs connect_limit = 10 * second;  // after so long without a link the listener gets Unreachable
  /// Of this process: with it, frames to and from other processes go through memory. It outlives the link. Whoever
  /// waits for input must wait for it, too.
  runtime::drivers::Doorbell* doorbell = nullptr;
};

enum class LinkState : std::uint8_t { Up, Down, Unreachable };
std::string_view to_string(LinkState state);

/// Called inside the core. `reason`, for people, tells why the state is not Up.
class LinkListener {
 public:
  virtual void link_changed(LinkState state, const std::string& reason) = 0;

 protected:
  ~LinkListener() = default;
};

/// Created, used and destroyed inside the core; never blocks. When the service dies, the port's link goes down at once
/// and it tries to connect again as long as it lives. Destroying it takes the port's link down. io_context, guard and
/// port outlive it; one thread, any, runs the io_context.
class LocalFabricLink {
 public:
  LocalFabricLink(NPort& port, boost::asio::io_context& io, runtime::CoreGuard& guard, LocalFabricOptions options = {},
                  LinkListener* listener = nullptr);
  ~LocalFabricLink();
  LocalFabricLink(const LocalFabricLink&) = delete;
  LocalFabricLink& operator=(const LocalFabricLink&) = delete;

  [[nodiscard]] bool up() const;
  /// Why there is no link; empty while it is up, and before the first attempt failed.
  [[nodiscard]] const std::string& trouble() const;
  /// Ports of other processes to which frames go through memory.
  [[nodiscard]] std::size_t direct_paths() const;
  /// For the end of the process, which does not wait for the link's handlers: returns when the port's frames are in the
  /// socket, or after `limit`.
  void drain(std::chrono::milliseconds limit);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace fc2::drivers
