// What an exchange remembers of the frames that it sent in class 2.
#pragma once
#include <boost/circular_buffer.hpp>
#include <cstdint>

#include "fc2_fabric/frame/frame.hpp"
#include "fc2_fabric/frame/time.hpp"
#include "fc2_fabric/node/exchange_user.hpp"

namespace fc2 {

/// The sequence that an exchange sends in class 2, until all of its frames are acknowledged: then only it is closed
/// (FC-VI 5.5), and the next one may begin.
struct SentSequence {
  /// ACK_1: a frame that is not acknowledged; end-to-end credit bounds them. ACK_0: only what is kept.
  struct SentFrame {
    wire::SeqCnt seq_cnt{};
    bool busied = false;  // to be sent again
    FramePtr kept;        // out-of-order fabric: to send again what is busied (B.2.6.1 rule 8b)
  };
  using Frames = boost::circular_buffer<SentFrame>;
  static constexpr std::size_t first_capacity = 8;
  static constexpr std::size_t max_kept =
      1024;  // with ACK_0: whoever is busied beyond them gives up, as on an in-order fabric

  bool open = false;    // some frame was stamped, not all are acknowledged
  bool ack_0 = false;   // one ACK for all, with the last frame
  bool ended = false;   // its last frame was stamped
  bool busied = false;  // some frame is
  SequenceEnd end;
  wire::SeqId seq_id{};
  wire::SeqCnt first{}, last{};    // of the frames that were stamped
  std::uint32_t credit_taken = 0;  // end-to-end credit that its frames hold
  TimeNs progress_at = 0;          // when the last ACK came or, before, a frame went
  Frames frames;

  [[nodiscard]] Frames::iterator find(wire::SeqCnt seq_cnt);
  /// An answer to this frame is waited for.
  [[nodiscard]] bool awaits(wire::SeqCnt seq_cnt);
  void add(const wire::FcHeader& header, FramePtr kept);
  [[nodiscard]] bool is_consistent() const;
};

}  // namespace fc2
