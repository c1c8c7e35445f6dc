#include "fcvi/counters.hpp"

#include <numeric>

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

std::uint64_t ProviderCounters::discarded() const {
  return std::accumulate(discards.begin(), discards.end(), std::uint64_t{0});
}

}  // namespace fcvi
