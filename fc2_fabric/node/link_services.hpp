// What an N_Port answers by itself: the ELS requests of other ports (FC-LS).
#pragma once
#include <deque>
#include <vector>

#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/node/exchange_user.hpp"
#include "fc2_fabric/node/port_listener.hpp"
#include "fc2_fabric/node/port_services.hpp"
#include "wire/els/command.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/rls.hpp"

namespace fc2 {
class ExchangeTable;
class FramesBeforeLogin;
class IuSender;
class PortAttachment;
class RemotePorts;

/// The Link Error Status Block of a port (FC-FS). There is no signal here to be lost, nor are there words to be
/// invalid.
[[nodiscard]] wire::els::RlsAcc link_errors(const Counters& counters);

class LinkServices final : public ExchangeUser {
 public:
  LinkServices(const PortServices& port, PortAttachment& attachment, RemotePorts& remote_ports,
               ExchangeTable& exchanges, IuSender& sender, FramesBeforeLogin& frames_before_login)
      : port_(port), attachment_(attachment), remote_ports_(remote_ports), exchanges_(exchanges), sender_(sender),
        frames_before_login_(frames_before_login) {}
  // See NPort.
  void add_user(ElsUser& user) { users_.push_back(&user); }
  void remove_user(ElsUser& user) { std::erase(users_, &user); }
  /// See NPort::deny.
  void deny(wire::FcId peer);
  /// The first FC-4 frame of an exchange, from a port that is not logged in here.
  void login_missing(const ReceivedFrame& frame);
  /// Between its members, whenever none of its functions runs: of the denials that are not answered.
  [[nodiscard]] bool is_consistent() const;

 private:
  void sequence_received(Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) override;
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  void leave_farp(Exchange& exchange, wire::els::Command command, std::span<const std::uint8_t> payload);
  void answer(Exchange& exchange, wire::els::Command command, std::span<const std::uint8_t> payload);
  void login(Exchange& exchange, std::span<const std::uint8_t> payload);
  void fabric_login(Exchange& exchange, std::span<const std::uint8_t> payload);
  [[nodiscard]] std::size_t max_denials() const;
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
  void refuse(Exchange& exchange);
  template <class Message>
  void reply(Exchange& exchange, const Message& message);

  const PortServices& port_;
  PortAttachment& attachment_;
  RemotePorts& remote_ports_;
  ExchangeTable& exchanges_;
  IuSender& sender_;
  FramesBeforeLogin& frames_before_login_;
  std::vector<ElsUser*> users_;
  std::deque<Exchange*> denials_;  // some are over
};

}  // namespace fc2
