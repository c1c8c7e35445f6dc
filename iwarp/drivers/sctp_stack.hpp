// The process's SCTP stack, usrsctp, which has globals: kept here. It runs without sockets of the system, and without
// threads but one, which has nothing to do as no address is ever deregistered: packets go in and out by calls, its
// clock is told.
//
// One user at a time, who calls all of this inside one core, and sctp_socket.hpp, too. What usrsctp tells comes from
// within calls: the user only takes note of it.
#pragma once
#include "wire/bytes.hpp"

struct socket;  // of usrsctp

namespace iwarp::drivers {

using UsrSocket = struct ::socket;

/// A number that stands for a peer's transport address; for another one not before many others were closed.
enum class SctpPath : std::uint64_t {};
/// The same of a socket.
enum class SctpSocketNumber : std::uint64_t {};

class SctpStackUser {
 public:
  /// To be sent there; its checksum is in place.
  virtual void packet_out(SctpPath path, wire::Bytes packet) = 0;
  /// Something can be read, accepted or sent, or it has failed.
  virtual void socket_changed(SctpSocketNumber socket) = 0;

 protected:
  ~SctpStackUser() = default;
};

class SctpStack {
 public:
  /// False: somebody else of this process has it.
  [[nodiscard]] static bool claim(SctpStackUser& user);
  /// All its sockets and paths are gone.
  static void release(SctpStackUser& user);
  /// The child of a fork(), as is its only thread: its copies of the parent's sockets are dead, and it may claim the
  /// stack.
  static void abandon_in_child();

  [[nodiscard]] static SctpPath open_path();
  static void close_path(SctpPath path);
  /// What came by the path: dropped unless its checksum is right.
  static void packet_in(SctpPath path, wire::MutableBytes packet);
  /// So much time has passed since the last call, which was tens of milliseconds ago.
  static void time_passed(std::uint32_t milliseconds);
  [[nodiscard]] static SctpSocketNumber next_socket();
};

/// usrsctp's upcall, whose argument is the number.
void sctp_upcall(UsrSocket* of, void* number, int flags);

}  // namespace iwarp::drivers
