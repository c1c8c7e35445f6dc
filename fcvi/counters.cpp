#include "fcvi/counters.hpp"

namespace fcvi {

std::string_view to_string(Discard reason) {
  switch (reason) {
    case Discard::UnknownHandle: return "unknown FCVI_HANDLE";
    case Discard::NotReceiving: return "endpoint not receiving";
    case Discard::DeadSetup: return "dead set-up";
    case Discard::Count: break;
  }
  return "?";
}

}  // namespace fcvi
