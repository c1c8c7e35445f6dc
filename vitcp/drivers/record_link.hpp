// One end of a Unix socket that carries records, each in a packet, some with an open file.
#pragma once
#include <boost/asio/posix/stream_descriptor.hpp>

#include <deque>
#include <memory>

#include "runtime/core_guard.hpp"
#include "runtime/drivers/descriptor.hpp"
#include "runtime/drivers/link_descriptor.hpp"
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

/// Used inside the core; never blocks. Lives as long as its handlers. Where the system cannot watch the socket the user
/// hears, later, that the link closed.
class RecordLink : public std::enable_shared_from_this<RecordLink> {
 public:
  static std::shared_ptr<RecordLink> make(boost::asio::io_context& io, runtime::CoreGuard& guard, Descriptor socket,
                                          RecordLinkUser& user);
  ~RecordLink() { close(); }

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
  /// Closes when all is sent; the user hears nothing more.
  void finish();
  void close();

 private:
  struct Out {
    Record record;
    Descriptor attached;
  };
  RecordLink(boost::asio::io_context& io, runtime::CoreGuard& guard, RecordLinkUser& user)
      : guard_(guard), user_(&user), socket_(io) {}
  void begin(Descriptor socket);
  void fail_later(const std::string& reason);
  void await_input();
  void await_room();
  void read();
  bool read_one();
  void flush();
  void fail(const std::string& reason);

  runtime::CoreGuard& guard_;
  RecordLinkUser* user_;  // none: closed, or finishing
  std::optional<runtime::drivers::LinkDescriptor> known_;
  boost::asio::posix::stream_descriptor socket_;
  std::deque<Out> out_;
  bool waits_for_room_ = false;
};

}  // namespace vitcp::drivers
