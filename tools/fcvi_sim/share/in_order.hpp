// Pieces that are taken in their order.
#pragma once
#include <csignal>
#include <functional>

#include "tools/fcvi_sim/share/hands.hpp"

namespace sim::share {

/// False: no more of them.
using Take = std::function<bool(const Result& result)>;

/// Hands out pieces 0 to `count` - 1, one at a time to whoever is idle, and tells `take` of each as soon as all before
/// it were taken. Ends after the last one, or when `take` says so, or `stop` is not 0; then the other ranks go. Throws
/// std::runtime_error where no process can be started.
void carry_out_in_order(Hands& hands, std::uint64_t count, const Take& take, const volatile std::sig_atomic_t& stop);

}  // namespace sim::share
