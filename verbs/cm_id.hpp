// rdma_cm_id: how queue pairs are connected (RDMA_PS_TCP).
#pragma once
#include "runtime/drivers/descriptor.hpp"
#include "verbs/connection.hpp"
#include "verbs/event_channel.hpp"
#include "verbs/port_listener.hpp"

#pragma GCC visibility push(default)  // for both libraries
namespace verbs {
class ProtectionDomain;
class QueuePair;

/// Calls are the program's, of any thread, from outside; they return 0 or errno. With a synchronous id (no channel of
/// its program's) they return when what they begin is over.
class CmId final : public rdma_cm_id, private PortUser, private RequestOwner, private ConnectionUser {
 public:
  /// `to` nullptr: synchronous.
  CmId(Process& process, EventChannel* to, void* own);
  /// Waits until its events are acknowledged.
  ~CmId();
  static CmId& of(rdma_cm_id* id) { return static_cast<CmId&>(*id); }

  int bind(const sockaddr* address);
  int resolve_address(const sockaddr* from, const sockaddr* to);
  int resolve_route();
  int listen(int backlog);
  int connect(const rdma_conn_param* parameters);
  int accept(const rdma_conn_param* parameters);
  int reject(wire::Bytes private_data);
  int disconnect();
  int migrate(EventChannel* to);
  /// The next request of a synchronous listening id; `request` is synchronous, too.
  int get_request(rdma_cm_id** request);
  int create_queue_pair(ProtectionDomain* domain, ibv_qp_init_attr& wanted, bool has_builders);
  void destroy_queue_pair();
  void set_endpoint(ibv_pd* domain, const ibv_qp_init_attr* wanted);

 private:
  // PortUser; nullptr: its interface is no device
  RequestOwner* requested(PortListener& listener, iwarp::PassiveStartup& startup,
                          const iwarp::PeerOffer& offer) override;
  // RequestOwner
  void request_gone() override { startup_ = nullptr; }
  // ConnectionUser
  void established(const iwarp::PeerOffer& peer) override;
  void startup_failed(machines::iwarp::Failure failure, std::optional<streams::Reason> reason,
                      const iwarp::PeerOffer& peer) override;
  void disconnected() override;
  void connection_over() override { connection_ = nullptr; }

  enum class State : std::uint8_t {
    idle,
    bound,
    address_resolved,
    route_resolved,
    listening,
    requested,
    connecting,
    connected
  };
  void set_device(Device& device);
  void set_local(const streams::Address& address);
  void set_remote(const streams::Address& address);
  [[nodiscard]] int reserve(const streams::Address& address);
  [[nodiscard]] int bind_inside(const streams::Address& address);
  [[nodiscard]] int resolve_inside(const streams::Address& to);
  void begin(QueuePair& queue_pair, const Depths& depths, const Terms& terms);
  [[nodiscard]] int connect_inside(const rdma_conn_param* parameters);
  [[nodiscard]] int accept_inside(const rdma_conn_param* parameters);
  [[nodiscard]] int depths_of(const rdma_conn_param* parameters, bool are_told, Depths& depths) const;
  [[nodiscard]] QueuePair* queue_pair_of(const rdma_conn_param* parameters) const;
  void tell(rdma_cm_event_type type, int status = 0);
  void tell(std::shared_ptr<CmEvent> told) { channel_->events().push(std::move(told)); }
  [[nodiscard]] std::shared_ptr<CmEvent> event_of(rdma_cm_event_type type, int status, const iwarp::PeerOffer& peer);
  /// Of a synchronous id: waits for the event of what it began.
  [[nodiscard]] int complete(int error);
  void withdraw_events();
  int create_completion_queues(ibv_qp_init_attr& wanted);

  Process& process_;
  std::unique_ptr<EventChannel> own_channel_;  // of a synchronous id
  EventChannel* channel_;
  State state_ = State::idle;
  Device* device_ = nullptr;
  streams::Address local_{}, remote_{};
  runtime::drivers::Descriptor reservation_;  // of a local port, until it is used
  PortListener* listener_ = nullptr;          // of a listening id, or whose request this is
  iwarp::PassiveStartup* startup_ = nullptr;  // of a request that is not decided
  iwarp::PeerOffer offer_{};
  Connection* connection_ = nullptr;
  std::optional<ibv_qp_init_attr> endpoint_;  // of rdma_create_ep(): its requests get such queue pairs
  ibv_pd* endpoint_domain_ = nullptr;
  Acknowledgements acknowledgements_;
};

}  // namespace verbs
#pragma GCC visibility pop
