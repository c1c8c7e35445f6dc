// The sending end of one direction of a link: a simulated channel, a socket to another process, Ethernet,
// later shared memory.
#pragma once
#include "fc2_fabric/frame/frame.hpp"
#include "fc2_fabric/frame/frame_run.hpp"
#include "wire/types.hpp"

namespace fc2 {

/// Feeds an output; told when it takes frames again.
class OutputListener {
 public:
  virtual void output_resumed() = 0;

 protected:
  ~OutputListener() = default;
};

/// Fibre Channel does not drop frames for lack of buffers: an output without buffers pauses, and its sender waits.
class FrameOutput {
 public:
  /// Why an output takes no frames. Each ends by itself.
  enum class Pause : std::uint8_t {
    Receiver = 1,  // the receiver has no room
    Credit = 2,    // buffer-to-buffer credit is used up (FC-FS)
    Link = 4,      // the link is being reset, or is not active
  };

  /// A frame to be filled and sent here to `destination`, while the output is not paused: its bytes may lie where they
  /// are sent from.
  [[nodiscard]] virtual FramePtr make_frame(FramePool& pool, wire::FcId /*destination*/) { return pool.take(); }
  /// May be called while the output is busy (the frame queues behind earlier ones), never while it is paused.
  virtual void send(FramePtr frame) = 0;
  /// Frames of the run that went, from its first on; 0: nothing has happened. While free_at() is not later than now.
  [[nodiscard]] virtual std::size_t send_run(const FrameRun& /*run*/) { return 0; }
  /// It may take some.
  [[nodiscard]] bool takes_runs() const { return takes_runs_; }
  /// The time at which the sender is free again; `never` while paused.
  [[nodiscard]] TimeNs free_at() const { return paused() ? never : free_at_; }
  [[nodiscard]] bool paused() const { return pauses_ != 0; }
  void pause(Pause reason = Pause::Receiver) { pauses_ |= static_cast<std::uint8_t>(reason); }
  void resume(Pause reason = Pause::Receiver) {
    if (!paused()) return;
    pauses_ &= static_cast<std::uint8_t>(~static_cast<unsigned>(reason));
    if (!paused() && listener_ != nullptr) listener_->output_resumed();
  }
  /// One at a time; nullptr removes it.
  void set_listener(OutputListener* listener) { listener_ = listener; }

  /// BB_Credit of a login (FC-FS): our buffers, announced to the far end ...
  [[nodiscard]] virtual std::uint16_t own_bb_credit() const { return default_bb_credit; }
  /// FC-AL: there is no such number; R_RDYs announce buffers whenever a circuit is opened.
  [[nodiscard]] virtual bool alternate_bb_credit() const { return false; }
  /// ... and the far end's.
  virtual void set_bb_credit(std::uint16_t /*of_far_end*/) {}

 protected:
  /// Announced on links that need no credit because buffers never run out.
  static constexpr std::uint16_t default_bb_credit = 64;
  explicit FrameOutput(bool takes_runs = false) : takes_runs_(takes_runs) {}
  ~FrameOutput() = default;
  TimeNs free_at_ = 0;

 private:
  std::uint8_t pauses_ = 0;
  const bool takes_runs_;
  OutputListener* listener_ = nullptr;
};

/// The source of an N_Port's frames at its F_Port. Held back while their destination takes no more.
class FrameFeeder {
 public:
  virtual void hold() = 0;
  virtual void proceed() = 0;
  /// It can keep back message data for one address, while all else comes. Of both, a repeated call says nothing new.
  [[nodiscard]] virtual bool holds_by_destination() const { return false; }
  virtual void hold_for(wire::FcId) {}
  virtual void proceed_for(wire::FcId) {}

 protected:
  ~FrameFeeder() = default;
};

}  // namespace fc2
