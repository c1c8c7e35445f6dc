// The VI/TCP provider of one NIC: the VI model's transport, over one TCP connection for each VI connection
// (draft-dicecco-vitcp-01, VI-TCP).
//
//   Provider    the calls of vi::Transport
//   Acceptor    streams that others set up, until they are a VI's: each an IncomingSetup
//   Endpoint    one per VI: an ActiveSetup or a PeerRequest, then a Connection
//   PeerPool    who waits for a peer's ConnectRequest
//   Connection  with SegmentReader, SegmentWriter, MessageSender, MessageReceiver, ReadRequester, ReadResponder,
//               Closing
//   Services    what all of these are given: streams, scheduler, counters, configuration, ...
//
// No I/O, clock, thread, chance: fed by its streams and its scheduler. Not thread-safe: the driver serialises.
#pragma once
#include <list>
#include <map>
#include <memory>

#include "vitcp/acceptor.hpp"
#include "vitcp/endpoint.hpp"
#include "vitcp/wait_book.hpp"

namespace vitcp {

class Provider final : public vi::Transport, private EndpointOwner, private ConnectionOwner {
 public:
  /// `streams` and `scheduler` outlive it. VIs are detached, or their NIC destroyed, before it goes; what has to be
  /// sent for connections without a VI goes on as long as it lives.
  Provider(streams::Streams& streams, runtime::Scheduler& scheduler, ProviderConfig config);
  ~Provider() override;

  /// Begins to listen at the NIC's addresses. Without it others cannot connect to this NIC. The reason if it cannot.
  [[nodiscard]] std::optional<streams::Reason> listen() { return acceptor_.listen(); }
  /// A stream that another host set up, and of which nothing was read: from whoever listens for this NIC, limits such
  /// streams, and has seen its ConnectRequest. What waits for that now gets it.
  void take(std::unique_ptr<streams::Stream> stream) { acceptor_.take(std::move(stream)); }
  /// The same, but nobody has seen or limited it: ProviderConfig::max_half_open does.
  void take_accepted(std::unique_ptr<streams::Stream> stream) { acceptor_.take_accepted(std::move(stream)); }
  /// Who listens in this NIC's place, and brings by take() what is waited for; nullptr: nobody. Before anybody waits.
  void set_wait_listener(WaitListener* listener) { wait_book_.set_listener(listener); }
  /// The process ends: each connection ends in order, and its VI, which is not told, sends and receives nothing more.
  void say_goodbye();
  /// Connections without a VI that are ending.
  [[nodiscard]] std::size_t ending() const { return orphans_.size(); }
  /// The host goes: all VIs are detached at once, as detach() does it, and every call that is under way for them
  /// returns. They stay, and nothing may be called for them but detach().
  void detach_all();
  /// Of all state machines here; nullptr: nobody.
  void set_row_listener(fsm::RowListener* listener) { services_.row_listener = listener; }

  // vi::Transport; see there
  [[nodiscard]] vi::Capabilities capabilities() const override;
  vi::Return attach(vi::Vi& vi) override;
  void detach(vi::Vi& vi) override;
  void connect_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout_ns,
                       vi::ConnectOperation& operation) override;
  void connect_wait(const vi::NetAddress& local, vi::TimeNs timeout_ns, vi::ConnectWaitOperation& operation) override;
  void connect_accept(vi::ConnectionToken token, vi::Vi& vi, vi::Operation& operation) override;
  void connect_reject(vi::ConnectionToken token, vi::Operation& operation) override;
  vi::Return connect_peer_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                                  vi::TimeNs timeout_ns, vi::ConnectOperation& operation) override;
  void withdraw(vi::ConnectWaitOperation& operation) override { acceptor_.points().withdraw(operation); }
  void disconnect(vi::Vi& vi, vi::Operation& operation) override;
  void send_posted(vi::Vi& vi) override { of(vi).send_posted(); }
  void receive_posted(vi::Vi& vi) override { of(vi).receive_posted(); }
  void stopped(vi::Vi& vi, vi::StopCause cause) override;
  [[nodiscard]] vi::EndCause cause_of_end(const vi::Vi& vi) const override;

  [[nodiscard]] const ProviderConfig& config() const { return config_; }
  [[nodiscard]] const ProviderCounters& counters() const { return counters_; }
  /// Streams that are no VI's: being set up by others, or ending. What a long run must not grow.
  [[nodiscard]] std::size_t streams_without_vi() const { return acceptor_.open_count() + orphans_.size(); }
  [[nodiscard]] std::size_t half_open() const { return acceptor_.half_open(); }
  /// VIs with a connection. Linear.
  [[nodiscard]] std::size_t connected() const;
  /// Of all its parts, whenever none of its functions runs. Linear.
  [[nodiscard]] bool is_consistent() const;

 private:
  static Endpoint& of(const vi::Vi& vi) { return *static_cast<Endpoint*>(vi.transport_context); }
  [[nodiscard]] bool is_own(const wire::IpAddress& host) const;
  [[nodiscard]] vi::NetAddress from_family_of(const vi::NetAddress& remote, vi::NetAddress local) const;
  [[nodiscard]] vi::Return request(vi::Vi& vi, ActiveSetup::Request request, vi::ConnectOperation& operation);
  [[nodiscard]] vi::Return accept(vi::ConnectionToken token, vi::Vi& vi);

  // EndpointOwner
  [[nodiscard]] ConnectionOwner& heir() override { return *this; }
  void take_over(std::unique_ptr<Connection> connection) override { orphans_.push_back(std::move(connection)); }
  void bury(std::unique_ptr<ActiveSetup> setup) override;
  void bury(std::unique_ptr<PeerRequest> request) override;
  [[nodiscard]] PeerPool& peers() override { return peers_; }
  [[nodiscard]] std::unique_ptr<IncomingSetup> release(IncomingSetup& setup) override {
    return acceptor_.release(setup);
  }
  void bury(std::unique_ptr<Connection> connection) override;
  // ConnectionOwner: of those without a VI
  void connection_left(Connection&) override {}
  void connection_over(Connection&) override { bury_soon(); }
  void bury_soon() { services_.scheduler.schedule(burial_, services_.scheduler.now()); }
  void bury_all();

  const ProviderConfig config_;
  ProviderCounters counters_;
  std::unique_ptr<Workspace> workspace_ = std::make_unique<Workspace>();
  NumberSource numbers_{config_.number_seed};
  Services services_;
  WaitBook wait_book_;
  PeerPool peers_{wait_book_};
  Acceptor acceptor_{services_, peers_};
  std::map<const vi::Vi*, std::unique_ptr<Endpoint>> endpoints_;
  std::list<std::unique_ptr<Connection>> orphans_;
  std::list<std::unique_ptr<ActiveSetup>> dead_setups_;
  std::list<std::unique_ptr<PeerRequest>> dead_requests_;
  std::list<std::unique_ptr<Connection>> dead_connections_;
  runtime::Timer<Provider, &Provider::bury_all> burial_{*this};
};

}  // namespace vitcp
