// Writes the recorder's frames into a file when something failed, so that a failure that is seen once is not lost.
#pragma once
#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "runtime/scheduler.hpp"
#include "tools/fabricd/recorder.hpp"

namespace fabricd {

struct FailureConfig {
  std::string folder;          // absolute; created, mode 0700, with the first file
  std::size_t most_files = 8;  // the oldest are removed; 0: none is written
};

/// A file is written a second after the failure, with what followed; sooner where newer frames would displace it. The
/// next comes no sooner than a pause later, which doubles from file to file, so that a failure that lasts does not soon
/// remove the file of its beginning. Frames are copied at once and written by a thread of its own. Every call is made
/// inside the core.
class FailureFiles final : public FailureListener {
 public:
  static constexpr runtime::TimeNs aftermath = runtime::second;
  static constexpr runtime::TimeNs first_pause = 10 * runtime::second, longest_pause = 3600 * runtime::second;
  /// Without a failure for so long the pauses begin anew.
  static constexpr runtime::TimeNs quiet = 600 * runtime::second;

  FailureFiles(runtime::Scheduler& scheduler, Recorder& recorder, FailureConfig config);
  ~FailureFiles() { finish(); }
  FailureFiles(const FailureFiles&) = delete;
  FailureFiles& operator=(const FailureFiles&) = delete;

  /// Returns when what is to be written is written; what fails from now on is not.
  void finish();
  void failed(const std::string& what, fc2::FrameHistory::Number frame) override;
  void frame_kept() override {
    if (due_early_ && recorder_.history().is_half_way_out(frame_)) write_now();
  }
  [[nodiscard]] std::uint64_t written() const { return written_; }

 private:
  struct Result {
    std::string what, path, error{};
    std::uint64_t frames = 0;
  };
  static Result write(const FailureConfig& config, runtime::TimeNs at, const std::string& what,
                      const fc2::FrameHistory& history, const PortNames& names);
  void write_now();
  void look_at_result();
  void tell(const Result& result);

  runtime::Scheduler& scheduler_;
  Recorder& recorder_;
  const FailureConfig config_;
  std::string what_;                     // the first that failed since the last file
  std::uint64_t more_ = 0;               // others since
  fc2::FrameHistory::Number frame_ = 0;  // of the first
  bool due_early_ = false;               // before it is displaced
  runtime::TimeNs last_failure_ = 0, last_file_ = 0, pause_ = 0;
  std::uint64_t written_ = 0;
  std::future<Result> writing_;
  runtime::Timer<FailureFiles, &FailureFiles::write_now> due_{*this};
  runtime::Timer<FailureFiles, &FailureFiles::look_at_result> result_timer_{*this};
};

/// What a file holds: "3.2 s, 1234 frames", for logs and summaries.
std::string extent_of(const fc2::FrameHistory& history, fc2::FrameHistory::Number begin);

}  // namespace fabricd
