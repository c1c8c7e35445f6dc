#include "tools/fcvi_sim/soak/failure_files.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "settings/file.hpp"
#include "tools/fcvi_sim/capture/draw.hpp"
#include "tools/fcvi_sim/report/report.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"
#include "tools/fcvi_sim/soak/child.hpp"
#include "tools/fcvi_sim/soak/shrinker.hpp"
#include "tools/fcvi_sim/soak/state.hpp"

namespace sim::soak {
namespace {

constexpr std::size_t most_frames = 200'000;  // of a report
constexpr std::uint64_t most_error_bytes = 1 << 20;
constexpr std::chrono::minutes longest{10};  // to shrink one failure
constexpr const char* all_names[] = {"scenario.yaml",  "minimal.yaml", "failure.txt",
                                     "capture.pcapng", "ladder.svg",   "report.html"};

/// Those that are there, and have bytes.
std::string names_of_files(const std::string& folder) {
  std::string names;
  for (const char* name : all_names) {
    std::error_code missing;
    const std::uintmax_t size_bytes = std::filesystem::file_size(folder + "/" + name, missing);
    if (!missing && size_bytes != 0) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

/// Every byte is in the file at once: it is whole up to where the process dies.
class DirectSink final : public fc2::ByteSink {
 public:
  explicit DirectSink(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {
    if (file_ != nullptr) std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  }
  void write(std::span<const std::uint8_t> bytes) override {
    if (file_ != nullptr) std::fwrite(bytes.data(), 1, bytes.size(), file_.get());
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

Outcome tried(const std::string& text) {
  return in_child([&] {
    fc2::FramePool pool;
    return judged(text, pool);
  });
}

bool is_good(const std::string& text) {
  const auto scenario = read_scenario(text, "scenario", "", {});
  return scenario && unsuitable(*scenario).empty();
}

Left shrunk(const Found& found, const volatile std::sig_atomic_t& stop, const TellTrials& tell) {
  const auto end = std::chrono::steady_clock::now() + longest;
  const auto tree = settings::parse_yaml(found.text, "scenario");
  const auto scenario = read_scenario(found.text, "scenario", "", {});
  if (!tree || !scenario) return {.text = found.text, .again = false};
  const Outcome again = tried(found.text);
  const std::string wanted = signature(found.outcome);
  if (signature(again) != wanted) return {.text = found.text, .again = false};
  std::size_t trials = 0;
  bool in_time = true;
  Shrinker shrinker(*tree, [&](const std::string& text) {
    in_time = in_time && std::chrono::steady_clock::now() < end;
    if (!in_time || stop != 0 || !is_good(text)) return false;
    tell(++trials);
    return signature(tried(text)) == wanted;
  });
  shrinker.name_turns(*scenario, again);
  shrinker.shrink();
  return {.text = shrinker.text(),
          .trials = trials,
          .cut = stop != 0                 ? "it was interrupted"
                 : !in_time                ? "after 10 minutes"
                 : shrinker.is_cut_short() ? "after so many runs"
                                           : ""};
}

/// With the capture, and what the process said as it died.
Outcome captured(const std::string& text, const std::string& folder) {
  const std::string errors = folder + "/errors.txt";
  Outcome outcome = in_child(
      [&] {
        fc2::FramePool pool;
        DirectSink sink(folder + "/capture.pcapng");
        fc2::Capture capture(sink);
        return judged(text, pool, &capture);
      },
      errors);
  if (const auto said = settings::read_file(errors, most_error_bytes)) outcome.what += *said;
  std::error_code ignored;
  std::filesystem::remove(errors, ignored);
  return outcome;
}

// Of the capture, so that they are there also where the process of the run died.
void draw_pictures(const std::string& folder) {
  std::error_code ignored;
  for (const char* name : {"/ladder.svg", "/report.html"}) std::filesystem::remove(folder + name, ignored);
  const std::string capture = folder + "/capture.pcapng";
  in_child([&] {
    const std::string picture = capture::draw({.path = capture}).picture;
    return Outcome{.what = write_file(folder + "/ladder.svg", picture)};
  });
  in_child([&] {
    const std::string page = report::of_capture(capture, most_frames).page;
    return Outcome{.what = write_file(folder + "/report.html", page)};
  });
}

}  // namespace

Left shrink_and_leave(const Found& found, const std::string& folder, const volatile std::sig_atomic_t& stop,
                      const TellTrials& tell) {
  Left left{.text = found.text};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) left.error = folder + ": " + error.message();
  if (left.error.empty()) left.error = write_file(folder + "/scenario.yaml", found.text);
  const std::string wrong = left.error;
  left = shrunk(found, stop, tell);
  left.what = found.outcome.what;
  left.error = wrong;
  if (!wrong.empty()) return left;
  std::string commands = found.command + "\n";
  if (left.again) {
    left.error = write_file(folder + "/minimal.yaml", left.text);
    left.what = captured(left.text, folder).what;
    draw_pictures(folder);
    commands += "fcvi-sim soak " + folder + "/minimal.yaml\n";
  } else {
    left.what += "It did not fail again.\n";
  }
  const std::string said = write_file(folder + "/failure.txt", left.what + "\n" + commands);
  if (left.error.empty()) left.error = said;
  left.files = left.again ? names_of_files(folder) : "scenario.yaml, failure.txt";
  return left;
}

}  // namespace sim::soak
