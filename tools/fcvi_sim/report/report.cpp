#include "tools/fcvi_sim/report/report.hpp"

#include <filesystem>

#include "tools/fcvi_sim/capture/twice.hpp"
#include "tools/fcvi_sim/report/page.hpp"
#include "tools/fcvi_sim/report/run_data.hpp"

namespace sim::report {

namespace {
std::string nothing_to_show(const Frames& frames) {
  const std::string nothing = ": no frame to show";
  if (frames.without_header() == 0) return nothing;
  return nothing + ": " + std::to_string(frames.without_header()) +
         " records are neither Fibre Channel nor FIP frames nor the end of a VI segment over TCP, or cut within their "
         "header; fcvi-sim decode prints them";
}
}  // namespace

Report of_capture(const std::string& path, std::size_t most) {
  const capture::Twice twice(path);
  Frames frames;
  const std::string broken = twice.told_as(frames.read({.path = twice.path(), .most = most}));
  if (frames.empty()) return {{}, broken.empty() ? twice.told_as(twice.path() + nothing_to_show(frames)) : broken};
  const std::string title = path == "-" ? "capture" : std::filesystem::path(path).filename().string();
  const std::string head = JsonObject()
                               .text("title", title)
                               .text("source", "capture")
                               .text("broken", broken)
                               .number("left_out", static_cast<std::int64_t>(frames.left_out()))
                               .end();
  return {make_page(title, {.head = head}, frames), broken};
}

Report of_run(const Run& run, const std::string& capture, std::size_t most) {
  FramesOptions options{.path = capture, .zero = run.start, .most = most, .ports = {}, .hits = run.record.hits};
  for (const PortSpec& port : run.scenario.ports)
    options.ports.emplace_back(port.name, to_string(port.addresses.front()));
  Frames frames;
  const std::string broken = frames.read(options);
  if (!broken.empty()) return {{}, broken};
  return {make_page(run.scenario.name, run_data(run, frames), frames), {}};
}

}  // namespace sim::report
