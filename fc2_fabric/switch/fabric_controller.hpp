// The Fabric Controller (FFFFFDh) of a switch: who of its ports wants to hear of changes (SCR), and telling them
// (RSCN). FC-LS.
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
  /// Where RSCNs of N_Ports go, to reach all switches.
  void set_directory(FabricDirectory& directory) { directory_ = &directory; }
  /// Tells each registered port what it asked for: what the fabric noticed, what N_Ports reported of themselves.
  void notify(const AffectedAddresses& noticed, const AffectedAddresses& reported);
  /// A switch joined or left, as seen from this one. Told after `delay`.
  void domain_changed(std::uint8_t domain);
  void forget(wire::FcId id) { registered_.erase(id); }
  void forget_all();
  [[nodiscard]] std::size_t registered_count() const { return registered_.size(); }

 private:
  // SCR functions as bits: they add up.
  static constexpr unsigned fabric_detected = 1, n_port_detected = 2;
  struct Registrant {
    unsigned functions = 0;
    const Exchange* unanswered = nullptr;  // an RSCN to it, sent at that time: what changes meanwhile is told together,
    TimeNs told_at = 0;                    // when the answer is there, or late
    std::shared_ptr<const AffectedAddresses> told;  // in it: told again where no answer comes
    bool repeated = false;                          // it was
    AffectedAddresses changed;
  };
  // What most are told is written once.
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
  AffectedAddresses domains_;  // not told yet
};

}  // namespace fc2
