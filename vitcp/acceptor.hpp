// Streams that other hosts set up: where this NIC listens, who waits for a ConnectRequest, and whose requests are
// undecided.
#pragma once
#include <list>
#include <memory>
#include <vector>

#include "vi/connection_points.hpp"
#include "vi/offer_tokens.hpp"
#include "vitcp/farewell.hpp"
#include "vitcp/incoming_setup.hpp"

namespace vitcp {

class Acceptor final : private streams::ListenerUser, private IncomingSetupOwner, private FarewellOwner {
 public:
  explicit Acceptor(const Services& services)
      : services_(services), points_(services.scheduler), offers_(services.config.max_offers) {}

  /// At each address of the NIC. The reason of the first that failed; then none is listened at.
  [[nodiscard]] std::optional<streams::Reason> listen();
  /// A stream from elsewhere, of which nothing was read.
  void take(std::unique_ptr<streams::Stream> stream);

  [[nodiscard]] vi::ConnectionPoints& points() { return points_; }
  [[nodiscard]] const vi::OfferTokens<IncomingSetup>& offers() const { return offers_; }
  /// Out of what is undecided: its connection goes on with it. Pre: it was accepted.
  [[nodiscard]] std::unique_ptr<IncomingSetup> release(IncomingSetup& setup);
  /// It is decided.
  void decided(const IncomingSetup& setup) { offers_.remove(setup.token); }

  /// Streams without a whole ConnectRequest.
  [[nodiscard]] std::size_t half_open() const { return half_open_; }
  /// All that are not decided, or not closed yet.
  [[nodiscard]] std::size_t open_count() const { return setups_.size() + farewells_.size(); }
  [[nodiscard]] bool is_consistent() const;

 private:
  // streams::ListenerUser
  void accepted(std::unique_ptr<streams::Stream> stream) override { take(std::move(stream)); }
  // IncomingSetupOwner
  [[nodiscard]] bool room_for_incoming() const override { return half_open_ < services_.config.max_half_open; }
  void half_open_changed(int by) override { half_open_ += static_cast<std::size_t>(by); }
  [[nodiscard]] bool match(IncomingSetup& setup) override;
  void offer(IncomingSetup& setup) override;
  void withdraw(IncomingSetup& setup) override { decided(setup); }
  void close(std::unique_ptr<streams::Stream> stream, std::vector<std::uint8_t> unsent) override;
  void over(IncomingSetup&) override { bury_soon(); }
  // FarewellOwner
  void over(Farewell&) override { bury_soon(); }
  void bury_soon() { services_.scheduler.schedule(burial_, services_.scheduler.now()); }
  void bury();

  const Services& services_;
  vi::ConnectionPoints points_;
  vi::OfferTokens<IncomingSetup> offers_;
  std::size_t half_open_ = 0;
  vi::ConnectWaitOperation* matched_ = nullptr;  // between match() and offer()
  std::list<std::unique_ptr<IncomingSetup>> setups_;
  std::list<std::unique_ptr<Farewell>> farewells_;  // the oldest first
  std::vector<std::unique_ptr<streams::Listener>> listeners_;
  runtime::Timer<Acceptor, &Acceptor::bury> burial_{*this};
};

}  // namespace vitcp
