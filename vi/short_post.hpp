// The post of a short descriptor, as nearly all are (VI-DG 3.5.1, 5.2; short_descriptor.hpp). It is judged where it
// will stand in its queue. Whoever posts compiles it into its own function; all else goes through
// posted_descriptor.hpp, which has the rules.
#pragma once
#include <algorithm>
#include <cstdint>

#include "vi/consumer_memory.hpp"
#include "vi/nic.hpp"
#include "vi/posted_descriptor.hpp"
#include "vi/short_descriptor.hpp"
#include "vi/vi.hpp"

namespace vi {
namespace short_post {

/// What was granted to the post before from its address on is granted to those behind it, until the generation is over.
[[gnu::always_inline]] inline MemoryTable::Grant grant_to_descriptor(const PostRules& rules, std::uint64_t address,
                                                                     wire::MemHandle handle,
                                                                     const WorkQueue::Entry& before) {
  constexpr std::uint32_t or_more = 0xFFFFFFFF;
  const std::uint64_t offset = address - before.address;
  const bool same = before.generation == rules.memory.generation() && before.handle == handle &&
                    offset <= before.host_bytes && before.host_bytes != or_more;
  if (same) [[likely]]
    return {before.host + offset, before.host_bytes - offset};
  return rules.memory.grant(handle, address, rules.tag, Access::LocalWrite);
}

}  // namespace short_post

/// As judge_post(), for such a descriptor; what is found stands in `entry` then, and the status is zero. False: it is
/// another one, nothing was written to it, and `entry` is undefined: judge_post() says what it is. `before`: any entry
/// of that queue, posted by these rules or of no generation; often it lies in the same region.
[[nodiscard, gnu::always_inline]] inline bool judge_short_post(const PostRules& rules, bool receive_queue,
                                                               std::uint64_t address, wire::MemHandle handle,
                                                               const WorkQueue::Entry& before,
                                                               WorkQueue::Entry& entry) {
  using namespace short_post;
  if (!rules.memory.catches_accesses() || address % descriptor_alignment_bytes != 0) return false;
  const MemoryTable::Grant granted = grant_to_descriptor(rules, address, handle, before);
  std::byte* const host = granted.host;
  if (granted.length_bytes < sizeof(ControlSegment) + sizeof(Segment) || !consumer_memory::is_aligned(host))
    return false;
  std::uint16_t segment_count = 0, control = 0;  // as g++ 12 likes it: not as members
  if (!consumer_memory::load_shape(host, segment_count, control) || segment_count != 1 || (control & unusual) != 0)
    return false;
  std::uint32_t reserved = 0, immediate_data = 0, length_bytes = 0, data_handle = 0, data_bytes = 0;
  if (!consumer_memory::load_rest(host, reserved, immediate_data, length_bytes) || reserved != 0) return false;
  std::uint64_t data_address = 0;
  if (!consumer_memory::load_segment(host + sizeof(ControlSegment), data_address, data_handle, data_bytes))
    return false;
  if (data_bytes - 1 >= most_bytes || (!receive_queue && length_bytes != data_bytes)) return false;
  const Segment segment{data_address, data_handle, data_bytes};
  std::byte* const data = data_of(rules.memory, rules.tag, segment, receive_queue, {address, handle, granted});
  if (data == nullptr || !consumer_memory::store_status(host, 0)) return false;
  entry.address = address;
  entry.handle = handle;
  entry.status = receive_queue ? status::op_receive : status::op_send;
  entry.host = host;
  entry.host_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(granted.length_bytes, 0xFFFFFFFF));
  entry.generation = rules.memory.generation();
  entry.data = data;
  entry.data_bytes = data_bytes & most_bytes;
  entry.has_immediate = (control & control::immediate) != 0;
  entry.immediate_data = immediate_data;
  return true;
}

template <bool receive_queue>
[[gnu::always_inline]] inline bool Vi::place_short(std::uint64_t address, wire::MemHandle handle) {
  const PostRules rules{nic_.memory(), attributes_.ptag, nic_.limits().max_segments_per_descriptor};
  WorkQueue& queue = receive_queue ? receive_ : send_;
  WorkQueue::Entry& place = queue.place();
  return judge_short_post(rules, receive_queue, address, handle, queue.before_place(), place);
}

template <bool receive_queue>
[[gnu::always_inline]] inline void Vi::post_placed() {
  (receive_queue ? receive_ : send_).push_placed();
  if (receive_queue ? !reception_enabled_ : !transmission_enabled_) [[unlikely]]
    return receive_queue ? receive_posted() : send_posted();  // it may have to be flushed
  receive_queue ? nic_.transport().receive_posted(*this) : nic_.transport().send_posted(*this);
  FCVI_ASSERT_CONSISTENT(*this);
}

}  // namespace vi
