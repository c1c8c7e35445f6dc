#include "tools/fabricd/control_client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <utility>

#include "fc2_fabric/drivers/file_sink.hpp"
#include "runtime/drivers/status_socket.hpp"
#include "tools/fabricd/control_words.hpp"
#include "tools/fabricd/status.hpp"

namespace fabricd {
using fc2::drivers::RecordHeader;
using fc2::drivers::RecordKind;

namespace {
using namespace std::chrono_literals;
constexpr std::chrono::milliseconds patience = 10s, look_again = 10ms, look_for_service = 100ms;

// A service that is busy, or stopped, may have as many connections waiting as its socket holds (EAGAIN). `signals`: a
// signalfd that ends it (EINTR); negative: none.
int connect_patiently(const fc2::drivers::RuntimeDirectory& directory, int signals) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const int descriptor = fc2::drivers::connect_to_service(directory);
    if (descriptor >= 0 || errno != EAGAIN || std::chrono::steady_clock::now() >= end) return descriptor;
    pollfd wanted{signals, POLLIN, 0};
    if (::poll(&wanted, 1, static_cast<int>(look_again.count())) > 0) return errno = EINTR, -1;
  }
}

ExitStatus complain(const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, message.c_str());
  return failure;
}
}  // namespace

ControlClient::~ControlClient() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (signals_ >= 0) ::close(signals_);
}

bool ControlClient::connect(const fc2::drivers::RuntimeDirectory& directory) {
  descriptor_ = connect_patiently(directory, signals_);
  if (descriptor_ >= 0) {
    ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
    return greet();
  }
  nobody_listens_ = errno == ENOENT || errno == ECONNREFUSED;
  error_ = nobody_listens_ ? "no fcvi-fabricd runs for " + directory.path()
                           : fc2::drivers::fabric_place(directory).socket_path() + ": " + std::strerror(errno);
  return false;
}

bool ControlClient::connect_when_there(const fc2::drivers::RuntimeDirectory& directory) {
  while (!connect(directory)) {
    if (!nobody_listens_) return false;
    pollfd wanted{signals_, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(look_for_service.count()));
    if (ready > 0 && take_interrupt()) return false;
    nobody_listens_ = false;
  }
  return true;
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
  for (std::span<const std::uint8_t> left(record); !left.empty();) {
    const ssize_t count = ::send(descriptor_, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      left = left.subspan(static_cast<std::size_t>(count));
    } else if (errno != EAGAIN && errno != EINTR) {
      error_ = std::string("cannot send to the service: ") + std::strerror(errno);
      return false;
    } else if (!await(descriptor_, POLLOUT)) {
      return false;
    }
  }
  return true;
}

bool ControlClient::request(std::string_view text) {
  constexpr std::size_t room = fc2::drivers::max_record_body_bytes - control_word::part.size();
  for (; text.size() > room; text.remove_prefix(room)) {
    std::vector<std::uint8_t> part(control_word::part.begin(), control_word::part.end());
    part.insert(part.end(), text.begin(), text.begin() + room);
    if (!send(RecordKind::Request, part)) return false;
  }
  return send(RecordKind::Request, std::vector<std::uint8_t>(text.begin(), text.end()));
}

bool ControlClient::read(std::span<std::uint8_t> bytes) {
  for (std::size_t have = 0; have < bytes.size();) {
    const ssize_t count = ::recv(descriptor_, bytes.data() + have, bytes.size() - have, MSG_DONTWAIT);
    if (count > 0)
      have += static_cast<std::size_t>(count);
    else if (count == 0)
      return error_ = "the service ended", false;
    else if (errno != EINTR && errno != EAGAIN)
      return error_ = std::strerror(errno), false;
    else if (!await(descriptor_, POLLIN))
      return false;
  }
  return true;
}

// A handler would be missed by a call that begins just then. nohup(1) has SIGHUP ignored, and means it.
void ControlClient::be_interruptible() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGINT);
  sigaddset(&wanted, SIGTERM);
  struct sigaction hangup {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&wanted, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
  signals_ = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool ControlClient::await(int descriptor, short events) {
  for (;;) {
    std::array<pollfd, 2> wanted{{{descriptor, events, 0}, {signals_, POLLIN, 0}}};
    if (::poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) return error_ = std::strerror(errno), false;
    if (wanted[1].revents != 0 && take_interrupt()) return false;
    if (wanted[0].revents != 0) return true;
  }
}

// True: what waits ends.
bool ControlClient::take_interrupt() {
  signalfd_siginfo signal{};
  if (::read(signals_, &signal, sizeof signal) <= 0) return false;
  if (!std::exchange(interrupted_, true) && !interrupt_request_.empty()) return !request(interrupt_request_);
  error_ = "interrupted";
  return true;
}

std::optional<ControlClient::Record> ControlClient::receive() {
  std::array<std::uint8_t, fc2::drivers::record_header_bytes> bytes;
  if (!await(descriptor_, POLLIN) || !read(bytes)) return std::nullopt;
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
      refused_ = record->kind == RecordKind::Refusal;
      return false;
    }
    answer += record->body;
  }
}

// --- commands ----------------------------------------------------------------------------------------------------

