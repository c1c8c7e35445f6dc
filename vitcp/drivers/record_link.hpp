// One end of a Unix socket that carries records, each in a packet, some with an open file.
#pragma once
#include <deque>
#include <memory>

#include "runtime/drivers/descriptor.hpp"
#include "runtime/drivers/link_descriptor.hpp"
#include "runtime/scheduler.hpp"
#include "streams/drivers/socket_set.hpp"
#include "vitcp/port_service/records.hpp"

namespace vitcp::drivers {
using port_service::Record;
using port_service::RecordKind;
using runtime::drivers::Descriptor;

/// Told inside the core. May close the link, or destroy itself after that.
class RecordLinkUser {
 public:
  /// `attached`: none where the record had none, or this process can have no more open files.
  virtual void record_received(RecordKind kind, wire::Bytes body, Descriptor attached) = 0;
  /// The other end closed, or the socket failed. The last that is told.
  virtual void link_closed(const std::string& reason) = 0;

 protected:
  ~RecordLinkUser() = default;
};

/// Used inside the core; never blocks. Its socket is waited for with the others of the set: who polls reads it in its
/// own thread. Where the system cannot watch it the user hears, later, that the link closed.
class RecordLink final : public std::enable_shared_from_this<RecordLink>, private streams::drivers::SetMember {
 public:
  using Sockets = std::shared_ptr<streams::drivers::SocketSet>;
  /// The scheduler and the user outlive it.
  static std::shared_ptr<RecordLink> make(Sockets sockets, runtime::Scheduler& scheduler, Descriptor socket,
                                          RecordLinkUser& user);
  ~RecordLink() override { close(); }

  /// Another hears from now on.
  void set_user(RecordLinkUser& user) { user_ = &user; }
  /// Waits here while the socket is full. What fails is found by the next read.
  void send(Record record, Descriptor attached = {});
  /// Now or never, with a copy of `attached`, which stays the caller's. False: it was not sent.
  bool send_now(const Record& record, int attached);
  /// Records that wait.
  [[nodiscard]] std::size_t waiting() const { return out_.size(); }
  /// Takes back a record that waits.
  bool unsend(const Record& record);
  void close();

 private:
  struct Out {
    Record record;
    Descriptor attached;
  };
  RecordLink(Sockets sockets, runtime::Scheduler& scheduler, RecordLinkUser& user)
      : SetMember(std::move(sockets)), scheduler_(scheduler), user_(&user) {}
  void begin(Descriptor socket);
  void ready(For what) override;
  void read();
  bool read_one();
  void flush();
  void fail(const std::string& reason);
  void tell_failure();

  runtime::Scheduler& scheduler_;
  RecordLinkUser* user_;  // none: closed
  Descriptor socket_;
  std::optional<runtime::drivers::LinkDescriptor> known_;
  std::deque<Out> out_;
  std::string failure_;
  runtime::Timer<RecordLink, &RecordLink::tell_failure> failure_event_{*this};
};

}  // namespace vitcp::drivers
