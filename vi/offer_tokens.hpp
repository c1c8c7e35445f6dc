// The tokens that name incoming requests between VipConnectWait and VipConnectAccept or VipConnectReject, and how many
// may be open.
#pragma once
#include <cstdint>
#include <map>

#include "vi/transport.hpp"

namespace vi {

/// `Offer` is what the transport knows a request by.
template <class Offer>
class OfferTokens {
 public:
  /// A request for which there is no room is answered as if nobody waited.
  explicit OfferTokens(std::size_t limit) : limit_(limit) {}

  [[nodiscard]] bool full() const { return offers_.size() >= limit_; }
  [[nodiscard]] std::size_t open_count() const { return offers_.size(); }
  /// Never the same twice.
  ConnectionToken add(Offer& offer) {
    const std::uint64_t token = next_++;
    offers_.emplace(token, &offer);
    return {token};
  }
  /// nullptr: decided, withdrawn, or never issued.
  [[nodiscard]] Offer* find(ConnectionToken token) const {
    const auto found = offers_.find(token.value);
    return found == offers_.end() ? nullptr : found->second;
  }
  void remove(ConnectionToken token) { offers_.erase(token.value); }
  /// What VipConnectAccept says of a token that names no open offer: the client gave up (VI-DG 6.7), or there never was
  /// a request.
  [[nodiscard]] Return refusal_of(ConnectionToken token) const {
    return was_issued(token) ? Return::Timeout : Return::InvalidParameter;
  }
  [[nodiscard]] bool was_issued(ConnectionToken token) const { return token.value != 0 && token.value < next_; }

 private:
  const std::size_t limit_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Offer*> offers_;
};

}  // namespace vi
