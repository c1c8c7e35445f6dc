// rdma_cm_ids, their connections and events, by rdma-core's manual pages.
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <cstring>
#include <utility>

#include "verbs/cm_id.hpp"
#include "verbs/libibverbs/call.hpp"
#include "verbs/queue_pair.hpp"

using verbs::CmId;
using verbs::EventChannel;
using verbs::minus_one_by;

// --- channels and events

VERBS_CALL rdma_event_channel* rdma_create_event_channel() {
  return verbs::made_by<rdma_event_channel>([](rdma_event_channel*& made) {
    made = new EventChannel;
    if (made->fd >= 0) return 0;
    delete &EventChannel::of(made);
    return EMFILE;
  });
}
VERBS_CALL void rdma_destroy_event_channel(rdma_event_channel* channel) { delete &EventChannel::of(channel); }

VERBS_CALL int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  return minus_one_by([&] { return verbs::get_event(channel, event); });
}
VERBS_CALL int rdma_ack_cm_event(rdma_cm_event* event) {
  return minus_one_by([&] { return event == nullptr ? EINVAL : verbs::acknowledge(event); });
}

VERBS_CALL const char* rdma_event_str(rdma_cm_event_type event) {
  switch (event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED: return "RDMA_CM_EVENT_ADDR_RESOLVED";
    case RDMA_CM_EVENT_ADDR_ERROR: return "RDMA_CM_EVENT_ADDR_ERROR";
    case RDMA_CM_EVENT_ROUTE_RESOLVED: return "RDMA_CM_EVENT_ROUTE_RESOLVED";
    case RDMA_CM_EVENT_ROUTE_ERROR: return "RDMA_CM_EVENT_ROUTE_ERROR";
    case RDMA_CM_EVENT_CONNECT_REQUEST: return "RDMA_CM_EVENT_CONNECT_REQUEST";
    case RDMA_CM_EVENT_CONNECT_RESPONSE: return "RDMA_CM_EVENT_CONNECT_RESPONSE";
    case RDMA_CM_EVENT_CONNECT_ERROR: return "RDMA_CM_EVENT_CONNECT_ERROR";
    case RDMA_CM_EVENT_UNREACHABLE: return "RDMA_CM_EVENT_UNREACHABLE";
    case RDMA_CM_EVENT_REJECTED: return "RDMA_CM_EVENT_REJECTED";
    case RDMA_CM_EVENT_ESTABLISHED: return "RDMA_CM_EVENT_ESTABLISHED";
    case RDMA_CM_EVENT_DISCONNECTED: return "RDMA_CM_EVENT_DISCONNECTED";
    case RDMA_CM_EVENT_DEVICE_REMOVAL: return "RDMA_CM_EVENT_DEVICE_REMOVAL";
    case RDMA_CM_EVENT_MULTICAST_JOIN: return "RDMA_CM_EVENT_MULTICAST_JOIN";
    case RDMA_CM_EVENT_MULTICAST_ERROR: return "RDMA_CM_EVENT_MULTICAST_ERROR";
    case RDMA_CM_EVENT_ADDR_CHANGE: return "RDMA_CM_EVENT_ADDR_CHANGE";
    case RDMA_CM_EVENT_TIMEWAIT_EXIT: return "RDMA_CM_EVENT_TIMEWAIT_EXIT";
  }
  return "UNKNOWN EVENT";
}

// --- ids

/// Of the port spaces RDMA_PS_TCP alone.
VERBS_CALL int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context, rdma_port_space space) {
  return minus_one_by([&] {
    if (space == RDMA_PS_UDP || space == RDMA_PS_IPOIB || space == RDMA_PS_IB) return EPROTONOSUPPORT;
    if (space != RDMA_PS_TCP) return EINVAL;
    *id = new CmId(verbs::Process::get(), channel == nullptr ? nullptr : &EventChannel::of(channel), context);
    return 0;
  });
}

VERBS_CALL int rdma_destroy_id(rdma_cm_id* id) {
  delete &CmId::of(id);
  return 0;
}

VERBS_CALL int rdma_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) {
  return minus_one_by([&] { return CmId::of(id).migrate(channel == nullptr ? nullptr : &EventChannel::of(channel)); });
}

VERBS_CALL int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  return minus_one_by([&] { return address == nullptr ? EINVAL : CmId::of(id).bind(address); });
}
VERBS_CALL int rdma_resolve_addr(rdma_cm_id* id, sockaddr* from, sockaddr* to, int) {
  return minus_one_by([&] { return to == nullptr ? EINVAL : CmId::of(id).resolve_address(from, to); });
}
VERBS_CALL int rdma_resolve_route(rdma_cm_id* id, int) {
  return minus_one_by([&] { return CmId::of(id).resolve_route(); });
}
VERBS_CALL int rdma_listen(rdma_cm_id* id, int backlog) {
  return minus_one_by([&] { return CmId::of(id).listen(backlog); });
}
VERBS_CALL int rdma_get_request(rdma_cm_id* listener, rdma_cm_id** id) {
  return minus_one_by([&] { return CmId::of(listener).get_request(id); });
}
VERBS_CALL int rdma_connect(rdma_cm_id* id, rdma_conn_param* parameters) {
  return minus_one_by([&] { return CmId::of(id).connect(parameters); });
}
VERBS_CALL int rdma_accept(rdma_cm_id* id, rdma_conn_param* parameters) {
  return minus_one_by([&] { return CmId::of(id).accept(parameters); });
}
/// The start-up of MPA needs no third message of the program.
VERBS_CALL int rdma_establish(rdma_cm_id*) { return errno = EOPNOTSUPP, -1; }
VERBS_CALL int rdma_notify(rdma_cm_id*, ibv_event_type) { return 0; }

