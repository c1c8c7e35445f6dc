// pthread_cancel() while the library works.
#pragma once
#include "runtime/drivers/cancellation.hpp"

namespace vipl {

using runtime::drivers::Cancellation;

}  // namespace vipl
