#include "wire/els/rnid.hpp"

#include "wire/text.hpp"

namespace wire::els {

std::string_view to_string(RnidFormat value) {
  switch (value) {
    case RnidFormat::common: return "common";
    case RnidFormat::topology: return "topology";
  }
  return text::unknown;
}

std::string_view to_string(RnidType value) {
  switch (value) {
    case RnidType::unknown: return "unknown_type";
    case RnidType::other: return "other";
    case RnidType::switch_: return "switch";
    case RnidType::host: return "host";
  }
  return text::unknown;
}

}  // namespace wire::els
