// Between a link and its N_Port: the port processes one frame after the other, each for a given time, and then frees
// its buffer. With credit a slow receiver so holds its sender back.
#pragma once
#include "fc2_fabric/link/channel.hpp"

namespace fc2 {

class ReceiveQueue final : public FrameReceiver, private Event {
 public:
  ReceiveQueue(Scheduler& scheduler, TimeNs processing_ns, FrameReceiver& port)
      : scheduler_(scheduler), processing_ns_(processing_ns), port_(port) {}

  void receive(FramePtr frame) override;
  /// The port takes no frame any more, or resumes.
  void pause();
  void resume();
  /// Link Reset: buffers must be free (FC-FS). Waiting frames are processed at once; a paused port loses them.
  void flush();
  /// The link is down.
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
