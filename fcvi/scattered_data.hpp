// Puts pieces of one message where its data segments say, in whatever order they come.
#pragma once
#include <cstdint>
#include <span>

#include "vi/data_cursor.hpp"

namespace fcvi {

/// A cursor that goes on from where it is, and back to where it began: pieces before that are not asked for.
class ScatteredData {
 public:
  ScatteredData() = default;
  /// `data` stands at `offset` of the message.
  ScatteredData(const vi::DataCursor& data, std::uint32_t offset)
      : origin_(data), now_(data), origin_at_(offset), at_(offset) {}

  /// False: protection error.
  bool place(std::uint32_t offset, std::span<const std::uint8_t> piece) {
    if (offset < at_) now_ = origin_, at_ = origin_at_;
    if (!now_.skip(offset - at_)) return false;
    at_ = offset + static_cast<std::uint32_t>(piece.size());
    return now_.scatter(piece);
  }

 private:
  vi::DataCursor origin_, now_;
  std::uint32_t origin_at_ = 0, at_ = 0;
};

}  // namespace fcvi
