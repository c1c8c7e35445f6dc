// What a stream of RDMA carries as rows of a ladder diagram.
#pragma once
#include <string>

#include "tools/fcvi_sim/picture/ladder.hpp"
#include "tools/fcvi_sim/scenario/segment_fault.hpp"

namespace sim {

/// The main fields, short: "MSN 1, 100 octets at 0, last". Pre: a whole segment of that form, not Vi.
[[nodiscard]] std::string short_fields(SegmentForm form, wire::Bytes octets);
/// An arrow at that time between two lanes, for Ladder::arrow().
[[nodiscard]] LadderRow row_of(SegmentForm form, wire::Bytes octets, runtime::TimeNs at, std::size_t from,
                               std::size_t to);

}  // namespace sim
