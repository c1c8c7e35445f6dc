// What one forged frame did, as text, and the pages that hold all of it.
#pragma once
#include <fstream>
#include <sstream>

#include "tests/fcvi/hostile_situations.hpp"
#include "tests/support/source_dir.hpp"

namespace support {

/// What a frame did: frames that went out, discards by reason, and what became of the endpoint and of the calls.
class Outcome {
 public:
  explicit Outcome(Besieged& here) : here_(here), counters_(here.victim().port.counters()) { here.log.clear(); }

  [[nodiscard]] std::string text() const {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    for (const LoggedFrame& frame : here_.log.frames())
      if (frame.outbound) add(describe(frame));
    for (int reason = 0; reason < static_cast<int>(fc2::Discard::Count); ++reason) {
      const auto discard = static_cast<fc2::Discard>(reason);
      if (here_.victim().port.counters().discarded(discard) != counters_.discarded(discard))
        add("discarded: " + std::string(to_string(discard)));
    }
    if (moved()) add(before_ + " -> " + state());
    return text.empty() ? "nothing" : text;
  }
  [[nodiscard]] bool moved() const { return state() != before_; }
  [[nodiscard]] std::uint64_t discards() const {
    return here_.victim().port.counters().discarded() - counters_.discarded();
  }

 private:
  [[nodiscard]] std::string state() const {
    std::ostringstream text;
    text << here_.besieged().endpoint_state_name();
    if (!here_.victim().errors.empty()) text << " and told";
    return text.str();
  }
  static std::string describe(const LoggedFrame& frame) {
    if (frame.header.type == wire::Type::els) return frame.is_els(wire::els::Command::logo) ? "LOGO" : "ELS";
    if (frame.header.type != wire::Type::fc_vi) return std::string(to_string(frame.header.r_ctl));
    std::ostringstream text;
    text << to_string(static_cast<wire::fcvi::Opcode>(frame.data[4]));
    if (frame.data[5] & 1u && frame.data[4] >= 0x12)
      text << std::hex << " " << static_cast<unsigned>(frame.data[13]) << "h";
    return text.str();
  }
  Besieged& here_;
  const fc2::Counters counters_;
  const std::string before_ = state();
};

/// The page in golden/ says the same, line by line; FCVI_UPDATE_GOLDEN=1 writes it anew.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = support::source_dir() + "/tests/fcvi/golden/" + name;
  if (std::getenv("FCVI_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  std::string line, expected;
  std::istringstream actual(text);
  while (std::getline(actual, line)) {
    ASSERT_TRUE(std::getline(file, expected)) << "is not in " << path << ": " << line;
    EXPECT_EQ(line, expected);
  }
  EXPECT_FALSE(std::getline(file, expected)) << expected;
}

}  // namespace support
