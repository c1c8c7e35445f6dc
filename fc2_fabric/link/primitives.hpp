// Primitive signals and sequences of one direction of a link: what a link transmits between frames (FC-FS).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include <boost/circular_buffer.hpp>

#include "fc2_fabric/frame/time.hpp"

namespace fc2 {

enum class Primitive : std::uint8_t {
  RRdy,  // R_RDY: a receive buffer is free again
  Idle,  // it and those below are transmitted until replaced; here each change is sent once
  Lr,    // Link Reset
  Lrr,   // Link Reset Response
  Ols,   // Offline
  Nos,   // Not Operational
};
inline constexpr std::size_t primitive_kinds = 6;
std::string_view to_string(Primitive primitive);

class PrimitiveReceiver {
 public:
  virtual void primitive_received(Primitive primitive) = 0;

 protected:
  ~PrimitiveReceiver() = default;
};

/// Loses some primitives, as a bad link does.
class PrimitiveFault {
 public:
  virtual bool loses(Primitive primitive, TimeNs now) = 0;

 protected:
  ~PrimitiveFault() = default;
};

/// Carries primitives to the far end in order. They fit between frames: they take no time but the link's latency.
class PrimitiveLine final : private Event {
 public:
  /// `usual`: how many may be under way at once without an allocation.
  PrimitiveLine(Scheduler& scheduler, TimeNs latency_ns, std::size_t usual)
      : scheduler_(scheduler), latency_ns_(latency_ns), flying_(usual) {}

  void set_receiver(PrimitiveReceiver& receiver) { receiver_ = &receiver; }

  void send(Primitive primitive);
  /// The line is cut: primitives on it, and those sent until it is mended, are lost.
  void cut();
  void mend() { cut_ = false; }
  [[nodiscard]] bool is_cut() const { return cut_; }
  void set_fault(PrimitiveFault* fault) { fault_ = fault; }
  /// As Channel::set_rank().
  void set_rank(std::uint32_t rank) { rank_ = rank; }
  /// One that was sent elsewhere, and is at the far end then; behind those that are under way.
  void carry(Primitive primitive, TimeNs arrival);
  [[nodiscard]] std::uint64_t sent(Primitive primitive) const { return sent_[static_cast<std::size_t>(primitive)]; }

 private:
  struct Flying {
    TimeNs arrival;
    Primitive primitive;
  };
  void fire(TimeNs now) override;
  void come_at(TimeNs arrival);

  Scheduler& scheduler_;
  const TimeNs latency_ns_;
  PrimitiveReceiver* receiver_ = nullptr;
  PrimitiveFault* fault_ = nullptr;
  bool cut_ = false;
  std::uint32_t rank_ = 0;
  boost::circular_buffer<Flying> flying_;
  std::array<std::uint64_t, primitive_kinds> sent_{};
};

}  // namespace fc2
