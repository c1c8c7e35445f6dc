// The part that makes an F_Port an FL_Port: its place on an arbitrated loop with AL_PA 00h, through which it serves all
// public NL_Ports of the loop (FC-AL, FC-LS, FC-VI 7.7.4).
#pragma once
#include "fc2_fabric/link/loop_user.hpp"

namespace fc2 {
class FPort;
class Loop;

class FlPort final : public LoopUser {
 public:
  FlPort(FPort& port, Loop& loop, const LoopPlace& place) : port_(port), loop_(&loop), place_(place) {}
  /// Joins or leaves the loop: each makes a LIP.
  void join();
  void leave();
  /// The switch has no room for frames from the loop, or has room again.
  void hold();
  void proceed();
  /// The S_ID of NL_Ports that log in before they have an address: the AL_PA alone.
  [[nodiscard]] static bool is_loop_address(wire::FcId id) {
    return (id.value & 0xFFFF00) == 0 && id.port() != 0 && al_pa_position(id.port()) != al_pas.size();
  }

  FrameReceiver& receiver() override;
  [[nodiscard]] wire::Wwn loop_name() const override;
  [[nodiscard]] bool is_fl_port() const override { return true; }
  [[nodiscard]] bool requires_login() const override;
  [[nodiscard]] std::uint8_t al_pd(wire::FcId d_id) const override { return d_id.port(); }
  void loop_interrupted(FramePtr& unsent) override;
  void loop_active(LoopStation& station, const LoopState& state) override;
  void frame_returned(FramePtr frame) override;
  void loop_gone() override;
  [[nodiscard]] fsm::RowListener* row_listener() const override;

 private:
  FPort& port_;
  Loop* loop_;  // nullptr: it is no more
  const LoopPlace place_;
  LoopStation* station_ = nullptr;  // while it is on the loop
};

}  // namespace fc2
