// What must come of a stream of RDMA, compared with what came.
#pragma once
#include <functional>
#include <string>

#include "tools/fcvi_sim/host/rdma_result.hpp"

namespace sim {

/// Hears of each expectation.
using ExpectText =
    std::function<void(bool held, const std::string& what, std::string_view expected, std::string_view got)>;

/// `name` begins each `what`.
void check_rdma(const std::string& name, const RdmaSpec& spec, const RdmaResult& got, const ExpectText& expect);

/// "DDP/Tagged Buffer Error/Invalid STag (1, 1, 00h)"
[[nodiscard]] std::string cause_text(const wire::rdmap::Cause& cause);

}  // namespace sim
