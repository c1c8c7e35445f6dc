#include "fc2_fabric/node/sent_sequence.hpp"

#include <algorithm>
#include <utility>

namespace fc2 {

SentSequence::Frames::iterator SentSequence::find(wire::SeqCnt seq_cnt) {
  return std::find_if(frames.begin(), frames.end(), [&](const SentFrame& frame) { return frame.seq_cnt == seq_cnt; });
}

bool SentSequence::awaits(wire::SeqCnt seq_cnt) {
  if (progress_at == never) return false;  // none went yet
  if (!ack_0) return find(seq_cnt) != frames.end();
  return static_cast<std::uint16_t>(seq_cnt.value - first.value) <=
         static_cast<std::uint16_t>(last.value - first.value);
}

void SentSequence::add(const wire::FcHeader& header, FramePtr kept) {
  last = header.seq_cnt;
  if (ack_0 && (kept == nullptr || frames.size() == max_kept)) return;
  if (frames.full()) frames.set_capacity(std::max(first_capacity, 2 * frames.capacity()));
  frames.push_back({header.seq_cnt, false, std::move(kept)});
}

/// Credit is taken frame by frame, as they go, and given back with the ACK of each.
bool SentSequence::is_consistent() const {
  if (!open) return frames.empty() && credit_taken == 0;
  return ack_0 ? credit_taken == 0 && frames.size() <= max_kept : credit_taken <= frames.size();
}

}  // namespace fc2
