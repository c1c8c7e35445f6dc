#include "wire/els/scr.hpp"

namespace wire::els {

std::string_view to_string(ScrFunction value) {
  switch (value) {
    case ScrFunction::fabric_detected: return "fabric_detected";
    case ScrFunction::n_port_detected: return "n_port_detected";
    case ScrFunction::full: return "full";
    case ScrFunction::clear: return "clear";
  }
  return text::unknown;
}

}  // namespace wire::els
