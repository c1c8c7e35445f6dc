// What DDP over SCTP asks of SCTP: associations that carry whole messages, unordered, each on one of their streams
// (RFC 5043 5.2, 8 to 11). No I/O here: drivers/udp_associations.hpp.
//
// Notices are events of their own, inside the core; from within any of them the user may make any call, and may destroy
// what it is about, and itself.
#pragma once
#include <memory>

#include "streams/stream.hpp"

namespace iwarp {

class AssociationUser {
 public:
  /// The association that was begun with connect() is there; the other end's adaptation layer indication is DDP's
  /// (RFC 5043 11.1). Comes at most once, and first.
  virtual void associated() {}
  /// All User Data of one DATA chunk, in any order.
  virtual void message_received(std::uint16_t stream, std::uint32_t protocol, wire::Bytes octets) = 0;
  /// send() may be tried again.
  virtual void room_again() = 0;
  /// The other end has acknowledged all that was sent until now. Comes once for each ask_acknowledged().
  virtual void acknowledged() = 0;
  /// It could not be set up, or has ended, by either end. Comes once, and last.
  virtual void association_lost(streams::Reason reason) = 0;

 protected:
  ~AssociationUser() = default;
};

/// Destroying it ends it: what was sent still arrives, then the other end hears association_lost().
class Association {
 public:
  virtual ~Association() = default;
  Association(const Association&) = delete;
  Association& operator=(const Association&) = delete;

  /// Who hears from now on. An accepted association tells nothing until then.
  virtual void set_user(AssociationUser& user) = 0;
  [[nodiscard]] virtual streams::Address local() const = 0;
  [[nodiscard]] virtual streams::Address remote() const = 0;
  /// As many in each direction (RFC 5043 8).
  [[nodiscard]] virtual std::uint16_t stream_count() const = 0;
  /// Octets of the largest message, which needs no fragmentation; at least 516 (RFC 5043 9).
  [[nodiscard]] virtual std::size_t max_message() const = 0;
  /// One unordered message; copied. False: there is no room now, room_again() follows.
  virtual bool send(std::uint16_t stream, std::uint32_t protocol, wire::Bytes octets) = 0;
  virtual void ask_acknowledged() = 0;

 protected:
  Association() = default;
};

class AssociationListenerUser {
 public:
  virtual void accepted(std::unique_ptr<Association> association) = 0;

 protected:
  ~AssociationListenerUser() = default;
};

/// Listens until it is destroyed; associations that were accepted stay.
class AssociationListener {
 public:
  virtual ~AssociationListener() = default;
  AssociationListener(const AssociationListener&) = delete;
  AssociationListener& operator=(const AssociationListener&) = delete;
  [[nodiscard]] virtual streams::Address address() const = 0;

 protected:
  AssociationListener() = default;
};

/// A host's. Outlives them.
class Associations {
 public:
  /// associated() or association_lost() tells. An unspecified address or port of `from` is chosen.
  virtual std::unique_ptr<Association> connect(const streams::Address& to, const streams::Address& from,
                                               AssociationUser& user) = 0;
  virtual boost::system::result<std::unique_ptr<AssociationListener>, streams::Reason> listen(
      const streams::Address& at, AssociationListenerUser& user) = 0;
  /// Nobody listens there any more, but associations that were accepted there have the port still: listen() has it.
  [[nodiscard]] virtual bool keeps(const streams::Address& at) const = 0;

 protected:
  ~Associations() = default;
};

}  // namespace iwarp
