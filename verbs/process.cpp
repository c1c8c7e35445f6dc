#include "verbs/process.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "verbs/event_channel.hpp"

#ifdef FCVI_HAS_SCTP
#include "iwarp/drivers/sctp_transport.hpp"
#else
class iwarp::drivers::SctpTransport {};
#endif

namespace verbs {
namespace {

constexpr std::uint32_t last_queue_pair = 0xFFFFFF;
std::atomic<Process*> process{nullptr};
std::mutex making;

}  // namespace

Process& Process::get() {
  if (Process* const one = process.load(std::memory_order_acquire)) return *one;
  const std::lock_guard lock(making);
  if (process.load() == nullptr) {
    static const int registered = pthread_atfork(prepare_fork, go_on_in_parent, go_on_in_child);
    if (registered != 0) throw std::bad_alloc();
    process.store(new Process);
  }
  return *process.load();
}

/// The child has what no thread was about to change.
void Process::prepare_fork() {
  making.lock();
  if (Process* const one = process.load()) one->host_.enter();
  lock_channels();
}

void Process::go_on_in_parent() {
  unlock_channels();
  if (Process* const one = process.load()) one->host_.leave();
  making.unlock();
}

void Process::go_on_in_child() {
  unlock_channels();
  if (Process* const one = process.exchange(nullptr)) {
    one->abandon_in_child();
    one->host_.leave();
  }
  making.unlock();
}

// --- SCTP ----------------------------------------------------------------------------------------------------------

Process::Process() = default;

#ifdef FCVI_HAS_SCTP

iwarp::SctpPeers* Process::sctp_peers() {
  if (sctp_ == nullptr) {
    static const int registered = std::atexit(end_in_order);  // the system does not go on for a process that ends
    if (registered != 0) throw std::bad_alloc();
    sctp_ = std::make_unique<iwarp::drivers::SctpTransport>(host_, configuration_.startup);
  }
  return &sctp_->peers();
}

void Process::end_in_order() {
  Process* const one = process.load();
  if (one != nullptr && one->sctp_ != nullptr) one->sctp_->finish();
}

void Process::abandon_in_child() {
  if (sctp_ != nullptr) sctp_->abandon_in_child();
  host_.abandon_in_child();
}

#else

iwarp::SctpPeers* Process::sctp_peers() { return nullptr; }
void Process::abandon_in_child() { host_.abandon_in_child(); }

#endif

// --- queue pairs ---------------------------------------------------------------------------------------------------

std::uint32_t Process::add(QueuePair& queue_pair) {
  do last_number_ = last_number_ == last_queue_pair ? 1 : last_number_ + 1;
  while (queue_pairs_.contains(last_number_));
  queue_pairs_.emplace(last_number_, &queue_pair);
  return last_number_;
}

QueuePair* Process::queue_pair(std::uint32_t number) const {
  const auto found = queue_pairs_.find(number);
  return found == queue_pairs_.end() ? nullptr : found->second;
}

}  // namespace verbs
