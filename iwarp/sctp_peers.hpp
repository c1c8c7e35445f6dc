// The SCTP associations of a host, one for each pair of peers, and their sessions, each a DDP Stream (RFC 5043 4, 8).
#pragma once
#include <list>
#include <map>
#include <set>

#include "iwarp/sctp_association.hpp"
#include "iwarp/sctp_session.hpp"

namespace iwarp {
class SctpPeers;

/// Who waits for a session of its own.
class SessionSeeker {
 public:
  /// It is new. Pre: connect() of the session is called from within.
  virtual void session_opened(SctpSession& session) = 0;
  /// There is no association.
  virtual void session_refused(streams::Reason reason) = 0;

 protected:
  ~SessionSeeker() = default;
};

/// One association.
class SctpPeer final : private AssociationUser, private SessionAssociation {
 public:
  /// Begins it, or has one that was accepted.
  SctpPeer(SctpPeers& all, const streams::Address& to, const streams::Address& from);
  SctpPeer(SctpPeers& all, std::unique_ptr<Association> accepted);
  ~SctpPeer();

  /// It was begun here, from there to there, and has an identifier that is free.
  [[nodiscard]] bool serves(const streams::Address& to, const streams::Address& from) const;
  /// session_opened() or session_refused() follows, perhaps from within.
  void open_session(SessionSeeker& seeker);
  void forget(SessionSeeker& seeker) { std::erase(seekers_, &seeker); }
  /// No session is there, and none is waited for.
  [[nodiscard]] bool is_idle() const { return sessions_.empty() && seekers_.empty(); }
  [[nodiscard]] bool was_accepted() const { return !to_.has_value(); }
  [[nodiscard]] bool is_over() const { return (lost_ || idle_too_long_) && is_idle(); }
  [[nodiscard]] std::size_t session_count() const { return sessions_.size(); }
  [[nodiscard]] bool is_consistent() const;

 private:
  // AssociationUser
  void associated() override;
  void message_received(std::uint16_t stream, std::uint32_t protocol, wire::Bytes octets) override;
  void room_again() override;
  void acknowledged() override;
  void association_lost(streams::Reason reason) override;
  // SessionAssociation
  bool send(std::uint16_t identifier, std::uint32_t protocol, wire::Bytes chunk) override;
  void ask_acknowledged(SctpSession& session) override;
  [[nodiscard]] std::size_t max_message() const override { return association_->max_message(); }
  [[nodiscard]] streams::Address local() const override { return association_->local(); }
  [[nodiscard]] streams::Address remote() const override { return association_->remote(); }
  [[nodiscard]] SessionPort* port() const override;
  void session_over() override;

  SctpSession& add_session(std::uint16_t identifier);
  [[nodiscard]] std::optional<std::uint16_t> free_identifier() const;
  void await_use();
  void ask_now();
  void sweep();
  void rest_over();

  SctpPeers& all_;
  const std::optional<streams::Address> to_{};  // of one that was begun here
  const streams::Address from_{};
  bool up_ = false, lost_ = false, idle_too_long_ = false;
  bool asks_ = false, telling_ = false;  // of acknowledged(): to be asked for; being told
  bool holds_ = false;  // acknowledged() is awaited: nothing is sent until then, or it might never come
  WaitingOctets waiting_;
  std::uint16_t last_identifier_ = 0xFFFF;
  std::set<std::uint16_t> retired_;  // identifiers that are used no more
  std::vector<SessionSeeker*> seekers_;
  std::map<std::uint16_t, std::unique_ptr<SctpSession>> sessions_;  // by identifier
  std::unique_ptr<Association> association_;
  runtime::Timer<SctpPeer, &SctpPeer::sweep> sweep_{*this};
  runtime::Timer<SctpPeer, &SctpPeer::rest_over> rest_{*this};
};

class SctpPeers final {
 public:
  /// Associations that others have begun, in use or not; one more is ended at once.
  static constexpr std::size_t most_accepted = 1024;
  /// Both outlive it. Its configuration is that of all sessions' time-outs.
  SctpPeers(const Services& services, Associations& associations) : services_(services), associations_(associations) {}

  void open_session(const streams::Address& to, const streams::Address& from, SessionSeeker& seeker);
  void forget(SessionSeeker& seeker);

  class Listening;
  /// Nobody listens there, and sessions of an earlier listener have the port still: listen() has it.
  [[nodiscard]] bool keeps(const streams::Address& at) const { return associations_.keeps(at); }
  /// Requests of others at `at` go to `port` until what is returned is destroyed, also of associations that were set
  /// up before.
  [[nodiscard]] boost::system::result<std::unique_ptr<Listening>, streams::Reason> listen(const streams::Address& at,
                                                                                          SessionPort& port);
  [[nodiscard]] std::size_t size() const { return peers_.size(); }
  [[nodiscard]] std::size_t session_count() const;
  [[nodiscard]] bool is_consistent() const;

 private:
  friend class SctpPeer;
  void accepted(std::unique_ptr<Association> association);
  [[nodiscard]] SessionPort* port_at(const streams::Address& local) const;
  void peer_over() { services_.scheduler.schedule(sweep_, services_.scheduler.now()); }
  void sweep();

  const Services& services_;
  Associations& associations_;
  std::map<streams::Address, SessionPort*> ports_;  // by the address where they listen
  std::list<std::unique_ptr<SctpPeer>> peers_;      // the oldest first
  runtime::Timer<SctpPeers, &SctpPeers::sweep> sweep_{*this};
};

class SctpPeers::Listening final : private AssociationListenerUser {
 public:
  explicit Listening(SctpPeers& all) : all_(all) {}
  ~Listening();
  [[nodiscard]] streams::Address address() const { return listener_->address(); }

 private:
  friend class SctpPeers;
  void accepted(std::unique_ptr<Association> association) override { all_.accepted(std::move(association)); }
  SctpPeers& all_;
  std::unique_ptr<AssociationListener> listener_;
};

}  // namespace iwarp
