// Protection domains, memory regions, completion queues, queue pairs, by rdma-core's manual pages.
#include <cstring>

#include "verbs/libibverbs/call.hpp"
#include "verbs/queue_pair.hpp"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova
using verbs::CompletionChannel;
using verbs::CompletionQueue;
using verbs::Context;
using verbs::ProtectionDomain;
using verbs::QueuePair;
using verbs::SharedReceives;

VERBS_CALL ibv_pd* ibv_alloc_pd(ibv_context* context) {
  return verbs::made_by<ibv_pd>([&](ibv_pd*& made) {
    verbs::Device& device = Context::of(context).device();
    auto place = verbs::Place::take(device.counts().domains, verbs::Limits::objects);
    if (!place) return ENOMEM;
    const runtime::CoreSection section(Context::of(context).host());
    made = new ProtectionDomain(*context, device.process().next_domain(), std::move(*place));
    return 0;
  });
}

VERBS_CALL int ibv_dealloc_pd(ibv_pd* domain) {
  if (ProtectionDomain::of(domain).is_used()) return EBUSY;
  delete &ProtectionDomain::of(domain);
  return 0;
}

// --- memory

VERBS_CALL ibv_mr* ibv_reg_mr_iova2(ibv_pd* domain, void* address, std::size_t octets, std::uint64_t iova,
                                    unsigned access) {
  return verbs::made_by<ibv_mr>([&](ibv_mr*& made) {
    made = verbs::register_memory(ProtectionDomain::of(domain), address, octets, iova, access);
    return made == nullptr ? errno : 0;
  });
}

VERBS_CALL ibv_mr* ibv_reg_mr(ibv_pd* domain, void* address, std::size_t octets, int access) {
  return ibv_reg_mr_iova2(domain, address, octets, reinterpret_cast<std::uintptr_t>(address),
                          static_cast<unsigned>(access));
}

VERBS_CALL ibv_mr* ibv_reg_mr_iova(ibv_pd* domain, void* address, std::size_t octets, std::uint64_t iova, int access) {
  return ibv_reg_mr_iova2(domain, address, octets, iova, static_cast<unsigned>(access));
}

VERBS_CALL int ibv_dereg_mr(ibv_mr* region) { return verbs::deregister_memory(region); }

// --- completion queues

VERBS_CALL ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  return verbs::made_by<ibv_comp_channel>([&](ibv_comp_channel*& made) {
    made = new CompletionChannel(*context);
    if (made->fd >= 0) return 0;
    delete &CompletionChannel::of(made);
    return EMFILE;
  });
}

VERBS_CALL int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  if (channel->refcnt != 0) return EBUSY;
  delete &CompletionChannel::of(channel);
  return 0;
}

VERBS_CALL ibv_cq* ibv_create_cq(ibv_context* context, int size, void* own, ibv_comp_channel* channel, int vector) {
  return verbs::made_by<ibv_cq>([&](ibv_cq*& made) {
    if (size < 1 || size > verbs::Limits::completions || vector != 0) return EINVAL;
    auto place = verbs::Place::take(Context::of(context).device().counts().completion_queues, verbs::Limits::objects);
    if (!place) return ENOMEM;
    made = new CompletionQueue(*context, size, own, channel, std::move(*place));
    return 0;
  });
}

VERBS_CALL int ibv_resize_cq(ibv_cq* queue, int size) {
  return verbs::errno_of_call([&] { return CompletionQueue::of(queue).resize(size); });
}

VERBS_CALL int ibv_destroy_cq(ibv_cq* queue) {
  CompletionQueue& own = CompletionQueue::of(queue);
  if (own.is_used()) return EBUSY;
  own.notifications().wait_for_all();
  own.errors().wait_for_all();
  delete &own;
  return 0;
}

VERBS_CALL int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** queue, void** own) {
  CompletionQueue* got = nullptr;
  const int error = CompletionChannel::of(channel).events().pop(got);
  if (error != 0) return errno = error, -1;
  got->notifications().given();
  *queue = got;
  *own = got->cq_context;
  return 0;
}

VERBS_CALL void ibv_ack_cq_events(ibv_cq* queue, unsigned count) {
  CompletionQueue::of(queue).notifications().taken(count);
}

// --- queue pairs

VERBS_CALL ibv_qp* ibv_create_qp(ibv_pd* domain, ibv_qp_init_attr* wanted) {
  return verbs::made_by<ibv_qp>([&](ibv_qp*& made) {
    const auto queue_pair = QueuePair::make(ProtectionDomain::of(domain), {*wanted, false});
    if (!queue_pair) return queue_pair.error().value();
    made = &(*queue_pair)->qp_base;
    return 0;
  });
}

VERBS_CALL ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* queue_pair) {
  QueuePair& own = QueuePair::of(queue_pair);
  if (own.has_builders()) return &own;
  return errno = EOPNOTSUPP, nullptr;
}

VERBS_CALL int ibv_modify_qp(ibv_qp* queue_pair, ibv_qp_attr* attributes, int mask) {
  return verbs::errno_of_call([&] { return QueuePair::of(queue_pair).modify(*attributes, mask); });
}

VERBS_CALL int ibv_query_qp(ibv_qp* queue_pair, ibv_qp_attr* attributes, int, ibv_qp_init_attr* init) {
  QueuePair::of(queue_pair).query(*attributes, *init);
  return 0;
}

VERBS_CALL int ibv_destroy_qp(ibv_qp* queue_pair) {
  delete &QueuePair::of(queue_pair);
  return 0;
}

// --- shared receive queues

VERBS_CALL ibv_srq* ibv_create_srq(ibv_pd* domain, ibv_srq_init_attr* wanted) {
  return verbs::made_by<ibv_srq>([&](ibv_srq*& made) {
    const auto queue = SharedReceives::make(ProtectionDomain::of(domain), *wanted);
    if (!queue) return queue.error().value();
    made = *queue;
    wanted->attr = (*queue)->query();
    return 0;
  });
}

VERBS_CALL int ibv_modify_srq(ibv_srq* queue, ibv_srq_attr* attributes, int mask) {
  return verbs::errno_of_call([&] { return SharedReceives::of(queue).modify(*attributes, mask); });
}

VERBS_CALL int ibv_query_srq(ibv_srq* queue, ibv_srq_attr* attributes) {
  *attributes = SharedReceives::of(queue).query();
  return 0;
}

VERBS_CALL int ibv_destroy_srq(ibv_srq* queue) {
  if (SharedReceives::of(queue).is_used()) return EBUSY;
  delete &SharedReceives::of(queue);
  return 0;
}
