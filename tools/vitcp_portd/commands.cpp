#include "tools/vitcp_portd/commands.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "runtime/drivers/descriptor.hpp"
#include "runtime/drivers/status_socket.hpp"
#include "tools/vitcp_portd/status.hpp"
#include "vitcp/drivers/place.hpp"

namespace vitcp_portd {
using namespace vitcp::port_service;
using runtime::drivers::Descriptor;
using runtime::drivers::RuntimeDirectory;

namespace {
constexpr int patience_ms = 10'000;
constexpr std::string_view nic_kind = "tcp";  // of the status sockets of NICs (vipl/devices/tcp_status)

void append(std::vector<std::string>& to, std::vector<std::string> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

ExitStatus complain(const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", vitcp::drivers::program_name, message.c_str());
  return failure;
}

/// One blocking link to a service.
class ControlLink {
 public:
  ControlLink(const RuntimeDirectory& directory, const streams::Address& listen)
      : socket_(runtime::drivers::connect_to_service(vitcp::drivers::port_place(directory, listen), SOCK_SEQPACKET)) {}
  [[nodiscard]] bool is_there() const { return static_cast<bool>(socket_); }
  /// Sends a request, and collects the answer until it is complete. False: error(), also where the service ended.
  bool ask(std::string_view word, std::uint16_t version, std::string& answer) {
    if (!send(Hello{.version = version, .role = Hello::Role::control}.write()) ||
        !send(text_record(RecordKind::request, word)))
      return false;
    for (;;) {
      const Record record = receive();
      if (record.empty()) return false;
      const auto kind = static_cast<RecordKind>(record[0]);
      const std::string text = text_of(wire::Bytes(record).subspan(1));
      if (kind == RecordKind::done) return true;
      if (kind != RecordKind::reply) return error_ = text, refused_ = kind == RecordKind::refusal, false;
      answer += text;
    }
  }
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] bool was_refused() const { return refused_; }

 private:
  bool await(short events) {
    pollfd wanted{socket_.number(), events, 0};
    int ready = 0;
    do ready = ::poll(&wanted, 1, patience_ms);
    while (ready < 0 && errno == EINTR);
    if (ready == 0) error_ = "the service does not answer";
    return ready > 0;
  }
  bool send(const Record& record) {
    if (!await(POLLOUT)) return false;
    if (::send(socket_.number(), record.data(), record.size(), MSG_NOSIGNAL) >= 0) return true;
    if (errno == EPIPE || errno == ECONNRESET) return true;  // why it closed is there to be read
    return error_ = std::strerror(errno), false;
  }
  Record receive() {
    Record record(max_record_bytes);
    ssize_t got = -1;
    do {  // ECONNRESET: it closed with something unread; what it had sent comes behind that
      if (!await(POLLIN)) return {};
      got = ::recv(socket_.number(), record.data(), record.size(), 0);
    } while (got < 0 && (errno == ECONNRESET || errno == EINTR));
    if (got <= 0) error_ = "the service ended";
    record.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return record;
  }

  Descriptor socket_;
  std::string error_;
  bool refused_ = false;
};

enum class Asked : std::uint8_t {
  answered,  // or there is no service
  ended,     // the link, before the answer
  refused    // in every version
};

/// A service of an earlier build answers who speaks as it does.
Asked ask(const RuntimeDirectory& directory, const streams::Address& listen, std::string_view word, std::string& answer,
          std::string& error) {
  for (std::uint16_t version = protocol_version; version >= oldest_version; --version) {
    ControlLink link(directory, listen);
    if (!link.is_there() || link.ask(word, version, answer)) return Asked::answered;
    error = link.error();
    if (!link.was_refused()) return Asked::ended;
  }
  return Asked::refused;
}

std::vector<streams::Address> asked(const RuntimeDirectory& directory, const std::optional<streams::Address>& listen) {
  return listen ? std::vector{*listen} : vitcp::drivers::known_ports(directory);
}
}  // namespace

ExitStatus print_status(const RuntimeDirectory& directory, const std::optional<streams::Address>& listen,
                        bool as_json) {
  std::vector<std::string> answers;
  for (const streams::Address& address : asked(directory, listen)) {
    std::string answer, error;
    if (ask(directory, address, "status", answer, error) != Asked::answered)
      return complain(to_string(address) + ": " + error);
    if (!answer.empty()) answers.push_back(std::move(answer));
  }
  if (!listen) append(answers, runtime::drivers::StatusSocket::ask(directory, nic_kind));
  std::string all;
  for (const std::string& answer : answers) {
    if (as_json && !all.empty()) all += ",\n";
    all += as_json ? answer : to_text(answer);
  }
  if (all.empty())
    return complain("no service or NIC runs in " + directory.path() + (listen ? " for " + to_string(*listen) : ""));
  if (as_json) all = "[" + all + "]\n";
  return std::fputs(all.c_str(), stdout) < 0 ? failure : success;
}

ExitStatus stop_services(const RuntimeDirectory& directory, const std::optional<streams::Address>& listen) {
  for (const streams::Address& address : asked(directory, listen)) {
    std::string answer, error;  // the end of the link is the answer
    if (ask(directory, address, "stop", answer, error) == Asked::refused)
      return complain(to_string(address) + ": " + error);
  }
  return success;
}

}  // namespace vitcp_portd
