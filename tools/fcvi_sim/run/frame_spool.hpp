// The frames of a share of a run; when it is over, those of all parts become one capture, the same as that of the whole
// run in one process.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "fc2_fabric/frame/capture.hpp"
#include "tools/fcvi_sim/run/note_spool.hpp"
#include "tools/fcvi_sim/run/record.hpp"

namespace sim {

class FrameSpool final : public fc2::CaptureInterfaces {
 public:
  /// When a frame passed, which is not when it is on the wire: as long as frames come, the clock is there.
  void follow(const runtime::TimeNs& instant) { instant_ = &instant; }
  fc2::FrameTap& add_interface(std::string_view name) override;
  /// The same, of a port: faults that befell its frames are noted.
  fc2::FrameTap& add_port(std::string_view name) {
    ports_.resize(interfaces_.size());
    ports_.push_back(true);
    return add_interface(name);
  }
  /// Sends all to part 0, where `into` is not nullptr and gets the frames of all parts in the order of instants, and
  /// then of interfaces. All parts call it, with the same interfaces. False: in a part there was no room for all.
  /// `hits`: nullptr, or of a report.
  bool merge(Exchange& exchange, fc2::Capture* into, std::vector<FaultHit>* hits);

 private:
  class Interface final : public fc2::FrameTap {
   public:
    Interface(FrameSpool& spool, std::uint32_t id) : spool_(spool), id_(id) {}
    void frame_passed(fc2::TimeNs at, const fc2::Frame& frame, bool outbound) override;

   private:
    FrameSpool& spool_;
    std::uint32_t id_;
  };
  NoteSpool notes_;
  const runtime::TimeNs* instant_ = nullptr;
  std::deque<Interface> interfaces_;
  std::vector<std::string> names_;  // of them
  std::vector<bool> ports_;         // of them, as far as there are ports
};

}  // namespace sim
