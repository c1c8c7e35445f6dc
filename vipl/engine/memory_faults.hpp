// Registered memory that a program unmaps while a message uses it: becomes a protection error, does not
// end the program.
#pragma once
#include <signal.h>

#include <array>

#include "vi/caught_access.hpp"
#include "vi/memory_guard.hpp"

namespace vipl {

/// An access to unmapped memory raises SIGSEGV, or SIGBUS if the file behind it is too short. Our handler takes those
/// of the library's own accesses. It recognizes single ones by their instruction, which costs nothing
/// (vi/caught_access.hpp), and copies by the thread, which notes beforehand what it accesses, and by the address. All
/// other faults go to the handler that was installed before, or have the default action.
///
/// A program may install handlers of its own at any time. Ours calls those from before it. A later one calls ours if it
/// passes on faults that it does not know. If it does not, control calls and one in 1,024 sections of a thread notice
/// that and put ours in front again. A thread that blocks these signals lets them through within sections, from the
/// next check on.
class MemoryFaults final : public vi::MemoryGuard {
 public:
  static constexpr std::array signals{SIGSEGV, SIGBUS};

  /// Around all accesses of a thread, with the engine's lock or without. Sections may be nested.
  class Section {
   public:
    Section() { enter(); }
    ~Section() { leave(); }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;
  };
  static void enter();
  static void leave();

  /// False if a linker dropped the table (lld with --gc-sections).
  [[nodiscard]] bool catches_accesses() const override;
  /// Within a section. Costs no system call and no copy of its own.
  [[nodiscard]] bool run(const std::byte* host, std::size_t length_bytes, Body body, void* context) const override;
  [[nodiscard]] bool run_between(const std::byte* one, const std::byte* other, std::size_t length_bytes, Body body,
                                 void* context) const override;
  /// Ensures that the handler is installed, and that this thread lets the signals through. Any thread.
  static void look_again();
};

/// The one of this process.
const MemoryFaults& memory_faults();

}  // namespace vipl
