// The listening socket of the port: made here, or the copy that a process kept of that of an earlier service.
#pragma once
#include <boost/asio/posix/stream_descriptor.hpp>

#include <functional>
#include <optional>
#include <string>

#include "runtime/drivers/descriptor.hpp"
#include "runtime/drivers/real_time_core.hpp"
#include "runtime/drivers/runtime_directory.hpp"
#include "streams/stream.hpp"
#include "tools/service_common/log_budget.hpp"

namespace vitcp_portd {
using runtime::drivers::Descriptor;

class ListenerUser {
 public:
  /// Inside the core. May be called again with another trouble.
  virtual void listens() = 0;
  virtual void cannot_listen(const std::string& trouble) = 0;
  virtual void accepted(Descriptor stream, const wire::IpAddress& from) = 0;
  /// A process with a copy of the socket takes what comes: what it has not after a moment is accepted here.
  [[nodiscard]] virtual bool others_take() const = 0;

 protected:
  ~ListenerUser() = default;
};

/// Tries until it listens. Used inside the core.
class Listener {
 public:
  Listener(runtime::drivers::RealTimeCore& core, const streams::Address& at,
           const runtime::drivers::RuntimeDirectory& directory, ListenerUser& user);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void start() { attempt(); }
  /// A socket that a process kept. True: it is in use from now on.
  bool offer(Descriptor kept);
  /// -1: it does not listen.
  [[nodiscard]] int socket() const { return socket_.number(); }
  /// others_take() is no longer so.
  void hurry();
  void close();

 private:
  void attempt();
  void failed(int error);
  void look_who_has_it(int error);
  void tell(const std::string& trouble);
  /// Why it cannot be used; 0: it is.
  int use(Descriptor socket);
  /// Why the system cannot; 0: it does.
  int await();
  void go_on() {
    if (await() != 0) core_.scheduler().schedule_after(pause_, longest_pause);
  }
  void came();
  void accept();
  [[nodiscard]] std::optional<streams::Address> neighbour() const;

  runtime::drivers::RealTimeCore& core_;
  const streams::Address at_;
  const runtime::drivers::RuntimeDirectory directory_;
  ListenerUser& user_;
  static constexpr runtime::TimeNs longest_pause = 100 * runtime::millisecond;  // while the system has no room
  Descriptor socket_;
  boost::asio::posix::stream_descriptor watched_;  // it, which it does not own, while it is watched
  std::string told_;
  int failure_ = 0;  // the last one, and when it is looked at again
  runtime::TimeNs look_at_ = 0, look_interval_ = 0;
  services::SeldomLog no_room_log_;
  const runtime::TimeNs started_at_;
  bool closed_ = false;
  runtime::Timer<Listener, &Listener::attempt> again_{*this};
  runtime::Timer<Listener, &Listener::go_on> pause_{*this};
  runtime::Timer<Listener, &Listener::accept> moment_{*this};
};

}  // namespace vitcp_portd
