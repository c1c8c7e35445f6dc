// SCTP associations over UDP (RFC 6951): for each listener a UDP port, which all its peers share, for each association
// that this end begins one of its own. SCTP's port numbers are UDP's. No privileges are needed.
#pragma once
#include <deque>
#include <list>
#include <map>
#include <unordered_map>

#include "iwarp/drivers/sctp_socket.hpp"
#include "iwarp/drivers/udp_port.hpp"
#include "iwarp/sctp_association.hpp"
#include "runtime/scheduler.hpp"

namespace iwarp::drivers {

/// Those of a core, inside it. One of a process has the SCTP stack, from its first use to its end; others are refused
/// with no_resources.
///
/// What an association sends is completed when the stack has taken it. A peer that does not answer is lost after about
/// 15 s, if it was sent something, or a minute; one whose host says by ICMP that nobody is at the port at once.
class UdpAssociations final : public Associations, private SctpStackUser {
 public:
  UdpAssociations(std::shared_ptr<streams::drivers::SocketSet> set, runtime::Scheduler& scheduler);
  /// What is not over is aborted.
  ~UdpAssociations();
  UdpAssociations(const UdpAssociations&) = delete;
  UdpAssociations& operator=(const UdpAssociations&) = delete;

  std::unique_ptr<Association> connect(const streams::Address& to, const streams::Address& from,
                                       AssociationUser& user) override;
  boost::system::result<std::unique_ptr<AssociationListener>, streams::Reason> listen(
      const streams::Address& at, AssociationListenerUser& user) override;
  [[nodiscard]] bool keeps(const streams::Address& at) const override;
  /// Nobody hears any more; what was sent still arrives.
  void end_all();
  /// That are not over yet.
  [[nodiscard]] std::size_t size() const { return endpoints_.size(); }
  /// In the child of a fork(): nothing is sent any more.
  void abandon_in_child();

 private:
  class Handle;
  class Listener;
  class Port;
  struct Endpoint;
  struct Path;

  bool has_stack();
  Endpoint& begin(Port& port, SctpPath path, SctpSocket socket);
  [[nodiscard]] Port* port_at(const streams::Address& at) const;
  [[nodiscard]] boost::system::result<Port*, streams::Reason> listening_port(const streams::Address& at);
  [[nodiscard]] SctpPath open_path(Port& port, const streams::Address& remote, const wire::IpAddress& local);
  void close_path(SctpPath path);

  // SctpStackUser
  void packet_out(SctpPath path, wire::Bytes packet) override;
  void socket_changed(SctpSocketNumber socket) override;

  void process();
  void accept_all(SctpSocketNumber listening);
  void accept(SctpSocket::Accepted accepted);
  void process(Endpoint& endpoint);
  void take(Endpoint& endpoint, const SctpReceived& received);
  void take_message(Endpoint& endpoint, const SctpReceived& received);
  void judge_indication(Endpoint& endpoint, std::uint32_t indication);
  void refuse(Endpoint& endpoint);
  void end(Endpoint& endpoint);
  void lose(Endpoint& endpoint, streams::Reason reason);
  void close(Endpoint& endpoint);
  void unlisten(Listener& listener);
  void sweep();
  void tick();
  void tick_later();
  void note_traffic();

  const std::shared_ptr<streams::drivers::SocketSet> set_;
  runtime::Scheduler& scheduler_;
  bool has_stack_ = false;
  const std::unique_ptr<UdpWorkspace> workspace_ = std::make_unique<UdpWorkspace>();
  std::vector<std::uint8_t> room_;  // for one message
  std::list<std::unique_ptr<Port>> ports_;
  std::unordered_map<SctpPath, std::unique_ptr<Path>> paths_;
  std::unordered_map<SctpSocketNumber, std::unique_ptr<Endpoint>> endpoints_;
  std::map<std::uint16_t, SctpSocket> listening_;  // by port
  std::vector<SctpSocketNumber> changed_;
  runtime::TimeNs told_time_ = 0, traffic_at_ = 0;
  runtime::Timer<UdpAssociations, &UdpAssociations::process> process_{*this};
  runtime::Timer<UdpAssociations, &UdpAssociations::sweep> sweep_{*this};
  runtime::Timer<UdpAssociations, &UdpAssociations::tick> tick_{*this};
};

}  // namespace iwarp::drivers
