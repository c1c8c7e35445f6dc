// Answers whoever asks about a part of a process, for the status of a service: a Unix socket in the runtime directory
// that sends one text to each client and closes.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "runtime/core_guard.hpp"
#include "runtime/drivers/runtime_directory.hpp"

namespace runtime::drivers {

/// Created and destroyed inside the core. One thread, any, runs the io_context, which outlives it as the guard does.
class StatusSocket {
 public:
  /// Called inside the core.
  using Answer = std::function<std::string()>;
  /// `kind`: what answers, for ask(); without dots.
  StatusSocket(boost::asio::io_context& io, CoreGuard& guard, const RuntimeDirectory& directory, std::string_view kind,
               Answer answer);
  /// Removes its name. After a sudden end the name stays: ask() removes it.
  ~StatusSocket();
  StatusSocket(const StatusSocket&) = delete;
  StatusSocket& operator=(const StatusSocket&) = delete;
  /// Empty: there is no socket, for lack of a descriptor or of a name.
  [[nodiscard]] const std::string& path() const;

  /// The texts of all of this kind in this directory that answer within two seconds, in the order of their names.
  /// Blocks.
  [[nodiscard]] static std::vector<std::string> ask(const RuntimeDirectory& directory, std::string_view kind);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace runtime::drivers
