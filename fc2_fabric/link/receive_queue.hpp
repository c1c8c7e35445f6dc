// Between a link and the N_Port at its end: the port works at one frame after the other, each for a while, and only
// then has its buffer free again. A slow receiver, in other words: with credit it holds its sender back.
#pragma once
#include "fc2_fabric/link/channel.hpp"

namespace fc2 {

class ReceiveQueue final : public FrameReceiver, private Event {
 public:
  ReceiveQueue(Scheduler& scheduler, TimeNs processing_ns, FrameReceiver& port)
      : scheduler_(scheduler), processing_ns_(processing_ns), port_(port) {}

  void receive(FramePtr frame) override;
  /// The port takes no frame any more, or does again.
  void pause();
  void resume();
  /// Link Reset: buffers have to be free (FC-FS). What waits is processed at once; a port that takes nothing loses it.
  void flush();
  /// The link went.
  void clear();
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  void fire(TimeNs now) override;
  void start_next();
  void process(FramePtr frame);

  Scheduler& scheduler_;
  const TimeNs processing_ns_;
  FrameReceiver& port_;
  FrameQueue waiting_;  // the first is being worked at
  bool paused_ = false;
  std::uint64_t lost_ = 0;
};

}  // namespace fc2
