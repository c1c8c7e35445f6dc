#include "verbs/completion_queue.hpp"

#include <algorithm>

namespace verbs {

CompletionChannel::CompletionChannel(ibv_context& of) : ibv_comp_channel{} {
  ibv_comp_channel::context = &of;
  fd = events_.descriptor();
}

CompletionQueue::CompletionQueue(ibv_context& of, int size, void* own, ibv_comp_channel* to, Place place)
    : ibv_cq{}, place_(std::move(place)) {
  ibv_cq::context = &of;
  cq_context = own;
  channel = to;
  cqe = size;
  if (to != nullptr) ++to->refcnt;
}

CompletionQueue::~CompletionQueue() {
  if (channel == nullptr) return;
  CompletionChannel::of(channel).events().remove_if([this](const CompletionQueue* one) { return one == this; });
  --channel->refcnt;
}

int CompletionQueue::take(int room, ibv_wc* completions) {
  const std::lock_guard lock(mutex_);
  int count = 0;
  for (; count < room && !queue_.empty(); ++count) {
    const QueuedCompletion& first = queue_.front();
    completions[count] = first.wc;
    if (first.used != nullptr) *first.used -= first.retired;
    queue_.pop_front();
  }
  return count == 0 && overrun_ ? -EIO : count;
}

/// Who finds nothing reads the sockets.
int CompletionQueue::poll(int room, ibv_wc* completions) {
  const int count = take(room, completions);
  if (count != 0 || room <= 0) return count;
  return Context::of(context).host().poll() ? take(room, completions) : 0;
}

void CompletionQueue::request_notification(bool solicited_only) {
  iwarp::drivers::Host& host = Context::of(context).host();
  const runtime::CoreSection section(host);
  const std::lock_guard lock(mutex_);
  if (armed_ != Armed::any) armed_ = solicited_only ? Armed::solicited : Armed::any;
  host.wait_for_input();
}

void CompletionQueue::push(const QueuedCompletion& completion, bool solicited) {
  const std::lock_guard lock(mutex_);
  if (overrun_) return;
  if (queue_.size() >= static_cast<std::size_t>(cqe)) return overrun();
  if (queue_.full())
    queue_.set_capacity(std::min<std::size_t>(2 * queue_.capacity() + 16, static_cast<std::size_t>(cqe)));
  queue_.push_back(completion);
  if (armed_ == Armed::no || (armed_ == Armed::solicited && !solicited)) return;
  armed_ = Armed::no;
  if (channel != nullptr) CompletionChannel::of(channel).events().push(this);
}

/// The program made it too small for what it posts.
void CompletionQueue::overrun() {
  overrun_ = true;
  ibv_async_event event{};
  event.element.cq = this;
  event.event_type = IBV_EVENT_CQ_ERR;
  Context::of(context).events().push({event, &errors_});
}

void CompletionQueue::forget(const void* owner) {
  const std::lock_guard lock(mutex_);
  const auto is_of = [&](const QueuedCompletion& one) { return one.owner == owner; };
  queue_.erase(std::remove_if(queue_.begin(), queue_.end(), is_of), queue_.end());
}

int CompletionQueue::resize(int size) {
  const std::lock_guard lock(mutex_);
  if (size < 1 || size > Limits::completions || static_cast<std::size_t>(size) < queue_.size()) return EINVAL;
  cqe = size;
  if (queue_.capacity() > static_cast<std::size_t>(size)) queue_.set_capacity(static_cast<std::size_t>(size));
  return 0;
}

}  // namespace verbs
