// Notes of a share of a run, kept in a file without a name until the run is over; then those of all parts come to
// part 0 in one order, that of the whole run in one process.
#pragma once
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>

#include "runtime/time.hpp"
#include "tools/fcvi_sim/parts/exchange.hpp"

namespace sim {

class NoteSpool {
 public:
  NoteSpool() : file_(std::tmpfile()) {}
  /// In the order of instants, and of one instant in that of places. No two parts have the same place.
  void add(runtime::TimeNs instant, std::uint64_t place, std::span<const std::uint8_t> note) {
    add(instant, place, note, {});
  }
  /// The same, of two pieces.
  void add(runtime::TimeNs instant, std::uint64_t place, std::span<const std::uint8_t> note,
           std::span<const std::uint8_t> more);
  /// False: there was no room for all.
  [[nodiscard]] bool good() const { return file_ != nullptr && good_; }

  /// Sends all to part 0, where `take` is not empty and gets the notes of all parts in the order of instants, and then
  /// of places. All parts call it. False: good() was not so in a part.
  using Take = std::function<void(std::uint64_t place, std::span<const std::uint8_t> note)>;
  bool merge(Exchange& exchange, const Take& take);

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  ByteString next_chunk();
  std::unique_ptr<std::FILE, CloseFile> file_;
  bool good_ = true;
};

}  // namespace sim
