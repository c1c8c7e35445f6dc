#include "fc2_fabric/node/exchange.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/node/exchange_table.hpp"
#include "fc2_fabric/node/remote_ports.hpp"
#include "fc2_fabric/node/sent_sequence.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/row_effects.hpp"

namespace fc2 {
namespace ex = machines::exchange;
namespace sq = machines::sequence;

const char* to_string(ExchangeFailure failure) {
  switch (failure) {
    case ExchangeFailure::ReplyTimeout: return "reply timeout";
    case ExchangeFailure::AbortedByPeer: return "aborted by the peer";
    case ExchangeFailure::SequenceError: return "sequence error";
    case ExchangeFailure::PortLoggedOut: return "port logged out";
    case ExchangeFailure::Busy: return "busy";
    case ExchangeFailure::Rejected: return "rejected";
    case ExchangeFailure::AbortDemanded: return "abort demanded";
    case ExchangeFailure::NotAcknowledged: return "not acknowledged";
  }
  return "?";
}

Exchange::Exchange(ExchangeTable& table, std::uint16_t slot) : table_(table), slot_(slot) {}
Exchange::~Exchange() = default;

const PortServices& Exchange::services() const { return table_.services(); }

/// What ExchangeTable::recycle() left as it was.
void Exchange::open(bool originator, wire::FcId local, wire::FcId peer, const Fc4& fc4, ExchangeUser* user) {
  in_use_ = true;
  originator_ = originator;
  local_ = local;
  peer_ = peer;
  fc4_ = fc4;
  user_ = user;
  context = nullptr;
  class_2_ = first_sequence_sent_ = assembling_ = false;
  sequence_ = {};
  abort_listener_ = nullptr;
  send_seq_cnt_ = receive_seq_cnt_ = 0;
  rx_id_ = wire::RxId::unassigned;
  last_seq_id_ = {};
}

wire::FcHeader Exchange::header(wire::RCtl r_ctl, wire::Type type) const {
  wire::FcHeader header;
  header.r_ctl = r_ctl;
  header.type = type;
  header.s_id = local_;
  header.d_id = peer_;
  header.ox_id = ox_id_;
  header.rx_id = rx_id_;
  header.f_ctl = originator_ ? 0 : wire::f_ctl::exchange_responder;
  return header;
}

template <class E>
void Exchange::process(const E& event) {
  machine_.process(event, *this);
  settle();
}
template void Exchange::process(const ex::Originated&);
template void Exchange::process(const ex::AbortRequested&);
template void Exchange::process(const ex::RrqReceived&);
template void Exchange::process(const ex::PortLoggedOut&);
template void Exchange::process(const ex::SequenceReceived&);

void Exchange::settle() {
  // A frame's sequence, and what ends the exchange; the reports tell the user and the listener.
  constexpr std::size_t of_sequence =
      fsm::most_in_a_row<sq::Def, sq::ReportSequence, sq::ReportMissingFrame, sq::ReportTimeout>;
  constexpr std::size_t of_exchange =
      fsm::most_in_a_row<ex::Def, ex::ReportAcknowledged, ex::ReportAcknowledged, ex::ReportRejected,
                         ex::ReportRejected, ex::ReportUnanswered, ex::ReportUnanswered, ex::ReportAbortedByPeer,
                         ex::ReportAbortedByPeer, ex::ReportPortLoggedOut, ex::ReportPortLoggedOut,
                         ex::RequestPortLogout, ex::Release>;
  constexpr std::size_t refusals = 1;  // deliver() ends with the first
  static_assert(of_sequence + refusals + of_exchange <= decltype(effects_)::capacity);
  effects_.drain([this](Effect effect) { carry_out(effect); });
  FCVI_ASSERT_CONSISTENT(*this);
}

/// In the table, for the next one.
bool Exchange::is_at_rest() const {
  return machine_.is<ex::Closed>() && !pending() && room_taken_ == 0 && assembly_.empty() && early_.empty() &&
         remote_.get() == nullptr && seq_id_owner_ == nullptr;
}

bool Exchange::is_consistent() const {
  if (!effects_.empty()) return false;
  if (!in_use_) return is_at_rest();
  std::size_t early_bytes = 0;
  for (const EarlyFrame& frame : early_) early_bytes += frame.bytes.size();
  const bool has_room = room_taken_ == (originator_ ? 0 : assembly_.size() + early_bytes_);
  const bool aborts = machine_.is_any_of<ex::Aborting, ex::Recovering, ex::Quarantined, ex::QuarantinedByPeer>();
  const bool reply_timed = timer_use_ == TimerUse::Reply || timer_use_ == TimerUse::Acknowledge;
  return early_bytes == early_bytes_ && has_room && !(aborts && user_ != nullptr) &&
         !(pending() && timer_use_ == TimerUse::None) && (reply_due_ == never || reply_timed) &&
         (originator_ || opened_by_peer_ != nullptr) && (!class_2_ || (sent_ != nullptr && sent_->is_consistent()));
}

void Exchange::carry_out(Effect effect) {
  switch (effect) {
    case Effect::TakeSequence: return sequence_.is<sq::Complete>() ? sequence_received(*current_) : void();
    case Effect::RefuseSequence:
      sequence_.process(sq::IuRefused{}, *this);
      fail_sequence();
      return settle();
    case Effect::FailSequence: return fail_sequence();
    case Effect::TellUser:
      if (ExchangeUser* user = std::exchange(user_, nullptr)) user->exchange_failed(*this, failure_);
      return;
    case Effect::LogPortOut: return table_.remote_ports().at(peer_).log_out();
    case Effect::TellListener:
      if (ExchangeUser* listener = std::exchange(abort_listener_, nullptr)) listener->abort_finished();
      return;
    case Effect::Recycle: return table_.recycle(*this);
  }
}

void Exchange::fail(ExchangeFailure failure) {
  failure_ = failure;
  effects_.push(Effect::TellUser);
}

void Exchange::sequence_sent(SequenceEnd end) {
  process(ex::SequenceSent{.transfers_initiative = end.transfer_initiative, .last_of_exchange = end.last_of_exchange});
}

bool Exchange::in_order(const ReceivedFrame& frame) const {
  const bool next = frame.header.seq_cnt.value == receive_seq_cnt_;
  if (!frame.first_of_sequence) return next && frame.header.seq_id == receive_seq_id_;
  if (sequence_.is<sq::Receiving>()) return false;  // the end of the sequence before is missing
  // FC-FS lets a sequence that is not streamed begin at 0 again; some FC-4s do not (FC-VI 5.6).
  return next || (frame.header.seq_cnt.value == 0 && !fc4_.continuous_seq_cnt);
}

bool Exchange::is_duplicate(const ReceivedFrame& frame) const {
  const bool begun = assembling_ || sequence_.is_any_of<sq::Receiving, sq::Complete>();
  return begun && frame.header.seq_id == receive_seq_id_ && wire::serial_less(frame.header.seq_cnt, {receive_seq_cnt_});
}

void Exchange::frame_received(const ReceivedFrame& frame) {
  const bool first = frame.first_of_sequence, last = frame.last_of_sequence;
  const bool answers =
      machine_.is<ex::OpenInitiative>() && awaits_acknowledgement() && sent_->ended && sent_->end.transfer_initiative;
  if (answers && !is_duplicate(frame)) {
    all_acknowledged();
    if (!is_open()) return count_stale();  // its last sequence was what this frame acknowledges
  }
  if (!machine_.is_any_of<ex::Closed, ex::OpenWaiting>()) return process(ex::SequenceReceived{});  // counts, discards
  if (is_duplicate(frame) || is_foreign(frame)) return discard_frame();
  if (rx_id_ == wire::RxId::unassigned) rx_id_ = frame.header.rx_id;  // a responder has its own
  current_ = &frame;
  const bool next = in_order(frame);
  current_in_order_ = next && (first || assembling_);
  const bool whole = sequence_.is<sq::Reassembling>() ? makes_whole(frame) : last;
  if (!(first && last))
    machine_.process(ex::FirstFrameReceived{}, *this);  // out of order any frame may open the exchange
  sequence_.process(sq::FrameReceived{.first = first, .last = last, .in_order = next, .complete = whole}, *this);
  settle();
}

/// `frame`: with it the sequence became whole.
void Exchange::sequence_received(const ReceivedFrame& frame) {
  const bool single = frame.first_of_sequence && frame.last_of_sequence;
  stop_timer();
  machine_.process(ex::SequenceReceived{.transfers_initiative = (last_f_ctl_ & wire::f_ctl::sequence_initiative) != 0,
                                        .last_of_exchange = (last_f_ctl_ & wire::f_ctl::last_sequence) != 0},
                   *this);
  const std::vector<std::uint8_t> assembled =
      std::exchange(assembly_, {});  // the user may release the exchange and read on
  give_room(assembled.size());
  const std::span<const std::uint8_t> iu = single ? frame.data_field : assembled;
  if (user_ != nullptr)
    user_->sequence_received(*this, single ? frame.header : first_header_, iu);
  else
    start_timer(TimerUse::Linger, services().r_a_tov());  // it was given up before: nobody else ends it
  settle();
}

void Exchange::supersede() {
  fail(ExchangeFailure::AbortedByPeer);
  effects_.push(Effect::Recycle);
  settle();
}

void Exchange::deliver() {
  if (!current_in_order_) return keep_early(*current_);
  if (append(*current_)) take_early();
}

/// False: the IU is refused.
bool Exchange::append(const ReceivedFrame& frame) {
  receive_seq_cnt_ = static_cast<std::uint16_t>(frame.header.seq_cnt.value + 1);
  receive_seq_id_ = frame.header.seq_id;
  assembling_ = !frame.last_of_sequence;
  if (frame.last_of_sequence) last_f_ctl_ = frame.header.f_ctl;
  if (frame.first_of_sequence) {
    if (frame.last_of_sequence) return true;  // handed up where it stands
    first_header_ = frame.header;
    give_room(assembly_.size());
    assembly_.clear();
    if (!take_room(frame.data_field.size())) return false;
    assembly_.assign(frame.data_field.begin(), frame.data_field.end());
    return true;
  }
  const std::size_t repeated = fc4_.repeats_device_header ? frame.header.device_header_size() : 0;
  const auto payload = frame.data_field.subspan(std::min(frame.data_field.size(), repeated));
  if (assembly_.size() + payload.size() > services().config().max_assembled_iu_bytes)
    return refuse_iu(Discard::TooLong), false;
  if (!take_room(payload.size())) return false;
  assembly_.insert(assembly_.end(), payload.begin(), payload.end());
  return true;
}

/// Peers need not go on with what they began: together it has a limit. Our own requests' answers are awaited.
bool Exchange::take_room(std::size_t bytes) {
  if (originator_) return true;
  if (!table_.take_room(bytes)) {
    refuse_iu(Discard::NoResources);
    return false;
  }
  room_taken_ += bytes;
  return true;
}

void Exchange::give_room(std::size_t bytes) {
  if (originator_) return;
  room_taken_ -= bytes;
  table_.give_room(bytes);
}

/// As after a frame that is missing, what still comes of the exchange is discarded until it is aborted (FC-FS). It may
/// come out of the table's own deliver(): the table hears of it when it has ended.
void Exchange::refuse_iu(Discard reason) {
  services().counters().discard(reason);
  effects_.push(Effect::RefuseSequence);
}

/// What is here of it is of no use to anybody.
void Exchange::fail_sequence() {
  drop_assembly();
  abandon(ExchangeFailure::SequenceError);
}

/// With its memory: the exchange may rest for long.
void Exchange::drop_assembly() {
  give_room(room_taken_);
  std::vector<std::uint8_t>{}.swap(assembly_);
  std::vector<EarlyFrame>{}.swap(early_);
  early_bytes_ = 0;
}

void Exchange::abandon(ExchangeFailure failure) {
  fail(failure);
  if (originator_ || machine_.is<ex::OpenInitiative>()) return process(ex::AbortRequested{});
  start_timer(TimerUse::Linger, services().r_a_tov());
  settle();  // a responder waits for the originator's ABTS, which may be lost too; the id may also be used anew
}

RemotePort* Exchange::remote() {
  if (remote_.get() == nullptr)
    if (RemotePort* known = table_.remote_ports().find(peer_)) remote_ = PortUse(*known);
  return remote_.get();
}

/// ACKs are waited for beside a reply; whatever else needs the timer ends the wait for the reply.
void Exchange::start_timer(TimerUse use, TimeNs delay) {
  timer_use_ = use;
  if (use == TimerUse::Reply)
    reply_due_ = services().scheduler().now() + delay;
  else if (use != TimerUse::Acknowledge)
    reply_due_ = never;
  if (use == TimerUse::None)
    services().scheduler().cancel(*this);
  else
    services().scheduler().schedule_after(*this, delay);
}

/// All ACKs are here.
void Exchange::resume_reply_timer() {
  if (reply_due_ == never) return stop_timer();
  start_timer(TimerUse::Reply, std::max(TimeNs{0}, reply_due_ - services().scheduler().now()));
}

void Exchange::fire(TimeNs) {
  switch (timer_use_) {
    case TimerUse::Reply: return abandon(ExchangeFailure::ReplyTimeout);
    case TimerUse::Sequence:
      sequence_.process(sq::Timeout{}, *this);
      discard_frame();  // what came of it
      return settle();
    case TimerUse::Abort: return process(ex::AbortTimeout{});
    case TimerUse::Quarantine: return process(ex::QuarantineExpired{});
    case TimerUse::Linger: return table_.recycle(*this);
    case TimerUse::Acknowledge: return acknowledgement_due();
    case TimerUse::None: break;  // cancelled
  }
}

void Exchange::start_abort_timer() { start_timer(TimerUse::Abort, services().r_a_tov()); }
void Exchange::start_quarantine_timer() {
  forget_sequence();  // the ABTS was answered, or R_A_TOV is over twice: recovered
  start_timer(TimerUse::Quarantine, services().r_a_tov());
}
void Exchange::start_sequence_timer() { start_timer(TimerUse::Sequence, services().e_d_tov()); }
void Exchange::start_missing_frame_timer() { start_timer(TimerUse::Sequence, services().r_a_tov()); }
// The login that a link service saw may have ended since: a later one is not its own to end.
bool Exchange::logs_out_silent_port() const {
  if (!services().config().log_out_silent_ports || type() != wire::Type::els)
    return services().config().log_out_silent_ports;
  const RemotePort* peer = table_.remote_ports().find(peer_);
  return peer == nullptr || !peer->logged_in();
}
void Exchange::count_stale() { services().counters().discard(Discard::UnknownExchange); }
bool Exchange::out_of_order_fabric() const { return !services().in_order(); }
void Exchange::discard_frame() { services().counters().discard(Discard::WrongSequence); }
void Exchange::report_sequence_error(sq::SequenceError) { effects_.push(Effect::FailSequence); }
void Exchange::report_sequence() { effects_.push(Effect::TakeSequence); }
void Exchange::on_row(const fsm::Row& row) { fsm::tell(services().config().rows, row); }
void Exchange::unexpected(std::string_view, std::string_view, std::string_view) {
  ++services().counters().unexpected_events;
}

/// The listener of an abort that a logout ends hears of the logout, which may be a new login already.
void Exchange::report_aborted(ex::AbortCause cause) {
  const bool logged_out = cause == ex::AbortCause::PortLoggedOut;
  if (logged_out) abort_listener_ = nullptr;
  fail(logged_out ? ExchangeFailure::PortLoggedOut : ExchangeFailure::AbortedByPeer);
  effects_.push(Effect::TellListener);
}

void Exchange::send_abts() {
  forget_credit();
  wire::FcHeader abts = header(wire::RCtl::abts, wire::Type::bls);
  abts.f_ctl |= wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative;
  abts.seq_id = last_seq_id_;
  abts.seq_cnt = {send_seq_cnt_};
  table_.basic_links().send(abts, {});
}

void Exchange::send_ba_acc() { table_.basic_links().accept_abort(*abts_); }

void Exchange::abts_received(const wire::FcHeader& abts) {
  abts_ = &abts;
  process(ex::AbtsReceived{});
}

void Exchange::abort_answered(bool accepted) {
  if (accepted)
    process(ex::BaAccReceived{});
  else
    process(ex::BaRjtReceived{});
}

}  // namespace fc2
