// Streams of octets between hosts, as TCP gives them: what protocols over TCP stand on. No I/O here: an emulated form
// on the scheduler's clock is emulated.hpp, sockets are drivers/socket_streams.hpp.
//
// Calls and notices. All calls are made inside the core; none of them calls a user back from within. Notices come one
// at a time, as events of their own. From within any notice the user may make any call, and may destroy the stream it
// is about, other streams, listeners and itself. After a stream or listener was destroyed its user hears nothing of it.
//
// A stream tells connected() at most once and first, closed() at most once and last. readable() and writable() come
// once for each time that they were asked for: who does not ask is not told, which is how a receiver stops reading.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include <boost/system/result.hpp>

#include "streams/early_octets.hpp"
#include "wire/bytes.hpp"
#include "wire/types.hpp"

namespace streams {

/// One end of a stream. IPv4 stands as IPv4-mapped IPv6. Port 0: the system chooses.
struct Address {
  wire::IpAddress ip{};
  std::uint16_t port = 0;
  friend constexpr auto operator<=>(const Address&, const Address&) = default;
};
/// "10.0.0.1:80", "[fd00::1]:80"
[[nodiscard]] std::string to_string(const Address& address);
/// The same texts; any other: nothing.
[[nodiscard]] std::optional<Address> address_from_string(std::string_view text);

/// Why there is no stream, or no longer.
enum class Reason : std::uint8_t {
  refused = 1,      // nobody listens there
  unreachable,      // no way there
  timed_out,        // the network gave up; a limit for the set-up is the user's
  reset,            // the other end, or somebody between, gave the stream up: octets may be lost
  address_in_use,   // somebody else listens there
  no_such_address,  // the local address is none of this host
  not_permitted,    // a port or an operation that the system denies
  no_resources,     // too many open files, no memory, no free port
  failed,           // any other
};
[[nodiscard]] std::string_view to_string(Reason reason);

/// What happens to a stream.
class StreamUser {
 public:
  /// The stream that was begun with connect() is there.
  virtual void connected() {}
  /// Asked for: octets have arrived, or the end, or the stream is broken, which read() finds.
  virtual void readable() {}
  /// Asked for: there is room for octets again.
  virtual void writable() {}
  /// It could not be set up, or broke. Comes at the latest after what was asked for next. The end of what the other end
  /// sends is none: read() tells it.
  virtual void closed(Reason) = 0;

 protected:
  ~StreamUser() = default;
};

/// What read() found.
struct ReadResult {
  std::size_t octets = 0;
  bool end = false;    // the other end sends no more, and all of it was read
  bool fault = false;  // memory of the next piece cannot be written; nothing of the stream is lost
};

/// One end of a stream, set up or being set up. Destroying it closes it: the other end still gets all that was written,
/// and then the end. But if octets had arrived that nobody read, or arrive later, the other end sees a reset; what it
/// had not read of the last octets may then be lost. Who must be sure shuts down, reads to the end, then destroys.
class Stream {
 public:
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Who hears from now on; what was asked for stays asked. An accepted stream has no user, and tells nothing, until
  /// then.
  virtual void set_user(StreamUser& user) = 0;
  [[nodiscard]] virtual Address local() const = 0;
  [[nodiscard]] virtual Address remote() const = 0;

  /// Takes as many octets as there is room for, in order, from several pieces; they are copied and can be used again.
  /// Fewer than were given, because there was no more room or memory of one of them cannot be read: ask_writable()
  /// tells when to go on. 0 before the stream is there, and when it is broken.
  /// Allocates nothing. Not after shut_down().
  virtual std::size_t write(std::span<const wire::Bytes> pieces) = 0;
  /// Fills the pieces in order with what has arrived. Fewer octets than there is room for: no more has arrived now.
  /// Allocates nothing.
  virtual ReadResult read(std::span<const wire::MutableBytes> pieces) = 0;
  virtual void ask_readable() = 0;
  virtual void ask_writable() = 0;
  /// Designates the next octet that is written as TCP urgent data, the urgent pointer as RFC 1122 has it. False: this
  /// cannot be had. Marks of the other end remove nothing from the stream, and are not told.
  virtual bool mark_urgent() = 0;
  /// Octets that a segment of the network below takes now; nothing: not known, or there is no stream.
  [[nodiscard]] virtual std::optional<std::size_t> segment_octets() const { return std::nullopt; }
  /// What arrived before its turn. From the first call on readable() tells of such segments too, if any came since the
  /// last read(); what came before that call is left in order. nullptr: the system below keeps it to itself.
  [[nodiscard]] virtual EarlyOctets* early_octets() { return nullptr; }
  /// From now on what a write() gives, if the stream takes all of it, shares no segment with what is written after it,
  /// where the system can do that.
  virtual void separate_writes() {}
  /// Half-close: nothing more is written; the other end reads the end after what was.
  virtual void shut_down() = 0;
  /// Gives the stream up at once: what was written may be lost, the other end sees a reset. No notice comes any more;
  /// all that remains is to destroy it.
  virtual void reset() = 0;

  /// One piece.
  std::size_t write(wire::Bytes octets) { return write(std::span<const wire::Bytes>(&octets, 1)); }
  ReadResult read(wire::MutableBytes room) { return read(std::span<const wire::MutableBytes>(&room, 1)); }

 protected:
  Stream() = default;
};

/// Listens until it is destroyed; streams that were accepted stay.
class Listener {
 public:
  virtual ~Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  /// With the port that was chosen.
  [[nodiscard]] virtual Address address() const = 0;

 protected:
  Listener() = default;
};

class ListenerUser {
 public:
  /// A stream that another host set up; who does not want it destroys it. How many are taken, and how long one may wait
  /// for its first octets, is the user's.
  virtual void accepted(std::unique_ptr<Stream> stream) = 0;
  /// One could not be taken. Listening goes on; after no_resources a little later.
  virtual void accept_failed(Reason) {}

 protected:
  ~ListenerUser() = default;
};

/// A host's streams. Outlives them.
class Streams {
 public:
  /// Begins to set up a stream; connected() or closed() tells. Destroying the stream gives up. `from`: the local
  /// address, or a part of it: an unspecified IP address or port 0 is chosen.
  virtual std::unique_ptr<Stream> connect(const Address& to, const Address& from, StreamUser& user) = 0;
  /// At an address of the host, or at the unspecified one: at all of them.
  virtual boost::system::result<std::unique_ptr<Listener>, Reason> listen(const Address& at, ListenerUser& user) = 0;

 protected:
  ~Streams() = default;
};

/// result::value() of an error is a programmer's error.
[[noreturn]] void throw_exception_from_error(Reason reason, const boost::source_location& location);

}  // namespace streams
