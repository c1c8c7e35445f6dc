// fcvi-sim ladder: a capture from anywhere, drawn as the simulator draws its own.
#pragma once
#include <string>
#include <vector>

#include "tools/fcvi_sim/picture/ladder.hpp"

namespace sim::capture {

struct DrawOptions {
  std::string path = {};                               // "-": standard input, to its end
  std::vector<std::string> follow = {}, filters = {};  // as DecodeOptions has them
  bool without_login = false;  // no FIP, no ELS, no name server: what FC-VI and basic link services say
  bool as_text = false;        // for terminals
  std::size_t columns = 120;   // of text
};

struct DrawResult {
  std::string picture;  // SVG, or text; empty: error says why
  std::string error;    // what is wrong with options or file, naming the frame; those before it are in the picture
  std::string warning;
};

DrawResult draw(const DrawOptions& options);

}  // namespace sim::capture
