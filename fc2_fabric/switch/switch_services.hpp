// What a switch's ports ask of their switch.
#pragma once
#include <optional>

#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/frame/frame_receiver.hpp"
#include "fc2_fabric/switch/switch_config.hpp"
#include "wire/els/login.hpp"
#include "wire/fc_header.hpp"
#include "wire/types.hpp"

namespace fc2 {
class EPort;
class FPort;

class SwitchServices {
 public:
  SwitchServices(const SwitchServices&) = delete;
  SwitchServices& operator=(const SwitchServices&) = delete;

  [[nodiscard]] Scheduler& scheduler() const { return scheduler_; }
  [[nodiscard]] FramePool& pool() const { return pool_; }
  [[nodiscard]] const SwitchConfig& config() const { return config_; }
  [[nodiscard]] Counters& counters() { return counters_; }
  /// Hears what becomes of frames in this switch; nullptr removes it.
  void set_witness(FrameWitness* witness) { witness_ = witness; }
  /// Counts it.
  void discard(const Frame& frame, Discard reason) {
    counters_.discard(reason);
    if (witness_ != nullptr) witness_->frame_discarded(scheduler_.now(), frame, reason);
  }
  void note_wait(const Frame& frame) {
    if (witness_ != nullptr) witness_->frame_waits(scheduler_.now(), frame);
  }
  void note_loss(const Frame& frame) {
    if (witness_ != nullptr) witness_->frame_lost(scheduler_.now(), frame);
  }
  /// Of all ports: see SwitchConfig::flow_queue_frames.
  [[nodiscard]] std::size_t& flow_frames() { return flow_frames_; }
  /// It has a Domain_ID and its links work.
  [[nodiscard]] virtual bool online() const = 0;
  [[nodiscard]] virtual wire::Wwn fabric_name() const = 0;

  // --- frames
  /// A frame that an N_Port sent, as its F_Port got it.
  virtual void frame_from_port(FPort& ingress, FramePtr frame) = 0;
  /// See FrameReceiver::receive_run.
  [[nodiscard]] virtual std::size_t run_from_port(FPort& ingress, const FrameRun& run) = 0;
  virtual void frame_from_link(EPort& ingress, FramePtr frame) = 0;
  /// Where a frame of class 2 cannot go on: its sender hears so.
  virtual void answer_class_2(const Frame& frame, wire::RCtl r_ctl) = 0;
  virtual void undeliverable(const Frame& frame) = 0;

  // --- addresses
  [[nodiscard]] virtual wire::FcId address_of(const FPort& port) const = 0;
  /// 0: the area is full.
  virtual wire::FcId take_address(const FPort& port) = 0;
  virtual void give_back_address(wire::FcId id) = 0;

  // --- logins
  /// A login with this Port_Name may be accepted; `id`: who may have it already.
  [[nodiscard]] virtual bool admits_name(wire::Wwn port_name, wire::FcId id) const = 0;
  virtual void port_logged_in(FPort& port, wire::FcId id, const wire::els::Login& login) = 0;
  virtual void port_logged_out(wire::FcId id, wire::Wwn port_name) = 0;
  /// The fabric's services know nothing of it any more; its login stands.
  virtual void leave_services(wire::FcId id) = 0;
  /// Where in the fabric that name is logged in, and the port there if it is one of this switch.
  [[nodiscard]] virtual std::optional<wire::FcId> address_of_name(wire::Wwn port_name) const = 0;
  [[nodiscard]] virtual FPort* find(wire::FcId id) const = 0;

 protected:
  SwitchServices(Scheduler& scheduler, FramePool& pool, SwitchConfig config)
      : scheduler_(scheduler), pool_(pool), config_(std::move(config)) {}
  ~SwitchServices() = default;

  Scheduler& scheduler_;
  FramePool& pool_;
  SwitchConfig config_;
  Counters counters_;
  std::size_t flow_frames_ = 0;
  FrameWitness* witness_ = nullptr;
};

}  // namespace fc2
