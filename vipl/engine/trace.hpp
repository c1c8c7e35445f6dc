// $FCVI_TRACE: what the library tells a person on standard error about calls and errors. vipl(7).
#pragma once
#include <string>
#include <string_view>

#include "vipl/engine/runtime.hpp"
#include "vipl/vipl.h"

namespace vipl::trace {

/// Off unless the environment asks; then each costs a load and a branch.
struct Choices {
  bool calls = false, errors = false, any = false;
};
/// Parts of the process; changed by configure() alone, while no call is under way.
extern Choices chosen;
[[nodiscard]] inline bool errors() { return chosen.errors; }
[[nodiscard]] inline bool any() { return chosen.any; }

/// "calls", "errors", both with a comma between, or nothing. False: something else stood there too, which is told.
bool configure(std::string_view text);

/// One line, by any thread.
void tell(std::string_view text);

/// Why the call of this thread that is under way fails; the last one counts.
void because(std::string reason);
void because_of_handle(const void* handle, unsigned wanted_kind);

/// A call from its beginning to its end.
class Traced {
 public:
  explicit Traced(const char* name);
  /// Told under "calls", and under "errors" where it is one that a program does not expect.
  VIP_RETURN ended(VIP_RETURN result) const;

 private:
  const char* name_;
  TimeNs began_;
};

[[nodiscard]] std::string_view name_of(VIP_RETURN value);

}  // namespace vipl::trace
