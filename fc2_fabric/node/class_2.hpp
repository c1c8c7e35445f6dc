// Class 2 (FC-FS; FC-VI 5.5, 8.4.2 b h, B.2.6.1): acknowledged frames. What an N_Port answers to those that it gets,
// and what an exchange remembers of those that it sent.
#pragma once
#include <boost/circular_buffer.hpp>
#include <cstdint>

#include "fc2_fabric/node/exchange.hpp"
#include "fc2_fabric/frame/frame.hpp"
#include "fc2_fabric/node/received_sequences.hpp"
#include "fc2_fabric/frame/time.hpp"
#include "wire/link_control.hpp"

namespace fc2 {
class NPort;
class RemotePort;

/// An answer to `data` in the class 2 protocol: ACK_1, ACK_0, F_BSY, P_BSY, F_RJT, P_RJT; or F_BSY to an ACK, and that
/// ACK again from the F_BSY. `f_ctl`: more bits of it.
FramePtr make_link_control(FramePool& pool, const wire::FcHeader& data, wire::RCtl r_ctl, std::uint32_t parameter,
                           std::uint32_t f_ctl = 0);

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
};

/// The recipient's half: each frame is answered once its user has looked at it.
class FrameAcknowledger {
 public:
  explicit FrameAcknowledger(NPort& port) : port_(port) {}
  /// False: rejected, nobody looks at it.
  bool begin(const ReceivedFrame& frame);
  /// While `frame` is looked at: ACK with Abort Sequence Condition 01b, "Abort Sequence, Perform ABTS" (FC-VI 8.4.2 h).
  void abort_sequence(const ReceivedFrame& frame) {
    if (frame_ == &frame) answer_ = Answer::PerformAbts;
  }
  void keep_sequence(const ReceivedFrame& frame) {
    if (frame_ == &frame) answer_ = Answer::Accept;
  }
  /// No room for it: P_BSY, as if it had never come.
  void busy(const ReceivedFrame& frame) {
    if (frame_ == &frame) answer_ = Answer::Busy;
  }
  /// The answer goes now: before what its user sends next.
  void finish();
  /// F_BSY to an ACK of ours: it goes again, after a while, as long as the initiator waits for it (E_D_TOV; FC-FS).
  void busied(const wire::FcHeader& f_bsy);
  /// ABTS of an exchange, or the end of all with a port: nothing of their sequences is waited for.
  void exchange_aborted(const wire::FcHeader& abts) { sequences_.aborted(abts); }
  void logged_out(wire::FcId peer) { sequences_.logged_out(peer); }

 private:
  enum class Answer : std::uint8_t { Accept, PerformAbts, Busy };
  struct BusiedAck {
    wire::FcHeader f_bsy;
    TimeNs since = 0;
    bool due = false;  // to be sent again
  };
  static constexpr std::size_t max_busied = 64;
  void send(const wire::FcHeader& answered, wire::RCtl r_ctl, std::uint32_t parameter, std::uint32_t f_ctl = 0);
  void send_again();
  NPort& port_;
  ReceivedSequences sequences_;  // ACK_0
  std::vector<BusiedAck> busied_;
  Timer<FrameAcknowledger, &FrameAcknowledger::send_again> again_{*this};
  const ReceivedFrame* frame_ = nullptr;
  Answer answer_{};
};

}  // namespace fc2
