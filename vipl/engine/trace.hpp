// $FCVI_TRACE: what the library writes to standard error about calls and errors. vipl(7).
#pragma once
#include <string>
#include <string_view>

#include "vipl/engine/runtime.hpp"
#include "vipl/vipl.h"

namespace vipl::trace {

/// Off unless the environment asks for it; then each costs a load and a branch.
struct Choices {
  bool calls = false, errors = false, any = false;
};
/// Of the process; changed only by configure(), while no call is under way.
extern Choices chosen;
[[nodiscard]] inline bool errors() { return chosen.errors; }
[[nodiscard]] inline bool any() { return chosen.any; }

/// "calls", "errors", both separated by a comma, or nothing. False: the text has other words too, which is reported.
bool configure(std::string_view text);

/// One line, by any thread.
void tell(std::string_view text);

/// The reason why this thread's current call fails; the last one counts.
void because(std::string reason);
void because_of_handle(const void* handle, unsigned wanted_kind);

/// A call from its beginning to its end.
class Traced {
 public:
  explicit Traced(const char* name);
  /// Written under "calls", and under "errors" if it is a result that a program does not expect.
  VIP_RETURN ended(VIP_RETURN result) const;

 private:
  const char* name_;
  TimeNs began_;
};

[[nodiscard]] std::string_view name_of(VIP_RETURN value);

}  // namespace vipl::trace
