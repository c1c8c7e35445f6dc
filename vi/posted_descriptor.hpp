// A descriptor as its post finds it (VI-DG 3.5.1, 3.8.1, 5.2).
#pragma once
#include <cstdint>

#include "vi/memory.hpp"
#include "vi/work_queue.hpp"

namespace vi {

/// Judged by the thread that posts, which need not be the one that owns the VI: Vi::post_send and post_receive take it
/// as it is while nothing has changed that it rests on, and judge it anew otherwise. A short one is read whole: from
/// its post on it is the provider's (VI-ARCH 2.3), and what a program still writes there may count or not.
struct PostedDescriptor {
  WorkQueue::Entry entry = {};  // of a valid one also where it lies, and its operation code
  Ptag tag = {};                // it is valid for VIs of this tag
  bool valid = false;           // false: Post Descriptor Error, or not judged
};

/// What a post is judged by.
struct PostRules {
  const MemoryTable& memory;
  Ptag tag;                    // of the VI
  std::uint32_t max_segments;  // a count above it is a length error when processed (VI-DG 5.2), not a bad address
};

/// `clear_status`: sets the status of a valid descriptor to zero (VI-DG 5.5). Any thread, as long as the table does not
/// change meanwhile; within a MemoryGuard's section where the table has a guard.
[[nodiscard]] PostedDescriptor judge_post(const PostRules& rules, bool receive_queue, std::uint64_t address,
                                          wire::MemHandle handle, bool clear_status);

/// The operation code of a descriptor on the send queue (VI-DG 5.2, status bits 18:16) by its Control field; 11b has
/// none of its own.
[[nodiscard]] std::uint32_t send_op_code(std::uint16_t control);

}  // namespace vi
