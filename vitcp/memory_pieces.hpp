// Where the next octets of a descriptor's data lie, for a stream that writes there.
#pragma once
#include <algorithm>

#include "vi/data_cursor.hpp"
#include "wire/bytes.hpp"

namespace vitcp {

/// At most `octets` of what `data` stands at, and as many pieces as there is room for; the number of pieces.
inline std::size_t memory_pieces(const vi::DataCursor& data, std::size_t octets, std::span<wire::MutableBytes> pieces) {
  const vi::DataCursor::Window window = data.peek(octets, vi::Access::LocalWrite);
  std::size_t count = 0;
  for (const std::span<std::byte> piece : window.pieces().first(std::min(window.pieces().size(), pieces.size())))
    pieces[count++] = {reinterpret_cast<std::uint8_t*>(piece.data()), piece.size()};
  return count;
}

}  // namespace vitcp
