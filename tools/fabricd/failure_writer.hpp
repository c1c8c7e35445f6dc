// The thread that writes files of failures: a slow disk holds back no frame.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "fc2_fabric/frame/frame_history.hpp"
#include "tools/fabricd/port_names.hpp"

namespace fabricd {

struct FailureConfig {
  std::string folder;          // absolute; created, mode 0700, with the first file
  std::string service;         // tells this service's files from others' in that folder: letters and digits
  std::size_t most_files = 8;  // the oldest of this service's are removed; 0: none is written
};

/// failure-20261126-113000.123456789-SERVICE.pcapng (UTC): sorts by time.
std::string failure_file_name(runtime::TimeNs at, const std::string& service);
/// That service wrote it, at some time.
bool is_failure_file(std::string_view name, std::string_view service);
/// The same for every start of the service of that runtime directory: eight hexadecimal digits.
std::string service_of(const std::string& runtime_directory);

/// Calls are made by one thread; none of them throws or waits, but wait().
class FailureWriter {
 public:
  struct Job {
    runtime::TimeNs at = 0;
    std::string what;  // of the failure, in words
    std::unique_ptr<const fc2::FrameHistory> history;
    PortNames names;
  };
  struct Result {
    std::string what, path, error{};  // error: empty if the file is there
    std::uint64_t frames = 0;
  };

  /// Starts the thread, unless no file is to be written: std::system_error if there can be none.
  explicit FailureWriter(FailureConfig config);
  /// Writes what it has first.
  ~FailureWriter();
  FailureWriter(const FailureWriter&) = delete;
  FailureWriter& operator=(const FailureWriter&) = delete;

  [[nodiscard]] const FailureConfig& config() const { return config_; }
  /// It has a job whose result was not taken.
  [[nodiscard]] bool is_busy() const { return busy_; }
  /// Not while it is busy.
  void write(Job job);
  /// nullopt: it is not done yet, or has nothing to do.
  std::optional<Result> take_result();
  /// Waits for it; nullopt: it has nothing to do.
  std::optional<Result> wait();

 private:
  void run();
  std::optional<Result> take();

  const FailureConfig config_;
  bool busy_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Job> job_;  // by mutex_, as all below
  std::optional<Result> result_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace fabricd
