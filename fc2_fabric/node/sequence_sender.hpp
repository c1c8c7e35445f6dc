// One outbound sequence: puts FC headers on frames (FC-FS; FC-VI 5.8). The payload is its user's.
#pragma once
#include "fc2_fabric/node/exchange.hpp"
#include "fc2_fabric/frame/frame.hpp"

namespace fc2 {
class RemotePort;

class SequenceSender {
 public:
  SequenceSender() = default;
  ~SequenceSender() { abandon(); }
  SequenceSender(const SequenceSender&) = delete;
  SequenceSender& operator=(const SequenceSender&) = delete;

  /// Starts the next sequence of `exchange`. False when all SEQ_IDs for message data with that port are in use (FC-VI
  /// 4.1: one stays free for management); try again when one of its sequences was sent to the end.
  bool begin(Exchange& exchange, wire::RCtl r_ctl, std::uint8_t df_ctl, std::uint8_t cs_ctl = 0);
  /// For link services and connection IUs, which are sent in one go: always finds a SEQ_ID.
  void begin_control(Exchange& exchange, wire::RCtl r_ctl, std::uint8_t df_ctl, std::uint8_t cs_ctl = 0);
  /// Where it goes; for control sequences nullptr if that port is not known.
  [[nodiscard]] RemotePort* remote() const { return remote_; }
  [[nodiscard]] bool is_open() const { return exchange_ != nullptr; }
  /// False in class 2 without end-to-end credit: blocked until an ACK comes; and while the port is suspended (FC-VI
  /// 7.7).
  [[nodiscard]] bool may_send() const;
  /// Bytes of data field, Device_Header included, that a frame may have: the smaller of what both ports take.
  [[nodiscard]] std::size_t data_field_bytes() const { return data_field_bytes_; }
  /// Writes the header of the next frame over a data field of `data_bytes` that stands (or will stand) in the frame,
  /// adds fill bytes, and sets SOF and EOF. `end` not null: the sequence's last frame; it is closed, and the exchange
  /// hears what that means (and is released if it ended).
  void stamp(Frame& frame, std::size_t data_bytes, std::uint32_t relative_offset, const SequenceEnd* end);
  /// The next frame is one that a run may begin with (FrameRun): of class 3, and not the first.
  [[nodiscard]] bool goes_on() const;
  /// As stamp() for such a frame that is not the last, without fill bytes: but nothing is counted.
  void stamp_run(Frame& first, std::size_t data_bytes, std::uint32_t relative_offset);
  /// So many frames of the run went.
  void run_sent(std::size_t frames);
  /// From now on: it stood in the first frame (Fc4::repeats_device_header).
  void leave_out_device_header() { header_.df_ctl &= static_cast<std::uint8_t>(~wire::df_ctl::device_header_mask); }
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;
  /// Gives up between frames. If some went, the exchange is to be aborted next: the SEQ_ID is its.
  void abandon();

 private:
  void stamp_class_2(Frame& frame, const wire::FcHeader& header, bool first, const SequenceEnd* end);
  void close();
  void start(Exchange& exchange, wire::RCtl r_ctl, std::uint8_t df_ctl, std::uint8_t cs_ctl);
  Exchange* exchange_ = nullptr;
  RemotePort* remote_ = nullptr;  // for control sequences only if the port is known
  wire::FcHeader header_;         // of every frame; SEQ_CNT, F_CTL and parameter change
  std::size_t data_field_bytes_ = 0;
  bool first_frame_ = true;
  bool holds_seq_id_ = false;
  bool takes_credit_ = false;  // class 2 with ACK_1
  bool is_control_ = false;    // its frames wait for credit elsewhere (RemotePort::send_on_credit)
};

}  // namespace fc2
