#include "fc2_fabric/node/received_sequences.hpp"

#include <algorithm>
#include <utility>

namespace fc2 {

std::optional<wire::FcHeader> ReceivedSequences::add(const ReceivedFrame& frame, TimeNs now, TimeNs r_a_tov) {
  const wire::FcHeader& header = frame.header;
  if (frame.first_of_sequence && frame.last_of_sequence) return header;
  const bool of_responder = header.has(wire::f_ctl::exchange_responder);
  auto entry = open_.find(key(header));
  if (entry == open_.end()) {
    make_room(now, r_a_tov);
    entry = open_.try_emplace(key(header)).first;
  }
  Sequence& sequence = entry->second;
  // What an earlier one left that had this SEQ_ID. No fabric delivers a frame after R_A_TOV.
  const bool other = sequence.ox_id != header.ox_id || sequence.of_responder != of_responder ||
                     now - sequence.latest >= r_a_tov ||
                     (frame.first_of_sequence && sequence.first && *sequence.first != header.seq_cnt.value);
  if (other) sequence = {};
  sequence.ox_id = header.ox_id;
  sequence.of_responder = of_responder;
  sequence.latest = now;
  if (frame.first_of_sequence) sequence.first = header.seq_cnt.value;
  if (frame.last_of_sequence) sequence.last = header;
  sequence.mark(header.seq_cnt.value);
  if (!sequence.is_whole()) return std::nullopt;
  const auto last = sequence.last;
  open_.erase(entry);
  return last;
}

/// Frames that come in order make one range, which grows. A frame that comes twice changes nothing.
void ReceivedSequences::Sequence::mark(std::uint16_t seq_cnt) {
  const auto in = [&](const Range& range, int shift) {
    return static_cast<std::uint16_t>(seq_cnt + shift - range.first) <=
           static_cast<std::uint16_t>(range.last - range.first);
  };
  const auto find = [&](int shift) {
    return std::find_if(ranges.begin(), ranges.end(), [&](const Range& range) { return in(range, shift); });
  };
  if (find(0) != ranges.end()) return;
  const auto before = find(-1), after = find(1);
  if (before == ranges.end() && after == ranges.end()) return ranges.push_back({seq_cnt, seq_cnt});
  if (before == ranges.end()) {
    after->first = seq_cnt;
  } else if (after == ranges.end() || after == before) {  // the same: all 65,536 are here
    before->last = seq_cnt;
  } else {
    before->last = after->last;
    ranges.erase(after);
  }
}

bool ReceivedSequences::Sequence::is_whole() const {
  if (!first || !last || ranges.size() != 1) return false;
  const auto frames = static_cast<std::uint16_t>(last->seq_cnt.value - *first);
  const bool as_many = static_cast<std::uint16_t>(ranges[0].last - ranges[0].first) == frames;
  return as_many && (ranges[0].first == *first || frames == 0xFFFF);
}

bool ReceivedSequences::is_consistent() const {
  return open_.size() <= limit &&
         std::none_of(open_.begin(), open_.end(), [](const auto& entry) { return entry.second.is_whole(); });
}

void ReceivedSequences::make_room(TimeNs now, TimeNs r_a_tov) {
  if (open_.size() < limit) return;
  boost::unordered::erase_if(open_, [&](const auto& entry) { return now - entry.second.latest >= r_a_tov; });
  if (open_.size() < limit) return;
  open_.erase(std::min_element(open_.begin(), open_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.latest, a.first) < std::pair(b.second.latest, b.first);
  }));
}

void ReceivedSequences::aborted(const wire::FcHeader& abts) {
  boost::unordered::erase_if(open_, [&](const auto& entry) {
    return entry.first >> 8 == abts.s_id.value && entry.second.ox_id == abts.ox_id &&
           entry.second.of_responder == abts.has(wire::f_ctl::exchange_responder);
  });
}

void ReceivedSequences::logged_out(wire::FcId peer) {
  boost::unordered::erase_if(open_, [&](const auto& entry) { return entry.first >> 8 == peer.value; });
}

}  // namespace fc2
