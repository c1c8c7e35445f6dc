#include "runtime/drivers/real_time_core.hpp"

#include <chrono>

namespace runtime::drivers {
namespace {
TimeNs time_of_day() { return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count(); }
}  // namespace

RealTimeCore::RealTimeCore(boost::asio::io_context& io)
    : io_(io), time_at_start_(std::max(time_of_day(), second)), scheduler_(time_at_start_), timer_(io) {}

TimeNs RealTimeCore::now() const {
  return time_at_start_ + std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count();
}

bool RealTimeCore::read_memory() {
  bool found = false;
  for (std::size_t i = 0; i < memory_inputs_.size(); ++i)
    found |= memory_inputs_[i]->has_input(Input::Look::Told) && memory_inputs_[i]->read_now();
  return found;
}

void RealTimeCore::leave() {
  scheduler_.run_until(scheduler_.now());
  arm();
}

// A timer that fires too early does no harm: it sets the next one.
void RealTimeCore::arm() {
  const TimeNs next = scheduler_.next_time();
  if (next >= armed_for_) return;
  armed_for_ = next;
  timer_.expires_at(start_ + std::chrono::nanoseconds(next - time_at_start_));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;  // another one was set
    armed_for_ = never;
    const CoreSection section(*this);
  });
}

}  // namespace runtime::drivers
