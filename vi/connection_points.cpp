#include "vi/connection_points.hpp"

#include <algorithm>

namespace vi {

void ConnectionPoints::wait(const NetAddress& local, TimeNs timeout_ns, ConnectWaitOperation& operation) {
  if (timeout_ns == 0) return operation.done(Return::Timeout);
  Point& point = points_.emplace_back(*this, local, operation);
  if (timeout_ns != runtime::never) scheduler_.schedule_after(point, timeout_ns);
  if (listener_ != nullptr) listener_->waiting_changed(local, true);
}

void ConnectionPoints::remove(std::list<Point>::iterator point) {
  const NetAddress local = point->local;
  points_.erase(point);
  if (listener_ != nullptr) listener_->waiting_changed(local, false);
}

void ConnectionPoints::withdraw(const ConnectWaitOperation& operation) {
  const auto found =
      std::find_if(points_.begin(), points_.end(), [&](const Point& point) { return &point.operation == &operation; });
  if (found != points_.end()) remove(found);
}

ConnectWaitOperation* ConnectionPoints::take(const NetAddress& wanted) {
  const auto found = std::find_if(points_.begin(), points_.end(), [&](const Point& point) {
    return point.local.host == wanted.host && point.local.same_discriminator(wanted);
  });
  if (found == points_.end()) return nullptr;
  ConnectWaitOperation* operation = &found->operation;
  remove(found);
  return operation;
}

void ConnectionPoints::expired(Point& point) {
  ConnectWaitOperation& operation = point.operation;
  remove(std::find_if(points_.begin(), points_.end(), [&](const Point& other) { return &other == &point; }));
  operation.done(Return::Timeout);  // VI-DG 3.3.1
}

}  // namespace vi
