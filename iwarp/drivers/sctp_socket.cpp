#include "iwarp/drivers/sctp_socket.hpp"

#include <arpa/inet.h>
#include <usrsctp.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "wire/iwarp/sctp/adaptation.hpp"

namespace iwarp::drivers {
namespace {

using Kind = SctpReceived::Kind;
using streams::Reason;

/// In each direction: an association has so many DDP Streams at once, at most.
constexpr std::uint16_t streams_wanted = 1024;
/// What a peer may have under way is bounded by what a UDP socket of the system holds.
constexpr int receive_octets = 256 * 1024, send_octets = 1024 * 1024;
constexpr int backlog = 128;

template <class Value>
bool set_of_stack(UsrSocket* socket, int level, int option, const Value& value) {
  return usrsctp_setsockopt(socket, level, option, &value, sizeof value) == 0;
}

void subscribe(UsrSocket* socket, int event, bool on) {
  sctp_event wanted{};
  wanted.se_assoc_id = SCTP_CURRENT_ASSOC;
  wanted.se_type = static_cast<std::uint16_t>(event);
  wanted.se_on = on ? 1 : 0;
  set_of_stack(socket, IPPROTO_SCTP, SCTP_EVENT, wanted);
}

Reason loss_of(int error) {
  switch (error) {
    case ECONNREFUSED: return Reason::refused;
    case ETIMEDOUT: return Reason::timed_out;
    default: return Reason::reset;
  }
}

template <class Notice>
Notice notice_of(wire::Bytes octets) {
  Notice notice{};
  std::memcpy(&notice, octets.data(), std::min(octets.size(), sizeof notice));
  return notice;
}

Reason failure_of(UsrSocket* socket) {
  int error = 0;
  socklen_t size = sizeof error;
  return usrsctp_getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error != 0 ? loss_of(error)
                                                                                            : Reason::refused;
}

SctpReceived change_of(const sctp_assoc_change& change, UsrSocket* socket) {
  switch (change.sac_state) {
    case SCTP_COMM_UP:
      return {.kind = Kind::associated, .streams = std::min(change.sac_outbound_streams, change.sac_inbound_streams)};
    case SCTP_CANT_STR_ASSOC: return {.kind = Kind::lost, .reason = failure_of(socket)};
    case SCTP_SHUTDOWN_COMP: return {.kind = Kind::shut_down};
    default: return {.kind = Kind::lost, .reason = Reason::reset};  // lost; or begun anew by the other end
  }
}

}  // namespace

SctpSocket SctpSocket::make() {
  SctpSocket made(usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, nullptr, nullptr, 0, nullptr),
                  SctpStack::next_socket());
  if (!made) return made;
  made.prepare();
  set_of_stack(made.socket_, IPPROTO_SCTP, SCTP_ADAPTATION_LAYER,
               sctp_setadaptation{.ssb_adaptation_ind = wire::sctp::AdaptationIndication::ddp});
  set_of_stack(made.socket_, IPPROTO_SCTP, SCTP_INITMSG,
               sctp_initmsg{.sinit_num_ostreams = streams_wanted,
                            .sinit_max_instreams = streams_wanted,
                            .sinit_max_attempts = 0,
                            .sinit_max_init_timeo = 0});
  for (const int event : {SCTP_ASSOC_CHANGE, SCTP_ADAPTATION_INDICATION, SCTP_SHUTDOWN_EVENT})
    subscribe(made.socket_, event, true);
  return made;
}

void SctpSocket::prepare() {
  usrsctp_set_non_blocking(socket_, 1);
  usrsctp_set_upcall(socket_, sctp_upcall, std::bit_cast<void*>(number_));
  set_of_stack(socket_, SOL_SOCKET, SO_LINGER, linger{1, 0});
  set_of_stack(socket_, SOL_SOCKET, SO_RCVBUF, receive_octets);
  set_of_stack(socket_, SOL_SOCKET, SO_SNDBUF, send_octets);
  set_of_stack(socket_, IPPROTO_SCTP, SCTP_NODELAY, 1);
  set_of_stack(socket_, IPPROTO_SCTP, SCTP_DISABLE_FRAGMENTS, 1);
  set_of_stack(socket_, IPPROTO_SCTP, SCTP_RECVRCVINFO, 1);
}

SctpSocket::~SctpSocket() {
  if (socket_ == nullptr) return;
  usrsctp_set_upcall(socket_, nullptr, nullptr);
  usrsctp_close(socket_);
}

/// usrsctp counts without SCTP's own header.
void SctpSocket::limit_packets(std::size_t octets) {
  constexpr std::size_t common_header_octets = 12;
  sctp_paddrparams wanted{};
  wanted.spp_flags = SPP_PMTUD_DISABLE;
  wanted.spp_pathmtu = static_cast<std::uint32_t>(octets - common_header_octets);
  set_of_stack(socket_, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, wanted);
}

