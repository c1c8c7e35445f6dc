#include "wire/vitcp/rdma_header.hpp"

#include "wire/define_coded.hpp"

namespace wire::vitcp {

WIRE_DEFINE_CODED(RdmaHeader)

std::optional<ParseError> RdmaHeader::extent_error(const SegmentHeader& header, std::size_t payload) const {
  const std::uint64_t end = std::uint64_t{header.data_offset} + payload;
  if (end > length_bytes || header.end_of_message != (end == length_bytes))
    return ParseError{ParseCode::bad_length, "rdma_length"};
  return std::nullopt;
}

}  // namespace wire::vitcp
