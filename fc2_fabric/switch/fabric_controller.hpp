// The Fabric Controller (FFFFFDh) of a switch: which ports have registered for state changes (SCR), and their
// notifications (RSCN). FC-LS.
#pragma once
#include <cstdint>
#include <map>
#include <memory>

#include "fc2_fabric/switch/affected_addresses.hpp"
#include "fc2_fabric/node/n_port.hpp"

namespace fc2 {
class FabricDirectory;

class FabricController final : private ElsUser, private ExchangeUser, private Event {
 public:
  FabricController(NPort& port, TimeNs delay);
  ~FabricController();
  /// Gets the RSCNs of N_Ports, to pass them to all switches.
  void set_directory(FabricDirectory& directory) { directory_ = &directory; }
  /// Notifies each registered port of what it registered for: changes that the fabric noticed, changes
  /// that N_Ports reported.
  void notify(const AffectedAddresses& noticed, const AffectedAddresses& reported);
  /// A switch joined or left, as seen from this one. Notified after `delay`.
  void domain_changed(std::uint8_t domain);
  void forget(wire::FcId id) { registered_.erase(id); }
  void forget_all();
  [[nodiscard]] std::size_t registered_count() const { return registered_.size(); }

 private:
  // SCR functions as bits, so that they can be combined.
  static constexpr unsigned fabric_detected = 1, n_port_detected = 2;
  struct Registrant {
    unsigned functions = 0;
    const Exchange* unanswered = nullptr;           // an RSCN to it, sent at that time: further changes are collected
    TimeNs told_at = 0;                             // until the answer comes, or is overdue
    std::shared_ptr<const AffectedAddresses> told;  // its content: repeated if there is no answer
    bool repeated = false;                          // it was
    AffectedAddresses changed;
  };
  // A notice that many ports get is built once.
  struct Notice {
    explicit Notice(const AffectedAddresses& addresses);
    const std::shared_ptr<const AffectedAddresses> addresses;
    const std::vector<std::uint8_t> payload;
  };

  bool els_received(Exchange& exchange, const wire::FcHeader& header, std::span<const std::uint8_t> payload) override;
  void scr_received(Exchange& exchange, wire::FcId source, std::span<const std::uint8_t> payload);
  void rscn_received(Exchange& exchange, wire::FcId source, std::span<const std::uint8_t> payload);
  void accept(Exchange& exchange);
  bool take_registration(wire::FcId source, std::span<const std::uint8_t> payload);
  void sequence_received(Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) override;
  void exchange_failed(Exchange& exchange, ExchangeFailure failure) override;
  [[nodiscard]] Registrant* waiting_for(const Exchange& exchange);
  void fire(TimeNs now) override;
  void tell(wire::FcId id, Registrant& registrant, const Notice& notice);
  void tell_rest(wire::FcId id, Registrant& registrant);
  void send(wire::FcId id, Registrant& registrant, const Notice& notice);
  void come_back_after(TimeNs delay);

  NPort& port_;
  const TimeNs delay_;
  FabricDirectory* directory_ = nullptr;
  std::map<wire::FcId, Registrant> registered_;
  AffectedAddresses domains_;  // not reported yet
};

}  // namespace fc2
