// Sequences that are received with ACK_0 (FC-FS): one ACK acknowledges all frames, and goes when all of them are here,
// in whatever order they came. Without it, its initiator finds out by E_D_TOV that one was lost (FC-VI B.2.6.1 rule
// 8e).
#pragma once
#include <optional>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "fc2_fabric/node/exchange_user.hpp"
#include "fc2_fabric/frame/time.hpp"

namespace fc2 {

class ReceivedSequences {
 public:
  /// Of several frames, and open at once. The one that got no frame for longest makes room: it is given up by E_D_TOV.
  static constexpr std::size_t limit = 4096;

  /// With `frame` the last missing one of its sequence came: what that one's last frame had for a header, which the ACK
  /// repeats.
  std::optional<wire::FcHeader> add(const ReceivedFrame& frame, TimeNs now, TimeNs r_a_tov);
  /// The recipient demanded its abort.
  void forget(const wire::FcHeader& frame) { open_.erase(key(frame)); }
  /// ABTS of their exchange.
  void aborted(const wire::FcHeader& abts);
  void logged_out(wire::FcId peer);
  /// What is kept misses some frame, or its last.
  [[nodiscard]] bool is_consistent() const;
  [[nodiscard]] std::size_t size() const { return open_.size(); }

 private:
  struct Range {
    std::uint16_t first, last;
  };  // of SEQ_CNT, which may wrap
  struct Sequence {
    wire::OxId ox_id{};
    bool of_responder = false;                        // Exchange Context
    std::optional<std::uint16_t> first;               // SEQ_CNT of the frame with SOFi2
    std::optional<wire::FcHeader> last;               // the frame with End_Sequence
    TimeNs latest = 0;                                // when a frame of it came
    boost::container::small_vector<Range, 2> ranges;  // what came
    void mark(std::uint16_t seq_cnt);
    [[nodiscard]] bool is_whole() const;
  };
  /// SEQ_IDs of open sequences are unique between two ports (FC-FS, FC-VI 5.5).
  static std::uint32_t key(const wire::FcHeader& frame) { return frame.s_id.value << 8 | frame.seq_id.value; }
  void make_room(TimeNs now, TimeNs r_a_tov);
  boost::unordered_flat_map<std::uint32_t, Sequence> open_;
};

}  // namespace fc2
