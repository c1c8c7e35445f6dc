// A TCP packet of VI over TCP in rows: what a ladder diagram and a report show of it.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tools/fcvi_sim/capture/reading.hpp"
#include "tools/fcvi_sim/picture/ladder.hpp"

namespace sim::capture {

/// SYN, each VI segment that ends in it, FIN, RST: a row, whose lanes are not set, and its name. What is none of them,
/// but had something happen to it as a comment tells, is one row, too. None: it is none of these.
[[nodiscard]] std::vector<std::pair<LadderRow, std::string>> rows_of(const Seen& seen, const TcpPacket& packet);

}  // namespace sim::capture
