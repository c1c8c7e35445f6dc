#include "fcvi/message_exchanges.hpp"

namespace fcvi {

std::uint64_t MessageExchanges::key_of(wire::FcId originator, wire::OxId ox_id) {
  return std::uint64_t{originator.value} << 32 | ox_id.value;
}

void MessageExchanges::opened(wire::FcId originator, wire::OxId ox_id, wire::FcviHandle receiver) {
  entries_[key_of(originator, ox_id)] = {receiver, originator};
}

std::optional<wire::FcviHandle> MessageExchanges::find(wire::FcId originator, wire::OxId ox_id) const {
  const auto found = entries_.find(key_of(originator, ox_id));
  return found == entries_.end() ? std::nullopt : std::optional(found->second.receiver);
}

void MessageExchanges::logged_out(wire::FcId peer) {
  boost::unordered::erase_if(entries_, [&](const auto& entry) { return entry.second.originator == peer; });
}

}  // namespace fcvi
