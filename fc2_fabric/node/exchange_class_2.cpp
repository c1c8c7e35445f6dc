// Class 2 at the initiator of a sequence (FC-FS; FC-VI 5.5, 8.4.2 b, B.2.6.1): what its exchange does with the answers
// to its frames.
#include <algorithm>
#include <utility>

#include "fc2_fabric/node/exchange_table.hpp"
#include "fc2_fabric/node/remote_ports.hpp"
#include "fc2_fabric/node/sent_sequence.hpp"
#include "wire/link_control.hpp"

namespace fc2 {
namespace ex = machines::exchange;
namespace f_ctl = wire::f_ctl;

void Exchange::use_class_2() {
  class_2_ = true;
  if (sent_ == nullptr) sent_ = std::make_unique<SentSequence>();
}

bool Exchange::awaits_acknowledgement() const { return class_2_ && sent_->open; }

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
  sent.add(header, services().in_order() ? FramePtr{} : services().pool().copy(frame));
}

/// B.2.6.1 rule 8e counts from here. With ACK_0 there is nothing to acknowledge before the last frame went.
void Exchange::frame_sent(bool takes_credit) {
  SentSequence& sent = *sent_;
  if (takes_credit) ++sent.credit_taken;
  const bool first = sent.progress_at == never;
  if (first || sent.ack_0) sent.progress_at = services().scheduler().now();
  if (first) start_timer(TimerUse::Acknowledge, services().e_d_tov());
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
  if (remote_.get() != nullptr) remote_->forget_waiting(*this);
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
    return services().counters().discard(Discard::UnknownExchange);
  const wire::RCtl answer = header.r_ctl;
  if (answer == wire::RCtl::p_bsy || answer == wire::RCtl::f_bsy_data) return busied(header);
  if (answer == wire::RCtl::p_rjt || answer == wire::RCtl::f_rjt) return rejected(header);
  if (answer != wire::RCtl::ack_1 && answer != wire::RCtl::ack_0)
    return services().counters().discard(Discard::BadHeader);
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
  RemotePort* remote = table_.remote_ports().find(peer_);
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
  if (!valid) return services().counters().discard(Discard::BadHeader);
  if (ack_0) return all_acknowledged();
  sent.progress_at = services().scheduler().now();
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
  const TimeNs left = sent_->progress_at + services().e_d_tov() - services().scheduler().now();
  start_timer(TimerUse::Acknowledge, std::min(left, services().e_d_tov() / 64));
}

void Exchange::send_busied_again() {
  sent_->busied = false;
  for (SentSequence::SentFrame& frame : sent_->frames) {
    if (!std::exchange(frame.busied, false)) continue;
    wire::FcHeader header = *wire::FcHeader::parse(frame.kept->content());
    header.f_ctl |= f_ctl::retransmitted;
    header.write(frame.kept->bytes);
    services().transmitter().send(services().pool().copy(*frame.kept));
  }
}

/// B.2.6.1 rule 8e: E_D_TOV without any ACK.
void Exchange::acknowledgement_due() {
  const TimeNs due = sent_->progress_at + services().e_d_tov();
  if (services().scheduler().now() >= due) return abandon(ExchangeFailure::NotAcknowledged);
  send_busied_again();
  start_timer(TimerUse::Acknowledge, due - services().scheduler().now());
}

}  // namespace fc2
