#include "tools/fcvi_sim/replay/comparison.hpp"

#include <algorithm>

#include "tools/fcvi_sim/capture/words.hpp"
#include "wire/text.hpp"

namespace sim::replay {
namespace {

/// The frame as the capture's own functions want it.
capture::Seen seen_of(wire::Bytes frame) {
  capture::Seen seen;
  seen.packet.link_type = capture::LinkType::fc;
  seen.packet.data.assign(frame.begin(), frame.end());
  seen.packet.original_bytes = frame.size();
  seen.frame = capture::take_apart(seen.packet);
  seen.record = std::make_shared<capture::Record>();
  if (seen.frame.header) seen.header = *seen.frame.header;
  return seen;
}

struct Leaf {
  std::string name, value;
};

void append_leaves(std::vector<Leaf>& leaves, const std::vector<capture::Field>& fields, const std::string& path) {
  for (const capture::Field& field : fields) {
    const std::string name = path.empty() ? field.name : path + "." + field.name;
    if (field.fields.empty() || !field.value.empty()) leaves.push_back({name, field.value});
    append_leaves(leaves, field.fields, name);
  }
}

std::vector<Leaf> leaves_of(wire::Bytes frame) {
  std::vector<Leaf> leaves;
  append_leaves(leaves, capture::all_fields(seen_of(frame)), "");
  return leaves;
}

/// Bytes of no field that has a name: data.
void append_bytes(std::vector<FieldDifference>& list, wire::Bytes captured, wire::Bytes now) {
  const std::size_t both = std::min(captured.size(), now.size());
  const auto first = static_cast<std::size_t>(
      std::mismatch(captured.begin(), captured.begin() + static_cast<std::ptrdiff_t>(both), now.begin()).first -
      captured.begin());
  const auto text = [first](wire::Bytes bytes) {
    return first < bytes.size() ? wire::text::hex_h(bytes[first], 2) : std::string();
  };
  list.push_back({"byte " + std::to_string(first) + " of the frame", text(captured), text(now)});
}

void append_fields(std::vector<FieldDifference>& list, std::vector<Leaf> captured, const std::vector<Leaf>& now) {
  for (const Leaf& leaf : now) {
    const auto same =
        std::find_if(captured.begin(), captured.end(), [&](const Leaf& one) { return one.name == leaf.name; });
    if (same == captured.end()) {
      list.push_back({leaf.name, "", leaf.value});
      continue;
    }
    if (same->value != leaf.value) list.push_back({leaf.name, same->value, leaf.value});
    captured.erase(same);
  }
  for (const Leaf& leaf : captured) list.push_back({leaf.name, leaf.value, ""});
}

bool class_differs(const CapturedFrame& captured, const SentFrame& now) {
  return captured.sof && wire::class_of_service(*captured.sof) != wire::class_of_service(now.sof);
}

bool eof_differs(const CapturedFrame& captured, const SentFrame& now) {
  return captured.eof && *captured.eof != now.eof;
}

bool crc_differs(const CapturedFrame& captured, const SentFrame& now) { return captured.crc_error != now.crc_error; }

std::string crc_text(bool is_wrong) { return is_wrong ? "wrong" : "right"; }

}  // namespace

bool differ(const CapturedFrame& captured, const SentFrame& now) {
  return captured.bytes != now.bytes || class_differs(captured, now) || eof_differs(captured, now) ||
         crc_differs(captured, now);
}

std::vector<FieldDifference> differences(const CapturedFrame& captured, const SentFrame& now) {
  std::vector<FieldDifference> list;
  if (class_differs(captured, now))
    list.push_back({"class", std::to_string(wire::class_of_service(*captured.sof)),
                    std::to_string(wire::class_of_service(now.sof))});
  if (eof_differs(captured, now))
    list.push_back({"EOF", capture::eof_words(*captured.eof), capture::eof_words(now.eof)});
  if (crc_differs(captured, now)) list.push_back({"CRC", crc_text(captured.crc_error), crc_text(now.crc_error)});
  if (captured.bytes == now.bytes) return list;
  append_fields(list, leaves_of(captured.bytes), leaves_of(now.bytes));
  if (list.empty()) append_bytes(list, captured.bytes, now.bytes);
  return list;
}

std::string words_of(wire::Bytes frame) {
  const capture::Seen seen = seen_of(frame);
  const std::string route = capture::route(seen);
  return (route.empty() ? "" : route + " ") + capture::summary(seen);
}

std::string fields_of(wire::Bytes frame, std::string_view indent) {
  std::string text;
  for (const Leaf& leaf : leaves_of(frame))
    text.append(indent).append(leaf.name).append(" ").append(leaf.value).append("\n");
  return text;
}

}  // namespace sim::replay
