#include "tools/fcvi_sim/replay/replay.hpp"

#include "settings/units.hpp"
#include "tools/fcvi_sim/capture/words.hpp"
#include "tools/fcvi_sim/replay/order.hpp"

namespace sim::replay {
namespace {

std::string frame_words(const CapturedFrame& frame) {
  return "frame " + std::to_string(frame.number) + " at " + capture::seconds(frame.at) + " s";
}

std::string heading(const Difference& difference) {
  const CapturedFrame* captured = difference.captured;
  switch (difference.kind) {
    case Difference::Kind::changed: return frame_words(*captured) + " is different now";
    case Difference::Kind::missing: return frame_words(*captured) + " is not sent now";
    case Difference::Kind::early:
      return frame_words(*captured) + " is sent earlier now, before " + frame_words(*difference.before);
    case Difference::Kind::extra: break;
  }
  return "a frame is sent now at " + capture::seconds(difference.at) + " s, " +
         (captured == nullptr ? "behind the last one that was captured" : "before " + frame_words(*captured));
}

std::string shown(const std::string& value) { return value.empty() ? "(none)" : value; }

std::string text_of(const Difference& difference, bool all_fields) {
  std::string text = heading(difference) + "\n";
  if (difference.captured != nullptr) text += "  captured: " + words_of(difference.captured->bytes) + "\n";
  if (difference.kind != Difference::Kind::missing) text += "  now:      " + words_of(difference.now.bytes) + "\n";
  for (const FieldDifference& field : difference.fields)
    text += "  " + field.field + ": " + shown(field.captured) + ", now " + shown(field.now) + "\n";
  if (!all_fields) return text;
  if (difference.captured != nullptr) text += "  captured:\n" + fields_of(difference.captured->bytes, "    ");
  if (difference.kind != Difference::Kind::missing) text += "  now:\n" + fields_of(difference.now.bytes, "    ");
  return text;
}

std::string frames_behind_end(const Player& player, bool all_fields) {
  std::string text;
  for (const SentFrame& frame : player.frames_behind_end()) {
    text += "sent now, and not captured, but the capture may have ended before: " + words_of(frame.bytes) + "\n";
    if (all_fields) text += fields_of(frame.bytes, "    ");
  }
  return text;
}

std::string frames(std::size_t count) { return settings::format_count(count) + (count == 1 ? " frame" : " frames"); }

struct Played {
  ReplayResult result;
  std::size_t compared = 0;
};

std::string words_of(const Player& player, const CapturedPort& port, bool all_fields) {
  std::string text;
  for (const Difference& difference : player.differences()) text += text_of(difference, all_fields);
  if (player.differences().empty())
    text = "no difference: " + frames(player.frames_compared()) + " of port " + port.to_string() + " as captured, " +
           frames(player.frames_handed_over()) + " to it\n";
  if (player.frames_of_others() != 0)
    text += "left out: " + frames(player.frames_of_others()) + " that it sent for other FC-4s\n";
  return text + frames_behind_end(player, all_fields);
}

Played play(Conversation& conversation, const ReplayOptions& options) {
  Played played;
  PortTraits traits = traits_of(conversation);
  Script script = traits.error.empty() ? script_of(conversation) : Script();
  const std::string& error = traits.error.empty() ? script.error : traits.error;
  if (!error.empty()) {
    played.result.error = options.path + ": " + error;
    return played;
  }
  const auto tolerance = static_cast<capture::Time>(options.tolerance_ms * 1e6);
  traits.provider.ulp_timeout = script.ulp_timeout;
  script = OrderSearch(conversation, traits, tolerance).find(std::move(script));
  Player player(conversation, script, traits, {tolerance, options.all});
  player.run();
  played.result.text = words_of(player, conversation.port, options.all_fields);
  played.result.same = player.differences().empty();
  played.compared = player.frames_compared();
  return played;
}

}  // namespace

ReplayResult replay(const ReplayOptions& options) {
  ReadConversation read = read_conversation(options.path, options.port);
  if (!read.error.empty()) return {{}, read.error, false};
  Played played = play(read.conversation, options);
  if (!played.result.error.empty() || played.result.same || !read.sent_again) return played.result;
  Played other = play(*read.sent_again, options);
  const bool further = other.result.error.empty() && (other.result.same || other.compared > played.compared);
  return further ? other.result : played.result;
}

}  // namespace sim::replay
