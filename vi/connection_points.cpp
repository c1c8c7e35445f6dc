#include "vi/connection_points.hpp"

#include <algorithm>

namespace vi {

void ConnectionPoints::wait(const NetAddress& local, TimeNs timeout_ns, ConnectWaitOperation& operation) {
  if (timeout_ns == 0) return operation.done(Return::Timeout);
  Point& point = points_.emplace_back(*this, local, operation);
  if (timeout_ns != runtime::never) scheduler_.schedule_after(point, timeout_ns);
}

void ConnectionPoints::withdraw(const ConnectWaitOperation& operation) {
  points_.remove_if([&](const Point& point) { return &point.operation == &operation; });
}

ConnectWaitOperation* ConnectionPoints::take(const NetAddress& wanted) {
  const auto found = std::find_if(points_.begin(), points_.end(), [&](const Point& point) {
    return point.local.host == wanted.host && point.local.same_discriminator(wanted);
  });
  if (found == points_.end()) return nullptr;
  ConnectWaitOperation* operation = &found->operation;
  points_.erase(found);
  return operation;
}

void ConnectionPoints::expired(Point& point) {
  ConnectWaitOperation& operation = point.operation;
  points_.remove_if([&](const Point& other) { return &other == &point; });
  operation.done(Return::Timeout);  // VI-DG 3.3.1
}

}  // namespace vi
