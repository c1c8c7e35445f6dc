// Parts that are threads of one process.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tools/fcvi_sim/parts/exchange.hpp"

namespace sim {

/// Where they meet. Outlives its exchanges.
class MeetingPlace {
 public:
  explicit MeetingPlace(std::size_t parts);
  MeetingPlace(const MeetingPlace&) = delete;
  MeetingPlace& operator=(const MeetingPlace&) = delete;
  /// To be used by one thread.
  std::unique_ptr<Exchange> exchange_of(std::size_t part);
  /// A part cannot go on: the calls of all others throw PartLost with this text. Any thread. The first reason stays.
  void fail(const std::string& why);

 private:
  class OneThread;
  void wait_for_all(std::unique_lock<std::mutex>& lock);

  const std::size_t parts_;
  std::mutex mutex_;
  std::condition_variable all_there_;
  std::size_t waiting_ = 0, round_ = 0;
  std::string failure_;
  std::vector<Standing> standings_;                // by part
  std::vector<std::vector<ByteString>> messages_;  // by sender, then by receiver
};

}  // namespace sim
