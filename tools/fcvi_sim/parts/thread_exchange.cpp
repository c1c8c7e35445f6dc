#include "tools/fcvi_sim/parts/thread_exchange.hpp"

namespace sim {

/// Each call waits twice: until all have brought what they have, and until all have taken it.
class MeetingPlace::OneThread final : public Exchange {
 public:
  OneThread(MeetingPlace& place, std::size_t part) : place_(place), part_(part) {}
  [[nodiscard]] std::size_t part() const override { return part_; }
  [[nodiscard]] std::size_t parts() const override { return place_.parts_; }

  Met meet(const Standing& own, std::vector<ByteString> messages) override {
    std::unique_lock lock(place_.mutex_);
    place_.standings_[part_] = own;
    place_.messages_[part_] = std::move(messages);
    place_.wait_for_all(lock);
    Met met{place_.standings_, {}};
    for (auto& of_sender : place_.messages_) met.messages.push_back(std::move(of_sender[part_]));
    place_.wait_for_all(lock);
    return met;
  }

  std::vector<ByteString> gather(ByteString own) override {
    std::vector<ByteString> messages(place_.parts_);
    messages[0] = std::move(own);
    Met met = meet({}, std::move(messages));
    return part_ == 0 ? std::move(met.messages) : std::vector<ByteString>{};
  }

 private:
  MeetingPlace& place_;
  const std::size_t part_;
};

MeetingPlace::MeetingPlace(std::size_t parts)
    : parts_(parts), standings_(parts), messages_(parts, std::vector<ByteString>(parts)) {}

std::unique_ptr<Exchange> MeetingPlace::exchange_of(std::size_t part) {
  return std::make_unique<OneThread>(*this, part);
}

void MeetingPlace::fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = why;
  all_there_.notify_all();
}

void MeetingPlace::wait_for_all(std::unique_lock<std::mutex>& lock) {
  const std::size_t round = round_;
  if (++waiting_ == parts_) {
    waiting_ = 0;
    ++round_;
    all_there_.notify_all();
  }
  all_there_.wait(lock, [&] { return round_ != round || !failure_.empty(); });
  if (round_ == round) throw PartLost(failure_);
}

}  // namespace sim
