// Originates the Disconnect of one connection (FC-VI 5.3.5, 8.6, D.1 rules 1 and 2).
#pragma once
#include "fc2_fabric/n_port.hpp"
#include "state_machines/disconnect_originator.hpp"
#include "wire/fcvi/reason.hpp"

namespace fcvi {
class Connection;

class Disconnector final : private machines::disconnect_originator::Context, private fc2::ExchangeUser {
 public:
  explicit Disconnector(Connection& connection);
  ~Disconnector() override;
  /// VipDisconnect; ends in Connection::disconnect_complete().
  void request();
  /// A DISCONNECT_RQST of the provider itself (5.9.4.6 VI_APP_DISCON = 0): tells the peer and waits for nothing.
  void notify(wire::fcvi::Reason reason);
  void port_logged_out();
  /// A DISCONNECT_RQST of either kind is under way.
  [[nodiscard]] bool awaits_answer() const;
  /// The cause that the next DISCONNECT_RQST of the application tells (D.1 rule 1 a).
  void set_reason(wire::fcvi::Reason reason) { reason_ = reason; }

 private:
  template <class E> void process(const E& event);
  fc2::Exchange* send(bool application, std::optional<wire::fcvi::Reason> reason);
  void expired();
  // machines::disconnect_originator
  void send_disconnect_rqst() override;
  void start_response_timer() override;
  void stop_response_timer() override;
  void abort_exchange() override;
  void complete_disconnect(machines::disconnect_originator::DisconnectOutcome outcome) override { outcome_ = outcome; }
  void count_stale() override;
  [[nodiscard]] bool port_logged_in() const override;
  void unexpected(std::string_view, std::string_view, std::string_view) override;
  // fc2::ExchangeUser
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) override;
  void exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) override;

  Connection& connection_;
  machines::disconnect_originator::Machine machine_;
  fc2::Exchange* exchange_ = nullptr;  // of the application's request
  fc2::Exchange* notice_ = nullptr;    // of the provider's own
  std::optional<wire::fcvi::Reason> reason_;
  std::optional<machines::disconnect_originator::DisconnectOutcome> outcome_;
  fc2::Timer<Disconnector, &Disconnector::expired> timer_{*this};
};

}  // namespace fcvi
