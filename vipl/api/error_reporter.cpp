#include "vipl/api/error_reporter.hpp"

#include "vi/types.hpp"
#include "vipl/engine/callback.hpp"
#include "vipl/engine/engine.hpp"
#include "vipl/engine/log.hpp"

namespace vipl {
namespace {

void write(const VIP_ERROR_DESCRIPTOR& error) {
  log().error("asynchronous error {} (resource {}) on VI {}, descriptor {}",
              vi::to_string(static_cast<vi::ErrorCode>(error.ErrorCode)),
              vi::to_string(static_cast<vi::ResourceCode>(error.ResourceCode)), error.ViHandle,
              static_cast<const void*>(error.DescriptorPtr));
}

}  // namespace

void ErrorReporter::set_handler(Handler handler, VIP_PVOID context) {
  handler_ = handler;
  context_ = context;
}

void ErrorReporter::report(const VIP_ERROR_DESCRIPTOR& error, bool expected) {
  if (stopped_ || (expected && handler_ == nullptr)) return;
  if (waiting_.size() == max_waiting) {
    ++dropped_;
    return;
  }
  waiting_.push_back(error);
  if (!started_) start();
  engine_.runtime().notify_all(work_point_);
}

void ErrorReporter::start() {
  try {
    engine_.runtime().start_thread([self = shared_from_this()] { self->run(); });
    started_ = true;
  } catch (const std::exception&) {
    // No thread to be had: the next error tries again.
  }
}

void ErrorReporter::stop() {
  stopped_ = true;
  if (Callback::running()) waiting_.clear();
  engine_.runtime().notify_all(work_point_);
  if (started_ && !Callback::running()) engine_.wait_until(end_point_, runtime::never, [this] { return !started_; });
}

/// Inside the engine, from the thread's beginning to its end, wherever that is.
class ErrorReporter::Thread {
 public:
  explicit Thread(ErrorReporter& reporter) : reporter_(reporter) { reporter_.engine_.enter(); }
  ~Thread() {
    reporter_.thread_ends();
    reporter_.engine_.leave();
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

 private:
  ErrorReporter& reporter_;
};

class ErrorReporter::Outside {
 public:
  explicit Outside(Engine& engine) : engine_(engine) { engine_.leave(); }
  ~Outside() { engine_.enter(); }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  Engine& engine_;
};

void ErrorReporter::run() {
  const Thread inside(*this);
  while (engine_.wait_until(work_point_, runtime::never, [this] { return stopped_ || !waiting_.empty(); })) {
    if (waiting_.empty()) break;
    const VIP_ERROR_DESCRIPTOR error = waiting_.front();
    waiting_.pop_front();
    deliver(error);
  }
}

/// Where a handler ended it, another one goes on when there is something to tell.
void ErrorReporter::thread_ends() {
  started_ = false;
  if (!waiting_.empty()) start();
  engine_.runtime().notify_all(end_point_);
}

void ErrorReporter::deliver(VIP_ERROR_DESCRIPTOR error) {
  const Handler handler = handler_;
  const VIP_PVOID context = context_;
  const Outside outside(engine_);
  if (handler != nullptr) {
    const Callback callback;
    handler(context, &error);
  } else {
    write(error);
  }
}

}  // namespace vipl
