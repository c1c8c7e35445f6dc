#include "tools/fabricd/failure_writer.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <exception>
#include <filesystem>
#include <utility>
#include <vector>

#include "fc2_fabric/drivers/file_sink.hpp"
#include "tools/fabricd/history_writer.hpp"

namespace fabricd {
using fc2::FrameHistory;
using runtime::TimeNs;

namespace {
constexpr std::string_view prefix = "failure-", suffix = ".pcapng";
constexpr std::string_view time_pattern = "00000000-000000.000000000";  // 0: any digit
// What a frame takes in a file beside its kept bytes, and a long comment.
constexpr std::uintmax_t bytes_beside_frame = 512;

bool is_digit(char character) { return character >= '0' && character <= '9'; }

bool is_time(std::string_view text) {
  const auto fits = [](char wanted, char found) { return wanted == '0' ? is_digit(found) : wanted == found; };
  return std::equal(time_pattern.begin(), time_pattern.end(), text.begin(), text.end(), fits);
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Those of std::filesystem end the process when there is no memory.
std::vector<std::string> files_of(const FailureConfig& config) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(config.folder.c_str()));
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr)
    if (is_failure_file(entry->d_name, config.service)) names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

void keep_at_most(const FailureConfig& config) {
  const auto names = files_of(config);
  for (std::size_t i = 0; i + config.most_files < names.size(); ++i)
    ::unlink((config.folder + "/" + names[i]).c_str());  // no folder
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

void write_file(const FailureConfig& config, const FailureWriter::Job& job, FailureWriter::Result& result) {
  const FrameHistory& history = *job.history;
  result.path = config.folder + "/" + failure_file_name(job.at, config.service);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(config.folder).parent_path(), error);
  ::mkdir(config.folder.c_str(), S_IRWXU);
  result.error = lack_of_room(config.folder, history);
  fc2::drivers::FileSink file;
  if (!result.error.empty()) return;
  if (!file.open(result.path)) return void(result.error = file.error());
  HistoryWriter writer(file, {}, history.first(),
                       "fcvi-fabricd, " + extent_of(history, history.first()) + " before: " + job.what);
  for (auto number = history.first(); number != history.end(); ++number) writer.write(history, number, job.names);
  result.frames = writer.frame_count();
  if (!file.commit()) return void(result.error = file.error());
  keep_at_most(config);  // only now: the older ones stay if this one could not be written
}
}  // namespace

std::string failure_file_name(TimeNs at, const std::string& service) {
  const auto seconds = static_cast<std::time_t>(at / runtime::second);
  return fmt::format("{}{:%Y%m%d-%H%M%S}.{:09}-{}{}", prefix, fmt::gmtime(seconds), at % runtime::second, service,
                     suffix);
}

bool is_failure_file(std::string_view name, std::string_view service) {
  const std::size_t behind_time = prefix.size() + time_pattern.size();
  return name.size() == behind_time + 1 + service.size() + suffix.size() && name.starts_with(prefix) &&
         is_time(name.substr(prefix.size(), time_pattern.size())) && name[behind_time] == '-' &&
         name.substr(behind_time + 1, service.size()) == service && name.ends_with(suffix);
}

// FNV-1a, 32 bits.
std::string service_of(const std::string& runtime_directory) {
  std::uint32_t hash = 2'166'136'261;
  for (const char character : runtime_directory) hash = (hash ^ static_cast<std::uint8_t>(character)) * 16'777'619;
  return fmt::format("{:08x}", hash);
}

// --- the thread --------------------------------------------------------------------------------------------------

// Signals are for the thread that serves.
FailureWriter::FailureWriter(FailureConfig config) : config_(std::move(config)) {
  if (config_.most_files == 0) return;
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

FailureWriter::~FailureWriter() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FailureWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return job_ || ending_; });
    if (!job_) return;
    Job job = std::move(*std::exchange(job_, std::nullopt));
    lock.unlock();
    Result result;
    try {
      write_file(config_, job, result);
    } catch (const std::exception& error) {  // no memory
      result.error = error.what();
    }
    result.what = std::move(job.what);
    job.history.reset();
    lock.lock();
    result_ = std::move(result);
    changed_.notify_all();
  }
}

void FailureWriter::write(Job job) {
  busy_ = true;
  {
    const std::lock_guard lock(mutex_);
    job_ = std::move(job);
  }
  changed_.notify_all();
}

// With the mutex.
std::optional<FailureWriter::Result> FailureWriter::take() {
  if (result_) busy_ = false;
  return std::exchange(result_, std::nullopt);
}

std::optional<FailureWriter::Result> FailureWriter::take_result() {
  const std::lock_guard lock(mutex_);
  return take();
}

std::optional<FailureWriter::Result> FailureWriter::wait() {
  if (!busy_) return std::nullopt;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return result_.has_value(); });
  return take();
}

}  // namespace fabricd