ExitStatus print_status(const fc2::drivers::RuntimeDirectory& directory, bool as_json, bool* interrupted) {
  ControlClient client;
  std::string answer;
  client.be_interruptible();
  const auto nics = runtime::drivers::StatusSocket::ask(directory, "nic");
  const bool served = client.connect(directory) && client.request("status") && client.receive_answer(answer);
  if (interrupted != nullptr) *interrupted = client.interrupted();
  if (client.interrupted()) return complain(client.error());
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

/// Where a capture goes: a file, which is there with the first of it; or standard output, or what is no regular file.
class CaptureTarget {
 public:
  /// Waits for the reader of a FIFO. `client` is the one that is interrupted.
  CaptureTarget(const std::string& path, ControlClient& client) : client_(client) {
    const bool to_stdout = path == "-";
    path_ = to_stdout ? "standard output" : path;
    if (!to_stdout && !fc2::drivers::FileSink::is_written_directly(path))
      file_.open(path);
    else
      begin_stream(to_stdout);
  }
  CaptureTarget(const CaptureTarget&) = delete;
  CaptureTarget& operator=(const CaptureTarget&) = delete;
  ~CaptureTarget() {
    if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  }
  [[nodiscard]] const std::string& error() const { return error_.empty() ? file_.error() : error_; }
  /// False: nobody reads any more, the disk is full, or it was interrupted.
  bool write(std::string_view bytes) {
    if (descriptor_ >= 0) return write_to_stream(bytes);
    file_.write(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    return file_.publish();
  }
  bool commit() { return descriptor_ >= 0 ? error_.empty() : file_.commit(); }
  /// The program behind the pipe had enough.
  [[nodiscard]] bool reader_left() const { return reader_left_; }

 private:
  void begin_stream(bool to_stdout) {
    descriptor_ = to_stdout ? STDOUT_FILENO : ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0)
      error_ = "cannot open " + path_ + ": " + std::strerror(errno);
    else if (::isatty(descriptor_) != 0)
      error_ = path_ + " is a terminal: name a file, or pipe it to a program (fcvi-sim decode -)";
    ::signal(SIGPIPE, SIG_IGN);
  }
  bool write_to_stream(std::string_view bytes) {
    while (!bytes.empty()) {
      if (!client_.await(descriptor_, POLLOUT)) return error_ = client_.error(), false;
      // No more than a pipe that is ready takes without waiting.
      const ssize_t count = ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
      if (count >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(count));
      } else if (errno != EINTR) {
        reader_left_ = errno == EPIPE;
        if (!reader_left_) error_ = "cannot write to " + path_ + ": " + std::strerror(errno);
        return false;
      }
    }
    return true;
  }

  ControlClient& client_;
  std::string path_, error_;
  int descriptor_ = -1;  // of a stream
  bool reader_left_ = false;
  fc2::drivers::FileSink file_;
};

// "MISSING\nSUMMARY"
void print_summary(const std::string& told) {
  const std::size_t end = std::min(told.find('\n'), told.size());
  const std::string missing = told.substr(0, end);
  if (end < told.size()) std::fprintf(stderr, "%s\n", told.c_str() + end + 1);
  if (missing != "0") complain(missing + " frames are missing: they came faster than they were written");
}
// Which ports are not there, in words; empty: all are, or nobody can tell.
std::string find_ports(const fc2::drivers::RuntimeDirectory& directory, const CaptureRequest& request) {
  ControlClient client;
  std::string answer;
  client.be_interruptible();
  if (request.choice.ports.empty() || !client.connect(directory)) return {};
  if (!client.request(std::string(CaptureRequest::find_word) + request.to_text())) return {};
  if (!client.receive_answer(answer) || answer.empty()) return {};
  answer.pop_back();
  std::replace(answer.begin(), answer.end(), '\n', ',');
  return (request.last ? "there is no such port: " : "there is no such port now: ") + answer;
}

// A capture of what is to come may be the first to come: then it has also what passed until it was there.
bool reach_service(ControlClient& client, const fc2::drivers::RuntimeDirectory& directory, CaptureRequest& request) {
  client.be_interruptible();
  if (client.connect(directory)) return true;
  if (request.last || !client.nobody_listens()) return false;
  request.from_first = true;
  std::fprintf(stderr, "no fcvi-fabricd runs for %s yet; waiting for the first program, Ctrl-C ends it\n",
               directory.path().c_str());
  return client.connect_when_there(directory);
}

// What came is kept.
ExitStatus cut_short(CaptureTarget& target, const std::string& why) {
  complain("the capture ends here: " + why);
  if (target.error().empty() && !target.commit()) complain(target.error());
  return failure;
}
}  // namespace

// The file is tried before the service begins to take memory from between ports.
ExitStatus capture_to(const fc2::drivers::RuntimeDirectory& directory, CaptureRequest request,
                      const std::string& path) {
  ControlClient client;
  CaptureTarget target(path, client);
  if (!target.error().empty()) return complain(target.error()), bad_input;
  if (!reach_service(client, directory, request)) return complain(client.error());
  const std::string missing_ports = find_ports(directory, request);
  if (!missing_ports.empty()) complain(missing_ports);
  if (!missing_ports.empty() && request.last) return failure;
  if (!client.request(request.to_text())) return complain(client.error());
  client.request_when_interrupted("end");
  if (!request.last) std::fputs("capturing; Ctrl-C ends it\n", stderr);
  for (;;) {
    const auto record = client.receive();
    if (!record) return cut_short(target, client.error());
    if (record->kind == RecordKind::Done) {
      print_summary(record->body);
      return target.commit() ? success : complain(target.error());
    }
    if (record->kind != RecordKind::Reply) return complain(record->body);
    if (!target.write(record->body)) return target.reader_left() ? success : cut_short(target, target.error());
  }
}

}  // namespace fabricd
