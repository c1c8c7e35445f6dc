// The commands: ask the running service, and wait for its answer.
#pragma once
#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "fc2_fabric/drivers/link_records.hpp"
#include "fc2_fabric/drivers/runtime_directory.hpp"
#include "tools/fabricd/capture_request.hpp"

namespace fabricd {

/// One blocking connection to the service.
class ControlClient {
 public:
  ControlClient() = default;
  ~ControlClient();
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  /// False: error(); nobody_listens() if no service runs.
  bool connect(const fc2::drivers::RuntimeDirectory& directory);
  bool send(fc2::drivers::RecordKind kind, std::span<const std::uint8_t> body);
  bool request(std::string_view word);
  struct Record {
    fc2::drivers::RecordKind kind{};
    std::string body;
  };
  /// From now on SIGINT and SIGTERM interrupt receive(), whenever they come, and have no other effect.
  void be_interruptible();
  /// The next record; nullopt: error(), or interrupted() before any of it had come.
  std::optional<Record> receive();
  /// Collects Reply records until Done. False: error().
  bool receive_answer(std::string& answer);
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] bool nobody_listens() const { return nobody_listens_; }
  [[nodiscard]] bool interrupted() const { return interrupted_; }

 private:
  bool read(std::span<std::uint8_t> bytes);
  bool wait_uninterrupted();
  bool greet();

  int descriptor_ = -1, signals_ = -1;
  bool nobody_listens_ = false, interrupted_ = false;
  std::string error_;
};

// Exit statuses as in every program of the project.
enum ExitStatus { success = 0, failure = 1, bad_input = 2 };

/// Each prints its result to stdout, or an error to stderr. Without a service: `failure`.
ExitStatus print_status(const fc2::drivers::RuntimeDirectory& directory, bool as_json);
/// A service runs, and it was not asked to be an FCF: any other can replace it.
bool started_on_demand(const fc2::drivers::RuntimeDirectory& directory);
/// Waits until the service has ended.
ExitStatus stop_service(const fc2::drivers::RuntimeDirectory& directory);
/// Until SIGINT or SIGTERM, or as the request says. `path`: a file, or "-" for standard output. A summary goes to
/// standard error.
ExitStatus capture_to(const fc2::drivers::RuntimeDirectory& directory, const CaptureRequest& request,
                      const std::string& path);

}  // namespace fabricd
