// The connection points of VipConnectWait (VI-DG 3.3.1, 6.7; FC-VI 4.2): who waits for which discriminator. For any
// transport that answers a request at once: then none is ever waiting when a wait begins.
#pragma once
#include <list>

#include "runtime/scheduler.hpp"
#include "vi/transport.hpp"

namespace vi {

/// Who has to know what is waited for.
class ConnectionPointsListener {
 public:
  /// At `local` one more operation waits, or one less. Nothing here is called from within.
  virtual void waiting_changed(const NetAddress& local, bool more) = 0;

 protected:
  ~ConnectionPointsListener() = default;
};

class ConnectionPoints {
 public:
  explicit ConnectionPoints(runtime::Scheduler& scheduler) : scheduler_(scheduler) {}

  /// Before anybody waits.
  void set_listener(ConnectionPointsListener& listener) { listener_ = &listener; }
  void wait(const NetAddress& local, TimeNs timeout_ns, ConnectWaitOperation& operation);
  /// Forgets the operation without done(); nothing if it does not wait.
  void withdraw(const ConnectWaitOperation& operation);
  /// The longest waiting operation for this address and discriminator, which waits no longer; nullptr if none does. A
  /// point is bound to both (FC-VI 4.2); VI-DG 3.3.1 names the discriminator alone because its NICs have one address.
  ConnectWaitOperation* take(const NetAddress& wanted);
  [[nodiscard]] bool anybody_waits() const { return !points_.empty(); }

 private:
  struct Point final : runtime::Event {
    Point(ConnectionPoints& own, const NetAddress& address, ConnectWaitOperation& waiting)
        : owner(own), local(address), operation(waiting) {}
    void fire(runtime::TimeNs) override { owner.expired(*this); }
    ConnectionPoints& owner;
    NetAddress local;
    ConnectWaitOperation& operation;
  };
  void expired(Point& point);
  void remove(std::list<Point>::iterator point);

  runtime::Scheduler& scheduler_;
  ConnectionPointsListener* listener_ = nullptr;
  std::list<Point> points_;  // in order of arrival: first come, first served
};

}  // namespace vi
