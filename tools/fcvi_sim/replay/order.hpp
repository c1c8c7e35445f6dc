// Finds the order of things that a capture does not tell.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "tools/fcvi_sim/replay/player.hpp"

namespace sim::replay {

/// Position of the first frame of a conversation before which the call may have been made that showed, at the latest,
/// with frame `at`. A Disconnect waits for the link alone: it was not called before a frame that the port had taken in
/// before it began to send one frame right behind the other. 0: any.
[[nodiscard]] std::size_t earliest_place(const std::vector<CapturedFrame>& frames, const Call& call, std::size_t at);

/// A capture tells when the user's call showed on the wire, not whether a frame that came at about that time came
/// before or behind the call. Neither does it tell when the port took a frame in: not before it was captured, but as
/// late as its process came to it. And a message that waited behind others was posted before its first frame left.
/// Where the conversation does not go on as captured, messages are tried earlier, then calls before such frames, then
/// such frames behind those that the port sent next; they stay there if it goes further so. The first difference that
/// is left is one in every order that was tried.
class OrderSearch {
 public:
  /// All references outlive it. `tolerance`: that a frame may come late, or early, or be taken in late.
  OrderSearch(Conversation& conversation, const PortTraits& traits, capture::Time tolerance)
      : conversation_(conversation), traits_(traits), tolerance_(tolerance) {}
  /// The script that goes furthest. The frames of the conversation are then in the order that it goes with.
  Script find(Script script);

 private:
  struct Progress {
    std::size_t frames = 0, compared = 0, position = 0;
    bool to_the_end = false;
    std::size_t cause = 0;        // as `position`: where what differs came about
    std::string unexpected = {};  // words of the frame that it stopped with; empty: it was missed
  };
  [[nodiscard]] Progress play(const Script& script);
  [[nodiscard]] std::size_t begin_behind(capture::Time time) const;
  bool improve(Script& script, Progress& progress);
  void take_ahead(Script& script, Progress& progress);
  void post_ahead(Script& script, Progress& progress);
  [[nodiscard]] Script posted_ahead(const Script& script, bool is_answer) const;
  bool call_earlier(Script& script, Progress& progress);
  [[nodiscard]] std::optional<std::size_t> earlier_place(std::size_t at) const;
  bool take_later(Script& script, Progress& progress);
  bool take_later_from(std::size_t position, Script& script, Progress& progress);
  bool take_behind(std::size_t position, std::size_t last, Script& script, Progress& progress);
  bool try_behind(std::size_t first, std::size_t last, Script& script, Progress& progress);
  void put_behind(std::size_t first, std::size_t last);
  [[nodiscard]] capture::Time recorded_at(const CapturedFrame& frame) const;

  Conversation& conversation_;
  const PortTraits& traits_;
  const capture::Time tolerance_;
  std::map<std::uint64_t, capture::Time> recorded_at_;  // by number: frames that are taken in later
  std::size_t plays_left_ = 256;
};

}  // namespace sim::replay
