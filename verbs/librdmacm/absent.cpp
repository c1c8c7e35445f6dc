// What there is not: multicast and datagrams, connections' enhanced parameters, and rsockets,
// which are a library of their own upon verbs.
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <sys/select.h>

#include "verbs/libibverbs/call.hpp"

namespace {
int unsupported() { return errno = EOPNOTSUPP, -1; }
}  // namespace

VERBS_CALL int rdma_join_multicast(rdma_cm_id*, sockaddr*, void*) { return unsupported(); }
VERBS_CALL int rdma_join_multicast_ex(rdma_cm_id*, rdma_cm_join_mc_attr_ex*, void*) { return unsupported(); }
VERBS_CALL int rdma_leave_multicast(rdma_cm_id*, sockaddr*) { return unsupported(); }
VERBS_CALL int rdma_reject_ece(rdma_cm_id*, const void*, std::uint8_t) { return unsupported(); }
VERBS_CALL int rdma_set_local_ece(rdma_cm_id*, ibv_ece*) { return unsupported(); }
VERBS_CALL int rdma_get_remote_ece(rdma_cm_id*, ibv_ece*) { return unsupported(); }

// --- rsockets

#define NO_SOCKET(type, name) \
  VERBS_CALL type name() { return errno = EPROTONOSUPPORT, -1; }
NO_SOCKET(int, raccept)
NO_SOCKET(int, rbind)
NO_SOCKET(int, rclose)
NO_SOCKET(int, rconnect)
NO_SOCKET(int, rgetpeername)
NO_SOCKET(int, rgetsockname)
NO_SOCKET(int, rgetsockopt)
NO_SOCKET(int, riounmap)
NO_SOCKET(int, rlisten)
NO_SOCKET(int, rsetsockopt)
NO_SOCKET(int, rshutdown)
NO_SOCKET(int, rsocket)
NO_SOCKET(ssize_t, riowrite)
NO_SOCKET(ssize_t, rread)
NO_SOCKET(ssize_t, rreadv)
NO_SOCKET(ssize_t, rrecv)
NO_SOCKET(ssize_t, rrecvfrom)
NO_SOCKET(ssize_t, rrecvmsg)
NO_SOCKET(ssize_t, rsend)
NO_SOCKET(ssize_t, rsendmsg)
NO_SOCKET(ssize_t, rsendto)
NO_SOCKET(ssize_t, rwrite)
NO_SOCKET(ssize_t, rwritev)
VERBS_CALL off_t riomap() { return errno = EPROTONOSUPPORT, -1; }
/// There are only descriptors of the system.
VERBS_CALL int rpoll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  return ::poll(descriptors, count, timeout_ms);
}
VERBS_CALL int rselect(int count, fd_set* reading, fd_set* writing, fd_set* broken, timeval* timeout) {
  return ::select(count, reading, writing, broken, timeout);
}
VERBS_CALL int rfcntl(int descriptor, int command, long argument) { return ::fcntl(descriptor, command, argument); }
