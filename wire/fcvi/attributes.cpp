#include "wire/fcvi/attributes.hpp"

namespace wire::fcvi {

std::string_view to_string(ReliabilityLevel value) {
  switch (value) {
    case ReliabilityLevel::unreliable_delivery: return "unreliable_delivery";
    case ReliabilityLevel::reliable_delivery: return "reliable_delivery";
    case ReliabilityLevel::reliable_reception: return "reliable_reception";
  }
  return text::unknown;
}

}  // namespace wire::fcvi
