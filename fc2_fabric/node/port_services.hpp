// What every part of an N_Port may use: its clock, frames, configuration, counters and output, and what is known of the
// port at this moment.
#pragma once
#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/node/n_port_config.hpp"
#include "fc2_fabric/node/transmitter.hpp"

namespace fc2 {
class NPort;

/// Written by PortAttachment alone.
struct PortState {
  wire::FcId n_port_id{};
  std::uint8_t al_pa = 0;  // on a loop with a fabric
  bool online = false;
  bool in_order = true;
  bool class_2 = false;
  TimeNs e_d_tov = 0, r_a_tov = 0;
};

class PortServices {
 public:
  PortServices(NPort& port, Scheduler& scheduler, FramePool& pool, const NPortConfig& config, Counters& counters,
               Transmitter& transmitter, const PortState& state)
      : port_(port), scheduler_(scheduler), pool_(pool), config_(config), counters_(counters),
        transmitter_(transmitter), state_(state) {}

  /// For users; no part calls it.
  [[nodiscard]] NPort& port() const { return port_; }
  [[nodiscard]] Scheduler& scheduler() const { return scheduler_; }
  [[nodiscard]] FramePool& pool() const { return pool_; }
  [[nodiscard]] const NPortConfig& config() const { return config_; }
  [[nodiscard]] Counters& counters() const { return counters_; }
  [[nodiscard]] Transmitter& transmitter() const { return transmitter_; }

  [[nodiscard]] wire::FcId n_port_id() const { return state_.n_port_id; }
  [[nodiscard]] std::uint8_t al_pa() const { return state_.al_pa; }
  [[nodiscard]] bool online() const { return state_.online; }
  [[nodiscard]] bool in_order() const { return state_.in_order; }
  [[nodiscard]] bool has_class_2() const { return state_.class_2; }
  [[nodiscard]] TimeNs e_d_tov() const { return state_.e_d_tov; }
  [[nodiscard]] TimeNs r_a_tov() const { return state_.r_a_tov; }
  /// See NPort::answer_time.
  [[nodiscard]] TimeNs answer_time(int repeated, int left) const;

 private:
  NPort& port_;
  Scheduler& scheduler_;
  FramePool& pool_;
  const NPortConfig& config_;
  Counters& counters_;
  Transmitter& transmitter_;
  const PortState& state_;
};

}  // namespace fc2
