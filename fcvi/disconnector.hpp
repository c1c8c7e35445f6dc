// Originates the Disconnect of one connection (FC-VI 5.3.5, 8.6, D.1 rules 1 and 2): that of the application, or the
// provider's own, which tells the peer that the connection failed here, or goes with its VI (VI_APP_DISCON of 5.9.4.6).
#pragma once
#include "fcvi/endpoint.hpp"
#include "state_machines/disconnect_originator.hpp"
#include "state_machines/outbox.hpp"

namespace fcvi {
class Disconnector final : private machines::disconnect_originator::Context, private fc2::ExchangeUser {
 public:
  using By = DisconnectBy;
  Disconnector(Endpoint& endpoint, By by) : endpoint_(endpoint), by_(by) {}
  ~Disconnector() override;
  /// Ends in EndpointListener::disconnect_complete(); at once, where none is needed.
  void request();
  /// Nobody answered, and nobody else would ask again: request() after FCVI_ULP_TIMEOUT.
  void request_later() { start_response_timer(); }
  void port_logged_out();
  [[nodiscard]] bool is_under_way() const;
  [[nodiscard]] bool is_consistent() const;

 private:
  template <class E>
  void process(const E& event);
  void expired();
  // machines::disconnect_originator
  void send_disconnect_rqst() override;
  void start_response_timer() override;
  void stop_response_timer() override;
  void abort_exchange() override;
  void complete_disconnect(machines::disconnect_originator::DisconnectOutcome outcome) override {
    outbox_.push(outcome);
  }
  void count_stale() override;
  [[nodiscard]] bool port_logged_in() const override;
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view, std::string_view, std::string_view) override;
  // fc2::ExchangeUser
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                         std::span<const std::uint8_t> iu) override;
  void exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) override;

  [[nodiscard]] const Services& services() const { return endpoint_.services; }

  Endpoint& endpoint_;
  fc2::Exchange* exchange_ = nullptr;
  runtime::Timer<Disconnector, &Disconnector::expired> timer_{*this};
  machines::disconnect_originator::Machine machine_;
  const By by_;
  fsm::Outbox<machines::disconnect_originator::DisconnectOutcome, 1> outbox_;
};

}  // namespace fcvi
