// The sockets of one host, waited for together with one system call.
#pragma once
#include <sys/epoll.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>

#include "runtime/core_guard.hpp"
#include "runtime/drivers/descriptor.hpp"
#include "runtime/drivers/link_descriptor.hpp"

namespace streams::drivers {
class SocketSet;

/// A socket in a set, from its construction on. It is told what it asked for, once each time, inside the core and not
/// from within a call. What it was told may destroy any of the set, itself included.
class SetMember {
 public:
  SetMember(const SetMember&) = delete;
  SetMember& operator=(const SetMember&) = delete;

  enum class For : std::uint8_t { reading = 1, writing = 2 };
  void ask(For what);

 protected:
  explicit SetMember(std::shared_ptr<SocketSet> set) : set_(std::move(set)) {}
  virtual ~SetMember() { leave(); }
  /// It owns the socket, and leaves before it closes it. It will ask for that first. False: the system's error is in
  /// errno.
  [[nodiscard]] bool join(int socket, For what);
  void leave();
  /// Something can be read or written, or the socket is broken, which an attempt finds out.
  virtual void ready(For what) = 0;

 private:
  friend class SocketSet;
  void tell(std::uint32_t events);
  void release(std::uint32_t events);

  std::shared_ptr<SocketSet> set_;
  int socket_ = -1;
  std::uint8_t asked_ = 0;   // For, not told yet
  std::uint8_t waited_ = 0;  // For: the kernel waits for it; what nobody asks for is taken back only when it happens
  bool is_known_ = false;    // to the kernel
};

/// An epoll set. The io_context's thread sleeps at it, or who polls looks at it in its own thread (runtime::Input);
/// while somebody polls, or sleeps at it himself, the set is out of that thread's own, which is not woken then: it
/// looks now and then whether they still do.
class SocketSet final : private runtime::Input, public std::enable_shared_from_this<SocketSet> {
 public:
  SocketSet(boost::asio::io_context& io, runtime::CoreGuard& guard);
  SocketSet(const SocketSet&) = delete;
  SocketSet& operator=(const SocketSet&) = delete;
  ~SocketSet() { stop_watching(); }
  /// Nobody is told any more.
  void close();

 private:
  friend class SetMember;
  [[nodiscard]] bool add(SetMember& member, std::uint8_t waited);
  void remove(SetMember& member);
  bool control(int operation, SetMember& member, std::uint8_t waited);

  // runtime::Input
  bool read_now() override;
  void wait_for_input() override;
  [[nodiscard]] int descriptor() const override { return epoll_.number(); }
  void set_watched(bool watched) override;
  bool look();
  void watch();
  void wait_for_events();
  void event_came();
  void stop_watching();
  [[nodiscard]] bool is_current(std::uint32_t watch) const { return watches_ && watch == watch_; }
  void check_later();
  void check();

  runtime::CoreGuard& guard_;
  runtime::drivers::Descriptor epoll_;
  std::optional<runtime::drivers::LinkDescriptor> known_;
  boost::asio::posix::stream_descriptor watched_;  // epoll_, which it does not own, while watches_
  boost::asio::steady_timer timer_;
  bool watches_ = false;    // the io_context's thread sleeps at it
  bool checks_ = false;     // it looks after a tick
  bool elsewhere_ = false;  // another thread sleeps at it
  std::uint32_t watch_ = 0;
  bool polled_ = false;  // since that thread looked
  std::size_t members_ = 0;
  std::array<epoll_event, 64> events_{};
  std::size_t next_ = 0, count_ = 0;  // of them: those that are not told yet
};

}  // namespace streams::drivers
