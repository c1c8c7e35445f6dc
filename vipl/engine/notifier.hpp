// VI-DG 3.5.9 to 3.5.12: handlers that are called when descriptors complete.
#pragma once
#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "vipl/engine/callback.hpp"
#include "vipl/engine/engine.hpp"
#include "vipl/engine/taken.hpp"
#include "vipl/vipl.h"

namespace vipl {

/// The requests of one queue and the thread that serves them in order, one completion each. It waits in the same way as
/// VipXxxWait. Port: WorkPort or CompletionPort.
template <class Port>
class Notifier : public std::enable_shared_from_this<Notifier<Port>> {
 public:
  struct Request {
    typename Port::Handler handler;
    VIP_PVOID context;
  };

  Notifier(Port& port, void* owner, VIP_NIC_HANDLE nic)
      : port_(port), runtime_(port.engine().runtime()), owner_(owner), nic_(nic) {}
  void start() {
    runtime_.start_thread([self = this->shared_from_this()] { self->run(); });
  }
  [[nodiscard]] void* owner() const { return owner_; }
  void add(const Request& request) {
    {
      const std::lock_guard lock(lock_);
      requests_.push_back(request);
    }
    runtime_.notify_all(point_);
  }
  /// The queue is gone: requests are cancelled. Waits for a handler that runs, unless called from within a handler.
  void stop() {
    {
      const std::lock_guard lock(lock_);
      stopped_ = true;
    }
    runtime_.notify_all(point_);
    if (Callback::running()) return;
    while (!ended_) {
      const std::uint32_t key = end_point_.prepare();
      const bool woken = ended_ || sleep(end_point_, key);
      end_point_.finish();
      if (!woken) return;
    }
  }

 private:
  void run() {
    Thread thread(*this);
    Request request;
    while (next(request)) {
      typename Port::Item item{};
      const Taken taken = port_.wait(owner_, runtime::never, item);
      if (taken == Taken::Gone || taken == Taken::NotDone) break;
      const Callback callback;
      Port::call(request.handler, request.context, nic_, owner_, taken, item);
    }
    thread.no_more = true;
  }
  /// At the end of the thread, wherever that is. If a handler ended it, another thread continues.
  class Thread {
   public:
    explicit Thread(Notifier& notifier) : notifier_(notifier) {}
    ~Thread() {
      if (!no_more && notifier_.try_start()) return;
      notifier_.ended_.store(true);
      notifier_.runtime_.notify_all(notifier_.end_point_);
    }
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;
    bool no_more = false;

   private:
    Notifier& notifier_;
  };
  bool try_start() {
    try {
      start();
      return true;
    } catch (const std::exception&) {
      return false;  // no thread to be had: its requests are lost
    }
  }
  /// False: stopped.
  bool next(Request& request) {
    for (;;) {
      const std::uint32_t key = point_.prepare();
      const Look look = look_for(request);
      const bool woken = look != Look::Nothing || sleep(point_, key);
      point_.finish();
      if (look != Look::Nothing) return look == Look::Found;
      if (!woken) return false;
    }
  }
  /// It may be the thread that sleeps at the doorbell: then it reads what came.
  bool sleep(EventCount& point, std::uint32_t key) {
    const bool woken = runtime_.wait(point, key, runtime::never);
    port_.engine().help(runtime_.now());
    return woken;
  }
  enum class Look { Nothing, Found, Stopped };
  Look look_for(Request& request) {
    const std::lock_guard lock(lock_);
    if (stopped_) return Look::Stopped;
    if (requests_.empty()) return Look::Nothing;
    request = requests_.front();
    requests_.pop_front();
    return Look::Found;
  }

  Port& port_;
  Runtime& runtime_;
  void* const owner_;
  const VIP_NIC_HANDLE nic_;
  FutexLock lock_;
  std::deque<Request> requests_;
  bool stopped_ = false;
  std::atomic<bool> ended_{false};
  EventCount point_, end_point_;
};

/// A queue's notifier, made by the first request (VI-DG 3.5.12). Any thread, without the engine's lock.
template <class Port>
class Notifiers {
 public:
  /// False: the queue is gone.
  bool add(Port& port, void* owner, VIP_NIC_HANDLE nic, const typename Notifier<Port>::Request& request) {
    const std::lock_guard lock(lock_);
    if (!port.is_owned_by(owner)) return false;
    if (notifier_ == nullptr) {
      auto made = std::make_shared<Notifier<Port>>(port, owner, nic);
      made->start();
      notifier_ = std::move(made);
    }
    notifier_->add(request);
    return true;
  }
  /// After the port was closed.
  void stop(void* owner) {
    std::shared_ptr<Notifier<Port>> stopped;
    {
      const std::lock_guard lock(lock_);
      if (notifier_ == nullptr || notifier_->owner() != owner) return;
      stopped = std::exchange(notifier_, nullptr);
    }
    stopped->stop();
  }
  /// There is no thread, and none is being created.
  [[nodiscard]] bool at_rest() {
    if (!lock_.try_lock()) return false;
    const bool rests = notifier_ == nullptr;
    lock_.unlock();
    return rests;
  }

 private:
  FutexLock lock_;
  std::shared_ptr<Notifier<Port>> notifier_;
};

}  // namespace vipl