VERBS_CALL int rdma_reject(rdma_cm_id* id, const void* data, std::uint8_t octets) {
  return minus_one_by([&] {
    const auto* const first = static_cast<const std::uint8_t*>(data);
    return CmId::of(id).reject(data == nullptr ? wire::Bytes{} : wire::Bytes(first, octets));
  });
}
VERBS_CALL int rdma_disconnect(rdma_cm_id* id) {
  return minus_one_by([&] { return CmId::of(id).disconnect(); });
}

VERBS_CALL __be16 rdma_get_src_port(rdma_cm_id* id) {
  return id->route.addr.src_addr.sa_family == AF_INET ? id->route.addr.src_sin.sin_port
                                                      : id->route.addr.src_sin6.sin6_port;
}
VERBS_CALL __be16 rdma_get_dst_port(rdma_cm_id* id) {
  return id->route.addr.dst_addr.sa_family == AF_INET ? id->route.addr.dst_sin.sin_port
                                                      : id->route.addr.dst_sin6.sin6_port;
}

/// Hints, of which none changes what a connection is.
VERBS_CALL int rdma_set_option(rdma_cm_id*, int level, int option, void*, std::size_t) {
  const bool known = level == RDMA_OPTION_ID && option >= RDMA_OPTION_ID_TOS && option <= RDMA_OPTION_ID_ACK_TIMEOUT;
  return known ? 0 : (errno = ENOSYS, -1);
}

// --- queue pairs

VERBS_CALL int rdma_create_qp(rdma_cm_id* id, ibv_pd* domain, ibv_qp_init_attr* wanted) {
  return minus_one_by([&] {
    return CmId::of(id).create_queue_pair(domain == nullptr ? nullptr : &verbs::ProtectionDomain::of(domain), *wanted,
                                          false);
  });
}

VERBS_CALL int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* wanted) {
  constexpr std::uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  const bool builds = (wanted->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
  if ((wanted->comp_mask & ~known) != 0 || (builds && (wanted->send_ops_flags & ~verbs::known_builders) != 0))
    return errno = EOPNOTSUPP, -1;
  ibv_pd* const domain = (wanted->comp_mask & IBV_QP_INIT_ATTR_PD) != 0 ? wanted->pd : nullptr;
  ibv_qp_init_attr plain{wanted->qp_context, wanted->send_cq, wanted->recv_cq,   wanted->srq,
                         wanted->cap,        wanted->qp_type, wanted->sq_sig_all};
  return minus_one_by([&] {
    return CmId::of(id).create_queue_pair(domain == nullptr ? nullptr : &verbs::ProtectionDomain::of(domain), plain,
                                          builds);
  });
}

VERBS_CALL void rdma_destroy_qp(rdma_cm_id* id) { CmId::of(id).destroy_queue_pair(); }

/// Of the id's own protection domain, if none is given.
VERBS_CALL int rdma_create_srq(rdma_cm_id* id, ibv_pd* domain, ibv_srq_init_attr* wanted) {
  return minus_one_by([&] {
    if (id->srq != nullptr || id->verbs == nullptr) return EINVAL;
    id->srq = ibv_create_srq(domain == nullptr ? id->pd : domain, wanted);
    return id->srq == nullptr ? errno : 0;
  });
}

VERBS_CALL int rdma_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* wanted) {
  constexpr std::uint32_t known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  const bool is_basic = (wanted->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 || wanted->srq_type == IBV_SRQT_BASIC;
  if ((wanted->comp_mask & ~known) != 0 || !is_basic) return errno = EOPNOTSUPP, -1;
  ibv_srq_init_attr plain{wanted->srq_context, wanted->attr};
  ibv_pd* const domain = (wanted->comp_mask & IBV_SRQ_INIT_ATTR_PD) != 0 ? wanted->pd : nullptr;
  if (rdma_create_srq(id, domain, &plain) != 0) return -1;
  wanted->attr = plain.attr;
  return 0;
}

VERBS_CALL void rdma_destroy_srq(rdma_cm_id* id) {
  if (ibv_srq* const queue = std::exchange(id->srq, nullptr)) ibv_destroy_srq(queue);
}

/// For a queue pair that the program made itself: the connection brings it to its states.
VERBS_CALL int rdma_init_qp_attr(rdma_cm_id*, ibv_qp_attr* attributes, int* mask) {
  const ibv_qp_state state = attributes->qp_state;
  *attributes = {};
  attributes->qp_state = state;
  attributes->port_num = 1;
  *mask = IBV_QP_STATE;
  return 0;
}

// --- devices

VERBS_CALL ibv_context** rdma_get_devices(int* count) {
  return verbs::made_by<ibv_context*>([&](ibv_context**& list) {
    verbs::Process& process = verbs::Process::get();
    const runtime::CoreSection section(process.host());
    const auto devices = verbs::devices_of(process);
    list = static_cast<ibv_context**>(std::calloc(devices.size() + 1, sizeof *list));
    if (list == nullptr) return ENOMEM;
    for (std::size_t i = 0; i < devices.size(); ++i) list[i] = devices[i]->shared_context();
    if (count != nullptr) *count = static_cast<int>(devices.size());
    return 0;
  });
}
VERBS_CALL void rdma_free_devices(ibv_context** list) { std::free(list); }
