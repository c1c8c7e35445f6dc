// The link of a process's N_Port to the local fabric: connects to fcvi-fabricd, starts it where nobody listens, comes
// back when it went away.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "runtime/core_guard.hpp"
#include "fc2_fabric/node/n_port.hpp"

namespace fc2::drivers {

struct LocalFabricOptions {
  std::string runtime_directory;  // empty: RuntimeDirectory::default_path()
  std::string service_program;    // empty: find_service_program()
  std::string process_name;       // for people; empty: the program's own
  bool start_service = true;
  int service_idle_seconds = 30;       // told to a service that we start: how long it stays without a link
  TimeNs connect_limit = 10 * second;  // without a link so long: Unreachable is told
};

enum class LinkState : std::uint8_t { Up, Down, Unreachable };
std::string_view to_string(LinkState state);

/// Told inside the core. `reason`, for people, says why where the state is not Up.
class LinkListener {
 public:
  virtual void link_changed(LinkState state, const std::string& reason) = 0;

 protected:
  ~LinkListener() = default;
};

/// Made, used and destroyed inside the core; nothing here blocks. The port's link goes down with it, and at once when
/// the service dies; then it tries again for as long as it lives. io_context, guard and port outlive it; the io_context
/// may run in any one thread.
class LocalFabricLink {
 public:
  LocalFabricLink(NPort& port, boost::asio::io_context& io, runtime::CoreGuard& guard, LocalFabricOptions options = {},
                  LinkListener* listener = nullptr);
  ~LocalFabricLink();
  LocalFabricLink(const LocalFabricLink&) = delete;
  LocalFabricLink& operator=(const LocalFabricLink&) = delete;

  [[nodiscard]] bool up() const;
  /// Why there is no link; empty while it is up, and before the first try failed.
  [[nodiscard]] const std::string& trouble() const;
  /// For the end of the process, which does not wait for the link's handlers: returns when what the port sent is in the
  /// socket, or after `limit`.
  void drain(std::chrono::milliseconds limit);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace fc2::drivers
