// The result of looking at a queue.
#pragma once

namespace vipl {

enum class Taken {
  Success,
  Error,    // a descriptor that completed in error
  Empty,    // nothing is posted
  NotDone,  // something is posted and not completed; a completion queue without entries
  Gone,     // the queue does not exist any more
};

}  // namespace vipl
