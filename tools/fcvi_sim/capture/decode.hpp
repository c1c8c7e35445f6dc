// fcvi-sim decode: a capture as text.
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "tools/fcvi_sim/capture/printer.hpp"

namespace sim::capture {

struct DecodeOptions {
  std::string path = {};  // "-": standard input, printed frame by frame as they come
  Style style = Style::line;
  std::vector<std::string> follow = {};   // as the command line has it: "connection", "3"
  std::vector<std::string> filters = {};  // frames that one of them takes; none: all
  bool once = false;                      // without the frames that another one repeats, as sent and as received
};

struct DecodeResult {
  std::string error;    // what is wrong with options or file, naming the frame; lines before it are printed
  std::string warning;  // a port of a filter that the capture does not have
};

/// Frames that do not parse are described, not refused.
DecodeResult decode(const DecodeOptions& options, std::FILE* output);

}  // namespace sim::capture
