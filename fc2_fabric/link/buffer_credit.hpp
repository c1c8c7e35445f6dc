// Buffer-to-buffer credit of one direction of a link (FC-FS): a frame is sent only if the other end has a buffer for
// it. The sender counts frames, the receiver its buffers; an R_RDY is returned for each buffer that is free again.
#pragma once
#include <cstdint>

#include "fc2_fabric/frame/frame_output.hpp"

namespace fc2 {

/// Reports of the credit at one end.
class CreditListener {
 public:
  /// No credit for E_D_TOV: R_RDYs or frames must have been lost. A Link Reset restores it.
  virtual void link_timed_out() = 0;

 protected:
  ~CreditListener() = default;
};

/// At the sender. Before a login one frame may be sent; the login tells how many buffers the far end has.
class BufferCredit final : private Event {
 public:
  BufferCredit(Scheduler& scheduler, FrameOutput& output, CreditListener& listener, TimeNs link_timeout)
      : scheduler_(scheduler), output_(output), listener_(listener), link_timeout_(link_timeout) {}

  /// BB_Credit as the far end announced it; frames without an R_RDY stay counted.
  void set_limit(std::uint16_t frames);
  [[nodiscard]] std::uint16_t limit() const { return limit_; }
  void frame_sent() {
    if (++outstanding_ >= limit_) use_up();
  }
  /// An R_RDY without an outstanding frame is ignored and counted.
  void r_rdy_received();
  /// Link Reset: nothing is outstanding.
  void reset();
  /// The login is over: one frame may be sent.
  void forget_login() {
    limit_ = before_login;
    reset();
  }
  [[nodiscard]] std::uint32_t outstanding() const { return outstanding_; }
  [[nodiscard]] std::uint64_t surplus() const { return surplus_; }

 private:
  static constexpr std::uint16_t before_login = 1;  // FC-LS: the credit of FLOGI and its accept
  void use_up();
  void renew();
  void fire(TimeNs now) override;

  Scheduler& scheduler_;
  FrameOutput& output_;
  CreditListener& listener_;
  const TimeNs link_timeout_;
  std::uint16_t limit_ = before_login;
  std::uint32_t outstanding_ = 0;
  TimeNs used_up_since_ = never;  // the timer is left to run where it stands
  std::uint64_t surplus_ = 0;
};

/// Sends the R_RDY of a free buffer to the far end.
class ReadySignal {
 public:
  virtual void send_r_rdy() = 0;

 protected:
  ~ReadySignal() = default;
};

/// At the receiver. A frame that arrives occupies a buffer until it leaves on another link or is freed. It may outlive
/// the link; the buffers live as long.
class ReceiveBuffers {
 public:
  explicit ReceiveBuffers(ReadySignal& signal) : signal_(&signal) {}
  ReceiveBuffers(const ReceiveBuffers&) = delete;
  ReceiveBuffers& operator=(const ReceiveBuffers&) = delete;

  void take(Frame& frame) {
    frame.buffers = this;
    frame.buffer_epoch = epoch_;
    ++taken_;
  }
  /// Link Reset: frames that occupy buffers now owe no R_RDY, the sender counts anew.
  void reset() { ++epoch_; }
  [[nodiscard]] std::size_t taken() const { return taken_; }

  struct Abandon {
    void operator()(ReceiveBuffers* buffers) const noexcept;
  };

 private:
  friend void free_buffer(Frame& frame) noexcept;
  ~ReceiveBuffers() = default;
  void give_back(std::uint32_t epoch) noexcept;

  ReadySignal* signal_;  // nullptr: the link is gone
  std::uint32_t epoch_ = 0;
  std::size_t taken_ = 0;
};
/// Owned by the link's end; frames in its buffers keep the rest alive.
using ReceiveBuffersPtr = std::unique_ptr<ReceiveBuffers, ReceiveBuffers::Abandon>;

}  // namespace fc2
