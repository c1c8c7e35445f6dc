// Class 2 (FC-FS; FC-VI 5.5, 8.4.2 b h, B.2.6.1): acknowledged frames. What an N_Port answers to those that it gets.
// For those that it sends see exchange_class_2.cpp.
#pragma once
#include <cstdint>
#include <vector>

#include "fc2_fabric/frame/frame.hpp"
#include "fc2_fabric/frame/time.hpp"
#include "fc2_fabric/node/exchange_user.hpp"
#include "fc2_fabric/node/port_services.hpp"
#include "fc2_fabric/node/received_sequences.hpp"
#include "wire/link_control.hpp"

namespace fc2 {
class RemotePorts;

/// An answer to `data` in the class 2 protocol: ACK_1, ACK_0, F_BSY, P_BSY, F_RJT, P_RJT; or F_BSY to an ACK, and that
/// ACK again from the F_BSY. `f_ctl`: more bits of it.
FramePtr make_link_control(FramePool& pool, const wire::FcHeader& data, wire::RCtl r_ctl, std::uint32_t parameter,
                           std::uint32_t f_ctl = 0);

/// The recipient's half: each frame is answered once its user has looked at it.
class FrameAcknowledger {
 public:
  FrameAcknowledger(const PortServices& port, const RemotePorts& remote_ports)
      : port_(port), remote_ports_(remote_ports) {}
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
  /// Between its members, whenever no frame is looked at.
  [[nodiscard]] bool is_consistent() const;

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
  const PortServices& port_;
  const RemotePorts& remote_ports_;
  ReceivedSequences sequences_;  // ACK_0
  std::vector<BusiedAck> busied_;
  Timer<FrameAcknowledger, &FrameAcknowledger::send_again> again_{*this};
  const ReceivedFrame* frame_ = nullptr;
  Answer answer_{};
};

}  // namespace fc2
