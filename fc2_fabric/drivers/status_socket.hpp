// Where a process tells of its NIC whoever asks: fcvi-fabricd status. A Unix socket in the runtime directory; who
// connects gets one text, and then the end.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "runtime/core_guard.hpp"
#include "fc2_fabric/drivers/runtime_directory.hpp"

namespace fc2::drivers {

/// Made and destroyed inside the core. The io_context may run in any one thread, and outlives it as the guard does.
class StatusSocket {
 public:
  /// Called inside the core.
  using Answer = std::function<std::string()>;
  StatusSocket(boost::asio::io_context& io, runtime::CoreGuard& guard, const RuntimeDirectory& directory,
               Answer answer);
  /// Its name goes with it. After a sudden end the name stays: ask() removes it.
  ~StatusSocket();
  StatusSocket(const StatusSocket&) = delete;
  StatusSocket& operator=(const StatusSocket&) = delete;
  /// Empty: nobody can ask, for lack of a descriptor or of a name.
  [[nodiscard]] const std::string& path() const;

  /// What each process of this directory tells, in the order of the names; of those that answer within two seconds.
  /// Blocks.
  [[nodiscard]] static std::vector<std::string> ask(const RuntimeDirectory& directory);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace fc2::drivers
