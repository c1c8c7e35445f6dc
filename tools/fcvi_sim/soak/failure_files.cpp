#include "tools/fcvi_sim/soak/failure_files.hpp"

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

Left shrunk(const Found& found, const volatile std::sig_atomic_t& stop) {
  const auto tree = settings::parse_yaml(found.text, "scenario");
  const auto scenario = read_scenario(found.text, "scenario", "", {});
  if (!tree || !scenario) return {.text = found.text};
  Shrinker shrinker(
      *tree, [&](const std::string& text) { return stop == 0 && is_good(text) && tried(text).kind == found.kind; });
  shrinker.name_turns(*scenario, tried(found.text));
  shrinker.shrink();
  return {.text = shrinker.text(), .trials = shrinker.trials()};
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

Left shrink_and_leave(const Found& found, const std::string& folder, const volatile std::sig_atomic_t& stop) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return {.text = found.text, .error = folder + ": " + error.message()};
  if (const std::string wrong = write_file(folder + "/scenario.yaml", found.text); !wrong.empty())
    return {.text = found.text, .error = wrong};
  Left left = shrunk(found, stop);
  left.error = write_file(folder + "/minimal.yaml", left.text);
  if (!left.error.empty()) return left;
  left.what = captured(left.text, folder).what;
  draw_pictures(folder);
  left.error = write_file(folder + "/failure.txt",
                          left.what + "\n" + found.command + "\nfcvi-sim soak " + folder + "/minimal.yaml\n");
  return left;
}

}  // namespace sim::soak
