// A process's link to the service. It begins with a Hello, which decides whether the process waits for requests or asks
// something of the service.
#pragma once
#include <memory>
#include <string>

#include "runtime/drivers/real_time_core.hpp"
#include "vitcp/drivers/record_link.hpp"
#include "vitcp/port_service/port.hpp"

namespace vitcp_portd {
class Session;
using runtime::drivers::Descriptor;
using vitcp::port_service::ClientId;
using vitcp::port_service::Hello;
using vitcp::port_service::PortState;
using vitcp::port_service::RecordKind;
using vitcp::port_service::WaitId;

/// What sessions ask of the service that holds them. Calls are made inside the core.
class SessionHost {
 public:
  /// It is a process that may wait. `kept`: of an earlier service's listening socket, or nothing.
  virtual void joined(Session& session, Descriptor kept) = 0;
  virtual vitcp::port_service::Port& port() = 0;
  /// The stream is back.
  virtual void given_back(Descriptor stream) = 0;
  /// A process waits, or no longer.
  virtual void waits_changed() = 0;
  [[nodiscard]] virtual std::string status() = 0;
  /// After what was sent until now.
  virtual void stop(const std::string& reason) = 0;
  /// The session is over, and goes when nothing of it is under way.
  virtual void end(Session& session) = 0;

 protected:
  ~SessionHost() = default;
};

class Session final : public vitcp::drivers::RecordLinkUser {
 public:
  static constexpr runtime::TimeNs patience = 5 * runtime::second;  // with one that says nothing
  /// More records than wait for a process that does not read: it has to come again.
  static constexpr std::size_t most_waiting = 64;

  Session(SessionHost& host, runtime::drivers::RealTimeCore& core, vitcp::drivers::RecordLink::Sockets sockets,
          ClientId id, Descriptor socket);
  ~Session() { link_->close(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] ClientId id() const { return id_; }
  [[nodiscard]] bool is_client() const { return role_ == Role::client; }
  [[nodiscard]] std::uint32_t process_id() const { return process_id_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Welcome, the first time, or PortState. `listener`: -1 or the socket, of which the process gets a copy.
  void tell(const PortState& state, int listener);
  /// Whether it may take streams itself from now on. Pre: may_be_let_take().
  void let_take(bool may_take);
  [[nodiscard]] bool may_be_let_take() const { return version_ >= vitcp::port_service::first_with_take; }
  /// False: the process cannot be given it now.
  bool hand_over(WaitId wait, int stream);

 private:
  enum class Role { unknown, client, control };
  void record_received(RecordKind kind, wire::Bytes body, Descriptor attached) override;
  void link_closed(const std::string& reason) override;
  void greet(wire::Bytes body, Descriptor attached);
  bool client_said(RecordKind kind, wire::Bytes body, Descriptor attached);
  bool asked(RecordKind kind, wire::Bytes body);
  void refuse(const std::string& reason);
  void out_of_patience() { refuse("no Hello came"); }

  SessionHost& host_;
  runtime::drivers::RealTimeCore& core_;
  const ClientId id_;
  const std::uint32_t process_id_;
  std::string name_;
  Role role_ = Role::unknown;
  std::uint16_t version_ = 0;  // that the process speaks
  bool welcome_ = false, may_take_ = false;
  std::shared_ptr<vitcp::drivers::RecordLink> link_;
  runtime::Timer<Session, &Session::out_of_patience> timer_{*this};
};

}  // namespace vitcp_portd
