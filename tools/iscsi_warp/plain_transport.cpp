// iSCSI over TCP: PDUs one behind the other, data segments padded to words (RFC 7143 11.2).
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/iscsi_warp/transport.hpp"

namespace iscsi {
namespace {

class Socket {
 public:
  explicit Socket(int number) : number_(number) {}
  ~Socket() {
    if (number_ >= 0) ::close(number_);
  }
  Socket(Socket&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void fail(const std::string& what) { throw ConnectionEnded(what + ": " + std::strerror(errno)); }

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(Socket socket) : socket_(std::move(socket)) {}
  [[nodiscard]] std::string_view name() const override { return "plain TCP"; }

  void send(const Pdu& pdu) override { write(pdu, pdu.data); }
  [[nodiscard]] Pdu receive() override {
    Pdu pdu;
    read(pdu.header);
    if (pdu.header[4] != 0) throw ConnectionEnded("a PDU with an additional header segment");
    if (pdu.data_length() > burst_octets) throw ConnectionEnded("a PDU with too much data");
    pdu.data.resize((pdu.data_length() + 3) / 4 * 4);
    read(pdu.data);
    pdu.data.resize(pdu.data_length());
    return pdu;
  }
  [[nodiscard]] std::uint32_t lend(std::span<std::uint8_t>) override { return ++tags_; }
  void take_back(std::uint32_t) override {}
  void send_data(Pdu pdu, std::span<const std::uint8_t> data, std::uint32_t) override { write(pdu, data); }
  void place(const Pdu& pdu, std::span<std::uint8_t> memory) override {
    const std::size_t offset = pdu.word(at::buffer_offset);
    if (offset > memory.size() || pdu.data.size() > memory.size() - offset)
      throw ConnectionEnded("data beyond what was asked for");
    std::copy(pdu.data.begin(), pdu.data.end(), memory.begin() + static_cast<std::ptrdiff_t>(offset));
  }

 private:
  void write(Pdu pdu, std::span<const std::uint8_t> data) {
    pdu.set_data_length(data.size());
    static constexpr std::array<std::uint8_t, 3> pad{};
    for (const std::span<const std::uint8_t> piece :
         {std::span<const std::uint8_t>(pdu.header), data,
          std::span<const std::uint8_t>(pad).first((4 - data.size() % 4) % 4)})
      write_octets(piece);
  }
  void write_octets(std::span<const std::uint8_t> octets) {
    while (!octets.empty()) {
      const ssize_t count = ::send(socket_.number(), octets.data(), octets.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("send");
      octets = octets.subspan(static_cast<std::size_t>(count));
    }
  }
  void read(std::span<std::uint8_t> octets) {
    while (!octets.empty()) {
      const ssize_t count = ::recv(socket_.number(), octets.data(), octets.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("recv");
      if (count == 0) throw ConnectionEnded("the other end has closed");
      octets = octets.subspan(static_cast<std::size_t>(count));
    }
  }
  Socket socket_;
  std::uint32_t tags_ = 0;
};

struct Resolved {
  explicit Resolved(const Address& address, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    const int error =
        ::getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(), address.port.c_str(), &hints, &list);
    if (error != 0) throw ConnectionEnded(address.host + ": " + ::gai_strerror(error));
  }
  ~Resolved() { ::freeaddrinfo(list); }
  Resolved(const Resolved&) = delete;
  Resolved& operator=(const Resolved&) = delete;
  addrinfo* list = nullptr;
};

class PlainAcceptor final : public Acceptor {
 public:
  explicit PlainAcceptor(Socket socket) : socket_(std::move(socket)) {}
  [[nodiscard]] std::unique_ptr<Transport> accept() override {
    Socket accepted(::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (accepted.number() < 0) fail("accept");
    return std::make_unique<PlainTransport>(std::move(accepted));
  }

 private:
  Socket socket_;
};

}  // namespace

std::unique_ptr<Transport> connect_plain(const Address& to) {
  const Resolved found(to, 0);
  for (const addrinfo* one = found.list; one != nullptr; one = one->ai_next) {
    Socket socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket.number() >= 0 && ::connect(socket.number(), one->ai_addr, one->ai_addrlen) == 0)
      return std::make_unique<PlainTransport>(std::move(socket));
  }
  fail("connect to " + to.host + " port " + to.port);
}

std::unique_ptr<Acceptor> listen_plain(const Address& at) {
  const Resolved found(at, AI_PASSIVE);
  Socket socket(::socket(found.list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.number(), found.list->ai_addr, found.list->ai_addrlen) != 0 || ::listen(socket.number(), 8) != 0)
    fail("listen at port " + at.port);
  return std::make_unique<PlainAcceptor>(std::move(socket));
}

}  // namespace iscsi
