#include "tools/fabricd/control_client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "fc2_fabric/drivers/file_sink.hpp"
#include "fc2_fabric/drivers/status_socket.hpp"
#include "tools/fabricd/status.hpp"

namespace fabricd {
using fc2::drivers::RecordHeader;
using fc2::drivers::RecordKind;

namespace {
using namespace std::chrono_literals;
constexpr std::chrono::milliseconds patience = 10s, look_again = 10ms;

// A service that is busy, or stopped, may have as many connections waiting as its socket holds (EAGAIN).
int connect_patiently(const fc2::drivers::RuntimeDirectory& directory) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const int descriptor = fc2::drivers::connect_to_service(directory);
    if (descriptor >= 0 || errno != EAGAIN || std::chrono::steady_clock::now() >= end) return descriptor;
    std::this_thread::sleep_for(look_again);
  }
}

ExitStatus complain(const std::string& message) {
  std::fprintf(stderr, "fcvi-fabricd: %s\n", message.c_str());
  return failure;
}
}  // namespace

ControlClient::~ControlClient() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (signals_ >= 0) ::close(signals_);
}

bool ControlClient::connect(const fc2::drivers::RuntimeDirectory& directory) {
  descriptor_ = connect_patiently(directory);
  if (descriptor_ >= 0) {
    ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
    return greet();
  }
  nobody_listens_ = errno == ENOENT || errno == ECONNREFUSED;
  error_ = nobody_listens_ ? "no fcvi-fabricd runs for " + directory.path()
                           : directory.socket_path() + ": " + std::strerror(errno);
  return false;
}

bool ControlClient::greet() {
  fc2::drivers::Hello hello;
  hello.role = fc2::drivers::Hello::Role::Control;
  hello.process_id = static_cast<std::uint32_t>(::getpid());
  hello.name = "fcvi-fabricd";
  if (!send(RecordKind::Hello, hello.write())) return false;
  const auto answer = receive();
  if (!answer) return false;
  if (answer->kind == RecordKind::Welcome) return true;
  error_ = answer->kind == RecordKind::Refusal ? answer->body : "the service's answer cannot be understood";
  return false;
}

bool ControlClient::send(RecordKind kind, std::span<const std::uint8_t> body) {
  std::vector<std::uint8_t> record(fc2::drivers::record_header_bytes);
  RecordHeader{.kind = kind, .body_bytes = static_cast<std::uint32_t>(body.size())}.write(
      std::span(record).first<fc2::drivers::record_header_bytes>());
  record.insert(record.end(), body.begin(), body.end());
  // A few bytes on a fresh connection: there is room.
  if (::send(descriptor_, record.data(), record.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(record.size()))
    return true;
  error_ = std::string("cannot send to the service: ") + std::strerror(errno);
  return false;
}

bool ControlClient::request(std::string_view word) {
  return send(RecordKind::Request, std::vector<std::uint8_t>(word.begin(), word.end()));
}

bool ControlClient::read(std::span<std::uint8_t> bytes) {
  for (std::size_t have = 0; have < bytes.size();) {
    const ssize_t count = ::recv(descriptor_, bytes.data() + have, bytes.size() - have, 0);
    if (count > 0)
      have += static_cast<std::size_t>(count);
    else if (count < 0 && errno == EINTR)
      continue;
    else
      return error_ = count == 0 ? "the service ended" : std::strerror(errno), false;
  }
  return true;
}

// A handler would be missed by a recv() that begins, or has data, just then.
void ControlClient::be_interruptible() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGINT);
  sigaddset(&wanted, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
  signals_ = ::signalfd(-1, &wanted, SFD_CLOEXEC);
}

// Until something can be read.
bool ControlClient::wait_uninterrupted() {
  std::array<pollfd, 2> wanted{{{descriptor_, POLLIN, 0}, {signals_, POLLIN, 0}}};
  while (::poll(wanted.data(), wanted.size(), -1) < 0 && errno == EINTR) {}
  signalfd_siginfo signal{};
  interrupted_ = wanted[1].revents != 0 && ::read(signals_, &signal, sizeof signal) > 0;
  return !interrupted_;
}

std::optional<ControlClient::Record> ControlClient::receive() {
  std::array<std::uint8_t, fc2::drivers::record_header_bytes> bytes;
  if (!wait_uninterrupted() || !read(bytes)) return std::nullopt;
  if (const char* fault = RecordHeader::fault(bytes)) {
    error_ = std::string("the service sent ") + fault;
    return std::nullopt;
  }
  const RecordHeader header = RecordHeader::read(bytes);
  Record record{header.kind, std::string(header.body_bytes, '\0')};
  std::vector<std::uint8_t> body(header.body_bytes);
  if (!read(body)) return std::nullopt;
  record.body.assign(body.begin(), body.end());
  return record;
}

