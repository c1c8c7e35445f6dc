#include "fc2_fabric/node/class_2.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/node/n_port.hpp"
#include "fc2_fabric/node/remote_port.hpp"

namespace fc2 {
namespace ex = machines::exchange;
namespace f_ctl = wire::f_ctl;

/// FC-FS: F_BSY says "fabric busy" in TYPE 7-4; to a Link_Control frame, its command code in TYPE 3-0.
static wire::Type busy_type(const wire::FcHeader& busied, wire::RCtl r_ctl) {
  constexpr std::uint8_t fabric_busy = 0x10;
  if (r_ctl == wire::RCtl::f_bsy_data) return static_cast<wire::Type>(fabric_busy);
  if (r_ctl != wire::RCtl::f_bsy_link) return wire::Type::bls;
  return static_cast<wire::Type>(fabric_busy | (static_cast<std::uint8_t>(busied.r_ctl) & 0x0F));
}

FramePtr make_link_control(FramePool& pool, const wire::FcHeader& data, wire::RCtl r_ctl, std::uint32_t parameter,
                           std::uint32_t more_f_ctl) {
  constexpr std::uint32_t echoed = f_ctl::first_sequence | f_ctl::last_sequence | f_ctl::end_sequence |
                                   f_ctl::sequence_initiative | f_ctl::ack_form_mask;
  constexpr std::uint32_t contexts = f_ctl::exchange_responder | f_ctl::sequence_recipient;
  wire::FcHeader header = data;
  header.r_ctl = r_ctl;
  std::swap(header.s_id, header.d_id);
  header.cs_ctl = 0;
  header.type = busy_type(data, r_ctl);
  header.f_ctl = (data.f_ctl & echoed) | (~data.f_ctl & contexts) | more_f_ctl;
  header.df_ctl = wire::df_ctl::no_device_header;
  header.parameter = parameter;
  FramePtr frame = pool.take();
  header.write(frame->bytes);
  frame->size_bytes = frame_header_bytes;
  frame->sof = wire::Sof::n2;
  frame->eof = data.has(f_ctl::end_sequence) ? wire::Eof::t : wire::Eof::n;  // FC-FS: the last ACK terminates
  return frame;
}

// --- the recipient -----------------------------------------------------------------------------------------------

bool FrameAcknowledger::begin(const ReceivedFrame& frame) {
  if (!frame.class_2) return true;
  frame_ = &frame;
  answer_ = Answer::Accept;
  const RemotePort* remote = port_.find_remote_port(frame.header.s_id);
  const bool offered = port_.config().end_to_end_credit != 0;
  if (offered && (frame.header.type == wire::Type::els || (remote != nullptr && remote->logged_in()))) return true;
  port_.counters().discard(offered ? Discard::NotLoggedIn : Discard::BadHeader);
  using Reason = wire::LinkRejectReason;
  const wire::LinkReject reject{.action = wire::RejectAction::non_retryable,
                                .reason = offered ? Reason::login_required : Reason::class_not_supported};
  send(std::exchange(frame_, nullptr)->header, wire::RCtl::p_rjt, reject.to_parameter());
  return false;
}

// ACK_0 acknowledges a whole sequence, when all of it is here, or as soon as there is an error to tell (FC-FS).
void FrameAcknowledger::finish() {
  if (frame_ == nullptr) return;
  const ReceivedFrame& frame = *std::exchange(frame_, nullptr);
  const bool ack_0 = (frame.header.f_ctl & f_ctl::ack_form_mask) == f_ctl::ack_form_ack_0;
  switch (answer_) {
    case Answer::Busy:
      return send(frame.header, wire::RCtl::p_bsy,
                  wire::LinkBusy{.reason = wire::LinkBusyReason::n_port_resource_busy}.to_parameter());
    case Answer::PerformAbts:
      if (ack_0) sequences_.forget(frame.header);
      return send(frame.header, ack_0 ? wire::RCtl::ack_0 : wire::RCtl::ack_1, ack_0 ? 0 : 1,
                  f_ctl::abort_perform_abts);
    case Answer::Accept: break;
  }
  if (!ack_0) return send(frame.header, wire::RCtl::ack_1, 1);
  if (const auto last = sequences_.add(frame, port_.scheduler().now(), port_.r_a_tov()))
    send(*last, wire::RCtl::ack_0, 0);
}

void FrameAcknowledger::send(const wire::FcHeader& answered, wire::RCtl r_ctl, std::uint32_t parameter,
                             std::uint32_t more_f_ctl) {
  port_.transmitter().send(make_link_control(port_.pool(), answered, r_ctl, parameter, more_f_ctl));
}

/// See busy_type().
static wire::RCtl busied_command(const wire::FcHeader& f_bsy) {
  return static_cast<wire::RCtl>(0xC0 | (static_cast<std::uint8_t>(f_bsy.type) & 0x0F));
}

void FrameAcknowledger::busied(const wire::FcHeader& f_bsy) {
  const wire::RCtl command = busied_command(f_bsy);
  if (command != wire::RCtl::ack_1 && command != wire::RCtl::ack_0) return port_.counters().discard(Discard::BadHeader);
  const TimeNs now = port_.scheduler().now();
  std::erase_if(busied_, [&](const BusiedAck& ack) { return now - ack.since >= 2 * port_.e_d_tov(); });
  const auto same = [&](const BusiedAck& ack) {
    return ack.f_bsy.s_id == f_bsy.s_id && ack.f_bsy.ox_id == f_bsy.ox_id && ack.f_bsy.seq_id == f_bsy.seq_id &&
           ack.f_bsy.seq_cnt == f_bsy.seq_cnt;
  };
  auto ack = std::find_if(busied_.begin(), busied_.end(), same);
  if (ack == busied_.end() && busied_.size() == max_busied) return port_.counters().discard(Discard::NoResources);
  if (ack == busied_.end()) ack = busied_.insert(ack, BusiedAck{f_bsy, now});
  if (now - ack->since >= port_.e_d_tov()) return;  // nobody waits for it any more
  ack->due = true;
  if (!again_.pending()) port_.scheduler().schedule_after(again_, port_.e_d_tov() / 64);
}

void FrameAcknowledger::send_again() {
  for (BusiedAck& ack : busied_) {
    if (!std::exchange(ack.due, false)) continue;
    port_.transmitter().send(make_link_control(port_.pool(), ack.f_bsy, busied_command(ack.f_bsy), ack.f_bsy.parameter,
                                               ack.f_bsy.f_ctl & f_ctl::abort_condition_mask));
  }
}

// --- the initiator -----------------------------------------------------------------------------------------------

void Exchange::use_class_2() {
  class_2_ = true;
  if (sent_ == nullptr) sent_ = std::make_unique<SentSequence>();
}

bool Exchange::awaits_acknowledgement() const { return class_2_ && sent_->open; }

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

/// The sequence is open from its first frame on, which may still have to wait for credit.
void Exchange::frame_stamped(const Frame& frame, const wire::FcHeader& header, bool ack_0) {
  SentSequence& sent = *sent_;
  if (!std::exchange(sent.open, true)) {
    sent.ended = sent.busied = false;
    sent.ack_0 = ack_0;
    sent.seq_id = header.seq_id;
    sent.first = header.seq_cnt;
    sent.progress_at = never;
  }
  sent.add(header, port_.in_order() ? FramePtr{} : port_.pool().copy(frame));
}

/// B.2.6.1 rule 8e counts from here. With ACK_0 there is nothing to acknowledge before the last frame went.
void Exchange::frame_sent(bool takes_credit) {
  SentSequence& sent = *sent_;
  if (takes_credit) ++sent.credit_taken;
  const bool first = sent.progress_at == never;
  if (first || sent.ack_0) sent.progress_at = port_.scheduler().now();
  if (first) start_timer(TimerUse::Acknowledge, port_.e_d_tov());
}

void Exchange::sequence_ended(SequenceEnd end) {
  sent_->ended = true;
  sent_->end = end;
}

/// Only what was sent through remote() took any.
void Exchange::return_credit(std::uint32_t count) {
  sent_->credit_taken -= count;
  if (count != 0) remote_->give_back_credit(count);
}

/// What it waits for, and what it has.
void Exchange::forget_credit() {
  if (!awaits_acknowledgement()) return;
  if (remote_ != nullptr) remote_->forget_waiting(*this);
  return_credit(sent_->credit_taken);
}

/// Nothing of the sequence is waited for any more.
void Exchange::forget_sequence() {
  if (RemotePort* owner = std::exchange(seq_id_owner_, nullptr)) owner->give_back_seq_id(last_seq_id_);
  if (!awaits_acknowledgement()) return;
  forget_credit();
  sent_->frames.clear();
  sent_->open = false;
}

void Exchange::link_control_received(const wire::FcHeader& header) {
  // An ABTS was sent, or the sequence is another one, or the frame was never sent, or is acknowledged: of no interest.
  if (!awaits_acknowledgement() || header.seq_id != sent_->seq_id || !sent_->awaits(header.seq_cnt) ||
      !machine_.is<ex::OpenInitiative>())
    return port_.counters().discard(Discard::UnknownExchange);
  const wire::RCtl answer = header.r_ctl;
  if (answer == wire::RCtl::p_bsy || answer == wire::RCtl::f_bsy_data) return busied(header);
  if (answer == wire::RCtl::p_rjt || answer == wire::RCtl::f_rjt) return rejected(header);
  if (answer != wire::RCtl::ack_1 && answer != wire::RCtl::ack_0) return port_.counters().discard(Discard::BadHeader);
  const bool abort = (header.f_ctl & f_ctl::abort_condition_mask) == f_ctl::abort_perform_abts;
  if (abort)
    abandon(ExchangeFailure::AbortDemanded);
  else
    acknowledged(header);
}

/// FC-FS "N_Port Login required": the peer knows of no login with us, as after its LOGO; that ends all exchanges with
/// it.
void Exchange::rejected(const wire::FcHeader& header) {
  const auto reason = wire::LinkReject::from_parameter(header.parameter).reason;
  RemotePort* remote = port_.find_remote_port(peer_);
  if (header.r_ctl == wire::RCtl::p_rjt && reason == wire::LinkRejectReason::login_required && remote != nullptr &&
      remote->logged_in())
    return remote->implicit_logout();
  abandon(ExchangeFailure::Rejected);
}

/// FC-FS: in the form that was asked for. ACK_0 comes with the last frame, ACK_1 with each.
void Exchange::acknowledged(const wire::FcHeader& header) {
  SentSequence& sent = *sent_;
  const bool ack_0 = header.r_ctl == wire::RCtl::ack_0;
  const bool valid = ack_0 == sent.ack_0 && (!ack_0 || (sent.ended && header.seq_cnt == sent.last));
  if (!valid) return port_.counters().discard(Discard::BadHeader);
  if (ack_0) return all_acknowledged();
  sent.progress_at = port_.scheduler().now();
  sent.frames.erase(sent.find(header.seq_cnt));
  if (sent.credit_taken != 0) return_credit(1);
  if (sent.frames.empty()) all_acknowledged();
}

/// FC-VI 5.5: the sequence is closed. What comes back on the exchange says the same.
void Exchange::all_acknowledged() {
  const bool ended = sent_->ended;
  const SequenceEnd end = sent_->end;
  resume_reply_timer();
  if (!ended) {  // more frames of it follow; the timer starts with them
    sent_->open = false;
    return;
  }
  forget_sequence();
  ExchangeUser* user = user_;
  sequence_sent(end);
  if (user != nullptr) user->sequence_acknowledged(*this);
}

/// B.2.6.1 rules 8a and 8b. Sent again after a while, as long as E_D_TOV lasts.
void Exchange::busied(const wire::FcHeader& header) {
  const auto frame = sent_->find(header.seq_cnt);
  if (frame == sent_->frames.end() || frame->kept == nullptr) return abandon(ExchangeFailure::Busy);
  frame->busied = true;
  if (std::exchange(sent_->busied, true)) return;  // the time to send again is set
  const TimeNs left = sent_->progress_at + port_.e_d_tov() - port_.scheduler().now();
  start_timer(TimerUse::Acknowledge, std::min(left, port_.e_d_tov() / 64));
}

void Exchange::send_busied_again() {
  sent_->busied = false;
  for (SentSequence::SentFrame& frame : sent_->frames) {
    if (!std::exchange(frame.busied, false)) continue;
    wire::FcHeader header = *wire::FcHeader::parse(frame.kept->content());
    header.f_ctl |= f_ctl::retransmitted;
    header.write(frame.kept->bytes);
    port_.transmitter().send(port_.pool().copy(*frame.kept));
  }
}

/// B.2.6.1 rule 8e: E_D_TOV without any ACK.
void Exchange::acknowledgement_due() {
  const TimeNs due = sent_->progress_at + port_.e_d_tov();
  if (port_.scheduler().now() >= due) return abandon(ExchangeFailure::NotAcknowledged);
  send_busied_again();
  start_timer(TimerUse::Acknowledge, due - port_.scheduler().now());
}

}  // namespace fc2
