// How the parts of a run meet at the end of each window: threads of one process, or processes.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/time.hpp"
#include "tools/fcvi_sim/parts/byte_stream.hpp"

namespace sim {

/// Where a part stands between two windows.
struct Standing {
  runtime::TimeNs reached = 0;               // it fired all events before this
  runtime::TimeNs next = runtime::never;     // of its next event
  runtime::TimeNs sent = runtime::never;     // the earliest that its messages of this window concern others
  runtime::TimeNs over_at = runtime::never;  // the programs of this phase ended then; never: they run on
};

/// Another part failed, or did not come in time: the run is over. The text says which, and why.
struct PartLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// It stands still, or is gone: nobody waits for it any more.
struct PartGone : PartLost {
  using PartLost::PartLost;
};

/// One per part. All calls are made by all parts in the same order, and throw PartLost.
class Exchange {
 public:
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] virtual std::size_t part() const = 0;
  [[nodiscard]] virtual std::size_t parts() const = 0;
  struct Met {
    std::vector<Standing> standings;   // by part
    std::vector<ByteString> messages;  // to this part, by their sender
  };
  /// Waits until all parts are there. `messages`: by part that they are for.
  virtual Met meet(const Standing& own, std::vector<ByteString> messages) = 0;
  /// To part 0: there all that was sent, by part; elsewhere nothing.
  virtual std::vector<ByteString> gather(ByteString own) = 0;

 protected:
  Exchange() = default;
};

}  // namespace sim
