// Frames of one instant in the order of interfaces, whatever the order in which they passed: where switches are
// independent, a capture is the same however the fabric was shared.
#pragma once
#include <deque>
#include <functional>
#include <vector>

#include "fc2_fabric/frame/capture.hpp"
#include "runtime/scheduler.hpp"

namespace sim {

class OrderedCapture final : public fc2::CaptureInterfaces {
 public:
  /// Makes what is behind an interface of that name: interfaces are numbered as they are made.
  using Maker = std::function<fc2::FrameTap&(std::string_view name)>;
  /// Pre: the clock outlives it.
  OrderedCapture(const runtime::Scheduler& clock, Maker make);
  fc2::FrameTap& add_interface(std::string_view name) override { return add_interface(make_(name)); }
  /// The next interface, with that behind it.
  fc2::FrameTap& add_interface(fc2::FrameTap& behind);
  /// When those passed that are handed on.
  [[nodiscard]] const runtime::TimeNs& instant() const { return instant_; }
  /// What is left, at the end.
  void flush();

 private:
  struct Passed {
    std::size_t interface_id;
    fc2::TimeNs at;
    fc2::FramePtr frame;
    bool outbound;
  };
  class Interface final : public fc2::FrameTap {
   public:
    Interface(OrderedCapture& capture, std::size_t id) : capture_(capture), id_(id) {}
    void frame_passed(fc2::TimeNs at, const fc2::Frame& frame, bool outbound) override;

   private:
    OrderedCapture& capture_;
    std::size_t id_;
  };

  const runtime::Scheduler& clock_;
  const Maker make_;
  std::deque<Interface> interfaces_;
  std::vector<fc2::FrameTap*> behind_;  // by interface
  runtime::TimeNs instant_ = 0;
  std::vector<Passed> passed_;  // in this instant
};

}  // namespace sim
