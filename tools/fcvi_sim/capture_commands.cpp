#include "tools/fcvi_sim/capture_commands.hpp"

#include <cstdio>
#include <filesystem>

#include "fc2_fabric/drivers/file_sink.hpp"

namespace sim::capture {
namespace {

constexpr int fine = 0, bad_input = 2;

int refuse(const std::string& message) {
  std::fprintf(stderr, "fcvi-sim: %s\n", message.c_str());
  return bad_input;
}

void warn(const std::string& message) {
  if (!message.empty()) std::fprintf(stderr, "fcvi-sim: warning: %s\n", message.c_str());
}

/// Whether standard output took all.
int written() {
  const bool good = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return good ? fine : refuse("standard output: cannot be written");
}

void add_choice(CLI::App* command, std::vector<std::string>& follow, std::vector<std::string>& filters,
                const std::string& which) {
  command->add_option("--follow", follow, "only the frames of one: connection N, exchange N or message N" + which)
      ->expected(1, 2)
      ->type_name("WHAT N");
  command
      ->add_option("--filter", filters,
                   "only the frames that match, with the keys of a fault in a scenario: "
                   "'message: FCVI_SEND_RQST, fields: {seq_cnt: 3}'; again: or those")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("KEYS");
}

CLI::App* add_decode(CLI::App& app, CommandOptions& options) {
  CLI::App* decode = app.add_subcommand("decode", "print the frames of a capture, a line each");
  decode
      ->add_option("CAPTURE", options.decode.path,
                   "pcap or pcapng file, also compressed by gzip: FCoE, or Fibre Channel with or without delimiters; "
                   "- is standard input, printed frame by frame")
      ->required();
  auto* all = decode->add_flag("-v,--verbose", options.all_fields, "all fields, a line each");
  decode->add_flag("--json", options.json, "all fields, a line of JSON a frame")->excludes(all);
  add_choice(decode, options.decode.follow, options.decode.filters, "; which instead of N lists them");
  decode->add_flag("--once", options.decode.once, "without frames that were seen before, as sent and as received");
  decode->footer("Exit status: 0, or 2 where the file cannot be read to its end.");
  return decode;
}

CLI::App* add_ladder(CLI::App& app, CommandOptions& options) {
  CLI::App* ladder = app.add_subcommand("ladder", "draw a capture as a ladder diagram");
  ladder->add_option("CAPTURE", options.draw.path, "as for decode; - is standard input, to its end")->required();
  auto* output = ladder->add_option("-o,--output", options.output, "draw into this file (SVG)")->type_name("FILE");
  ladder->add_flag("--text", options.draw.as_text, "print it as text instead, for a terminal")->excludes(output);
  ladder->add_option("--columns", options.draw.columns, "width of the text, 120 by default")
      ->check(CLI::Range(60, 10000))
      ->type_name("N");
  add_choice(ladder, options.draw.follow, options.draw.filters, "; decode --follow WHAT which lists them");
  ladder->add_flag("--no-login", options.draw.without_login, "without FIP, logins, and what asks the fabric");
  ladder->footer(
      "Without -o the SVG is printed. Exit status: 0, or 2 where the capture cannot be read to its end: then the "
      "picture ends there.");
  return ladder;
}

int run_decode(CommandOptions& options) {
  options.decode.style = options.json ? Style::json : options.all_fields ? Style::tree : Style::line;
  const DecodeResult result = decode(options.decode, stdout);
  const int status = written();  // before what is said of its end
  warn(result.warning);
  return result.error.empty() ? status : refuse(result.error);
}

/// The picture, if there is one.
int write_picture(const std::string& picture, const std::string& output) {
  if (output.empty() || output == "-") {
    std::fwrite(picture.data(), 1, picture.size(), stdout);
    return written();
  }
  fc2::drivers::FileSink file;
  if (!file.open(output)) return refuse(file.error());
  file.write(std::span(reinterpret_cast<const std::uint8_t*>(picture.data()), picture.size()));
  return file.commit() ? fine : refuse(file.error());
}

int run_ladder(const CommandOptions& options) {
  std::error_code ignored;
  if (!options.output.empty() && options.output != "-" &&
      std::filesystem::equivalent(options.output, options.draw.path, ignored))
    return refuse(options.output + ": is the capture");
  const DrawResult result = draw(options.draw);
  const int status = result.picture.empty() ? fine : write_picture(result.picture, options.output);
  warn(result.warning);
  return result.error.empty() ? status : refuse(result.error);
}

}  // namespace

Commands add_commands(CLI::App& app, CommandOptions& options) {
  return {add_decode(app, options), add_ladder(app, options)};
}

int run_command(const Commands& commands, CommandOptions& options) {
  return commands.decode->parsed() ? run_decode(options) : run_ladder(options);
}

}  // namespace sim::capture
