#include "tools/fabricd/failure_files.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <utility>

#include "fc2_fabric/drivers/file_sink.hpp"
#include "tools/fabricd/history_writer.hpp"

namespace fabricd {
using fc2::FrameHistory;
using runtime::TimeNs;

namespace {
constexpr TimeNs look_interval = 20 * runtime::millisecond;
constexpr std::string_view prefix = "failure-", suffix = ".pcapng";
// What a frame takes in a file beside its kept bytes, and a long comment.
constexpr std::uintmax_t bytes_beside_frame = 512;

// Sorts by time: failure-20261126-113000.123456789.pcapng
std::string name_of(TimeNs at) {
  const auto seconds = static_cast<std::time_t>(at / runtime::second);
  return fmt::format("{}{:%Y%m%d-%H%M%S}.{:09}{}", prefix, fmt::gmtime(seconds), at % runtime::second, suffix);
}

std::vector<std::filesystem::path> files_in(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(prefix) && name.ends_with(suffix)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void keep_at_most(const std::string& folder, std::size_t most) {
  const auto files = files_in(folder);
  std::error_code ignored;
  for (std::size_t i = 0; i + most < files.size(); ++i) std::filesystem::remove(files[i], ignored);
}

// Why there is no room; a file takes no more than half of what is free.
std::string lack_of_room(const std::string& folder, const FrameHistory& history) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error) return folder + ": " + error.message();
  std::uintmax_t needed = 0;
  for (auto number = history.first(); number != history.end(); ++number)
    needed += history.at(number).kept_bytes + bytes_beside_frame;
  return needed > space.available / 2 ? fmt::format("only {} bytes are free in {}", space.available, folder) : "";
}
}  // namespace

std::string extent_of(const FrameHistory& history, FrameHistory::Number begin) {
  if (begin == history.end()) return "no frames";
  const double seconds = static_cast<double>(history.at(history.end() - 1).at - history.at(begin).at) / 1e9;
  return fmt::format("{:.3f} s", seconds);
}

FailureFiles::FailureFiles(runtime::Scheduler& scheduler, Recorder& recorder, FailureConfig config)
    : scheduler_(scheduler), recorder_(recorder), config_(std::move(config)) {
  recorder_.set_failure_listener(this);
}

void FailureFiles::finish() {
  recorder_.set_failure_listener(nullptr);
  if (writing_.valid()) tell(writing_.get());
  if (due_.pending()) write_now();
  if (writing_.valid()) tell(writing_.get());
}

void FailureFiles::failed(const std::string& what, FrameHistory::Number frame) {
  const TimeNs now = scheduler_.now();
  if (config_.most_files == 0) return;
  if (now - std::exchange(last_failure_, now) > quiet) pause_ = 0;
  if (due_.pending()) return void(++more_);
  what_ = what;
  frame_ = frame;
  const TimeNs soonest = last_file_ + pause_;
  due_early_ = now >= soonest && frame != 0;
  scheduler_.schedule(due_, std::max(now + aftermath, soonest));
}

void FailureFiles::write_now() {
  scheduler_.cancel(due_);
  due_early_ = false;
  const TimeNs now = scheduler_.now();
  if (writing_.valid()) return scheduler_.schedule(due_, now + look_interval);  // a slow disk
  pause_ = pause_ == 0 ? first_pause : std::min(2 * pause_, longest_pause);
  last_file_ = now;
  const std::uint64_t more = std::exchange(more_, 0);
  const std::string what = more == 0 ? what_ : fmt::format("{}, and {} more failures", what_, more);
  const auto history = std::make_shared<const FrameHistory>(recorder_.history());
  writing_ = std::async(std::launch::async, [config = config_, now, what, history, names = recorder_.names()] {
    return write(config, now, what, *history, names);
  });
  scheduler_.schedule(result_timer_, now + look_interval);
}

FailureFiles::Result FailureFiles::write(const FailureConfig& config, TimeNs at, const std::string& what,
                                         const FrameHistory& history, const PortNames& names) {
  Result result{.what = what, .path = config.folder + "/" + name_of(at)};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(config.folder).parent_path(), error);
  ::mkdir(config.folder.c_str(), S_IRWXU);
  keep_at_most(config.folder, config.most_files - 1);
  result.error = lack_of_room(config.folder, history);
  fc2::drivers::FileSink file;
  if (!result.error.empty()) return result;
  if (!file.open(result.path)) return result.error = file.error(), result;
  HistoryWriter writer(file, {}, history.first(),
                       "fcvi-fabricd, the last " + extent_of(history, history.first()) + " before: " + what);
  for (auto number = history.first(); number != history.end(); ++number) writer.write(history, number, names);
  result.frames = writer.frame_count();
  if (!file.commit()) result.error = file.error();
  return result;
}

void FailureFiles::look_at_result() {
  if (writing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) return tell(writing_.get());
  scheduler_.schedule(result_timer_, scheduler_.now() + look_interval);
}

void FailureFiles::tell(const Result& result) {
  if (result.error.empty()) ++written_;
  if (result.error.empty())
    spdlog::warn("{}; {} frames until then are in {}", result.what, result.frames, result.path);
  else
    spdlog::warn("{}; the frames until then are lost: {}", result.what, result.error);
}

}  // namespace fabricd
