// The operations of a context that inline functions of verbs.h call.
#include <algorithm>
#include <cstring>

#include "verbs/libibverbs/call.hpp"
#include "verbs/queue_pair.hpp"

namespace verbs {
namespace {

int poll_cq(ibv_cq* queue, int room, ibv_wc* completions) { return CompletionQueue::of(queue).poll(room, completions); }

int req_notify_cq(ibv_cq* queue, int solicited_only) {
  CompletionQueue::of(queue).request_notification(solicited_only != 0);
  return 0;
}

int post_send(ibv_qp* queue_pair, ibv_send_wr* request, ibv_send_wr** bad) {
  return QueuePair::of(queue_pair).post_send(request, bad);
}

int post_recv(ibv_qp* queue_pair, ibv_recv_wr* request, ibv_recv_wr** bad) {
  return QueuePair::of(queue_pair).post_receive(request, bad);
}

int post_srq_recv(ibv_srq* queue, ibv_recv_wr* request, ibv_recv_wr** bad) {
  *bad = request;  // where there is no memory to begin with
  return errno_of_call([&] { return SharedReceives::of(queue).post(request, bad); });
}
ibv_mw* alloc_mw(ibv_pd*, ibv_mw_type) {
  errno = EOPNOTSUPP;
  return nullptr;
}
int bind_mw(ibv_qp*, ibv_mw*, ibv_mw_bind*) { return EOPNOTSUPP; }
int dealloc_mw(ibv_mw*) { return EOPNOTSUPP; }

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes, std::size_t octets) {
  if (port != 1) return EINVAL;
  const ibv_port_attr told = Context::of(context).device().port_attributes();
  std::memset(attributes, 0, octets);
  std::memcpy(attributes, &told, std::min(octets, sizeof told));
  return 0;
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attributes,
                    std::size_t octets) {
  if (input != nullptr && input->comp_mask != 0) return EINVAL;
  ibv_device_attr_ex told{};
  told.orig_attr = Context::of(context).device().attributes();
  told.phys_port_cnt_ex = 1;
  std::memset(attributes, 0, octets);
  std::memcpy(attributes, &told, std::min(octets, sizeof told));
  return 0;
}

ibv_qp* create_qp_ex(ibv_context*, ibv_qp_init_attr_ex* wanted) {
  constexpr std::uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  const bool builds = (wanted->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
  int error = 0;
  if ((wanted->comp_mask & IBV_QP_INIT_ATTR_PD) == 0) error = EINVAL;
  if ((wanted->comp_mask & ~known) != 0 || (builds && (wanted->send_ops_flags & ~known_builders) != 0))
    error = EOPNOTSUPP;
  if (error != 0) return errno = error, nullptr;
  const QueuePairConfig config{{wanted->qp_context, wanted->send_cq, wanted->recv_cq, wanted->srq, wanted->cap,
                                wanted->qp_type, wanted->sq_sig_all},
                               builds};
  const auto made = QueuePair::make(ProtectionDomain::of(wanted->pd), config);
  if (!made) return errno = made.error().value(), nullptr;
  return &(*made)->qp_base;
}

}  // namespace

void set_operations(Context& context) {
  context.context.ops.poll_cq = poll_cq;
  context.context.ops.req_notify_cq = req_notify_cq;
  context.context.ops.post_send = post_send;
  context.context.ops.post_recv = post_recv;
  context.context.ops.post_srq_recv = post_srq_recv;
  context.context.ops.alloc_mw = alloc_mw;
  context.context.ops.bind_mw = bind_mw;
  context.context.ops.dealloc_mw = dealloc_mw;
  context.query_port = query_port;
  context.query_device_ex = query_device_ex;
  context.create_qp_ex = create_qp_ex;
}

}  // namespace verbs
