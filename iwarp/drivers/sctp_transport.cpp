#include "iwarp/drivers/sctp_transport.hpp"

#include <chrono>
#include <thread>

namespace iwarp::drivers {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds finishing_time = 2s, look_interval = 1ms;

}  // namespace

/// False: another thread is inside, and may stay there, since the process ends.
bool SctpTransport::end_all() {
  if (!host_.try_enter()) return false;
  associations_.end_all();
  host_.leave();
  return true;
}

bool SctpTransport::is_over() {
  if (!host_.try_enter()) return false;
  const bool over = associations_.size() == 0;
  host_.leave();
  return over;
}

void SctpTransport::finish() {
  const auto limit = std::chrono::steady_clock::now() + finishing_time;
  const auto waits = [&] {
    std::this_thread::sleep_for(look_interval);
    return std::chrono::steady_clock::now() < limit;
  };
  while (!end_all())
    if (!waits()) return;
  while (!is_over() && waits()) host_.poll();
}

}  // namespace iwarp::drivers
