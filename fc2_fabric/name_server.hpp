// The Name Server (FFFFFCh): CT requests over TYPE 20h, answered from the NameDatabase (FC-GS; FC-VI 7.4, 7.6).
#pragma once
#include <span>
#include <vector>

#include "fc2_fabric/n_port.hpp"
#include "fc2_fabric/name_database.hpp"
#include "wire/ct/preamble.hpp"

namespace fc2 {

class NameServer final : private ExchangeUser {
 public:
  explicit NameServer(NPort& port);
  /// A fabric login registers its names, the logout removes all.
  void port_logged_in(wire::FcId id, wire::Wwn port_name, wire::Wwn node_name) {
    database_.add(id, port_name, node_name);
  }
  void port_logged_out(wire::FcId id) { database_.remove(id); }
  [[nodiscard]] const NameDatabase& database() const { return database_; }
  /// The CT_IU that answers this one: an accept or a reject.
  [[nodiscard]] std::vector<std::uint8_t> answer(wire::FcId source, std::span<const std::uint8_t> iu);

 private:
  void sequence_received(Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) override;
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  [[nodiscard]] bool is_logged_in(wire::FcId source);

  NPort& port_;
  NameDatabase database_;
};

}  // namespace fc2
