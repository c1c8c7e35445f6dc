// Registered memory that a program unmaps while a message uses it: a protection error, not the end of the program.
#pragma once
#include <signal.h>

#include <array>

#include "vi/caught_access.hpp"
#include "vi/memory_guard.hpp"

namespace vipl {

/// The kernel answers an access to memory that is not there by SIGSEGV, or by SIGBUS where the file behind it is too
/// short. A handler of ours takes those of the library's own accesses: single ones by their instruction, which costs
/// nothing (vi/caught_access.hpp); copies by the thread, which says before what it touches, and by the address. All
/// other faults go to whoever handled them before, or have the default action.
///
/// A program may install handlers of its own at any time. Those from before ours are called by it. Those that come
/// later call ours if they pass on what they do not know; where they do not, control calls and one in 1,024 sections of
/// a thread find it out and put ours in front again. A thread that blocks these signals lets them through within
/// sections, from the next look on.
class MemoryFaults final : public vi::MemoryGuard {
 public:
  static constexpr std::array signals{SIGSEGV, SIGBUS};

  /// Around all accesses of a thread: while it has the engine, and where it has not. One may be within another.
  class Section {
   public:
    Section() { enter(); }
    ~Section() { leave(); }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;
  };
  static void enter();
  static void leave();

  /// Not where a linker left the table out (lld with --gc-sections).
  [[nodiscard]] bool catches_accesses() const override;
  /// Within a section. Costs no system call and no copy of its own.
  [[nodiscard]] bool run(const std::byte* host, std::size_t length_bytes, Body body, void* context) const override;
  /// Sees to it that the handler is there, and that this thread lets the signals through. Any thread.
  static void look_again();
};

/// The one of this process.
const MemoryFaults& memory_faults();

}  // namespace vipl
