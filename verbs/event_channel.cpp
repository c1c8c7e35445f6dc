#include "verbs/event_channel.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace verbs {
namespace {

constexpr std::chrono::seconds end_of_a_program{3};  // longer than associations take to end (process.cpp)

/// Those that there are. Never destroyed: threads of the program may come while it ends.
struct Channels {
  std::mutex mutex{};
  std::map<const rdma_event_channel*, std::shared_ptr<CmEvents>> live{};
};
Channels& channels() {
  static auto& one = *new Channels;
  return one;
}

std::shared_ptr<CmEvents> events_of(const rdma_event_channel* channel) {
  const std::lock_guard lock(channels().mutex);
  const auto known = channels().live.find(channel);
  return known == channels().live.end() ? nullptr : known->second;
}

}  // namespace

void lock_channels() { channels().mutex.lock(); }
void unlock_channels() { channels().mutex.unlock(); }

EventChannel::EventChannel() : rdma_event_channel{} {
  fd = events_->descriptor();
  const std::lock_guard lock(channels().mutex);
  channels().live.emplace(this, events_);
}

EventChannel::~EventChannel() {
  const std::lock_guard lock(channels().mutex);
  channels().live.erase(this);
}

CmEvent::CmEvent(rdma_cm_id& of, Acknowledgements& at, rdma_cm_event_type type, int why) : rdma_cm_event{}, own(&at) {
  id = &of;
  rdma_cm_event::event = type;
  status = why;
}

void CmEvent::set_listener(rdma_cm_id& of, Acknowledgements& at) {
  listen_id = &of;
  of_listener = &at;
}

void CmEvent::set_private_data(std::vector<std::uint8_t> octets) {
  constexpr std::size_t most = 255;
  data = std::move(octets);
  param.conn.private_data = data.empty() ? nullptr : data.data();
  param.conn.private_data_len = static_cast<std::uint8_t>(std::min(data.size(), most));
}

/// The program has a reference of its own until it acknowledges.
int get_event(rdma_event_channel* channel, rdma_cm_event** event) {
  const std::shared_ptr<CmEvents> events = events_of(channel);
  if (events == nullptr) return std::this_thread::sleep_for(end_of_a_program), EBADF;
  std::shared_ptr<CmEvent> next;
  if (const int error = events->pop(next); error != 0) return error;
  next->own->given();
  if (next->of_listener != nullptr) next->of_listener->given();
  *event = new CmEvent(std::move(*next));
  return 0;
}

int acknowledge(rdma_cm_event* event) {
  const std::unique_ptr<CmEvent> whole(static_cast<CmEvent*>(event));
  if (whole->of_listener != nullptr) whole->of_listener->taken();
  whole->own->taken();
  return 0;
}

}  // namespace verbs
