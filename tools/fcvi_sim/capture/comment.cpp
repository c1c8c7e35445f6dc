#include "tools/fcvi_sim/capture/comment.hpp"

namespace sim::capture {
namespace {
constexpr std::string_view of_simulator = "fault: ";
constexpr std::string_view of_gap = "frames are missing before this one", separator = "; ";

bool begins_with_word(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return text.empty() || text.front() == ' ' || text.front() == ':' || text.front() == ',';
}
}  // namespace

std::string_view to_string(Tells tells) { return tells == Tells::note ? "note" : "fault"; }

std::string_view words_of(std::string_view comment) {
  if (comment.starts_with(of_simulator)) comment.remove_prefix(of_simulator.size());
  return comment;
}

bool tells_of_gap(std::string_view comment) {
  return comment.substr(0, comment.find(separator)).find(of_gap) != std::string_view::npos;
}

bool tells_of_frame_before(std::string_view comment) {
  return comment.find(", after it had been shown") != std::string_view::npos ||
         (tells_of_end(comment) && comment.find(", shown before: ") != std::string_view::npos);
}

bool tells_of_end(std::string_view comment) { return comment.find("the last frame of ") != std::string_view::npos; }

Tells told_by(std::string_view comment) {
  if (tells_of_gap(comment)) {
    const std::size_t end = comment.find(separator);
    comment = end == std::string_view::npos ? std::string_view() : comment.substr(end + separator.size());
  }
  const std::string_view words = words_of(comment);
  if (begins_with_word(words, "lost") || begins_with_word(words, "discarded")) return Tells::lost;
  return words.size() == comment.size() ? Tells::note : Tells::fault;
}

}  // namespace sim::capture
