// Finds the order of things that happened at one time.
#pragma once
#include <memory>

#include "tools/fcvi_sim/replay/player.hpp"

namespace sim::replay {

/// A capture tells when the user's call showed on the wire, not whether a frame that came at about that time came
/// before or behind the call. Where the conversation does not go on as captured, calls are tried before such frames,
/// and stay there if it goes further so. The first difference that is left is one in every order that was tried.
class OrderSearch {
 public:
  /// All references outlive it.
  OrderSearch(const Conversation& conversation, const PortTraits& traits, capture::Time tolerance)
      : conversation_(conversation), traits_(traits), tolerance_(tolerance) {}
  /// The script that goes furthest.
  Script find(Script script);

 private:
  struct Progress {
    std::size_t frames = 0, position = 0;
    bool to_the_end = false;
  };
  [[nodiscard]] Progress play(const Script& script);
  bool improve(Script& script, Progress& progress);
  [[nodiscard]] std::optional<std::size_t> earlier_place(std::size_t at) const;

  const Conversation& conversation_;
  const PortTraits& traits_;
  const capture::Time tolerance_;
  std::size_t plays_left_ = 256;
};

}  // namespace sim::replay
