// Streams that other hosts set up: where this NIC listens, who waits for a ConnectRequest, and whose requests are
// undecided.
#pragma once
#include <list>
#include <memory>
#include <vector>

#include "vi/connection_points.hpp"
#include "vi/offer_tokens.hpp"
#include "vitcp/farewell.hpp"
#include "vitcp/peer_pool.hpp"

namespace vitcp {

class Acceptor final : private streams::ListenerUser, private IncomingSetupOwner, private FarewellOwner {
 public:
  Acceptor(const Services& services, const PeerPool& peers)
      : services_(services), peers_(peers), points_(services.scheduler), offers_(services.config.max_offers) {}

  /// At each address of the NIC. The reason of the first that failed; then none is listened at.
  [[nodiscard]] std::optional<streams::Reason> listen();
  /// A stream from elsewhere, of which nothing was read. Whoever gave it has limited such streams.
  void take(std::unique_ptr<streams::Stream> stream) { add(std::move(stream), false); }
  /// As from listen().
  void take_accepted(std::unique_ptr<streams::Stream> stream) { accepted(std::move(stream)); }

  [[nodiscard]] vi::ConnectionPoints& points() { return points_; }
  [[nodiscard]] const vi::OfferTokens<IncomingSetup>& offers() const { return offers_; }
  /// Out of what is undecided: its connection goes on with it. Pre: it was accepted.
  [[nodiscard]] std::unique_ptr<IncomingSetup> release(IncomingSetup& setup);
  /// It is decided.
  void decided(const IncomingSetup& setup) { offers_.remove(setup.token); }

  /// Streams without a whole ConnectRequest. Linear.
  [[nodiscard]] std::size_t half_open() const;
  /// All that are not decided, or not closed yet.
  [[nodiscard]] std::size_t open_count() const { return setups_.size() + farewells_.size(); }
  [[nodiscard]] bool is_consistent() const;

 private:
  // streams::ListenerUser
  void accepted(std::unique_ptr<streams::Stream> stream) override;
  // IncomingSetupOwner
  [[nodiscard]] bool match(IncomingSetup& setup) override;
  void offer(IncomingSetup& setup) override;
  void withdraw(IncomingSetup& setup) override { decided(setup); }
  void close(std::unique_ptr<streams::Stream> stream, std::vector<std::uint8_t> unsent) override;
  void over(IncomingSetup&) override { bury_soon(); }
  // FarewellOwner
  void over(Farewell&) override { bury_soon(); }
  void add(std::unique_ptr<streams::Stream> stream, bool counted);
  void make_room();
  void bury_soon() { services_.scheduler.schedule(burial_, services_.scheduler.now()); }
  void bury();

  const Services& services_;
  const PeerPool& peers_;
  vi::ConnectionPoints points_;
  vi::OfferTokens<IncomingSetup> offers_;
  vi::ConnectWaitOperation* matched_ = nullptr;  // between match() and offer()
  PeerRequest* matched_peer_ = nullptr;          // the same
  std::list<std::unique_ptr<IncomingSetup>> setups_;
  std::list<std::unique_ptr<Farewell>> farewells_;  // the oldest first
  std::vector<std::unique_ptr<streams::Listener>> listeners_;
  runtime::Timer<Acceptor, &Acceptor::bury> burial_{*this};
};

}  // namespace vitcp
