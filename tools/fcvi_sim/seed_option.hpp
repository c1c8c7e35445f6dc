// What --seed takes: no sign, and nothing that wraps.
#pragma once
#include <string>

#include "settings/units.hpp"

namespace sim {

/// Of the option's text: "" or what is wrong.
inline std::string seed_error(const std::string& text) {
  return settings::parse_number(text) ? "" : text + ": expected a whole number from 0 to 18446744073709551615";
}

}  // namespace sim
