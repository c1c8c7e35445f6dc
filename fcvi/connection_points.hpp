// The connection points of VipConnectWait (FC-VI 4.2, VI-DG 3.3.1, 6.7): who waits for which discriminator.
#pragma once
#include <list>

#include "runtime/scheduler.hpp"
#include "vi/transport.hpp"

namespace fcvi {

class ConnectionPoints {
 public:
  explicit ConnectionPoints(runtime::Scheduler& scheduler) : scheduler_(scheduler) {}

  void wait(const vi::NetAddress& local, vi::TimeNs timeout_ns, vi::ConnectWaitOperation& operation);
  /// Forgets the operation without done(); nothing if it does not wait.
  void withdraw(const vi::ConnectWaitOperation& operation);
  /// The longest waiting operation for this address and discriminator, which waits no longer; nullptr if none does. A
  /// point is bound to both (FC-VI 4.2); VI-DG 3.3.1 names the discriminator alone because its NICs have one address.
  vi::ConnectWaitOperation* take(const vi::NetAddress& wanted);
  [[nodiscard]] bool anybody_waits() const { return !points_.empty(); }

 private:
  struct Point final : runtime::Event {
    Point(ConnectionPoints& own, const vi::NetAddress& address, vi::ConnectWaitOperation& waiting)
        : owner(own), local(address), operation(waiting) {}
    void fire(runtime::TimeNs) override { owner.expired(*this); }
    ConnectionPoints& owner;
    vi::NetAddress local;
    vi::ConnectWaitOperation& operation;
  };
  void expired(Point& point);

  runtime::Scheduler& scheduler_;
  std::list<Point> points_;  // in order of arrival: first come, first served
};

}  // namespace fcvi
