// What an N_Port answers by itself: the ELS requests of other ports (FC-LS).
#pragma once
#include <deque>

#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/node/exchange.hpp"
#include "fc2_fabric/node/frames_before_login.hpp"
#include "wire/els/command.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/rls.hpp"

namespace fc2 {

/// The Link Error Status Block of a port (FC-FS). There is no signal here to be lost, nor are there words to be
/// invalid.
[[nodiscard]] wire::els::RlsAcc link_errors(const Counters& counters);

class LinkServices final : public ExchangeUser {
 public:
  explicit LinkServices(NPort& port) : frames_before_login(port), port_(port) {}
  /// See NPort::deny.
  void deny(wire::FcId peer);
  /// The first FC-4 frame of an exchange, from a port that is not logged in here.
  void login_missing(const ReceivedFrame& frame);
  FramesBeforeLogin frames_before_login;

 private:
  void sequence_received(Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) override;
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  void leave_farp(Exchange& exchange, wire::els::Command command, std::span<const std::uint8_t> payload);
  void answer(Exchange& exchange, wire::els::Command command, std::span<const std::uint8_t> payload);
  void login(Exchange& exchange, std::span<const std::uint8_t> payload);
  void fabric_login(Exchange& exchange, std::span<const std::uint8_t> payload);
  void make_room_for_denial();
  [[nodiscard]] bool counts_offline(const wire::FcHeader& first, std::span<const std::uint8_t> iu);
  void fabric_address(Exchange& exchange, std::span<const std::uint8_t> payload);
  void logout(Exchange& exchange, std::span<const std::uint8_t> payload);
  void logout_of_former_address(wire::FcId sender, const wire::els::Logo& logo);
  void reinstate(Exchange& exchange, std::span<const std::uint8_t> payload);
  void discover_address(Exchange& exchange, std::span<const std::uint8_t> payload);
  void process_login(Exchange& exchange, std::span<const std::uint8_t> payload);
  void echo(Exchange& exchange, std::span<const std::uint8_t> payload);
  void read_timeouts(Exchange& exchange);
  void read_link_errors(Exchange& exchange, std::span<const std::uint8_t> payload);
  void identify_node(Exchange& exchange, std::span<const std::uint8_t> payload);
  void accept(Exchange& exchange);
  NPort& port_;
  std::deque<Exchange*> denials_;  // some are over
};

}  // namespace fc2
