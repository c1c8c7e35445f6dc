// The runtime's clock and events, under the names that this folder uses.
#pragma once
#include "runtime/scheduler.hpp"

namespace fc2 {
using runtime::Event;
using runtime::microsecond;
using runtime::millisecond;
using runtime::never;
using runtime::Scheduler;
using runtime::second;
using runtime::TimeNs;
using runtime::Timer;
}  // namespace fc2
