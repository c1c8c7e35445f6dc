// Control IUs of several frames on an out-of-order fabric (FC-VI 8.1, 8.4.1 d; FC-FS): frames that overtook others wait
// for them, R_A_TOV at most. Message data never comes here.
#include <algorithm>
#include <utility>

#include "fc2_fabric/node/exchange_table.hpp"

namespace fc2 {
namespace sq = machines::sequence;

namespace {
/// More than the longest IU has in the smallest frames that ports agree on (256 bytes with a Device_Header of 32).
constexpr std::size_t max_early_frames = 65536 / (256 - 32) + 8;
}  // namespace

/// While one sequence is open its sender begins no other (FC-FS: it holds the initiative, and does not stream control
/// IUs).
bool Exchange::is_foreign(const ReceivedFrame& frame) const {
  if (!out_of_order_fabric()) return false;
  if (!early_.empty()) return frame.header.seq_id != early_.front().received.header.seq_id;
  return assembling_ && frame.header.seq_id != receive_seq_id_;
}

/// With `frame` no other is missing.
bool Exchange::makes_whole(const ReceivedFrame& frame) const {
  std::uint16_t next = receive_seq_cnt_;
  bool begun = assembling_, frame_used = false;
  auto early = early_.begin();
  for (bool last = false; !last; ++next) {
    const ReceivedFrame* found = nullptr;
    if (!frame_used && frame.header.seq_cnt.value == next) {
      found = &frame;
      frame_used = true;
    } else if (early != early_.end() && early->received.header.seq_cnt.value == next) {
      found = &(early++)->received;
    }
    if (found == nullptr || (!begun && !found->first_of_sequence)) return false;
    begun = true;
    last = found->last_of_sequence;
  }
  return frame_used;
}

void Exchange::keep_early(const ReceivedFrame& frame) {
  receive_seq_id_ = frame.header.seq_id;  // its first frame belongs to it, and does not open another exchange
  const auto later = std::find_if(early_.begin(), early_.end(), [&](const EarlyFrame& kept) {
    return !wire::serial_less(kept.received.header.seq_cnt, frame.header.seq_cnt);
  });
  if (later != early_.end() && later->received.header.seq_cnt == frame.header.seq_cnt)
    return discard_frame();  // a duplicate
  const std::size_t bytes = assembly_.size() + early_bytes_ + frame.data_field.size();
  if (early_.size() == max_early_frames || bytes > services().config().max_assembled_iu_bytes)
    return refuse_iu(Discard::TooLong);
  if (!take_room(frame.data_field.size())) return;
  early_bytes_ += frame.data_field.size();
  const auto kept = early_.insert(later, EarlyFrame{frame, {frame.data_field.begin(), frame.data_field.end()}});
  kept->received.data_field = kept->bytes;
  kept->received.owner = nullptr;
}

void Exchange::take_early() {
  std::size_t taken = 0;
  while (taken < early_.size() && early_[taken].received.header.seq_cnt.value == receive_seq_cnt_) {
    const EarlyFrame& next = early_[taken++];
    give_room(next.bytes.size());
    early_bytes_ -= next.bytes.size();
    if (!append(next.received)) break;
  }
  early_.erase(early_.begin(), early_.begin() + static_cast<std::ptrdiff_t>(taken));
}

}  // namespace fc2
