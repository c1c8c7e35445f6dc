#include "iwarp/startup_port.hpp"

#include <algorithm>

namespace iwarp {
namespace {
template <class Startups, class Predicate>
std::size_t count(const Startups& startups, Predicate holds) {
  return static_cast<std::size_t>(std::count_if(startups.begin(), startups.end(), holds));
}
}  // namespace

std::size_t StartupPort::half_open() const {
  return count(startups_, [](const auto& one) { return one->is_half_open(); });
}

bool StartupPort::has_room() const {
  return count(startups_, [](const auto& one) { return one->is_offered(); }) < backlog_;
}

bool StartupPort::is_consistent() const {
  return half_open() <= services_.config.half_open &&
         std::all_of(startups_.begin(), startups_.end(), [](const auto& one) { return one->is_consistent(); });
}

void StartupPort::make_place() {
  if (half_open() < services_.config.half_open) return;
  const auto oldest =
      std::find_if(startups_.begin(), startups_.end(), [](const auto& one) { return one->is_half_open(); });
  ++services_.counters.half_open_dropped;
  (*oldest)->make_place();
}

void StartupPort::sweep() {
  std::erase_if(startups_, [](const auto& one) { return one->is_over(); });
}

std::optional<streams::Reason> StreamStartupPort::listen(const streams::Address& at) {
  auto listener = services_.streams.listen(at, *this);
  if (!listener) return listener.error();
  listener_ = std::move(*listener);
  return std::nullopt;
}

void StreamStartupPort::accepted(std::unique_ptr<streams::Stream> stream) {
  make_place();
  PassiveStartupOwner& owner = *this;
  add(begin(owner, std::move(stream)));
}

}  // namespace iwarp
