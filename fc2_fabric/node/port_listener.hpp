// Who hears of an N_Port's logins, and who answers link services beside it.
#pragma once
#include <cstdint>
#include <span>

#include "wire/fc_header.hpp"

namespace fc2 {
class Exchange;
class RemotePort;

/// Hears about logins. Calls come from inside NPort; a listener may originate exchanges, log in and out, also of the
/// fabric, not destroy the port. Nor may it change the port's link in a call (NPort::link_up(), link_down() and the
/// like; asserted): what the link before still has to do would be done to the next one. It schedules an event for that.
class PortListener {
 public:
  /// The port is online, n_port_id() is valid: the fabric login completed, or there is no fabric (NPort::has_fabric).
  virtual void fabric_logged_in() = 0;
  /// The fabric login failed. Told once; the port goes on asking, R_A_TOV after each failure, until it succeeds or the
  /// link goes. Two N_Ports that are connected directly (FC-LS) fail so where both have one Port_Name: neither may
  /// assign the addresses. Where their names differ they need no fabric, and nothing fails.
  virtual void fabric_login_failed() = 0;
  virtual void remote_port_logged_in(RemotePort& port) = 0;
  virtual void remote_port_login_failed(RemotePort& port) = 0;
  /// Explicit or implicit logout: every exchange with that port has failed already (FC-VI 7.7.1, 8.4.2 g).
  virtual void remote_port_logged_out(RemotePort& port) = 0;

 protected:
  ~PortListener() = default;
};

/// Hears from an N_Port's attachment, and may use the port in the calls, but for its link: see PortListener.
class AttachmentListener {
 public:
  // See PortListener.
  virtual void fabric_logged_in() = 0;
  virtual void fabric_login_failed() = 0;
  /// Whatever was under way with the port itself is lost.
  virtual void own_address_lost(wire::FcId own) = 0;

 protected:
  ~AttachmentListener() = default;
};

/// Answers unsolicited ELS requests of some commands. True if it took the request (and released the exchange or will).
class ElsUser {
 public:
  virtual bool els_received(Exchange& exchange, const wire::FcHeader& header,
                            std::span<const std::uint8_t> payload) = 0;

 protected:
  ~ElsUser() = default;
};

}  // namespace fc2
