// VI segments as rows of a ladder diagram: what simulations and captures show of them.
#pragma once
#include <string>

#include "tools/fcvi_sim/picture/ladder.hpp"
#include "wire/vitcp/segment.hpp"

namespace sim {

[[nodiscard]] RowKind kind_of(wire::vitcp::SegmentType type);
/// The main fields, short: "message 00000005h, 1000 octets at 0, end, ack 00000003h, receives 4".
[[nodiscard]] std::string short_fields(const wire::vitcp::Segment& segment);
/// An arrow at that time between two lanes, for Ladder::arrow().
[[nodiscard]] LadderRow row_of(const wire::vitcp::Segment& segment, runtime::TimeNs at, std::size_t from,
                               std::size_t to);

}  // namespace sim
