// The Name Server (FFFFFCh): CT requests over TYPE 20h, answered from the NameDatabase (FC-GS; FC-VI 7.4, 7.6).
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "fc2_fabric/node/n_port.hpp"
#include "fc2_fabric/switch/name_database.hpp"
#include "wire/ct/preamble.hpp"

namespace fc2 {

class FabricDirectory;

/// Replaces ports for addresses that no port has now: another port that answers "no waiting connection point" for them.
class AddressStandIn {
 public:
  /// A port registered this address.
  virtual void address_registered(const wire::IpAddress& address) = 0;
  /// nullopt: the address is unknown.
  [[nodiscard]] virtual std::optional<wire::FcId> port_for(const wire::IpAddress& address) const = 0;

 protected:
  ~AddressStandIn() = default;
};

class NameServer final : private ExchangeUser {
 public:
  explicit NameServer(NPort& port);
  /// The records of all switches of the fabric: a fabric login registers its names there, the logout removes all.
  void set_database(NameDatabase& database) { database_ = &database; }
  /// Where ports register, if not there: it hears of each registration. It outlives the server.
  void set_registry(FabricDirectory& registry) { registry_ = &registry; }
  [[nodiscard]] const NameDatabase& database() const { return *database_; }
  /// Asked if GID_IPP finds no port; nullptr removes it.
  void set_stand_in(AddressStandIn* stand_in) { stand_in_ = stand_in; }
  /// The CT_IU that answers `iu`: an accept or a reject.
  [[nodiscard]] std::vector<std::uint8_t> answer(wire::FcId source, std::span<const std::uint8_t> iu);

 private:
  void sequence_received(Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) override;
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  [[nodiscard]] bool is_logged_in(wire::FcId source);

  NPort& port_;
  std::vector<std::uint8_t> carry_out(wire::FcId source, wire::ct::Command command, std::span<const std::uint8_t> iu);

  NameDatabase* database_ = nullptr;
  FabricDirectory* registry_ = nullptr;
  AddressStandIn* stand_in_ = nullptr;
};

}  // namespace fc2
