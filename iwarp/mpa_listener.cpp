#include "iwarp/mpa_listener.hpp"

#include <algorithm>

namespace iwarp {
namespace {
template <class Responders, class Predicate>
std::size_t count(const Responders& responders, Predicate holds) {
  return static_cast<std::size_t>(std::count_if(responders.begin(), responders.end(), holds));
}
}  // namespace

std::optional<streams::Reason> MpaListener::listen(const streams::Address& at) {
  auto listener = services_.streams.listen(at, *this);
  if (!listener) return listener.error();
  listener_ = std::move(*listener);
  return std::nullopt;
}

std::size_t MpaListener::half_open() const {
  return count(responders_, [](const auto& one) { return one->is_half_open(); });
}

bool MpaListener::has_room() const {
  return count(responders_, [](const auto& one) { return one->is_offered(); }) < backlog_;
}

bool MpaListener::is_consistent() const {
  return half_open() <= services_.config.half_open &&
         std::all_of(responders_.begin(), responders_.end(), [](const auto& one) { return one->is_consistent(); });
}

void MpaListener::accepted(std::unique_ptr<streams::Stream> stream) {
  if (half_open() >= services_.config.half_open) {
    const auto oldest =
        std::find_if(responders_.begin(), responders_.end(), [](const auto& one) { return one->is_half_open(); });
    ++services_.counters.half_open_dropped;
    (*oldest)->make_place();
  }
  ResponderOwner& owner = *this;
  responders_.push_back(std::make_unique<MpaResponder>(services_, owner, std::move(stream), options_));
  responders_.back()->start();
}

void MpaListener::sweep() {
  std::erase_if(responders_, [](const auto& one) { return one->is_over(); });
}

}  // namespace iwarp
