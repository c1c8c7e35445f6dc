// Completion queues, and the channels through which programs wait for them.
#pragma once
#include <boost/circular_buffer.hpp>

#include "verbs/device.hpp"

#pragma GCC visibility push(default)  // for both libraries
namespace verbs {
class CompletionQueue;

class CompletionChannel final : public ibv_comp_channel {
 public:
  explicit CompletionChannel(ibv_context& of);
  static CompletionChannel& of(ibv_comp_channel* channel) { return static_cast<CompletionChannel&>(*channel); }
  [[nodiscard]] EventQueue<CompletionQueue*>& events() { return events_; }

 private:
  EventQueue<CompletionQueue*> events_;
};

/// Of one work request, and of those before it that told nothing.
struct QueuedCompletion {
  ibv_wc wc{};
  const void* owner = nullptr;                 // its queue pair
  std::atomic<std::uint32_t>* used = nullptr;  // places of its queue that are taken; nullptr: a shared one's is free
  std::uint32_t retired = 1;                   // of these, free when the program has it
};

class CompletionQueue final : public ibv_cq {
 public:
  CompletionQueue(ibv_context& of, int size, void* own, ibv_comp_channel* to, Place place = {});
  ~CompletionQueue();
  static CompletionQueue& of(ibv_cq* queue) { return static_cast<CompletionQueue&>(*queue); }

  /// Any thread. The number of completions, at most `room`; -EIO: the queue has overrun.
  [[nodiscard]] int poll(int room, ibv_wc* completions);
  void request_notification(bool solicited_only);
  /// Inside. `solicited`: of a solicited event, or an error.
  void push(const QueuedCompletion& completion, bool solicited);
  /// The queue pair goes: its completions, too.
  void forget(const void* owner);
  /// 0, or errno.
  [[nodiscard]] int resize(int size);

  [[nodiscard]] Acknowledgements& notifications() { return notifications_; }
  [[nodiscard]] Acknowledgements& errors() { return errors_; }
  void add_user() { ++users_; }
  void remove_user() { --users_; }
  [[nodiscard]] bool is_used() const { return users_ != 0; }

 private:
  enum class Armed : std::uint8_t { no, solicited, any };
  [[nodiscard]] int take(int room, ibv_wc* completions);
  void overrun();

  const Place place_;
  std::mutex mutex_;
  boost::circular_buffer<QueuedCompletion> queue_;  // grows up to cqe
  Armed armed_ = Armed::no;
  bool overrun_ = false;
  std::atomic<int> users_{0};
  Acknowledgements notifications_, errors_;
};

}  // namespace verbs
#pragma GCC visibility pop
