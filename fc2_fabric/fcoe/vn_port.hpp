// A VN_Port: one N_Port of an ENode, with its MAC address and its virtual link (FC-BB-5).
#pragma once
#include <optional>

#include "fc2_fabric/fcoe/virtual_link.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "wire/fip.hpp"

namespace fc2::fcoe {
class VnPort;

/// Takes a VN_Port's frames.
class VnPortUser {
 public:
  /// FLOGI, FDISC or LOGO to the F_Port Controller: sent inside FIP.
  virtual void vn_port_sends_els(VnPort& port, const Frame& frame, wire::fip::DescriptorType type) = 0;
  virtual void vn_port_sends(VnPort& port, FramePtr frame) = 0;

 protected:
  ~VnPortUser() = default;
};

/// A fabric login or logout without an answer yet.
struct PendingEls {
  wire::fip::DescriptorType type{};
  wire::OxId ox_id{};
};

/// The descriptor that carries a frame inside FIP; nullopt: the frame is not a fabric login or logout.
[[nodiscard]] std::optional<wire::fip::DescriptorType> fip_type_of(const Frame& frame);

class VnPort final : private FrameReceiver {
 public:
  VnPort(Scheduler& scheduler, NPort& port, VnPortUser& user)
      : n_port(port), link(scheduler, *this, port), user_(user) {}
  /// The N_Port's link is up, down for good, or interrupted: then the N_Port keeps its logins until it is known whether
  /// they stand (FC-VI 7.7.5). Idempotent.
  void take_up();
  void take_up_without_fabric(wire::FcId own);
  void take_down();
  void interrupt();
  [[nodiscard]] bool is_up() const { return up_; }
  /// Gives it a frame that arrived for it.
  void deliver(FramePtr frame) { link.from_wire.send(std::move(frame)); }

  NPort& n_port;
  VirtualLink link;
  std::optional<wire::MacAddress> mac;  // while logged in
  wire::FcId id{};                      // granted with it
  std::optional<PendingEls> pending;

 private:
  void receive(FramePtr frame) override;  // what the N_Port sends
  [[nodiscard]] bool forget_link();
  VnPortUser& user_;
  bool up_ = false;
};

}  // namespace fc2::fcoe
