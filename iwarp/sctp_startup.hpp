// The start-up of an RDMAP stream over SCTP, at either end: a DDP Stream Session of an association that may have others
// (RFC 5043 6.2, 6.3; RFC 6581 7).
#pragma once
#include "iwarp/sctp_peers.hpp"
#include "iwarp/startup_port.hpp"

namespace iwarp {

/// What the active side asks for.
struct SctpRequest {
  streams::Address to{}, from{};
  std::vector<std::uint8_t> private_data{};  // at most 508 octets, 512 if it is not enhanced
  bool enhanced = true;                      // IRD and ORD travel with it
};

class SctpInitiator final : public ActiveStartup, private SessionSeeker, private SessionFront {
 public:
  /// The listener may destroy this from within what it is told. All others outlive it.
  SctpInitiator(const Services& services, SctpPeers& peers, StartupListener& listener, RdmapStream& stream,
                SctpRequest request)
      : services_(services), peers_(peers), listener_(listener), stream_(stream), request_(std::move(request)) {}
  ~SctpInitiator() override;

  void start();
  void withdraw() override;
  [[nodiscard]] std::optional<streams::Reason> stream_failure() const override { return reason_; }

 private:
  void time_expired();
  void stop_seeking();
  void fail(machines::iwarp::Failure failure);
  // SessionSeeker
  void session_opened(SctpSession& session) override;
  void session_refused(streams::Reason reason) override;
  // SessionFront
  void session_connected(const PeerOffer& peer) override;
  void session_failed(machines::iwarp::Failure failure, const PeerOffer& peer) override;

  const Services& services_;
  SctpPeers& peers_;
  StartupListener& listener_;
  RdmapStream& stream_;
  SctpRequest request_;
  SctpSession* session_ = nullptr;  // from its opening until the outcome
  std::optional<streams::Reason> reason_;
  runtime::Timer<SctpInitiator, &SctpInitiator::time_expired> timer_{*this};  // for the association
};

class SctpResponder final : public PassiveStartup, private SessionFront {
 public:
  SctpResponder(PassiveStartupOwner& owner, SctpSession& session);
  ~SctpResponder() override;

  // PassiveStartup
  void accept(RdmapStream& stream, StartupListener& listener, std::vector<std::uint8_t> private_data) override;
  void reject(std::vector<std::uint8_t> private_data) override;
  /// accept() has told the outcome.
  void withdraw() override {}
  [[nodiscard]] bool carries_private_data() const override { return true; }
  [[nodiscard]] streams::Address local() const override { return session_->local(); }
  [[nodiscard]] streams::Address remote() const override { return session_->remote(); }
  void make_place() override {}
  [[nodiscard]] bool is_half_open() const override { return false; }
  [[nodiscard]] bool is_offered() const override { return session_ != nullptr && listener_ == nullptr; }
  [[nodiscard]] bool is_over() const override { return session_ == nullptr; }
  [[nodiscard]] bool is_consistent() const override { return true; }

 private:
  void over();
  // SessionFront
  void session_withdrawn() override { owner_.offer_withdrawn(*this); }
  void session_connected(const PeerOffer& peer) override;
  void session_failed(machines::iwarp::Failure failure, const PeerOffer& peer) override;

  PassiveStartupOwner& owner_;
  SctpSession* session_;  // nullptr: it is over
  StartupListener* listener_ = nullptr;
};

/// Start-ups at one port, of all the associations that are set up there.
class SctpListener final : public StartupPort, private SessionPort {
 public:
  SctpListener(const Services& services, SctpPeers& peers, StartupPortUser& user, std::size_t backlog)
      : StartupPort(services, user, backlog), peers_(peers) {}

  std::optional<streams::Reason> listen(const streams::Address& at) override;
  void stop() override { listening_.reset(); }
  [[nodiscard]] streams::Address address() const override { return listening_->address(); }

 private:
  void session_offered(SctpSession& session, const PeerOffer& offer) override;
  [[nodiscard]] bool takes_session() const override { return has_room(); }

  SctpPeers& peers_;
  std::unique_ptr<SctpPeers::Listening> listening_;
};

}  // namespace iwarp
