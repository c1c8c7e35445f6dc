#include "tools/fcvi_sim/run/frame_spool.hpp"

#include <cstring>

namespace sim {
namespace {

/// Of a frame, before its bytes.
struct Note {
  runtime::TimeNs at;
  std::uint16_t size_bytes, fault;
  wire::Sof sof;
  wire::Eof eof;
  bool crc_error, outbound;
};

Note note_of(std::span<const std::uint8_t> bytes) {
  Note note;
  std::memcpy(&note, bytes.data(), sizeof note);
  return note;
}

void write(fc2::Capture& capture, std::uint64_t interface_id, std::span<const std::uint8_t> bytes) {
  const Note note = note_of(bytes);
  capture.write_frame(static_cast<std::uint32_t>(interface_id), note.at,
                      {bytes.subspan(sizeof note), note.size_bytes, note.sof, note.eof, note.crc_error}, note.outbound,
                      capture.fault_note(note.fault));
}

}  // namespace

fc2::FrameTap& FrameSpool::add_interface(std::string_view name) {
  names_.emplace_back(name);
  return interfaces_.emplace_back(*this, static_cast<std::uint32_t>(interfaces_.size()));
}

void FrameSpool::Interface::frame_passed(fc2::TimeNs at, const fc2::Frame& frame, bool outbound) {
  Note note{};
  note = {at, frame.size_bytes, frame.fault, frame.sof, frame.eof, frame.crc_error, outbound};
  const std::span<const std::uint8_t> head(reinterpret_cast<const std::uint8_t*>(&note), sizeof note);
  spool_.notes_.add(*spool_.instant_, id_, head, frame.content());
}

bool FrameSpool::merge(Exchange& exchange, fc2::Capture* into, std::vector<FaultHit>* hits) {
  if (into == nullptr) return notes_.merge(exchange, {});
  for (const std::string& name : names_) into->add_interface(name);
  return notes_.merge(exchange, [&](std::uint64_t id, auto bytes) {
    write(*into, id, bytes);
    const Note note = note_of(bytes);
    if (hits != nullptr && note.fault != 0 && id < ports_.size() && ports_[id])
      hits->push_back({into->frame_count(), note.fault - std::size_t{1}});
  });
}

}  // namespace sim
