// Which descriptors a FIP message has (FC-BB-5, FC-BB-6). A message that lacks one, has one twice, or has a critical
// one (type below
// 128) that does not belong to it or whose length is not that of its type, is discarded as a whole; so does Linux.
#pragma once
#include "wire/fip.hpp"

namespace fc2::fcoe {

/// True also for a message of an operation that nobody here serves: that is for the receiver to count.
[[nodiscard]] bool is_sound(const wire::fip::FipMessage& message);

}  // namespace fc2::fcoe
