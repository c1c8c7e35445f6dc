// How the handlers of a driver enter the protocol core, which knows no threads and no clock.
#pragma once

namespace runtime {

/// A socket that brings frames. The io_context's thread is told when there is input; a program that polls can read it
/// without that thread. Or memory that other processes write to: nobody is told, whoever waits looks (Doorbell).
class Input {
 public:
  /// Inside the core: reads what is there, with one system call that does not block, and processes it. May destroy
  /// itself, and so be removed. False: nothing was there.
  virtual bool read_now() = 0;
  /// Inside the core: nobody will call read_now() for a while. Who was about to sleep says so.
  virtual void wait_for_input() {}
  /// Inside the core: what poll() tells as readable when read_now() would find something; -1: there is none.
  [[nodiscard]] virtual int descriptor() const { return -1; }
  /// Inside the core: a thread of the program sleeps at descriptor() from now on, and will read; or no longer.
  virtual void set_watched(bool) {}
  /// Where to look: at what others told of, or at all, also at what one of them misled this process about.
  enum class Look : bool { Told, Everywhere };
  /// What goes out beside this input, within a call that sends, meets no cancellation point but those that hold
  /// pthread_cancel() back themselves. Always the same.
  [[nodiscard]] virtual bool holds_cancellation_itself() const { return false; }
  /// Inside the core, of memory: read_now() would find something.
  [[nodiscard]] virtual bool has_input(Look) const { return false; }

 protected:
  ~Input() = default;
};

/// One for each core, implemented by its driver. Outlives every driver of that core, and their io_context.
class CoreGuard {
 public:
  /// Become the only user of the core, and set its clock to now.
  virtual void enter() = 0;
  /// Let the core settle, set the timer for its next event, release it.
  virtual void leave() = 0;
  /// Inside, after input was read and before it is processed: what programs submitted earlier takes effect first. A
  /// peer sends when it has learned that a receive is posted; its message must not be processed before that post.
  virtual void catch_up() {}
  /// Inside: inputs that other threads than the io_context's may read.
  virtual void add_input(Input&) {}
  virtual void remove_input(Input&) {}
  /// The same for memory.
  virtual void add_memory_input(Input&) {}
  virtual void remove_memory_input(Input&) {}

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
