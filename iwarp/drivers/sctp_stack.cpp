#include "iwarp/drivers/sctp_stack.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <usrsctp.h>

#include <atomic>
#include <bit>
#include <deque>

#include "wire/iwarp/crc.hpp"

namespace iwarp::drivers {
namespace {

constexpr std::size_t common_header_octets = 12, checksum_at = 8;  // RFC 9260 3.1
constexpr std::uint32_t chunks_at_once = 4096;                     // of an association, not acknowledged: half of what
                                                                   // a DDP-SSN may be ahead, at most

std::atomic<SctpStackUser*> user{nullptr};
std::atomic<std::uint64_t> last_number{0};

/// Closed ones, which usrsctp still knows: what is deregistered is freed by its thread, by a timer that may never be
/// due.
constexpr std::size_t rest_of_paths = 1024;  // so many others are closed before one serves again
std::deque<SctpPath>& closed_paths() {
  static auto& all = *new std::deque<SctpPath>;
  return all;
}

static_assert(sizeof(void*) == sizeof(std::uint64_t), "numbers stand as addresses of usrsctp");
void* address_of(SctpPath path) { return std::bit_cast<void*>(path); }

std::uint32_t checksum_of(wire::MutableBytes packet) {
  wire::iwarp::store_crc(packet.data() + checksum_at, 0);
  return wire::iwarp::crc32c(wire::Bytes(packet));
}

int packet_out(void* address, void* buffer, std::size_t length, std::uint8_t, std::uint8_t) {
  SctpStackUser* const to = user.load();
  if (to == nullptr || length < common_header_octets) return 0;  // of a socket that fork() left behind
  const wire::MutableBytes packet(static_cast<std::uint8_t*>(buffer), length);
  wire::iwarp::store_crc(packet.data() + checksum_at, checksum_of(packet));
  to->packet_out(std::bit_cast<SctpPath>(address), packet);
  return 0;
}

/// What DDP does not use is off; what is lost is sent again soon, since the peer is asked to say soon what it has.
void tune() {
  usrsctp_sysctl_set_sctp_ecn_enable(0);
  usrsctp_sysctl_set_sctp_pr_enable(0);
  usrsctp_sysctl_set_sctp_auth_enable(0);
  usrsctp_sysctl_set_sctp_asconf_enable(0);
  usrsctp_sysctl_set_sctp_reconfig_enable(0);
  usrsctp_sysctl_set_sctp_nrsack_enable(0);
  usrsctp_sysctl_set_sctp_pktdrop_enable(0);
  usrsctp_sysctl_set_sctp_max_burst_default(0);
  usrsctp_sysctl_set_sctp_max_chunks_on_queue(chunks_at_once);
  usrsctp_sysctl_set_sctp_delayed_sack_time_default(10);
  usrsctp_sysctl_set_sctp_rto_initial_default(200);
  usrsctp_sysctl_set_sctp_rto_min_default(100);
  usrsctp_sysctl_set_sctp_rto_max_default(2000);
  usrsctp_sysctl_set_sctp_heartbeat_interval_default(5000);
  usrsctp_sysctl_set_sctp_init_rtx_max_default(8);
  usrsctp_sysctl_set_sctp_assoc_rtx_max_default(10);
  usrsctp_sysctl_set_sctp_path_rtx_max_default(10);
  usrsctp_sysctl_set_sctp_blackhole(0);
}

/// usrsctp makes a thread all the same (sctp_startup_iterator()): signals are for the program's own.
void start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  usrsctp_init_nothreads(0, packet_out, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  usrsctp_enable_crc32c_offload();  // the checksum is computed here
  tune();
}

}  // namespace

bool SctpStack::claim(SctpStackUser& by) {
  SctpStackUser* none = nullptr;
  if (!user.compare_exchange_strong(none, &by)) return false;
  static const bool started = (start(), true);  // and never ended: sockets that fork() left behind are never closed
  return started;
}

void SctpStack::release(SctpStackUser& by) {
  SctpStackUser* expected = &by;
  user.compare_exchange_strong(expected, nullptr);
}

void SctpStack::abandon_in_child() { user.store(nullptr); }

SctpPath SctpStack::open_path() {
  auto& closed = closed_paths();
  if (closed.size() > rest_of_paths) {
    const SctpPath path = closed.front();
    closed.pop_front();
    return path;
  }
  const SctpPath path{++last_number};
  usrsctp_register_address(address_of(path));
  return path;
}

void SctpStack::close_path(SctpPath path) { closed_paths().push_back(path); }

void SctpStack::packet_in(SctpPath path, wire::MutableBytes packet) {
  if (packet.size() < common_header_octets) return;
  const std::uint32_t told = wire::iwarp::load_crc(packet.data() + checksum_at);
  if (checksum_of(packet) != told) return;
  wire::iwarp::store_crc(packet.data() + checksum_at, told);
  usrsctp_conninput(address_of(path), packet.data(), packet.size(), 0);
}

void SctpStack::time_passed(std::uint32_t milliseconds) { usrsctp_handle_timers(milliseconds); }

SctpSocketNumber SctpStack::next_socket() { return SctpSocketNumber{++last_number}; }

void sctp_upcall(UsrSocket*, void* number, int) {
  if (SctpStackUser* const to = user.load()) to->socket_changed(std::bit_cast<SctpSocketNumber>(number));
}

}  // namespace iwarp::drivers
