// One direction of a link: bandwidth, latency, in order, class 3. Two of them make a link.
#pragma once
#include <cstdint>

#include "fc2_fabric/link/buffer_credit.hpp"
#include "fc2_fabric/frame/frame_output.hpp"
#include "fc2_fabric/frame/frame_receiver.hpp"

namespace fc2 {

struct LinkConfig {
  TimeNs latency_ns = 0;               // propagation, after the last byte was sent
  std::uint64_t bytes_per_second = 0;  // 0: no limit
  std::uint16_t bb_credit = 0;         // receive buffers of each end; 0: as many as are asked for, no R_RDY
  TimeNs processing_ns = 0;            // of the N_Port: how long it works at each frame before the buffer is free again
  TimeNs link_timeout = 2 * second;    // without credit for so long: Link Reset (LR_TOV, as E_D_TOV)
  /// Frames of one arrival time that one event hands over. More than one, in real time: nothing else happens between
  /// them, their receiver neither takes down nor destroys the link while it receives, and what arrives now is handed
  /// over from within send().
  std::uint16_t burst_frames = 1;
};

class Channel;

/// Faults of frames on their way, as on a bad link: only the two ends can notice them.
class FrameFault {
 public:
  /// The frame is about to be sent, no tap has seen it: decide, and note it in frame.fault. carry() follows.
  virtual void foresee(Frame&) {}
  /// `frame` would arrive at frame->arrival. Lose it, or deliver() it: later, changed, or more than once.
  virtual void carry(Channel& channel, FramePtr frame) = 0;
  /// The link broke: frames that it holds back are lost.
  virtual void link_broke() {}

 protected:
  ~FrameFault() = default;
};

class Channel final : public FrameOutput, private Event {
 public:
  Channel(Scheduler& scheduler, LinkConfig config, FrameReceiver& receiver)
      : FrameOutput(config.burst_frames > 1), scheduler_(scheduler), config_(config), receiver_(receiver) {
    look_again();
  }

  void send(FramePtr frame) override;
  /// Where nothing is looked at, waited for or lost between its ends.
  [[nodiscard]] std::size_t send_run(const FrameRun& run) override;
  /// The link breaks: frames on it are lost.
  void clear();
  /// What is on its way arrives now, in its order.
  void hasten();
  [[nodiscard]] std::size_t in_flight() const { return flying_.size(); }
  [[nodiscard]] bool unlimited() const { return config_.bytes_per_second == 0; }

  void tap_sender(FrameTap* tap) { sender_tap_ = tap, look_again(); }
  void tap_receiver(FrameTap* tap) { receiver_tap_ = tap, look_again(); }
  /// One at a time; nullptr removes it. The sender's tap sees lost frames, the receiver's does not.
  void set_fault(FrameFault* fault) { fault_ = fault, look_again(); }
  /// A sent frame counts against `credit`, a received one occupies one of the `buffers`. nullptr: no limit.
  void set_credit(BufferCredit* credit, ReceiveBuffers* buffers) {
    credit_ = credit;
    buffers_ = buffers;
    look_again();
  }
  [[nodiscard]] std::uint16_t own_bb_credit() const override {
    return config_.bb_credit != 0 ? config_.bb_credit : default_bb_credit;
  }
  void set_bb_credit(std::uint16_t of_far_end) override {
    if (credit_ != nullptr) credit_->set_limit(of_far_end);
  }
  /// For frames sent from now on.
  void set_latency(TimeNs latency_ns) { config_.latency_ns = latency_ns, look_again(); }
  /// Frames arrive before all else that happens at their time, by rank (Scheduler::schedule_first). 0: they do not.
  void set_rank(std::uint32_t rank) { rank_ = rank; }
  /// For faults: the frame arrives at frame->arrival, not before now.
  void deliver(FramePtr frame);

 private:
  void fire(TimeNs now) override;
  void hand_over(TimeNs now);
  void come_at(TimeNs arrival);
  [[nodiscard]] bool arrives_at_once(const Frame& frame) const;
  void look_again();
  void pass(TimeNs now, FramePtr frame);
  void hand_over_burst(TimeNs now);
  [[nodiscard]] TimeNs transmission_time(std::size_t size_bytes);

  Scheduler& scheduler_;
  LinkConfig config_;
  FrameReceiver& receiver_;
  FrameTap* sender_tap_ = nullptr;
  FrameTap* receiver_tap_ = nullptr;
  FrameFault* fault_ = nullptr;
  BufferCredit* credit_ = nullptr;
  ReceiveBuffers* buffers_ = nullptr;
  std::size_t timed_bytes_ = ~std::size_t{0};  // what transmission_time() was asked for last
  TimeNs timed_as_ = 0;
  FrameQueue flying_;  // in order of arrival
  std::uint32_t rank_ = 0;
  bool takes_runs_now_ = false;  // nothing is looked at, takes time or is counted between its ends: see look_again()
  bool passing_ = false;         // a frame of a burst is being received: another waits for it to be over
};

}  // namespace fc2
