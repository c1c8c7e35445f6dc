#include "tools/fcvi_sim/report_command.hpp"

#include <cstdio>
#include <filesystem>

#include "fc2_fabric/drivers/file_sink.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/report/report.hpp"

namespace sim::report {
namespace {

constexpr int fine = 0, bad_input = 2;

int refuse(const std::string& message) {
  std::fprintf(stderr, "fcvi-sim: %s\n", message.c_str());
  return bad_input;
}

/// Returns what is wrong.
std::string print(const std::string& page) {
  const bool whole = std::fwrite(page.data(), 1, page.size(), stdout) == page.size() && std::fflush(stdout) == 0;
  return whole ? "" : "standard output: cannot be written";
}

std::string write(const std::string& page, const std::string& path) {
  fc2::drivers::FileSink file;
  if (!file.open(path)) return file.error();
  file.write(std::span(reinterpret_cast<const std::uint8_t*>(page.data()), page.size()));
  if (!file.commit()) return file.error();
  std::printf("wrote %s (%s bytes)\n", path.c_str(), settings::format_count(page.size()).c_str());
  return "";
}

}  // namespace

const CLI::App* add_command(CLI::App& app, CommandOptions& options) {
  CLI::App* report = app.add_subcommand("report", "show a capture as a page of HTML: ladder, fields, bytes, plots");
  report->add_option("CAPTURE", options.path, "as for decode; - is standard input, to its end")->required();
  report->add_option("-o,--output", options.output, "write the page into this file; - is standard output")
      ->type_name("FILE")
      ->required();
  report->add_option("--frames", options.frames, "the most frames that the page has, 200000 by default")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}))
      ->type_name("N");
  report->footer(
      "The page needs nothing else and no network. Exit status: 0, or 2 where the capture cannot be read to its end: "
      "then the page ends there.");
  return report;
}

int run_command(const CommandOptions& options) {
  const bool to_stdout = options.output == "-";
  std::error_code ignored;
  if (!to_stdout && std::filesystem::equivalent(options.output, options.path, ignored))
    return refuse(options.output + ": is the capture");
  const Report report = of_capture(options.path, options.frames);
  if (report.page.empty()) return refuse(report.error);
  const std::string wrong = to_stdout ? print(report.page) : write(report.page, options.output);
  if (!wrong.empty()) return refuse(wrong);
  return report.error.empty() ? fine : refuse(report.error);
}

}  // namespace sim::report