bool SctpSocket::bind(void* address, std::uint16_t port) {
  sockaddr_conn local{};
  local.sconn_family = AF_CONN;
  local.sconn_port = htons(port);
  local.sconn_addr = address;
  return usrsctp_bind(socket_, reinterpret_cast<sockaddr*>(&local), sizeof local) == 0;
}

bool SctpSocket::connect(SctpPath path, std::uint16_t local_port, std::uint16_t port) {
  void* const address = std::bit_cast<void*>(path);
  if (!bind(address, local_port) && !bind(address, 0)) return false;
  sockaddr_conn remote{};
  remote.sconn_family = AF_CONN;
  remote.sconn_port = htons(port);
  remote.sconn_addr = address;
  const int result = usrsctp_connect(socket_, reinterpret_cast<sockaddr*>(&remote), sizeof remote);
  return result == 0 || errno == EINPROGRESS;
}

bool SctpSocket::listen(std::uint16_t port) { return bind(nullptr, port) && usrsctp_listen(socket_, backlog) == 0; }

SctpSocket::Accepted SctpSocket::accept() {
  sockaddr_conn remote{};
  socklen_t size = sizeof remote;
  UsrSocket* const accepted = usrsctp_accept(socket_, reinterpret_cast<sockaddr*>(&remote), &size);
  if (accepted == nullptr) return {};
  SctpSocket made(accepted, SctpStack::next_socket());
  made.prepare();
  return {std::move(made), std::bit_cast<SctpPath>(remote.sconn_addr)};
}

SctpReceived SctpSocket::receive(wire::MutableBytes room) {
  sctp_rcvinfo about{};
  sockaddr_conn from{};
  socklen_t from_size = sizeof from, about_size = sizeof about;
  unsigned int kind = 0;
  int flags = 0;
  const ssize_t octets = usrsctp_recvv(socket_, room.data(), room.size(), reinterpret_cast<sockaddr*>(&from),
                                       &from_size, &about, &about_size, &kind, &flags);
  if (octets < 0 && (errno == EWOULDBLOCK || errno == EAGAIN)) return {};
  if (octets < 0) return {.kind = Kind::lost, .reason = loss_of(errno)};
  if (octets == 0 && (flags & MSG_NOTIFICATION) == 0) return {.kind = Kind::shut_down};
  const wire::Bytes got = room.first(static_cast<std::size_t>(octets));
  if ((flags & MSG_NOTIFICATION) != 0) return take_notice(got);
  return {.kind = (flags & MSG_EOR) != 0 ? Kind::message : Kind::part,
          .stream = about.rcv_sid,
          .protocol = ntohl(about.rcv_ppid),
          .octets = got};
}

SctpReceived SctpSocket::take_notice(wire::Bytes octets) const {
  switch (notice_of<sctp_assoc_change>(octets).sac_type) {
    case SCTP_ASSOC_CHANGE: return change_of(notice_of<sctp_assoc_change>(octets), socket_);
    case SCTP_ADAPTATION_INDICATION:
      return {.kind = Kind::indication, .indication = notice_of<sctp_adaptation_event>(octets).sai_adaptation_ind};
    case SCTP_SENDER_DRY_EVENT: return {.kind = Kind::all_acknowledged};
    case SCTP_SHUTDOWN_EVENT: return {.kind = Kind::shut_down};
    default: return {.kind = Kind::other};
  }
}

SctpSocket::Sent SctpSocket::send(std::uint16_t stream, std::uint32_t protocol, wire::Bytes message) {
  sctp_sndinfo how{};
  how.snd_sid = stream;
  how.snd_flags = SCTP_UNORDERED;
  how.snd_ppid = htonl(protocol);
  const ssize_t sent =
      usrsctp_sendv(socket_, message.data(), message.size(), nullptr, 0, &how, sizeof how, SCTP_SENDV_SNDINFO, 0);
  if (sent == static_cast<ssize_t>(message.size())) return Sent::taken;
  return sent < 0 && (errno == EWOULDBLOCK || errno == EAGAIN) ? Sent::full : Sent::failed;
}

bool SctpSocket::can_send() const { return (usrsctp_get_events(socket_) & (SCTP_EVENT_WRITE | SCTP_EVENT_ERROR)) != 0; }

std::size_t SctpSocket::max_message() const {
  sctp_status status{};
  socklen_t size = sizeof status;
  if (usrsctp_getsockopt(socket_, IPPROTO_SCTP, SCTP_STATUS, &status, &size) != 0) return 0;
  return status.sstat_fragmentation_point;
}

/// Told at once if nothing is outstanding.
void SctpSocket::ask_acknowledged() { subscribe(socket_, SCTP_SENDER_DRY_EVENT, true); }
void SctpSocket::end_asking() { subscribe(socket_, SCTP_SENDER_DRY_EVENT, false); }
void SctpSocket::shut_down() { usrsctp_shutdown(socket_, SHUT_WR); }

}  // namespace iwarp::drivers
