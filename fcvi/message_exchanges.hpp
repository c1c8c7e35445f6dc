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
  void opened(wire::FcId originator, wire::OxId ox_id, wire::FcviHandle receiver) {
    entries_[key_of(originator, ox_id)] = {receiver, originator};
  }
  [[nodiscard]] std::optional<wire::FcviHandle> find(wire::FcId originator, wire::OxId ox_id) const {
    const auto found = entries_.find(key_of(originator, ox_id));
    return found == entries_.end() ? std::nullopt : std::optional(found->second.receiver);
  }
  void logged_out(wire::FcId peer) {
    boost::unordered::erase_if(entries_, [&](const auto& entry) { return entry.second.originator == peer; });
  }

 private:
  struct Entry {
    wire::FcviHandle receiver;
    wire::FcId originator;
  };
  static std::uint64_t key_of(wire::FcId originator, wire::OxId ox_id) {
    return std::uint64_t{originator.value} << 32 | ox_id.value;
  }
  boost::unordered_flat_map<std::uint64_t, Entry> entries_;
};

}  // namespace fcvi
