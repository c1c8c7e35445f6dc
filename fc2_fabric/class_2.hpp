// Class 2 (FC-FS; FC-VI 5.5, 8.4.2 b h, B.2.6.1): acknowledged frames. What an N_Port answers to those that it gets, and what an
// exchange remembers of those that it sent.
#pragma once
#include <cstdint>
#include <vector>

#include "fc2_fabric/exchange.hpp"
#include "fc2_fabric/frame.hpp"
#include "fc2_fabric/scheduler.hpp"
#include "wire/link_control.hpp"

namespace fc2 {
class NPort;
class RemotePort;

/// An answer to `data` in the class 2 protocol: ACK_1, ACK_0, F_BSY, P_BSY, F_RJT, P_RJT; or F_BSY to an ACK, and that ACK again
/// from the F_BSY. `f_ctl`: more bits of it.
FramePtr make_link_control(FramePool& pool, const wire::FcHeader& data, wire::RCtl r_ctl, std::uint32_t parameter,
                           std::uint32_t f_ctl = 0);

/// The sequence that an exchange sends in class 2, until all of its frames are acknowledged: then only it is closed (FC-VI 5.5),
/// and the next one may begin.
struct SentSequence {
  bool open = false;                // some frame was sent, not all are acknowledged
  std::uint32_t unacknowledged = 0;
  std::uint32_t credit_taken = 0;   // end-to-end credit that its frames hold
  bool ended = false;               // its last frame was sent
  SequenceEnd end;
  wire::SeqId seq_id{};
  RemotePort* seq_id_owner = nullptr;  // gets the SEQ_ID back
  TimeNs progress_at = 0;           // when the last ACK came, or the first frame went
  std::vector<FramePtr> kept;       // out-of-order fabric: to send again what is busied (B.2.6.1 rule 8b)
  std::vector<wire::SeqCnt> busied; // to be sent again
};

/// The recipient's half: each frame is answered once its user has looked at it.
class FrameAcknowledger {
 public:
  explicit FrameAcknowledger(NPort& port) : port_(port) {}
  /// False: rejected, nobody looks at it.
  bool begin(const ReceivedFrame& frame);
  /// While `frame` is looked at: ACK with Abort Sequence Condition 01b, "Abort Sequence, Perform ABTS" (FC-VI 8.4.2 h).
  void abort_sequence(const ReceivedFrame& frame) { if (frame_ == &frame) answer_ = Answer::PerformAbts; }
  void keep_sequence(const ReceivedFrame& frame) { if (frame_ == &frame) answer_ = Answer::Accept; }
  /// No room for it: P_BSY, as if it had never come.
  void busy(const ReceivedFrame& frame) { if (frame_ == &frame) answer_ = Answer::Busy; }
  /// The answer goes now: before what its user sends next.
  void finish();
  /// F_BSY to an ACK of ours: it goes again, after a while, as long as the initiator waits for it (E_D_TOV; FC-FS).
  void busied(const wire::FcHeader& f_bsy);

 private:
  enum class Answer : std::uint8_t { Accept, PerformAbts, Busy };
  struct BusiedAck {
    wire::FcHeader f_bsy;
    TimeNs since = 0;
    bool due = false;  // to be sent again
  };
  static constexpr std::size_t max_busied = 64;
  void send(wire::RCtl r_ctl, std::uint32_t parameter, std::uint32_t f_ctl = 0);
  void send_again();
  NPort& port_;
  std::vector<BusiedAck> busied_;
  Timer<FrameAcknowledger, &FrameAcknowledger::send_again> again_{*this};
  const ReceivedFrame* frame_ = nullptr;
  Answer answer_{};
};

}  // namespace fc2
