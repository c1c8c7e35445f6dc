// Has the recorder's frames written into a file when something failed, so that a failure that is seen once is not lost.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/scheduler.hpp"
#include "tools/fabricd/failure_writer.hpp"
#include "tools/fabricd/recorder.hpp"

namespace fabricd {

/// A file is written a second after the failure, with what followed; sooner where newer frames would displace it. The
/// next one about a failure of the same kind comes no sooner than a pause later, which doubles from file to file, so
/// that a failure that lasts does not soon remove the file of its beginning. What failed in a pause is named in that
/// file; if newer frames would displace the first of it, its frames are copied, and wait in memory for the end of the
/// pause. Without memory for a copy they are lost, and the log says so. Every call but finish() is made inside the
/// core, copies no more than a step of HistoryCopy for each kind of failure, and never waits for the disk.
class FailureFiles final : public FailureListener {
 public:
  static constexpr runtime::TimeNs aftermath = runtime::second;
  static constexpr runtime::TimeNs first_pause = 10 * runtime::second, longest_pause = 3600 * runtime::second;
  /// Without a failure of its kind for so long the pauses begin anew.
  static constexpr runtime::TimeNs quiet = 600 * runtime::second;
  /// Others are counted.
  static constexpr std::size_t most_named = 16;

  FailureFiles(runtime::Scheduler& scheduler, Recorder& recorder, FailureConfig config);
  ~FailureFiles() { finish(); }
  FailureFiles(const FailureFiles&) = delete;
  FailureFiles& operator=(const FailureFiles&) = delete;

  /// What fails from now on is not written.
  void end();
  /// The same, and returns when what is to be written is written: outside the core, and nobody may be inside meanwhile.
  void finish();
  [[nodiscard]] bool names_more(FailureKind kind) const override;
  void failed(FailureKind kind, const std::string& what, fc2::FrameHistory::Number frame) override;
  void frame_kept() override {
    if (copying_) copy_more();
    if (watched_) look_at_ring();
  }
  [[nodiscard]] std::uint64_t written() const { return written_; }
  /// Of failures whose frames could not be written.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] const std::string& folder() const { return writer_.config().folder; }

 private:
  /// What failed of one kind, and is in no file yet.
  struct Failures {
    bool due = false;
    runtime::TimeNs due_at = 0, last_failure = 0, last_file = 0, pause = 0;
    std::vector<std::string> names{};
    std::uint64_t more = 0;                      // without a name
    fc2::FrameHistory::Number frame = 0;         // of the first
    std::unique_ptr<fc2::HistoryCopy> frames{};  // begun when they are written, or would be displaced in a pause
    PortNames ports{};                           // the same
    bool shares = false;                         // not in a pause: what else failed by then is in the same file

    [[nodiscard]] runtime::TimeNs soonest() const { return last_file + pause; }
    void add(const std::string& what);
  };
  [[nodiscard]] Failures& of(FailureKind kind) { return failures_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] const Failures& of(FailureKind kind) const { return failures_[static_cast<std::size_t>(kind)]; }
  void look_at_ring();
  void watch();
  void await_next();
  void write_due();
  void write(runtime::TimeNs until, runtime::TimeNs soonest);
  void copy(Failures& failures);
  void copy_more();
  void copy_in_time();
  std::string names_for(Failures& first, runtime::TimeNs soonest);
  std::string end_pause(Failures& failures);
  void look_at_result();
  void tell(const FailureWriter::Result& result);
  void lose(const std::string& what, const std::string& why);

  runtime::Scheduler& scheduler_;
  Recorder& recorder_;
  std::array<Failures, failure_kinds> failures_;
  bool watched_ = false;    // newer frames may displace what is to be written
  bool copying_ = false;    // a copy is not complete
  runtime::TimeNs at_ = 0;  // of the latest file
  std::uint64_t written_ = 0, lost_ = 0;
  FailureWriter writer_;
  runtime::Timer<FailureFiles, &FailureFiles::write_due> due_{*this};
  runtime::Timer<FailureFiles, &FailureFiles::copy_in_time> copy_timer_{*this};
  runtime::Timer<FailureFiles, &FailureFiles::look_at_result> result_timer_{*this};
};

}  // namespace fabricd
