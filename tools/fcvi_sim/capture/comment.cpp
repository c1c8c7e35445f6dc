#include "tools/fcvi_sim/capture/comment.hpp"

namespace sim::capture {
namespace {
constexpr std::string_view of_simulator = "fault: ";

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

Tells told_by(std::string_view comment) {
  const std::string_view words = words_of(comment);
  if (begins_with_word(words, "lost") || begins_with_word(words, "discarded")) return Tells::lost;
  return words.size() == comment.size() ? Tells::note : Tells::fault;
}

}  // namespace sim::capture
