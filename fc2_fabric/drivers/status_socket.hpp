// Answers fcvi-fabricd status about the NIC of a process: a Unix socket in the runtime directory that sends one text to
// each client and closes.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "runtime/core_guard.hpp"
#include "fc2_fabric/drivers/fabric_service.hpp"

namespace fc2::drivers {

/// Created and destroyed inside the core. One thread, any, runs the io_context, which outlives it as the guard does.
class StatusSocket {
 public:
  /// Called inside the core.
  using Answer = std::function<std::string()>;
  StatusSocket(boost::asio::io_context& io, runtime::CoreGuard& guard, const RuntimeDirectory& directory,
               Answer answer);
  /// Removes its name. After a sudden end the name stays: ask() removes it.
  ~StatusSocket();
  StatusSocket(const StatusSocket&) = delete;
  StatusSocket& operator=(const StatusSocket&) = delete;
  /// Empty: there is no socket, for lack of a descriptor or of a name.
  [[nodiscard]] const std::string& path() const;

  /// The texts of all processes of this directory that answer within two seconds, in the order of their names. Blocks.
  [[nodiscard]] static std::vector<std::string> ask(const RuntimeDirectory& directory);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace fc2::drivers
