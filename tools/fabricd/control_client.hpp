// The commands: ask the running service, and wait for its answer.
#pragma once
#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "fc2_fabric/drivers/link_records.hpp"
#include "fc2_fabric/drivers/fabric_service.hpp"
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
  /// The same; where no service runs it waits for one. False: error(), which may say that it was interrupted.
  bool connect_when_there(const fc2::drivers::RuntimeDirectory& directory);
  bool send(fc2::drivers::RecordKind kind, std::span<const std::uint8_t> body);
  /// Of any length up to control_word::max_request_bytes.
  bool request(std::string_view text);
  struct Record {
    fc2::drivers::RecordKind kind{};
    std::string body;
  };
  /// From now on SIGINT, SIGTERM and SIGHUP (unless that is ignored) end whatever waits here, with an error(), whenever
  /// they come, and have no other effect.
  void be_interruptible();
  /// From now on the first of them has the service asked for this, and only the second ends what waits.
  void request_when_interrupted(std::string_view word) { interrupt_request_ = word; }
  /// Waits until `descriptor` has one of the events of poll(2). False: error().
  bool await(int descriptor, short events);
  /// The next record; nullopt: error().
  std::optional<Record> receive();
  /// Collects Reply records until Done. False: error().
  bool receive_answer(std::string& answer);
  [[nodiscard]] const std::string& error() const { return error_; }
  /// The service answered, and error() is its reason.
  [[nodiscard]] bool refused() const { return refused_; }
  /// One of those signals came.
  [[nodiscard]] bool interrupted() const { return interrupted_; }
  [[nodiscard]] bool nobody_listens() const { return nobody_listens_; }

 private:
  bool read(std::span<std::uint8_t> bytes);
  bool take_interrupt();
  bool greet();

  int descriptor_ = -1, signals_ = -1;
  bool nobody_listens_ = false, interrupted_ = false, refused_ = false;
  std::string error_, interrupt_request_;
};

// Exit statuses as in every program of the project.
enum ExitStatus { success = 0, failure = 1, bad_input = 2 };

/// Each prints its result to stdout, or an error to stderr. Without a service: `failure`.
/// `interrupted`: set when one of the signals of ControlClient::be_interruptible() ended it.
ExitStatus print_status(const fc2::drivers::RuntimeDirectory& directory, bool as_json, bool* interrupted = nullptr);
/// A service runs, and it was not asked to be an FCF: any other can replace it.
bool started_on_demand(const fc2::drivers::RuntimeDirectory& directory);
/// Waits until the service has ended.
ExitStatus stop_service(const fc2::drivers::RuntimeDirectory& directory);
/// Of what is now it waits for a service where none runs, and then has what passed from its start on; what was needs
/// one.
/// Until SIGINT, SIGTERM or SIGHUP, or as the request says; the second signal ends it without the service and without
/// its reader. `path`: a file, or "-" for standard output. A summary goes to standard error. `failure`: something of
/// what passed is missing behind what was written; `bad_input`: the file cannot be created, nothing was asked for.
ExitStatus capture_to(const fc2::drivers::RuntimeDirectory& directory, CaptureRequest request, const std::string& path);

}  // namespace fabricd
