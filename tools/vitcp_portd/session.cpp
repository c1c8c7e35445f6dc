#include "tools/vitcp_portd/session.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

namespace vitcp_portd {
using namespace vitcp::port_service;  // records

namespace {
std::uint32_t process_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? static_cast<std::uint32_t>(peer.pid) : 0;
}
}  // namespace

Session::Session(SessionHost& host, runtime::drivers::RealTimeCore& core, vitcp::drivers::RecordLink::Sockets sockets,
                 ClientId id, Descriptor socket)
    : host_(host), core_(core), id_(id), process_id_(process_of(socket.number())),
      link_(vitcp::drivers::RecordLink::make(std::move(sockets), core.scheduler(), std::move(socket), *this)) {
  core_.scheduler().schedule_after(timer_, patience);
}

void Session::record_received(RecordKind kind, wire::Bytes body, Descriptor attached) {
  if (role_ == Role::unknown && kind == RecordKind::hello) return greet(body, std::move(attached));
  if (role_ == Role::client && client_said(kind, body, std::move(attached))) return;
  if (role_ == Role::control && asked(kind, body)) return;
  refuse(role_ == Role::unknown ? "this is vitcp-portd, the first record must be a Hello" : "a record out of turn");
}

void Session::greet(wire::Bytes body, Descriptor attached) {
  const auto hello = Hello::parse(body);
  if (!hello) return refuse("the Hello cannot be understood");
  version_ = hello->version;
  if (version_ < oldest_version || version_ > protocol_version)
    return refuse(fmt::format(
        "vitcp-portd (process {}) speaks versions {} to {} of its protocol, the program version {}; end the "
        "older one (vitcp-portd stop)",
        ::getpid(), oldest_version, protocol_version, version_));
  core_.scheduler().cancel(timer_);
  name_ = hello->name;
  role_ = hello->role == Hello::Role::client ? Role::client : Role::control;
  if (role_ == Role::client) host_.joined(*this, std::move(attached));
}

// False: it may not say that.
bool Session::client_said(RecordKind kind, wire::Bytes body, Descriptor attached) {
  if (kind == RecordKind::wait) {
    const auto wait = Wait::parse(body);
    if (!wait || !host_.port().wait(id_, wait->id, wait->wanted)) return false;
    host_.waits_changed();
    return true;
  }
  const auto id = parse_id(body);
  if (!id || (kind != RecordKind::cancel && kind != RecordKind::give_back)) return false;
  if (kind == RecordKind::cancel) {
    host_.port().cancel(id_, *id);
    host_.waits_changed();
  }
  if (kind == RecordKind::give_back && attached) host_.given_back(std::move(attached));
  return true;
}

bool Session::asked(RecordKind kind, wire::Bytes body) {
  const std::string word = text_of(body);
  if (kind != RecordKind::request || (word != "status" && word != "stop")) return false;
  if (word == "stop") return host_.stop("asked to"), true;  // the end of the link is the answer
  const std::string text = host_.status();
  for (std::size_t at = 0; at < text.size(); at += max_text_bytes)
    link_->send(text_record(RecordKind::reply, std::string_view(text).substr(at)));
  link_->send(text_record(RecordKind::done, {}));
  return true;
}

void Session::tell(const PortState& state, int listener) {
  if (link_->waiting() >= most_waiting) return refuse("it does not read");
  const bool first = !std::exchange(welcome_, true);
  Descriptor copy(listener < 0 ? -1 : ::fcntl(listener, F_DUPFD_CLOEXEC, 0));
  link_->send(state.write(first ? RecordKind::welcome : RecordKind::port_state), std::move(copy));
  if (first && may_take_) let_take(true);
}

void Session::let_take(bool may_take) {
  may_take_ = may_take;
  if (welcome_ && link_->waiting() < most_waiting) link_->send(take_record(may_take));
}

bool Session::hand_over(WaitId wait, int stream) {
  return link_->send_now(id_record(RecordKind::hand_over, wait), stream);
}

void Session::refuse(const std::string& reason) {
  spdlog::warn("a link of process {} was refused: {}", process_id_, reason);
  link_->send_now(text_record(RecordKind::refusal, reason), -1);
  link_->close();
  host_.end(*this);
}

void Session::link_closed(const std::string& reason) {
  spdlog::debug("the link of process {} ended: {}", process_id_, reason);
  host_.end(*this);
}

}  // namespace vitcp_portd
