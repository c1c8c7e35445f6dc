#include "fcvi/connection_points.hpp"

#include <algorithm>

namespace fcvi {

void ConnectionPoints::wait(const vi::NetAddress& local, vi::TimeNs timeout_ns, vi::ConnectWaitOperation& operation) {
  // FC-VI answers a request that nobody waits for at once, so that none is ever here already.
  if (timeout_ns == 0) return operation.done(vi::Return::Timeout);
  Point& point = points_.emplace_back(*this, local, operation);
  if (timeout_ns != runtime::never) scheduler_.schedule_after(point, timeout_ns);
}

void ConnectionPoints::withdraw(const vi::ConnectWaitOperation& operation) {
  points_.remove_if([&](const Point& point) { return &point.operation == &operation; });
}

vi::ConnectWaitOperation* ConnectionPoints::take(const vi::NetAddress& wanted) {
  const auto found = std::find_if(points_.begin(), points_.end(), [&](const Point& point) {
    return point.local.host == wanted.host && point.local.same_discriminator(wanted);
  });
  if (found == points_.end()) return nullptr;
  vi::ConnectWaitOperation* operation = &found->operation;
  points_.erase(found);
  return operation;
}

void ConnectionPoints::expired(Point& point) {
  vi::ConnectWaitOperation& operation = point.operation;
  points_.remove_if([&](const Point& other) { return &other == &point; });
  operation.done(vi::Return::Timeout);  // FC-VI C.5.2: T0
}

}  // namespace fcvi
