// How far a campaign came, in a file: --resume goes on from there.
#pragma once
#include <string>

#include "settings/tree.hpp"
#include "tools/fcvi_sim/share/identity.hpp"
#include "tools/fcvi_sim/soak/campaign.hpp"

namespace sim::soak {

struct State {
  std::uint64_t last = Plan::no_end;
  Totals totals;
  std::uint64_t build = share::own_build();  // that ran them: another draws and judges otherwise
  friend bool operator==(const State&, const State&) = default;
};

std::string state_text(const State& state);
/// `name` is the file's, in messages.
settings::Result<State> read_state(const std::string& text, const std::string& name);

/// Whole or not at all; "" or what is wrong.
std::string write_file(const std::string& path, const std::string& text);

}  // namespace sim::soak
