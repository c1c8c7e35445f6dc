// Registers the port after each fabric login: PLOGI with the Name Server, RIPP_ID for each own address, its symbolic
// names, and last RFT_ID with the FC-4s that the port has by then, so that a list of their ports shows it complete;
// then SCR with the Fabric Controller: the machine `port_registration`. One request at a time: simple servers accept no
// more.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "farp/resolver.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "state_machines/outbox.hpp"
#include "state_machines/port_registration.hpp"

namespace farp {

class Registration final : private fc2::ExchangeUser, private machines::port_registration::Context {
 public:
  /// `on_ready`: other ports can find this one, as far as this fabric allows. `on_notified`: from now on the fabric
  /// tells of changes, or never will; of those before it did not.
  Registration(fc2::NPort& port, const ResolverConfig& config, std::function<void()> on_ready,
               std::function<void()> on_notified)
      : port_(port), config_(config), on_ready_(std::move(on_ready)), on_notified_(std::move(on_notified)) {}
  ~Registration() { do_abort(); }

  void fabric_logged_in();
  void name_server_logged_in();
  void name_server_unavailable();
  /// The fabric or the Name Server logged us out: all registrations are gone.
  void stop();
  [[nodiscard]] bool ready() const {
    namespace pr = machines::port_registration;
    return machine_.is_any_of<pr::RegisteringForStateChanges, pr::Registered>() && port_.online();
  }
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;

 private:
  /// What is registered, in this order.
  enum class Step : std::uint8_t { Address, NodeName, SymbolicNodeName, SymbolicPortName, Types, StateChanges };
  /// What is left to do when the machine has come to rest.
  enum class Effect : std::uint8_t {
    AbortRequest,
    LogInToNameServer,
    BeginWithFirst,
    GoToNext,
    GoToStateChanges,
    Ask,
    AskAgain,
    ReportReady,
    ValidateLogins
  };
  template <class E>
  void process(const E& event);
  void carry_out(Effect effect);
  [[nodiscard]] bool is_wanted(Step step) const;
  void prepare(Step step);
  void do_abort();
  void do_begin_with_first();
  void do_go_to_next();
  void do_ask();
  [[nodiscard]] std::vector<std::uint8_t> registration_of(Step step) const;
  void request(wire::FcId d_id, wire::RCtl r_ctl, wire::Type type, std::span<const std::uint8_t> payload);
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                         std::span<const std::uint8_t> iu) override;
  void exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) override;

  // machines::port_registration
  void abort_request() override { effects_.push(Effect::AbortRequest); }
  void log_in_to_name_server() override { effects_.push(Effect::LogInToNameServer); }
  void begin_with_first() override { effects_.push(Effect::BeginWithFirst); }
  void go_to_next() override { effects_.push(Effect::GoToNext); }
  void go_to_state_changes() override { effects_.push(Effect::GoToStateChanges); }
  void ask() override { effects_.push(Effect::Ask); }
  void ask_again() override { effects_.push(Effect::AskAgain); }
  void report_ready() override { effects_.push(Effect::ReportReady); }
  void validate_logins() override { effects_.push(Effect::ValidateLogins); }
  [[nodiscard]] bool uses_name_server() const override { return config_.use_name_server && port_.has_fabric(); }
  [[nodiscard]] bool wants_state_changes() const override {
    return config_.register_state_changes && port_.has_fabric();
  }
  [[nodiscard]] bool more_to_register() const override { return step_ != Step::Types; }
  [[nodiscard]] bool retries_left() const override { return retries_left_ > 0; }
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view machine, std::string_view state, std::string_view event) override;

  fc2::NPort& port_;
  const ResolverConfig& config_;
  std::function<void()> on_ready_, on_notified_;
  machines::port_registration::Machine machine_;
  fsm::Outbox<Effect, 8> effects_;
  fc2::Exchange* request_ = nullptr;
  Step step_ = Step::Address;
  std::size_t address_ = 0;  // which own address is registered
  int retries_left_ = 0;     // of this request
};

}  // namespace farp
