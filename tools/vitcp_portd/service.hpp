// The service: the port, the streams that come to it, and a session for each process that waits. One thread, one
// io_context.
#pragma once
#include <boost/asio/signal_set.hpp>

#include <map>
#include <memory>
#include <vector>

#include "tools/service_common/instance.hpp"
#include "tools/vitcp_portd/incoming_stream.hpp"
#include "tools/vitcp_portd/listener.hpp"
#include "tools/vitcp_portd/session.hpp"

namespace vitcp_portd {

struct ServiceConfig {
  streams::Address listen{};
  int idle_seconds = 30;  // without a process; 0: for ever
  vitcp::port_service::PortLimits limits{};
  std::size_t max_sessions = 4096;
};

class Service final : public vitcp::port_service::PortActions, public SessionHost, public ListenerUser {
 public:
  /// For processes that waited at an earlier service to come.
  static constexpr runtime::TimeNs reunion = runtime::second;

  Service(boost::asio::io_context& io, services::Instance instance, const ServiceConfig& config);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Why it never listened; empty: it did.
  [[nodiscard]] const std::string& trouble() const { return ever_listened_ ? nothing_ : state_.trouble; }

 private:
  // PortActions
  bool hand_over(ConnectionId stream, const vitcp::port_service::Waiter& waiter) override;
  void refuse(ConnectionId stream, wire::vitcp::SegmentType type) override;
  void close(ConnectionId stream) override;
  // SessionHost
  void joined(Session& session, Descriptor kept) override;
  Port& port() override { return port_; }
  void given_back(Descriptor stream) override;
  void waits_changed() override;
  [[nodiscard]] std::string status() override;
  void stop(const std::string& reason) override;
  void end(Session& session) override;
  // ListenerUser
  void listens() override;
  void cannot_listen(const std::string& trouble) override;
  void accepted(Descriptor stream, const wire::IpAddress& from) override;
  [[nodiscard]] bool others_take() const override { return taker_ != 0 && port_.waiters().size() != 0; }

  IncomingStream& add_stream(Descriptor stream, const wire::IpAddress& from);
  void tell_all();
  void await_sessions();
  void accept_sessions();
  void await_signals();
  void bury();
  void client_count_changed();
  void idle_for_too_long();

  boost::asio::io_context& io_;
  services::Instance instance_;
  const ServiceConfig config_;
  runtime::drivers::RealTimeCore core_;
  const runtime::TimeNs started_at_;
  const vitcp::drivers::RecordLink::Sockets sockets_;  // of the sessions
  Port port_;
  Listener listener_;
  boost::asio::posix::stream_descriptor session_listener_;
  boost::asio::signal_set signals_;
  PortState state_;
  const std::string nothing_;
  bool state_known_ = false, ever_listened_ = false, stopping_ = false;
  std::map<ConnectionId, std::shared_ptr<IncomingStream>> streams_;
  ConnectionId last_stream_ = 0;
  std::map<ClientId, std::unique_ptr<Session>> sessions_;
  std::map<ClientId, Session*> clients_;
  ClientId last_session_ = 0;
  ClientId taker_ = 0;  // the process that may take streams itself; 0: none
  std::vector<ClientId> ended_;
  services::SeldomLog no_room_log_;
  runtime::Timer<Service, &Service::bury> burial_{*this};
  runtime::Timer<Service, &Service::idle_for_too_long> idle_timer_{*this};
  runtime::Timer<Service, &Service::await_sessions> accept_pause_{*this};
};

}  // namespace vitcp_portd
