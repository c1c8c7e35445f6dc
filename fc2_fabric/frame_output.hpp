// Where a sender puts its frames: one direction of a link, as seen from its beginning. A simulated channel, a socket to
// another process, later shared memory or Ethernet.
#pragma once
#include "fc2_fabric/frame.hpp"

namespace fc2 {

/// Whoever feeds an output: hears when it takes frames again.
class OutputListener {
 public:
  virtual void output_resumed() = 0;

 protected:
  ~OutputListener() = default;
};

/// Fibre Channel does not drop frames for lack of buffers: an output that has none left pauses, its sender waits.
class FrameOutput {
 public:
  /// May be called while the output is busy (the frame queues behind those being sent), never while it is paused.
  virtual void send(FramePtr frame) = 0;
  /// The sender is free again from this time on; `never` while paused.
  [[nodiscard]] TimeNs free_at() const { return paused_ ? never : free_at_; }
  [[nodiscard]] bool paused() const { return paused_; }
  void pause() { paused_ = true; }
  void resume() {
    if (!paused_) return;
    paused_ = false;
    if (listener_ != nullptr) listener_->output_resumed();
  }
  /// One at a time; nullptr takes it off.
  void set_listener(OutputListener* listener) { listener_ = listener; }

 protected:
  FrameOutput() = default;
  ~FrameOutput() = default;
  TimeNs free_at_ = 0;

 private:
  bool paused_ = false;
  OutputListener* listener_ = nullptr;
};

/// What brings an N_Port's frames to its F_Port. Held back while they go to a port that takes no more.
class FrameFeeder {
 public:
  virtual void hold() = 0;
  virtual void proceed() = 0;

 protected:
  ~FrameFeeder() = default;
};

}  // namespace fc2
