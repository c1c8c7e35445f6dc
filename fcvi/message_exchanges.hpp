// Which connection the Exchanges of peers bring messages to: an ABTS names the Exchange alone.
#pragma once
#include <cstdint>
#include <optional>

#include <boost/unordered/unordered_flat_map.hpp>

#include "wire/types.hpp"

namespace fcvi {

/// The connection to which an exchange of a peer brought a message last; of what is over it says nothing.
class MessageExchanges {
 public:
  /// A message of this exchange begins, or waits, at `receiver`: an ABTS of it goes there.
  void opened(wire::FcId originator, wire::OxId ox_id, wire::FcviHandle receiver);
  [[nodiscard]] std::optional<wire::FcviHandle> find(wire::FcId originator, wire::OxId ox_id) const;
  void logged_out(wire::FcId peer);

 private:
  struct Entry {
    wire::FcviHandle receiver;
    wire::FcId originator;
  };
  static std::uint64_t key_of(wire::FcId originator, wire::OxId ox_id);
  boost::unordered_flat_map<std::uint64_t, Entry> entries_;
};

}  // namespace fcvi
