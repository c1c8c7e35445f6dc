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

/// Of one framing: mpa_listener.hpp, ift_listener.hpp, sctp_startup.hpp.
class StartupPort : protected PassiveStartupOwner {
 public:
  virtual ~StartupPort() = default;
  StartupPort(const StartupPort&) = delete;
  StartupPort& operator=(const StartupPort&) = delete;

  /// Why it does not listen.
  virtual std::optional<streams::Reason> listen(const streams::Address& at) = 0;
  /// No more are taken; those that are there go on.
  virtual void stop() = 0;
  /// With the port that was chosen. Pre: it listens.
  [[nodiscard]] virtual streams::Address address() const = 0;
  [[nodiscard]] std::size_t half_open() const;
  [[nodiscard]] std::size_t size() const { return startups_.size(); }
  [[nodiscard]] bool is_consistent() const;

 protected:
  /// `backlog`: requests that wait for the ULP's decision.
  StartupPort(const Services& services, StartupPortUser& user, std::size_t backlog)
      : services_(services), user_(user), backlog_(backlog) {}
  /// One more of others may be unfinished from now on.
  void make_place();
  void add(std::unique_ptr<PassiveStartup> startup) { startups_.push_back(std::move(startup)); }
  [[nodiscard]] bool has_room() const override;
  const Services& services_;

 private:
  void offered(PassiveStartup& startup, const PeerOffer& offer) override { user_.offered(startup, offer); }
  void offer_withdrawn(PassiveStartup& startup) override { user_.offer_withdrawn(startup); }
  void startup_over() override { services_.scheduler.schedule(sweep_, services_.scheduler.now()); }
  void sweep();

  StartupPortUser& user_;
  const std::size_t backlog_;
  std::vector<std::unique_ptr<PassiveStartup>> startups_;  // the oldest first
  runtime::Timer<StartupPort, &StartupPort::sweep> sweep_{*this};
};

/// Each start-up on a stream of its own.
class StreamStartupPort : public StartupPort, private streams::ListenerUser {
 public:
  std::optional<streams::Reason> listen(const streams::Address& at) final;
  void stop() final { listener_.reset(); }
  [[nodiscard]] streams::Address address() const final { return listener_->address(); }

 protected:
  using StartupPort::StartupPort;
  /// A start-up on a stream that was accepted, begun; it tells `owner`, not from within.
  virtual std::unique_ptr<PassiveStartup> begin(PassiveStartupOwner& owner,
                                                std::unique_ptr<streams::Stream> stream) = 0;

 private:
  void accepted(std::unique_ptr<streams::Stream> stream) override;
  std::unique_ptr<streams::Listener> listener_;
};

}  // namespace iwarp
