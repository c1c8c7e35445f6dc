// Names, and ids that are made whole (rdma_create_ep(3)).
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <cstdlib>
#include <cstring>

#include "verbs/cm_id.hpp"
#include "verbs/libibverbs/call.hpp"
#include "verbs/memory.hpp"

using verbs::CmId;
using verbs::minus_one_by;

namespace {

bool copy(sockaddr*& to, socklen_t& length, const sockaddr* from, socklen_t octets) {
  if (from == nullptr || octets == 0) return true;
  to = static_cast<sockaddr*>(std::calloc(1, sizeof(sockaddr_storage)));
  if (to == nullptr) return false;
  std::memcpy(to, from, octets);
  length = octets;
  return true;
}

/// One result.
int fill(rdma_addrinfo& into, const rdma_addrinfo& hints, const addrinfo* named) {
  into.ai_flags = hints.ai_flags;
  into.ai_qp_type = hints.ai_qp_type == 0 ? IBV_QPT_RC : hints.ai_qp_type;
  into.ai_port_space = hints.ai_port_space == 0 ? RDMA_PS_TCP : hints.ai_port_space;
  const bool passive = (hints.ai_flags & RAI_PASSIVE) != 0;
  const sockaddr* const address = named == nullptr ? nullptr : named->ai_addr;
  const socklen_t octets = named == nullptr ? 0 : named->ai_addrlen;
  const bool done = passive ? copy(into.ai_src_addr, into.ai_src_len, address, octets)
                            : copy(into.ai_dst_addr, into.ai_dst_len, address, octets);
  if (!done) return EAI_MEMORY;
  if (into.ai_src_addr == nullptr && !copy(into.ai_src_addr, into.ai_src_len, hints.ai_src_addr, hints.ai_src_len))
    return EAI_MEMORY;
  if (into.ai_dst_addr == nullptr && !copy(into.ai_dst_addr, into.ai_dst_len, hints.ai_dst_addr, hints.ai_dst_len))
    return EAI_MEMORY;
  const sockaddr* const known = into.ai_dst_addr == nullptr ? into.ai_src_addr : into.ai_dst_addr;
  into.ai_family = known == nullptr ? hints.ai_family : known->sa_family;
  return 0;
}

int resolve(const char* node, const char* service, const rdma_addrinfo& hints, addrinfo** named) {
  addrinfo wanted{};
  wanted.ai_family = hints.ai_family;
  wanted.ai_socktype = SOCK_STREAM;
  if ((hints.ai_flags & RAI_PASSIVE) != 0) wanted.ai_flags |= AI_PASSIVE;
  if ((hints.ai_flags & RAI_NUMERICHOST) != 0) wanted.ai_flags |= AI_NUMERICHOST;
  return ::getaddrinfo(node, service, &wanted, named);
}

}  // namespace

VERBS_CALL void rdma_freeaddrinfo(rdma_addrinfo* list) {
  while (list != nullptr) {
    rdma_addrinfo* const next = list->ai_next;
    std::free(list->ai_src_addr);
    std::free(list->ai_dst_addr);
    std::free(list);
    list = next;
  }
}

/// As getaddrinfo(3): 0, or EAI_... .
VERBS_CALL int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                                rdma_addrinfo** result) {
  if (node == nullptr && service == nullptr && hints == nullptr) return EAI_NONAME;
  const rdma_addrinfo given = hints == nullptr ? rdma_addrinfo{} : *hints;
  addrinfo* named = nullptr;
  if (node != nullptr || service != nullptr)
    if (const int error = resolve(node, service, given, &named); error != 0) return error;
  auto* const made = static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo)));
  const int error = made == nullptr ? EAI_MEMORY : fill(*made, given, named);
  if (named != nullptr) ::freeaddrinfo(named);
  if (error != 0) return rdma_freeaddrinfo(made), error;
  *result = made;
  return 0;
}

/// 0, or -1 and errno: `id` is not made then.
static int prepare(CmId& id, const rdma_addrinfo& at, ibv_pd* domain, ibv_qp_init_attr* wanted) {
  if (wanted != nullptr) wanted->qp_type = static_cast<ibv_qp_type>(at.ai_qp_type);
  if ((at.ai_flags & RAI_PASSIVE) != 0) {
    id.set_endpoint(domain, wanted);
    return id.bind(at.ai_src_addr);
  }
  if (const int error = id.resolve_address(at.ai_src_addr, at.ai_dst_addr); error != 0) return error;
  if (const int error = id.resolve_route(); error != 0) return error;
  if (wanted == nullptr) return 0;
  return id.create_queue_pair(domain == nullptr ? nullptr : &verbs::ProtectionDomain::of(domain), *wanted, false);
}

VERBS_CALL int rdma_create_ep(rdma_cm_id** id, rdma_addrinfo* at, ibv_pd* domain, ibv_qp_init_attr* wanted) {
  return minus_one_by([&] {
    if (at->ai_port_space != RDMA_PS_TCP) return EPROTONOSUPPORT;
    const bool passive = (at->ai_flags & RAI_PASSIVE) != 0;
    if ((passive ? at->ai_src_addr : at->ai_dst_addr) == nullptr) return EINVAL;
    auto made = std::make_unique<CmId>(verbs::Process::get(), nullptr, nullptr);
    if (const int error = prepare(*made, *at, domain, wanted); error != 0) return error;
    *id = made.release();
    return 0;
  });
}

VERBS_CALL void rdma_destroy_ep(rdma_cm_id* id) {
  CmId::of(id).destroy_queue_pair();
  rdma_destroy_srq(id);
  delete &CmId::of(id);
}
