// Registers the port after each fabric login: PLOGI with the Name Server, RIPP_ID for each own address, its symbolic
// names, and last RFT_ID with the FC-4s that the port has by then, so that a list of their ports shows it complete;
// then SCR with the Fabric Controller. One request at a time: simple servers accept no more.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "farp/resolver.hpp"
#include "fc2_fabric/node/n_port.hpp"

namespace farp {

class Registration final : private fc2::ExchangeUser {
 public:
  /// `on_ready`: other ports can find this one, as far as this fabric allows.
  Registration(fc2::NPort& port, const ResolverConfig& config, std::function<void()> on_ready)
      : port_(port), config_(config), on_ready_(std::move(on_ready)) {}
  ~Registration() { stop(); }

  void fabric_logged_in();
  void name_server_logged_in();
  void name_server_unavailable();
  /// The fabric or the Name Server logged us out: all registrations are gone.
  void stop();
  [[nodiscard]] bool ready() const { return ready_ && port_.online(); }
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;

 private:
  enum class Step : std::uint8_t { Address, NodeName, SymbolicNodeName, SymbolicPortName, Types, StateChanges, Done };
  [[nodiscard]] Step step_after(Step step) const;
  [[nodiscard]] bool is_wanted(Step step) const;
  void prepare(Step step);
  void next();
  void request_step();
  [[nodiscard]] std::vector<std::uint8_t> registration_of(Step step) const;
  void request(wire::FcId d_id, wire::RCtl r_ctl, wire::Type type, std::span<const std::uint8_t> payload);
  void become_ready();
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                         std::span<const std::uint8_t> iu) override;
  void exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) override;

  fc2::NPort& port_;
  const ResolverConfig& config_;
  std::function<void()> on_ready_;
  fc2::Exchange* request_ = nullptr;
  Step step_ = Step::Done;
  std::size_t address_ = 0;  // which own address is registered
  int retries_left_ = 0;     // of this request
  bool ready_ = false;
};

}  // namespace farp
