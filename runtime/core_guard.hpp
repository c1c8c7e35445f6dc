// How a driver's handlers come to use the protocol core, which knows no threads and no clock.
#pragma once

namespace runtime {

/// A socket that brings frames. Its own thread is told when something is there; who polls for what comes need not wait
/// for it.
class Input {
 public:
  /// Inside the core: takes what is there, with one system call that does not block, and acts upon it. May end itself,
  /// and so be removed. False: nothing was there.
  virtual bool read_now() = 0;

 protected:
  ~Input() = default;
};

/// One for each core, implemented by what runs it. Outlives every driver of that core, and their io_context.
class CoreGuard {
 public:
  /// Become the only user of the core, and bring its clock up to now.
  virtual void enter() = 0;
  /// Let the core settle, set the timer for its next event, let go.
  virtual void leave() = 0;
  /// Inside, after input was read and before it is acted upon: what programs submitted before takes effect first. A
  /// peer sends when it was told that a receive is posted; the post must not be overtaken.
  virtual void catch_up() {}
  /// Inside: of those that can be read by others than the io_context's thread.
  virtual void add_input(Input&) {}
  virtual void remove_input(Input&) {}

 protected:
  ~CoreGuard() = default;
};

/// Inside the core from here to the end of the block.
class CoreSection {
 public:
  explicit CoreSection(CoreGuard& guard) : guard_(guard) { guard_.enter(); }
  ~CoreSection() { guard_.leave(); }
  CoreSection(const CoreSection&) = delete;
  CoreSection& operator=(const CoreSection&) = delete;

 private:
  CoreGuard& guard_;
};

}  // namespace runtime
