// The invariants between the members of an owner, asserted after each settle.
//
// An owner says in `bool is_consistent() const` what holds whenever none of its functions runs. Builds with
// FCVI_CHECKED (cmake/Fcvi.cmake: Debug and fuzz builds, and on demand) assert it; in others it costs nothing. The
// simulator asks in every build, after each event (fcvi-sim run --check, fcvi-sim explore).
#pragma once

#ifdef FCVI_CHECKED
#include <cassert>
#define FCVI_ASSERT_CONSISTENT(owner) assert((owner).is_consistent())
#else
#define FCVI_ASSERT_CONSISTENT(owner) static_cast<void>(0)
#endif
