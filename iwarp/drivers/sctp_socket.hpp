// A socket of the process's SCTP stack: one association, or listening for them (RFC 6458 4, usrsctp's calls). As DDP
// wants it: unordered messages, none fragmented, DDP's adaptation layer indication (RFC 5043 5.1, 5.2, 9).
//
// Used as SctpStack is. Nothing here waits.
#pragma once
#include <utility>

#include "iwarp/drivers/sctp_stack.hpp"
#include "streams/stream.hpp"

namespace iwarp::drivers {

/// What receive() found.
struct SctpReceived {
  enum class Kind : std::uint8_t {
    nothing,
    message,           // whole
    part,              // of one that is larger than the room
    associated,        // `streams` of them in each direction
    indication,        // the other end's adaptation layer indication
    all_acknowledged,  // ask_acknowledged()
    shut_down,         // the other end sends no more, or the association is over
    lost,              // `reason`
    other,             // of no account
  };
  Kind kind = Kind::nothing;
  std::uint16_t stream = 0, streams = 0;
  std::uint32_t protocol = 0, indication = 0;
  wire::Bytes octets{};  // of a message: in the room that was given
  streams::Reason reason = streams::Reason::reset;
};

class SctpSocket {
 public:
  SctpSocket() = default;
  /// Its number is told to the stack's user. Without a socket: the stack has no memory for it.
  [[nodiscard]] static SctpSocket make();
  SctpSocket(SctpSocket&& other) noexcept : socket_(std::exchange(other.socket_, nullptr)), number_(other.number_) {}
  SctpSocket& operator=(SctpSocket&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(number_, other.number_);
    return *this;
  }
  /// An association that is not over is aborted.
  ~SctpSocket();
  explicit operator bool() const { return socket_ != nullptr; }
  [[nodiscard]] SctpSocketNumber number() const { return number_; }

  /// Packets of at most so many octets, SCTP's header included. Before connect(), or after accept().
  void limit_packets(std::size_t octets);
  /// Binds, and begins to associate. False: it cannot.
  [[nodiscard]] bool connect(SctpPath path, std::uint16_t local_port, std::uint16_t port);
  /// For all paths. False: this process listens there already.
  [[nodiscard]] bool listen(std::uint16_t port);
  struct Accepted;
  /// Without a socket: none waits.
  [[nodiscard]] Accepted accept();

  [[nodiscard]] SctpReceived receive(wire::MutableBytes room);
  enum class Sent : std::uint8_t { taken, full, failed };
  [[nodiscard]] Sent send(std::uint16_t stream, std::uint32_t protocol, wire::Bytes message);
  /// There is room, or the socket has failed.
  [[nodiscard]] bool can_send() const;
  /// Octets of the largest message that one packet takes, once it is associated.
  [[nodiscard]] std::size_t max_message() const;
  /// all_acknowledged follows: once what was sent until now is.
  void ask_acknowledged();
  void end_asking();
  /// What was sent still arrives, then shut_down follows.
  void shut_down();

 private:
  SctpSocket(UsrSocket* socket, SctpSocketNumber number) : socket_(socket), number_(number) {}
  void prepare();
  [[nodiscard]] bool bind(void* address, std::uint16_t port);
  [[nodiscard]] SctpReceived take_notice(wire::Bytes octets) const;

  UsrSocket* socket_ = nullptr;
  SctpSocketNumber number_{};
};

struct SctpSocket::Accepted {
  SctpSocket socket{};
  SctpPath path{};
};

}  // namespace iwarp::drivers
