// fcvi-sim replay: a port of a captured conversation is played by the real implementation, the others by the capture.
#pragma once
#include <string>

namespace sim::replay {

struct ReplayOptions {
  std::string path = {};  // "-": standard input, to its end
  std::string port = {};  // name of its interface, N_Port_ID or Port_Name
  bool all = false;       // differences behind the first one, too
  bool all_fields = false;
  double tolerance_ms = 500;  // that a frame may come late or early
};

struct ReplayResult {
  std::string text;   // what was found
  std::string error;  // what is wrong with the file, or why the port cannot be played
  bool same = false;
};

ReplayResult replay(const ReplayOptions& options);

}  // namespace sim::replay
