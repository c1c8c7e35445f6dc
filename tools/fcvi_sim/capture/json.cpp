#include <algorithm>
#include <cstdio>
#include <utility>

#include "settings/utf8.hpp"
#include "tools/fcvi_sim/capture/printer.hpp"
#include "tools/fcvi_sim/capture/words.hpp"
#include "wire/text.hpp"

namespace sim::capture {

namespace {

bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

void append_text(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_plain(static_cast<unsigned char>(text[end]))) ++end;
    out.append(text.substr(at, end - at));
    at = end;
    if (at == text.size()) break;
    const std::size_t size = settings::utf8_character_bytes(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (size == 0) {
      out += "\\ufffd";
    } else if (byte < 0x20 || byte == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else if (size == 1) {
      out.append("\\").append(1, text[at]);
    } else {
      out.append(text.substr(at, size));
    }
    at += size == 0 ? 1 : size;
  }
  out += '"';
}

/// Writes members one after the other; the brace at the end comes with its end.
class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { out_ += '}'; }
  Object& text(std::string_view name, std::string_view value) {
    append_text(member(name), value);
    return *this;
  }
  Object& number(std::string_view name, std::uint64_t value) {
    member(name) += std::to_string(value);
    return *this;
  }
  Object& raw(std::string_view name, std::string_view value) {
    member(name) += value;
    return *this;
  }
  /// The value is the caller's to write.
  std::string& member(std::string_view name) {
    if (std::exchange(begun_, true)) out_ += ',';
    append_text(out_, name);
    return out_ += ':';
  }

 private:
  std::string& out_;
  bool begun_ = false;
};

/// `each` writes one.
template <class List, class Each>
void append_list(std::string& out, const List& list, Each each) {
  out += '[';
  for (bool begun = false; const auto& item : list) {
    if (std::exchange(begun, true)) out += ',';
    each(item);
  }
  out += ']';
}

void append_fields(std::string& out, const std::vector<Field>& fields, std::string_view value);

void append_value(std::string& out, const Field& field) {
  if (field.fields.empty())
    append_text(out, field.value);
  else
    append_fields(out, field.fields, field.value);
}

/// Fields of one name become a list. `value`: what else the field has that they belong to.
void append_fields(std::string& out, const std::vector<Field>& fields, std::string_view value) {
  Object object(out);
  if (!value.empty()) object.text("value", value);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string& name = fields[i].name;
    const auto is_named_so = [&](const Field& other) { return other.name == name; };
    const auto here = fields.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(fields.begin(), here, is_named_so)) continue;
    std::string& to = object.member(name.empty() ? "text" : name);
    if (std::none_of(here + 1, fields.end(), is_named_so)) {
      append_value(to, *here);
      continue;
    }
    std::vector<const Field*> all;
    for (const Field& field : fields)
      if (field.name == name) all.push_back(&field);
    append_list(to, all, [&](const Field* field) { append_value(to, *field); });
  }
}

void add_header(Object& object, const Seen& seen) {
  const wire::FcHeader& header = *seen.frame.header;
  object.text("s_id", to_string(header.s_id))
      .text("d_id", to_string(header.d_id))
      .text("r_ctl", wire::text::hex(static_cast<std::uint8_t>(header.r_ctl), 2))
      .text("type", wire::text::hex(static_cast<std::uint8_t>(header.type), 2))
      .text("f_ctl", wire::text::hex(header.f_ctl, 6))
      .text("ox_id", wire::text::hex(header.ox_id.value, 4))
      .text("rx_id", wire::text::hex(header.rx_id.value, 4))
      .text("seq_id", wire::text::hex(header.seq_id.value, 2))
      .number("seq_cnt", header.seq_cnt.value)
      .text("parameter", wire::text::hex(header.parameter, 8));
}

void add_belonging(Object& object, const Seen& seen) {
  const Record& record = *seen.record;
  if (const Connection* connection = record.connection_of()) object.number("connection", connection->index);
  if (seen.exchange) object.number("exchange", seen.exchange->index);
  if (record.message) object.number("message", record.message->index);
}

void add_lists(Object& object, const Seen& seen) {
  if (seen.record && !seen.record->notes.empty()) {
    std::string& out = object.member("violations");
    append_list(out, seen.record->notes, [&](const Note& note) {
      Object(out).text("name", to_string(note.violation)).text("text", note.sentence());
    });
  }
  if (!seen.packet.comments.empty()) {
    std::string& out = object.member("comments");
    append_list(out, seen.packet.comments, [&](const std::string& comment) { append_text(out, comment); });
  }
}

void add_carriage(Object& object, const Seen& seen, const Interface& interface) {
  const Packet& packet = seen.packet;
  const Frame& frame = seen.frame;
  object.number("frame", packet.number).raw("time", seconds(packet.at)).raw("since_first", seconds(seen.since_first));
  if (!interface.name.empty()) object.text("interface", interface.name);
  if (packet.direction != Direction::unknown)
    object.text("direction", packet.direction == Direction::sent ? "sent" : "received");
  object.number("bytes", packet.original_bytes);
  if (packet.is_cut()) object.number("captured", packet.data.size());
  if (frame.sof) object.text("sof", sof_words(*frame.sof));
  if (frame.eof) object.text("eof", eof_words(*frame.eof));
  if (frame.crc_ok) object.raw("crc_ok", *frame.crc_ok ? "true" : "false");
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string out;
  append_text(out, text);
  return out;
}

std::string json_of(const Seen& seen, const std::vector<Interface>& interfaces) {
  std::string line;
  {
    Object object(line);
    add_carriage(object, seen, interfaces[seen.packet.interface]);
    if (seen.frame.header) add_header(object, seen);
    object.text("summary", summary(seen));
    if (seen.record) add_belonging(object, seen);
    if (seen.same != 0) object.number("same_frame", seen.same);
    add_lists(object, seen);
    append_fields(object.member("fields"), all_fields(seen), "");
  }
  return line;
}

}  // namespace sim::capture
