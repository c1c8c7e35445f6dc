// An N_Port's place on an arbitrated loop.
#pragma once
#include "fc2_fabric/link/loop.hpp"

namespace fc2 {
class NPort;

/// An N_Port of this program on a loop, public where that has a FL_Port.
class LoopNPort final : public LoopUser {
 public:
  LoopNPort(NPort& port, bool is_private) : port_(port), is_private_(is_private) {}
  FrameReceiver& receiver() override;
  [[nodiscard]] wire::Wwn loop_name() const override;
  [[nodiscard]] bool is_fl_port() const override { return false; }
  [[nodiscard]] bool has_assigned_address() const override;
  [[nodiscard]] std::uint8_t al_pd(wire::FcId d_id) const override;
  void loop_interrupted(FramePtr& unsent) override;
  void loop_active(LoopStation& station, const LoopState& state) override;
  void loop_gone() override;
  [[nodiscard]] fsm::RowListener* row_listener() const override;

 private:
  NPort& port_;
  const bool is_private_;
};

/// Joins the loop after the last one, which makes a LIP. The port must outlive its place.
LoopStation& attach(Loop& loop, NPort& port, const LoopPlace& place = {});

}  // namespace fc2
