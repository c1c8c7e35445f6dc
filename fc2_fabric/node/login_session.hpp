// One login: with the fabric (FLOGI) or with a remote port (PLOGI). Drives machines::port_login.
#pragma once
#include <optional>

#include "fc2_fabric/node/login_services.hpp"
#include "state_machines/outbox.hpp"
#include "state_machines/port_login.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/login.hpp"

namespace fc2 {

class LoginSession : protected ExchangeUser, protected machines::port_login::Context, private Event {
 public:
  LoginSession(const LoginServices& services, wire::FcId peer)
      : port_(services.port), services_(services), peer_(peer) {}
  ~LoginSession() override = default;

  void link_up() { process(machines::port_login::LinkUp{}); }
  void link_down() { process(machines::port_login::LinkDown{}); }
  /// The same where it is not known whether the link was up for this login.
  void link_down_if_up();
  void log_in();
  void log_out();
  /// The peer has forgotten all logins: an implicit logout, then log_in(). If our login is out already it goes again at
  /// once, with all its tries.
  void log_in_anew();
  /// The peer's PLOGI or LOGO on `exchange`; answers it.
  void login_received(Exchange& exchange, const wire::els::Login& login);
  void logout_received(Exchange& exchange);
  /// The peer's login is known to be gone, without a LOGO.
  void implicit_logout();
  /// No port is at that address: a login under way with it would only time out.
  void peer_is_gone();
  /// The addresses of an ADISC, or of its accept, are those of the login.
  [[nodiscard]] bool confirms(const wire::els::Adisc& adisc) const;
  /// What became of the addresses since the link went (FC-VI 7.7.3 to 7.7.5). Nothing unless it is being validated.
  void validated();
  void validation_failed();
  [[nodiscard]] bool logging_in() const;
  /// Our PLOGI is out, and a frame says that the peer took it for accepted: it is sent again. False where none is out.
  bool login_presumed();
  /// The login stands, suspended or not.
  [[nodiscard]] bool logged_in() const {
    namespace pl = machines::port_login;
    return machine_.is_any_of<pl::LoggedIn, pl::Suspended, pl::Validating, pl::LoginAwaited>();
  }
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;
  /// The link is back, and it is not known yet whether the addresses are those of the login.
  [[nodiscard]] bool validating() const {
    namespace pl = machines::port_login;
    return machine_.is_any_of<pl::Validating, pl::LoginAwaited>();
  }
  [[nodiscard]] std::string_view state_name() const { return machine_.state_name(); }
  [[nodiscard]] wire::FcId peer() const { return peer_; }
  [[nodiscard]] NPort& port() const { return port_.port(); }
  /// What the peer said of itself; valid while logged in.
  [[nodiscard]] const wire::els::Login& peer_parameters() const { return peer_parameters_; }

 protected:
  [[nodiscard]] virtual wire::els::Login own_parameters(wire::els::Command command) const = 0;
  [[nodiscard]] virtual wire::els::Command login_command() const = 0;
  virtual void logged_in_now() = 0;
  virtual void login_failed_now() = 0;
  virtual void logged_out_now() = 0;
  /// No FC-VI IU may go until resumed_now(), logged_out_now() or a new login.
  virtual void suspended_now() {}
  virtual void resumed_now() {}
  /// The D_ID that an accept came to: a FLOGI's grants it.
  virtual void accepted_at(wire::FcId) {}
  template <class E>
  void process(const E& event);
  /// Are they still the addresses of its login? Answers validated() or validation_failed(), within 2 x R_A_TOV. Asks
  /// again meanwhile: who lost its link with ours may come back later than we do, and class 3 does not say that nobody
  /// was there.
  void discover_address();

  const PortServices& port_;
  const LoginServices& services_;
  const wire::FcId peer_;
  machines::port_login::Machine machine_;
  machines::port_login::LoginFailure failure_{};  // of the last login that failed
  wire::els::Login peer_parameters_;

 private:
  enum class Report : std::uint8_t { LoggedIn, LoginFailed, LoggedOut, Suspended, Resumed };
  enum class Request : std::uint8_t { Login, Logout, Discovery };
  void settle();
  void release(Report report);
  void accept_own_login(const wire::els::Login& login);
  void request(Request kind, std::span<const std::uint8_t> payload, TimeNs timeout);
  void ask_for_address();
  void discovery_overdue();
  void reply_to_discovery(std::span<const std::uint8_t> payload);
  void start(TimeNs delay);

  // ExchangeUser: the answer to our FLOGI, PLOGI or LOGO
  void sequence_received(Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) override;
  void exchange_failed(Exchange& exchange, ExchangeFailure failure) override;
  void reply_to_login(const wire::FcHeader& header, std::span<const std::uint8_t> payload);
  void fire(TimeNs) override;

  // machines::port_login
  void send_login() override;
  void accept_login() override;
  void reject_login() override;
  void send_logout() override;
  void accept_logout() override;
  void forget_request() override;
  void leave_request() override { request_ = nullptr; }
  void start_timer() override;
  void start_retry_delay() override;
  void stop_timer() override;
  void count_retry() override { --retries_left_; }
  void validate_addresses() override {}  // the port decides: see PortAttachment
  void report_logged_in() override;
  void report_login_failed(machines::port_login::LoginFailure failure) override {
    failure_ = failure;
    reports_.push(Report::LoginFailed);
  }
  void report_logged_out() override { reports_.push(Report::LoggedOut); }
  void report_logout_complete() override {}
  void report_suspended() override { reports_.push(Report::Suspended); }
  void report_resumed() override { reports_.push(Report::Resumed); }
  [[nodiscard]] bool retries_left() const override { return retries_left_ > 0; }
  [[nodiscard]] bool peer_login_wins() const override;
  [[nodiscard]] bool peer_asks_again() const override;
  [[nodiscard]] bool overtaken_by_accept() const override;
  [[nodiscard]] bool link_loss_logs_out() const override;
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  Exchange* request_ = nullptr;  // ours, unanswered
  Request request_kind_ = Request::Login;
  Exchange* incoming_ = nullptr;  // the peer's, while its event is processed
  const wire::els::Login* incoming_login_ = nullptr;
  wire::FcId own_id_{};  // our N_Port_ID when we logged in
  int retries_left_ = 0;
  TimeNs discovery_ends_ = 0, discovery_wait_ = 0;
  std::optional<TimeNs> rejected_at_;  // the peer's PLOGI, first, while ours is out
  TimeNs overtaken_until_ = 0;         // as long as a PLOGI that crossed ours may still be under way
  fsm::Outbox<Report, 4> reports_;     // collected while the machine runs, released when it rests
};

}  // namespace fc2
