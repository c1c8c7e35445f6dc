#include "tools/fcvi_sim/run/note_spool.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace sim {
namespace {

constexpr std::size_t chunk_bytes = 4 << 20;

/// Of a note in the file, before its bytes.
struct Head {
  runtime::TimeNs instant;
  std::uint64_t place;
  std::uint32_t size_bytes;
};

/// What has come of one part's file.
class Stream {
 public:
  void add(const ByteString& chunk) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    bytes_.insert(bytes_.end(), chunk.begin(), chunk.end());
  }
  /// The next note, if it is here as a whole.
  [[nodiscard]] std::optional<Head> front() const {
    if (bytes_.size() - begin_ < sizeof(Head)) return std::nullopt;
    Head head;
    std::memcpy(&head, bytes_.data() + begin_, sizeof head);
    if (bytes_.size() - begin_ < sizeof head + head.size_bytes) return std::nullopt;
    return head;
  }
  void pop_into(const NoteSpool::Take& take) {
    const Head head = *front();
    take(head.place, std::span(bytes_).subspan(begin_ + sizeof head, head.size_bytes));
    begin_ += sizeof head + head.size_bytes;
  }

 private:
  ByteString bytes_;
  std::size_t begin_ = 0;
};

/// Takes as many as can be: all, or until one that may be the next has not come. Of a part that has sent all, nothing
/// more comes.
void merge_streams(std::vector<Stream>& streams, const std::vector<Standing>& standings, const NoteSpool::Take& take) {
  for (;;) {
    Stream* next = nullptr;
    Head first{};
    for (std::size_t part = 0; part < streams.size(); ++part) {
      const auto head = streams[part].front();
      if (!head && standings[part].next != runtime::never) return;
      if (!head ||
          (next != nullptr && std::tuple(first.instant, first.place) <= std::tuple(head->instant, head->place)))
        continue;
      next = &streams[part];
      first = *head;
    }
    if (next == nullptr) return;
    next->pop_into(take);
  }
}

}  // namespace

void NoteSpool::add(runtime::TimeNs instant, std::uint64_t place, std::span<const std::uint8_t> note,
                    std::span<const std::uint8_t> more) {
  if (!good()) return;
  Head head{};
  head = {instant, place, static_cast<std::uint32_t>(note.size() + more.size())};
  std::FILE* const file = file_.get();
  good_ = std::fwrite(&head, sizeof head, 1, file) == 1 &&
          std::fwrite(note.data(), 1, note.size(), file) == note.size() &&
          std::fwrite(more.data(), 1, more.size(), file) == more.size();
}

/// Empty: that was all.
ByteString NoteSpool::next_chunk() {
  ByteString chunk(chunk_bytes);
  chunk.resize(std::fread(chunk.data(), 1, chunk.size(), file_.get()));
  good_ = good_ && std::ferror(file_.get()) == 0;
  return chunk;
}

bool NoteSpool::merge(Exchange& exchange, const Take& take) {
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
    if (take) {
      for (std::size_t part = 0; part < streams.size(); ++part) streams[part].add(met.messages[part]);
      merge_streams(streams, met.standings, take);
    }
    if (all([](const Standing& one) { return one.next == runtime::never; })) return true;
  }
}

}  // namespace sim
