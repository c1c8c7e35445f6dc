// Which descriptors a FIP message has (FC-BB-5, FC-BB-6). A message is discarded as a whole if it lacks one, has one
// twice, or has a critical one (type below 128) that does not belong to it or has the wrong length for its type; Linux
// does the same.
#pragma once
#include "wire/fip.hpp"

namespace fc2::fcoe {

/// True also for a message of an operation that nobody serves here: its receiver counts it.
[[nodiscard]] bool is_sound(const wire::fip::FipMessage& message);

}  // namespace fc2::fcoe
