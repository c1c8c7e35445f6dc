// What one part has for the others at the end of a window.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/time.hpp"
#include "tools/fcvi_sim/parts/byte_stream.hpp"

namespace sim {

/// The first byte of each message: who takes it.
enum class MessageKind : std::uint8_t {
  Frame,      // on an ISL
  Primitive,  // the same
  Directory,  // what a switch learned of a port
  Workload,   // what one side of a workload must know of the other
};

class Outbox {
 public:
  explicit Outbox(std::size_t parts) : for_part_(parts) {}
  /// A message for that part begins, to be written there. `due`: when it concerns that part, which knows it by then.
  ByteWriter& begin(std::size_t part, MessageKind kind, runtime::TimeNs due) {
    earliest_ = std::min(earliest_, due);
    for_part_[part].put(kind);
    return for_part_[part];
  }
  [[nodiscard]] std::size_t parts() const { return for_part_.size(); }
  /// The earliest `due` since the last take(); never: there is none.
  [[nodiscard]] runtime::TimeNs earliest() const { return earliest_; }
  /// By part.
  std::vector<ByteString> take() {
    earliest_ = runtime::never;
    std::vector<ByteString> all;
    for (ByteWriter& one : for_part_) all.push_back(one.take());
    return all;
  }

 private:
  std::vector<ByteWriter> for_part_;
  runtime::TimeNs earliest_ = runtime::never;
};

}  // namespace sim
