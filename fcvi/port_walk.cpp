#include "fcvi/port_walk.hpp"

#include <algorithm>
#include <utility>

namespace fcvi {

std::optional<wire::FcId> PortWalk::next(std::span<const wire::FcId> ports) {
  const auto is_unasked = [this](wire::FcId port) { return !was_asked(port); };
  auto first = std::find_if(ports.begin(), ports.end(), is_unasked);
  if (first == ports.end()) {
    std::erase_if(asked_, [](const Asked& asked) { return asked.result == Result::Late; });
    first = std::find_if(ports.begin(), ports.end(), is_unasked);
  }
  unasked_ = 0;
  asking_ = first != ports.end();
  if (!asking_) return std::nullopt;
  unasked_ = static_cast<std::size_t>(std::count_if(first + 1, ports.end(), is_unasked));
  renewed_ = renewed_ && current_ == *first;
  current_ = *first;
  asked_.push_back({current_, Result::None});
  return current_;
}

vi::Return PortWalk::outcome() const { return has(Result::NoMatch) ? vi::Return::NoMatch : vi::Return::NotReachable; }

bool PortWalk::another_may_match() const {
  const auto current = std::find_if(asked_.begin(), asked_.end(), [&](const Asked& asked) {
    return asked.port == current_ && asked.result == Result::NoMatch;
  });
  return current != asked_.end() && others_wait();
}

void PortWalk::ask_again(bool renewed) {
  leave();
  renewed_ = renewed_ || renewed;
  std::erase_if(asked_, [&](const Asked& asked) { return asked.port == current_; });
}

bool PortWalk::ask_parameters_anew() { return std::exchange(parameters_of_, current_) != current_; }

PortWalk PortWalk::continued() const {
  PortWalk walk;
  walk.asked_ = asked_;
  return walk;
}

void PortWalk::note(Result result) {
  for (Asked& asked : asked_)
    if (asked.port == current_) asked.result = result;
}

bool PortWalk::has(Result result) const {
  return std::any_of(asked_.begin(), asked_.end(), [&](const Asked& asked) { return asked.result == result; });
}

bool PortWalk::was_asked(wire::FcId port) const {
  return std::any_of(asked_.begin(), asked_.end(), [&](const Asked& asked) { return asked.port == port; });
}

}  // namespace fcvi
