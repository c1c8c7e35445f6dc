// The Fabric Controller (FFFFFDh): who wants to hear of changes (SCR), and telling them (RSCN). FC-LS.
#pragma once
#include <cstdint>
#include <set>

#include "fc2_fabric/n_port.hpp"
#include "wire/els/rscn.hpp"

namespace fc2 {

class FabricController final : private ElsUser, private ExchangeUser, private Event {
 public:
  /// Changes within `delay` of the first are told together.
  FabricController(NPort& port, TimeNs delay);
  ~FabricController();
  /// This port logged in or out.
  void state_changed(wire::FcId id);
  void forget(wire::FcId id) { registered_.erase(id); }
  [[nodiscard]] std::size_t registered_count() const { return registered_.size(); }

 private:
  // Above this number of pages an RSCN says "the whole fabric" instead.
  static constexpr std::size_t max_pages = 64;

  bool els_received(Exchange& exchange, const wire::FcHeader& header, std::span<const std::uint8_t> payload) override;
  bool take_registration(wire::FcId source, std::span<const std::uint8_t> payload);
  void sequence_received(Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) override;
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  void fire(TimeNs now) override;
  [[nodiscard]] wire::els::Rscn notification_for(wire::FcId id) const;

  NPort& port_;
  const TimeNs delay_;
  std::set<wire::FcId> registered_;
  std::set<wire::FcId> changed_;  // not told yet
};

}  // namespace fc2