bool ControlClient::receive_answer(std::string& answer) {
  for (;;) {
    const auto record = receive();
    if (!record) return false;
    if (record->kind == RecordKind::Done) return true;
    if (record->kind != RecordKind::Reply) {
      error_ = record->body;
      return false;
    }
    answer += record->body;
  }
}

// --- commands ----------------------------------------------------------------------------------------------------

ExitStatus print_status(const fc2::drivers::RuntimeDirectory& directory, bool as_json) {
  ControlClient client;
  std::string answer;
  const auto nics = fc2::drivers::StatusSocket::ask(directory);
  const bool served = client.connect(directory) && client.request("status") && client.receive_answer(answer);
  if (!served && (!client.nobody_listens() || nics.empty())) return complain(client.error());
  const std::string all = with_nics(answer, nics), text = as_json && !all.empty() ? all + "\n" : to_text(all);
  if (text.empty()) return complain("the service's status cannot be understood");
  return std::fputs(text.c_str(), stdout) < 0 ? failure : success;
}

bool started_on_demand(const fc2::drivers::RuntimeDirectory& directory) {
  ControlClient client;
  std::string answer;
  return client.connect(directory) && client.request("status") && client.receive_answer(answer) &&
         !tells_of_fcoe(answer);
}

ExitStatus stop_service(const fc2::drivers::RuntimeDirectory& directory) {
  ControlClient client;
  std::string answer;
  if (!client.connect(directory)) return client.nobody_listens() ? success : complain(client.error());
  if (!client.request("stop")) return complain(client.error());
  while (client.receive_answer(answer)) {}  // until its end closes the connection
  return success;
}

namespace {

/// Where a capture goes: a file that is renamed when it is complete, or standard output, at once.
class CaptureTarget {
 public:
  explicit CaptureTarget(const std::string& path) : to_stdout_(path == "-") {
    if (!to_stdout_)
      file_.open(path);
    else if (::isatty(STDOUT_FILENO) != 0)
      error_ = "standard output is a terminal: name a file, or pipe it to a program (fcvi-sim decode -)";
    else
      ::signal(SIGPIPE, SIG_IGN);
  }
  [[nodiscard]] const std::string& error() const { return to_stdout_ ? error_ : file_.error(); }
  /// False: nobody reads any more, or the disk is full.
  bool write(std::string_view bytes) {
    if (to_stdout_) return write_to_stdout(bytes);
    file_.write(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    return file_.error().empty();
  }
  bool commit() { return to_stdout_ ? error_.empty() : file_.commit(); }
  /// The program behind the pipe had enough.
  [[nodiscard]] bool reader_left() const { return reader_left_; }

 private:
  bool write_to_stdout(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (count >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(count));
      } else if (errno != EINTR) {
        reader_left_ = errno == EPIPE;
        if (!reader_left_) error_ = std::string("cannot write to standard output: ") + std::strerror(errno);
        return false;
      }
    }
    return true;
  }

  const bool to_stdout_;
  bool reader_left_ = false;
  std::string error_;
  fc2::drivers::FileSink file_;
};

// "MISSING\nSUMMARY"
void print_summary(const std::string& told) {
  const std::size_t end = std::min(told.find('\n'), told.size());
  const std::string missing = told.substr(0, end);
  if (end < told.size()) std::fprintf(stderr, "%s\n", told.c_str() + end + 1);
  if (missing != "0") complain(missing + " frames are missing: they came faster than they were written");
}
}  // namespace

ExitStatus capture_to(const fc2::drivers::RuntimeDirectory& directory, const CaptureRequest& request,
                      const std::string& path) {
  ControlClient client;
  client.be_interruptible();
  if (!client.connect(directory) || !client.request(request.to_text())) return complain(client.error());
  CaptureTarget target(path);
  if (!target.error().empty()) return complain(target.error()), bad_input;
  if (!request.last) std::fputs("capturing; Ctrl-C ends it\n", stderr);
  for (;;) {
    const auto record = client.receive();
    if (!record && client.interrupted() && client.request("end")) continue;
    if (!record) complain("the capture ends here: " + client.error());
    if (!record || record->kind == RecordKind::Done) {
      if (record) print_summary(record->body);
      return target.commit() ? success : complain(target.error());
    }
    if (record->kind != RecordKind::Reply) return complain(record->body);
    if (!target.write(record->body)) return target.reader_left() ? success : complain(target.error());
  }
}

}  // namespace fabricd
