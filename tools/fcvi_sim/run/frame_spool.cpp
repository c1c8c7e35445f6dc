#include "tools/fcvi_sim/run/frame_spool.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace sim {
namespace {

constexpr std::size_t chunk_bytes = 4 << 20;

/// Of a frame in the file, before its bytes.
struct Note {
  runtime::TimeNs instant, at;
  std::uint32_t interface_id;
  std::uint16_t size_bytes, fault;
  wire::Sof sof;
  wire::Eof eof;
  bool crc_error, outbound;
};

/// What has come of one part's file.
class Stream {
 public:
  void add(const ByteString& chunk) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    bytes_.insert(bytes_.end(), chunk.begin(), chunk.end());
  }
  /// The next frame, if it is here as a whole.
  [[nodiscard]] std::optional<Note> front() const {
    if (bytes_.size() - begin_ < sizeof(Note)) return std::nullopt;
    Note note;
    std::memcpy(&note, bytes_.data() + begin_, sizeof note);
    if (bytes_.size() - begin_ < sizeof note + note.size_bytes) return std::nullopt;
    return note;
  }
  void pop_into(fc2::Capture& capture) {
    const Note note = *front();
    const auto bytes = std::span(bytes_).subspan(begin_ + sizeof note, note.size_bytes);
    capture.write_frame(note.interface_id, note.at, {bytes, note.size_bytes, note.sof, note.eof, note.crc_error},
                        note.outbound, capture.fault_note(note.fault));
    begin_ += sizeof note + note.size_bytes;
  }

 private:
  ByteString bytes_;
  std::size_t begin_ = 0;
};

/// Writes as many as can be: all, or until one that may be the next has not come. Of a part that has sent all, nothing
/// more comes.
void merge_streams(std::vector<Stream>& streams, const std::vector<Standing>& standings, fc2::Capture& into) {
  for (;;) {
    Stream* next = nullptr;
    Note first{};
    for (std::size_t part = 0; part < streams.size(); ++part) {
      const auto note = streams[part].front();
      if (!note && standings[part].next != runtime::never) return;
      if (!note || (next != nullptr &&
                    std::tuple(first.instant, first.interface_id) <= std::tuple(note->instant, note->interface_id)))
        continue;
      next = &streams[part];
      first = *note;
    }
    if (next == nullptr) return;
    next->pop_into(into);
  }
}

}  // namespace

fc2::FrameTap& FrameSpool::add_interface(std::string_view name) {
  names_.emplace_back(name);
  return interfaces_.emplace_back(*this, static_cast<std::uint32_t>(interfaces_.size()));
}

void FrameSpool::Interface::frame_passed(fc2::TimeNs at, const fc2::Frame& frame, bool outbound) {
  if (!spool_.good()) return;
  Note note{};
  note = {*spool_.instant_, at, id_, frame.size_bytes, frame.fault, frame.sof, frame.eof, frame.crc_error, outbound};
  std::FILE* const file = spool_.file_.get();
  spool_.good_ = std::fwrite(&note, sizeof note, 1, file) == 1 &&
                 std::fwrite(frame.bytes.data(), 1, frame.size_bytes, file) == frame.size_bytes;
}

/// Empty: that was all.
ByteString FrameSpool::next_chunk() {
  ByteString chunk(chunk_bytes);
  chunk.resize(std::fread(chunk.data(), 1, chunk.size(), file_.get()));
  good_ = good_ && std::ferror(file_.get()) == 0;
  return chunk;
}

bool FrameSpool::merge(Exchange& exchange, fc2::Capture* into) {
  if (into != nullptr)
    for (const std::string& name : names_) into->add_interface(name);
  if (file_ != nullptr) good_ = std::fflush(file_.get()) == 0 && std::fseek(file_.get(), 0, SEEK_SET) == 0 && good_;
  std::vector<Stream> streams(exchange.parts());
  for (;;) {
    std::vector<ByteString> messages(exchange.parts());
    if (good()) messages[0] = next_chunk();
    const bool more = !messages[0].empty();
    Standing own;
    own.next = more ? 0 : runtime::never;
    own.sent = good() ? runtime::never : 0;
    const Exchange::Met met = exchange.meet(own, std::move(messages));
    const auto all = [&](auto what) { return std::all_of(met.standings.begin(), met.standings.end(), what); };
    if (!all([](const Standing& one) { return one.sent == runtime::never; })) return false;
    if (into != nullptr) {
      for (std::size_t part = 0; part < streams.size(); ++part) streams[part].add(met.messages[part]);
      merge_streams(streams, met.standings, *into);
    }
    if (all([](const Standing& one) { return one.next == runtime::never; })) return true;
  }
}

}  // namespace sim
