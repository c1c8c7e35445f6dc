#include "fc2_fabric/node/sequence_sender.hpp"

#include <utility>

#include "fc2_fabric/node/exchange_table.hpp"
#include "fc2_fabric/node/one_frame_exchange.hpp"
#include "fc2_fabric/node/remote_ports.hpp"
#include "state_machines/consistency.hpp"

namespace fc2 {

void SequenceSender::start(Exchange& exchange, wire::RCtl r_ctl, std::uint8_t df_ctl, std::uint8_t cs_ctl) {
  exchange_ = &exchange;
  header_ = exchange.header(r_ctl, exchange.type());
  header_.df_ctl = df_ctl;
  header_.cs_ctl = cs_ctl;
  // The first sequence of an exchange is its originator's (FC-FS).
  if (exchange.originator_ && !std::exchange(exchange.first_sequence_sent_, true))
    header_.f_ctl |= wire::f_ctl::first_sequence;
  if (exchange.fc4_.relative_offset) header_.f_ctl |= wire::f_ctl::relative_offset_present;
  data_field_bytes_ =
      remote_ != nullptr ? remote_->send_data_field_bytes() : exchange.services().config().receive_data_field_bytes;
  first_frame_ = true;
  takes_credit_ = false;
  if (!exchange.class_2_) return;
  const bool ack_0 = remote_ != nullptr && remote_->uses_ack_0();
  header_.f_ctl |= ack_0 ? wire::f_ctl::ack_form_ack_0 : wire::f_ctl::ack_form_ack_1;
  takes_credit_ = !ack_0;
}

bool SequenceSender::is_consistent() const {
  if (exchange_ == nullptr) return !holds_seq_id_;
  return remote_ != nullptr || (is_control_ && !holds_seq_id_);
}

bool SequenceSender::may_send() const {
  return remote_ == nullptr ||
         (!remote_->suspended() && !remote_->output_paused() && (!takes_credit_ || remote_->has_credit()));
}

bool SequenceSender::begin(Exchange& exchange, wire::RCtl r_ctl, std::uint8_t df_ctl, std::uint8_t cs_ctl) {
  if (exchange.awaits_acknowledgement()) return false;
  if (exchange.remote() == nullptr) exchange.table_.remote_ports().at(exchange.peer_);
  remote_ = exchange.remote();
  is_control_ = false;
  if (remote_->suspended() || remote_->output_paused()) return false;
  const auto seq_id = remote_->take_seq_id();
  if (!seq_id) return false;
  start(exchange, r_ctl, df_ctl, cs_ctl);
  header_.seq_id = exchange.last_seq_id_ = *seq_id;
  holds_seq_id_ = true;
  FCVI_ASSERT_CONSISTENT(*this);
  return true;
}

void SequenceSender::begin_control(Exchange& exchange, wire::RCtl r_ctl, std::uint8_t df_ctl, std::uint8_t cs_ctl) {
  remote_ = exchange.remote();
  is_control_ = true;
  start(exchange, r_ctl, df_ctl, cs_ctl);
  const auto held = exchange.class_2_ && remote_ != nullptr ? remote_->take_seq_id() : std::nullopt;
  holds_seq_id_ = held.has_value();
  if (held)
    exchange.last_seq_id_ = *held;
  else
    exchange.last_seq_id_ = remote_ != nullptr ? remote_->control_seq_id() : exchange.table_.next_seq_id();
  header_.seq_id = exchange.last_seq_id_;
  FCVI_ASSERT_CONSISTENT(*this);
}

// Of class 3, neither first nor last.
static void put_next(Frame& frame, wire::FcHeader& header, std::uint16_t seq_cnt, std::uint32_t relative_offset,
                     std::size_t data_bytes) {
  const std::uint32_t f_ctl = header.f_ctl;
  header.seq_cnt = {seq_cnt};
  header.parameter = relative_offset;
  put_header(frame, header, data_bytes);
  header.f_ctl = f_ctl;  // without the fill bytes of this frame
  frame.sof = wire::Sof::n3;
  frame.eof = wire::Eof::n;
}

bool SequenceSender::goes_on() const { return is_open() && !first_frame_ && !exchange_->class_2_; }

void SequenceSender::stamp_run(Frame& first, std::size_t data_bytes, std::uint32_t relative_offset) {
  put_next(first, header_, exchange_->send_seq_cnt_, relative_offset, data_bytes);
}

void SequenceSender::run_sent(std::size_t frames) {
  exchange_->send_seq_cnt_ = static_cast<std::uint16_t>(exchange_->send_seq_cnt_ + frames);
}

void SequenceSender::stamp(Frame& frame, std::size_t data_bytes, std::uint32_t relative_offset,
                           const SequenceEnd* end) {
  if (end == nullptr && !first_frame_ && !exchange_->class_2_)  // most frames: only these two fields are another's
    return put_next(frame, header_, exchange_->send_seq_cnt_++, relative_offset, data_bytes);
  wire::FcHeader header = header_;
  header.seq_cnt = {exchange_->send_seq_cnt_++};
  header.parameter = relative_offset;
  if (end != nullptr) {
    header.f_ctl |= wire::f_ctl::end_sequence;
    if (end->last_of_exchange) header.f_ctl |= wire::f_ctl::last_sequence;
    if (end->transfer_initiative) header.f_ctl |= wire::f_ctl::sequence_initiative;
  }
  put_header(frame, header, data_bytes);
  const bool first = std::exchange(first_frame_, false);
  frame.sof = first ? wire::Sof::i3 : wire::Sof::n3;
  frame.eof = end != nullptr ? wire::Eof::t : wire::Eof::n;
  if (exchange_->class_2_) return stamp_class_2(frame, header, first, end);
  if (end == nullptr) return;
  Exchange& exchange = *exchange_;
  close();  // sent to the end: the SEQ_ID is free (FC-VI 5.5, class 3)
  exchange.sequence_sent(*end);
}

/// The sequence stays open, with its SEQ_ID, until its ACKs came; those terminate it, not its last frame (FC-FS EOFt).
void SequenceSender::stamp_class_2(Frame& frame, const wire::FcHeader& header, bool first, const SequenceEnd* end) {
  frame.sof = first ? wire::Sof::i2 : wire::Sof::n2;
  frame.eof = wire::Eof::n;
  exchange_->frame_stamped(frame, header, !takes_credit_);
  if (!is_control_) {  // those of answers may have to wait for credit (RemotePort::send_on_credit)
    exchange_->frame_sent(takes_credit_);
    if (takes_credit_) remote_->take_credit();
  }
  if (end == nullptr) return;
  exchange_->sequence_ended(*end);
  abandon();
}

void SequenceSender::close() {
  if (std::exchange(holds_seq_id_, false)) remote_->give_back_seq_id(header_.seq_id);
  exchange_ = nullptr;
}

void SequenceSender::abandon() {
  if (first_frame_) return close();
  if (std::exchange(holds_seq_id_, false)) exchange_->keep_seq_id(*remote_);
  exchange_ = nullptr;
}

}  // namespace fc2
