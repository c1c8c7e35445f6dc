// Start-ups at one port, with a limit for those of others that are unfinished (RFC 5044 7.1.2 rule 10): the oldest
// half-open one goes for a new one.
#pragma once
#include "iwarp/mpa_responder.hpp"

namespace iwarp {

class MpaListenerUser {
 public:
  // As ResponderOwner's.
  virtual void offered(MpaResponder& responder, const PeerOffer& offer) = 0;
  virtual void offer_withdrawn(MpaResponder& responder) = 0;

 protected:
  ~MpaListenerUser() = default;
};

class MpaListener final : private streams::ListenerUser, private ResponderOwner {
 public:
  MpaListener(const Services& services, MpaListenerUser& user, const MpaOptions& options, std::size_t backlog)
      : services_(services), user_(user), options_(options), backlog_(backlog) {}
  /// Why it does not listen.
  std::optional<streams::Reason> listen(const streams::Address& at);
  /// No more are taken; those that are there go on.
  void stop() { listener_.reset(); }
  /// With the port that was chosen. Pre: it listens.
  [[nodiscard]] streams::Address address() const { return listener_->address(); }
  [[nodiscard]] std::size_t half_open() const;
  [[nodiscard]] std::size_t size() const { return responders_.size(); }
  [[nodiscard]] bool is_consistent() const;

 private:
  void accepted(std::unique_ptr<streams::Stream> stream) override;
  void offered(MpaResponder& responder, const PeerOffer& offer) override { user_.offered(responder, offer); }
  void offer_withdrawn(MpaResponder& responder) override { user_.offer_withdrawn(responder); }
  [[nodiscard]] bool has_room() const override;
  void responder_over() override { services_.scheduler.schedule(sweep_, services_.scheduler.now()); }
  void sweep();

  const Services& services_;
  MpaListenerUser& user_;
  const MpaOptions options_;
  const std::size_t backlog_;
  std::unique_ptr<streams::Listener> listener_;
  std::vector<std::unique_ptr<MpaResponder>> responders_;  // the oldest first
  runtime::Timer<MpaListener, &MpaListener::sweep> sweep_{*this};
};

}  // namespace iwarp
