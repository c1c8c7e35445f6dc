// A plugin is one file: the tables that the build writes, behind them the hand-written parts.
#pragma once
#include <string>

namespace wireshark {

/// What the program of a plugin does: argv is PROGRAM OUTPUT PART...; writes `tables` and the parts, in this order.
/// Returns the exit status: 0; 2, with a line on standard error, if a file cannot be read or written. All parts are
/// read first: a build that fails leaves no half plugin.
[[nodiscard]] int write_plugin(int argc, char** argv, const std::string& tables);

}  // namespace wireshark
