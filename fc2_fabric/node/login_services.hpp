// What a login uses of its N_Port, beside PortServices.
#pragma once
#include <cstdint>
#include <span>

#include "fc2_fabric/node/exchange_user.hpp"
#include "fc2_fabric/node/port_services.hpp"
#include "wire/els/login.hpp"
#include "wire/els/ls_rjt.hpp"

namespace fc2 {
class FramesBeforeLogin;

/// Link services on exchanges, asked and answered.
class LinkRequests {
 public:
  /// nullptr: no exchange is free.
  virtual Exchange* request_els(wire::FcId d_id, std::span<const std::uint8_t> payload, ExchangeUser& user,
                                TimeNs reply_timeout) = 0;
  virtual void accept_els(Exchange& exchange, std::span<const std::uint8_t> payload) = 0;
  virtual void reject_els(Exchange& exchange, wire::els::RejectReason reason,
                          wire::els::RejectExplanation explanation) = 0;
  virtual void abort(Exchange& exchange) = 0;
  /// Its user has seen the answer, whether or not that said that it is the last.
  virtual void finish(Exchange& exchange) = 0;

 protected:
  ~LinkRequests() = default;
};

/// What the port's attachment to its link means for logins.
class LoginOwner {
 public:
  /// PLOGI, FLOGI and their accept, as this port says of itself (FC-LS).
  [[nodiscard]] virtual wire::els::Login login_parameters(wire::els::Command command) const = 0;
  /// The link is away, and the login may stand when it comes back (FC-VI 7.7.3 to 7.7.5).
  [[nodiscard]] virtual bool keeps_login(wire::FcId peer) const = 0;

 protected:
  ~LoginOwner() = default;
};

struct LoginServices {
  const PortServices& port;
  LinkRequests& requests;
  FramesBeforeLogin& frames_before_login;
  const LoginOwner& owner;
};

}  // namespace fc2
