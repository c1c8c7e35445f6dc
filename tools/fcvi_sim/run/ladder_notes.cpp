#include "tools/fcvi_sim/run/ladder_notes.hpp"

#include <array>

namespace sim {

ByteWriter LadderNotes::begin(Kind kind) {
  ByteWriter note;
  note.put(kind);
  return note;
}

void LadderNotes::add(Kind kind, std::size_t port, ByteWriter& note) {
  notes_.add(static_cast<OrderedNotes::Place>(kind) << 32 | port, note);
}

void LadderNotes::frame(const SeenFrame& seen, const wire::FcHeader& header, wire::Bytes data_field) {
  ByteWriter note = begin(Kind::Frame);
  note.put(seen);
  std::array<std::uint8_t, wire::FcHeader::size()> bytes;
  header.write(bytes);
  note.put(bytes);
  note.put(data_field.size());
  note.put_bytes(data_field);
  add(Kind::Frame, seen.port, note);
}

void LadderNotes::fault(std::size_t port, const wire::FcHeader& header, std::string_view what, bool lost) {
  ByteWriter note = begin(Kind::Fault);
  std::array<std::uint8_t, wire::FcHeader::size()> bytes;
  header.write(bytes);
  note.put(bytes);
  note.put_text(what);
  note.put(lost);
  add(Kind::Fault, port, note);
}

void LadderNotes::state(std::size_t port, std::string_view connection, std::string_view from, std::string_view to) {
  ByteWriter note = begin(Kind::State);
  note.put(clock_.now());
  note.put(port);
  for (const std::string_view text : {connection, from, to}) note.put_text(text);
  add(Kind::State, port, note);
}

namespace {
wire::FcHeader header_of(ByteReader& note) {
  return *wire::FcHeader::parse(note.get<std::array<std::uint8_t, wire::FcHeader::size()>>());
}
}  // namespace

void LadderNotes::draw(Ladder& ladder, std::span<const std::uint8_t> bytes) {
  ByteReader note(bytes);
  switch (note.get<Kind>()) {
    case Kind::Frame: {
      const auto seen = note.get<SeenFrame>();
      const wire::FcHeader header = header_of(note);
      return ladder.frame(seen, header, note.get_bytes(note.get<std::size_t>()));
    }
    case Kind::Fault: {
      const wire::FcHeader header = header_of(note);
      const std::string what = note.get_text();
      return ladder.fault(header, what, note.get<bool>());
    }
    case Kind::State: {
      const auto at = note.get<runtime::TimeNs>();
      const auto port = note.get<std::size_t>();
      const std::string connection = note.get_text(), from = note.get_text(), to = note.get_text();
      return ladder.state(at, port, connection, from, to);
    }
  }
}

}  // namespace sim
