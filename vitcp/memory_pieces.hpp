// Where the next octets of a descriptor's data lie, for a stream that writes there. Memory that is registered but not
// there is left to who copies: that finds it out, and nothing of the stream breaks.
#pragma once
#include <algorithm>

#include "vi/data_cursor.hpp"
#include "wire/bytes.hpp"

namespace vitcp {

/// At most `octets` of what `data` stands at, and as many pieces as there is room for; the number of pieces.
inline std::size_t memory_pieces(const vi::MemoryTable& memory, const vi::DataCursor& data, std::size_t octets,
                                 std::span<wire::MutableBytes> pieces) {
  const vi::DataCursor::Window window = data.peek(octets, vi::Access::LocalWrite);
  std::size_t count = 0;
  for (const std::span<std::byte> piece : window.pieces().first(std::min(window.pieces().size(), pieces.size()))) {
    if (!memory.is_there(piece.data(), piece.size())) break;
    pieces[count++] = {reinterpret_cast<std::uint8_t*>(piece.data()), piece.size()};
  }
  return count;
}

}  // namespace vitcp
