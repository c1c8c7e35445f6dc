// Start-ups at one port, with a limit for those of others that are unfinished (RFC 5044 7.1.2 rule 10, ruling I-15):
// the oldest half-open one goes for a new one.
#pragma once
#include "iwarp/startup.hpp"

namespace iwarp {

class StartupPortUser {
 public:
  // As PassiveStartupOwner's.
  virtual void offered(PassiveStartup& startup, const PeerOffer& offer) = 0;
  virtual void offer_withdrawn(PassiveStartup& startup) = 0;

 protected:
  ~StartupPortUser() = default;
};

/// Of one framing: mpa_listener.hpp, ift_listener.hpp.
class StartupPort : private streams::ListenerUser, protected PassiveStartupOwner {
 public:
  virtual ~StartupPort() = default;
  StartupPort(const StartupPort&) = delete;
  StartupPort& operator=(const StartupPort&) = delete;

  /// Why it does not listen.
  std::optional<streams::Reason> listen(const streams::Address& at);
  /// No more are taken; those that are there go on.
  void stop() { listener_.reset(); }
  /// With the port that was chosen. Pre: it listens.
  [[nodiscard]] streams::Address address() const { return listener_->address(); }
  [[nodiscard]] std::size_t half_open() const;
  [[nodiscard]] std::size_t size() const { return startups_.size(); }
  [[nodiscard]] bool is_consistent() const;

 protected:
  /// `backlog`: requests that wait for the ULP's decision.
  StartupPort(const Services& services, StartupPortUser& user, std::size_t backlog)
      : services_(services), user_(user), backlog_(backlog) {}
  /// A start-up on a stream that was accepted, begun; it tells `owner`, not from within.
  virtual std::unique_ptr<PassiveStartup> begin(PassiveStartupOwner& owner,
                                                std::unique_ptr<streams::Stream> stream) = 0;
  const Services& services_;

 private:
  void accepted(std::unique_ptr<streams::Stream> stream) override;
  void offered(PassiveStartup& startup, const PeerOffer& offer) override { user_.offered(startup, offer); }
  void offer_withdrawn(PassiveStartup& startup) override { user_.offer_withdrawn(startup); }
  [[nodiscard]] bool has_room() const override;
  void startup_over() override { services_.scheduler.schedule(sweep_, services_.scheduler.now()); }
  void sweep();

  StartupPortUser& user_;
  const std::size_t backlog_;
  std::unique_ptr<streams::Listener> listener_;
  std::vector<std::unique_ptr<PassiveStartup>> startups_;  // the oldest first
  runtime::Timer<StartupPort, &StartupPort::sweep> sweep_{*this};
};

}  // namespace iwarp
