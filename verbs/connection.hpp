// One RDMAP stream of a queue pair, from connect or accept to its end; it may outlive both its owners, to close in
// order.
#pragma once
#include "iwarp/startup.hpp"
#include "verbs/configuration.hpp"
#include "verbs/device.hpp"

namespace verbs {
class QueuePair;

/// Whose connection it is. Inside.
class ConnectionUser {
 public:
  virtual void established(const iwarp::PeerOffer& peer) = 0;
  /// `reason`: why there was no TCP connection.
  virtual void startup_failed(machines::iwarp::Failure failure, std::optional<streams::Reason> reason,
                              const iwarp::PeerOffer& peer) = 0;
  /// By either end, or by an error.
  virtual void disconnected() = 0;
  /// The connection is about to be destroyed.
  virtual void connection_over() = 0;

 protected:
  ~ConnectionUser() = default;
};

/// RDMA Reads at once: of the other end, and of this one.
struct Depths {
  std::size_t ird = 0, ord = 0;
};

/// Of the end that asks.
struct Request {
  streams::Address to{}, from{};
  std::vector<std::uint8_t> private_data{};
  Terms terms{};
};

/// Inside. Process has it, and destroys it when it is over.
class Connection final : private iwarp::StreamListener, private iwarp::StartupListener, private iwarp::ReceiveSource {
 public:
  Connection(Device& device, ConnectionUser& user, QueuePair& queue_pair, const Depths& depths, bool immediate_data);
  ~Connection();

  void connect(const Request& request);
  /// The queue pair may be used when this returns; the user is told so long after the start-up is over.
  void accept(iwarp::PassiveStartup& startup, std::vector<std::uint8_t> private_data, runtime::TimeNs first_fpdu_delay);
  /// What was posted goes out, then the end.
  void disconnect();
  void abort();
  void user_gone();
  void queue_pair_gone();

  void post(const iwarp::SendRequest& request) { stream_.post_send(request); }
  void post(const iwarp::ReceiveRequest& request) { stream_.post_receive(request); }

 private:
  enum class State : std::uint8_t { starting, established, closing };
  /// No one hears any more.
  void withdraw();
  [[nodiscard]] iwarp::StreamConfig stream_config(const Depths& depths, bool immediate_data);
  void attempt();
  void attempt_over_mpa();
  void attempt_over_ift();
  void attempt_over_sctp();
  [[nodiscard]] bool tries_again(machines::iwarp::Failure failure);
  void over() { device_.process().let_go(this); }
  void close();
  void tell_disconnected();
  void tell_established();

  // iwarp::StreamListener
  void completed(const iwarp::Completion& completion) override;
  void error_found(const iwarp::CapturedError& error) override;
  void terminate_received(const wire::rdmap::Cause& cause, wire::Bytes octets) override;
  void disconnected() override;
  void lost() override;
  void closed() override;
  // iwarp::ReceiveSource
  [[nodiscard]] std::optional<iwarp::ReceiveRequest> take_receive() override;
  // iwarp::StartupListener
  void connected(const iwarp::PeerOffer& peer) override;
  void startup_failed(machines::iwarp::Failure failure, const iwarp::PeerOffer& peer) override;

  Device& device_;
  ConnectionUser* user_;
  QueuePair* queue_pair_;
  iwarp::RdmapStream stream_;
  std::unique_ptr<iwarp::ActiveStartup> asking_;
  iwarp::PassiveStartup* asked_ = nullptr;  // until it has told the outcome
  State state_ = State::starting;
  bool told_end_ = false;
  Request request_{};
  runtime::TimeNs first_fpdu_delay_ = 0, retry_until_ = 0;
  bool last_attempt_ = false;
  iwarp::PeerOffer peer_{};
  runtime::Timer<Connection, &Connection::over> over_{*this};
  runtime::Timer<Connection, &Connection::close> close_{*this};
  runtime::Timer<Connection, &Connection::tell_established> established_{*this};
  runtime::Timer<Connection, &Connection::attempt> attempt_{*this};
};

}  // namespace verbs
