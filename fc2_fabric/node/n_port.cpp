#include "fc2_fabric/node/n_port.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "fc2_fabric/node/class_2.hpp"
#include "fc2_fabric/node/link_services.hpp"
#include "fc2_fabric/node/login_session.hpp"
#include "fc2_fabric/node/remote_ports.hpp"
#include "fc2_fabric/node/sequence_sender.hpp"
#include "wire/bls/ba_acc.hpp"

namespace fc2 {
namespace ex = machines::exchange;

NPort::NPort(Scheduler& scheduler, FramePool& pool, NPortConfig config)
    : scheduler_(scheduler), pool_(pool), config_(std::move(config)), transmitter_(scheduler, pool),
      n_port_id_(config_.fixed_id), attachment_(is_fixed() ? Attachment::Fixed : Attachment::Fabric),
      e_d_tov_(config_.e_d_tov), r_a_tov_(config_.r_a_tov), remote_ports_(std::make_unique<RemotePorts>(*this)),
      acknowledger_(std::make_unique<FrameAcknowledger>(*this)), fabric_login_(std::make_unique<FabricLogin>(*this)),
      link_services_(std::make_unique<LinkServices>(*this)) {
  users_[static_cast<std::uint8_t>(wire::Type::els)] = link_services_.get();
}

NPort::~NPort() = default;

// --- users -------------------------------------------------------------------------------------------------------

void NPort::set_user(wire::Type type, ExchangeUser& user) { users_[static_cast<std::uint8_t>(type)] = &user; }

void NPort::set_data_user(wire::Type type, DataFrameUser& user) {
  set_user(type, user);
  data_user_ = &user;
  data_type_ = type;
}

void NPort::remove_data_user() {
  users_[static_cast<std::uint8_t>(data_type_)] = nullptr;
  for (auto& exchange : exchanges_)
    if (exchange->user_ == data_user_) exchange->user_ = nullptr;  // answers of class 2 that are not acknowledged yet
  data_user_ = nullptr;
}

void NPort::accept_els(Exchange& exchange, std::span<const std::uint8_t> payload) {
  send(exchange, wire::RCtl::els_reply, {}, payload, {.last_of_exchange = true, .transfer_initiative = true});
}

void NPort::reject_els(Exchange& exchange, wire::els::RejectReason reason, wire::els::RejectExplanation explanation) {
  std::array<std::uint8_t, wire::els::LsRjt::size()> payload;
  wire::els::LsRjt{.reason = reason, .explanation = explanation}.write(payload);
  accept_els(exchange, payload);
}

RemotePort& NPort::remote_port(wire::FcId id) { return remote_ports_->at(id); }
RemotePort* NPort::find_remote_port(wire::FcId id) { return remote_ports_->find(id); }

std::size_t NPort::known_ports() const { return remote_ports_->size(); }

std::vector<wire::FcId> NPort::logged_in_ports() const {
  std::vector<wire::FcId> ids;
  for (const auto& [id, port] : *remote_ports_)
    if (port->logged_in()) ids.push_back({id});
  return ids;
}

std::vector<wire::FcId> NPort::awaited_ports() const {
  std::vector<wire::FcId> ids;
  for (const auto& [id, port] : *remote_ports_)
    if (port->logging_in()) ids.push_back({id});
  return ids;
}

void NPort::deny(wire::FcId id) { link_services_->deny(id); }

// --- exchanges ---------------------------------------------------------------------------------------------------

// An id that was used a moment ago may still stand in frames that are late or come twice: so many others come before
// it. No fabric delivers a frame after R_A_TOV, and none delivers it twice; this keeps apart what worse networks do, as
// far as it costs little.
static constexpr std::size_t resting_exchanges = 32;

Exchange* NPort::take_exchange(bool originator) {
  constexpr std::size_t ids = 0xFFFF;  // OX_IDs and RX_IDs, without FFFFh
  if (open_exchanges_[originator] == config_.max_exchanges) return nullptr;
  const bool may_grow = exchanges_.size() < ids;
  if (free_exchanges_ == 0 && !may_grow) return nullptr;
  ++open_exchanges_[originator];
  if (free_exchanges_ < resting_exchanges && may_grow) {
    const auto slot = static_cast<std::uint16_t>(exchanges_.size());
    exchanges_.push_back(std::make_unique<Exchange>(*this, slot));
    return exchanges_.back().get();
  }
  --free_exchanges_;
  return std::exchange(longest_free_, longest_free_->next_free_);
}

// FFFFh means unassigned: the ids of the slots leave it out.
static std::uint16_t exchange_id(std::uint16_t first, std::uint16_t slot) {
  return static_cast<std::uint16_t>((std::uint32_t{first} + slot) % 0xFFFF);
}

Exchange* NPort::originate(wire::FcId d_id, wire::Type type, ExchangeUser& user) {
  Exchange* exchange = take_exchange(true);
  if (exchange == nullptr) return nullptr;
  // FC-LS: a FLOGI is sent without an address, on a loop with the AL_PA alone.
  const bool addressed = online_ || d_id != wire::well_known::f_port;
  exchange->open(true, addressed ? n_port_id_ : wire::FcId{al_pa_}, d_id, type, &user);
  exchange->ox_id_ = {exchange_id(config_.first_ox_id, exchange->slot_)};
  exchange->process(ex::Originated{});
  return exchange;
}

/// A quarter is kept for answers to message data, and no peer has more than half: whoever opens exchanges and does not
/// go on with them stops neither the messages of others nor their set-ups.
bool NPort::may_open(std::size_t opened_by_peer) const {
  const std::size_t most = config_.max_exchanges;
  return opened_by_peer < most - most / 2 && open_exchanges_[0] < most - most / 4;
}

Exchange* NPort::accept_exchange(const wire::FcHeader& header, ExchangeUser* user, bool for_reply) {
  if (Exchange* old = find_responder(header.s_id, header.ox_id)) old->supersede();
  RemotePort* peer = find_remote_port(header.s_id);
  std::size_t& opened = peer != nullptr ? peer->exchanges_opened : opened_by_strangers_;
  Exchange* exchange = for_reply || may_open(opened) ? take_exchange(false) : nullptr;
  if (exchange == nullptr) {
    counters_.discard(Discard::NoResources);
    return nullptr;
  }
  ++*(exchange->opened_by_peer_ = &opened);
  const bool to_other =
      !online_ || header.d_id == wire::well_known::f_port;  // an address that we may come to have, or FFFFFEh
  const wire::FcId local = is_fixed() ? config_.fixed_id : to_other ? header.d_id : n_port_id_;
  exchange->open(false, local, header.s_id, header.type, user);
  exchange->ox_id_ = header.ox_id;
  exchange->rx_id_ = {exchange_id(config_.first_ox_id, exchange->slot_)};
  exchange->responder_key_ = key(header.s_id, header.ox_id);
  responders_[exchange->responder_key_] = exchange;
  return exchange;
}

Exchange* NPort::open_for_reply(const ReceivedFrame& frame, DataFrameUser& user) {
  Exchange* exchange = accept_exchange(frame.header, &user, true);
  if (exchange == nullptr) return nullptr;
  if (frame.class_2) exchange->use_class_2();
  exchange->receive_seq_id_ = frame.header.seq_id;
  exchange->process(ex::SequenceReceived{.transfers_initiative = true});
  return exchange;
}

Exchange* NPort::find_responder(wire::FcId peer, wire::OxId ox_id) {
  const auto found = responders_.find(key(peer, ox_id));
  return found == responders_.end() ? nullptr : found->second;
}

Exchange* NPort::find_exchange(const wire::FcHeader& header) {
  if (!header.has(wire::f_ctl::exchange_responder)) return find_responder(header.s_id, header.ox_id);
  const std::uint32_t slot = (header.ox_id.value + 0xFFFFu - config_.first_ox_id) % 0xFFFF;
  if (slot >= exchanges_.size()) return nullptr;
  Exchange* exchange = exchanges_[slot].get();
  const bool open = exchange->originator_ && exchange->is_open() && exchange->ox_id_ == header.ox_id;
  return open && exchange->peer_ == header.s_id ? exchange : nullptr;
}

// A user may have released an exchange that its last sequence ends anyway.
void NPort::recycle(Exchange& exchange) {
  if (!std::exchange(exchange.in_use_, false)) return;
  --open_exchanges_[exchange.originator_];
  if (!exchange.originator_) {
    assert(responders_.at(exchange.responder_key_) == &exchange);
    responders_.erase(exchange.responder_key_);
    --*exchange.opened_by_peer_;
  }
  exchange.drop_assembly();
  exchange.effects_.clear();  // a user may open its place anew before they are drained
  exchange.stop_timer();
  exchange.forget_sequence();
  exchange.forget_remote();
  exchange.machine_ = {};
  (free_exchanges_++ == 0 ? longest_free_ : latest_free_->next_free_) = &exchange;
  latest_free_ = &exchange;
}

void NPort::abort(Exchange& exchange) {
  exchange.user_ = nullptr;
  exchange.process(ex::AbortRequested{});
}

void NPort::abort_and_report(Exchange& exchange, ExchangeUser& listener) {
  exchange.abort_listener_ = &listener;
  abort(exchange);
}

void NPort::forget_abort(const ExchangeUser& listener) {
  for (auto& exchange : exchanges_)
    if (exchange->abort_listener_ == &listener) exchange->abort_listener_ = nullptr;
}

void NPort::release(Exchange& exchange) { recycle(exchange); }

void NPort::fail_exchanges(wire::FcId peer, ExchangeFailure failure) {
  assert(failure == ExchangeFailure::PortLoggedOut);
  static_cast<void>(failure);
  recovery_qualifiers_.logged_out(peer);
  acknowledger_->logged_out(peer);
  for (std::size_t slot = 0; slot < exchanges_.size(); ++slot) {
    Exchange& exchange = *exchanges_[slot];
    // The logout's own exchange is an ELS; those end by themselves.
    const bool concerned = exchange.peer_ == peer && exchange.type_ != wire::Type::els;
    if (concerned && !exchange.machine_.is<ex::Closed>()) exchange.process(ex::PortLoggedOut{});
  }
}

void NPort::reinstate(wire::FcId peer, wire::OxId ox_id) {
  recovery_qualifiers_.clear(peer, ox_id);
  Exchange* exchange = find_responder(peer, ox_id);
  if (exchange != nullptr && exchange->machine_.is<ex::QuarantinedByPeer>()) exchange->process(ex::RrqReceived{});
}

std::size_t NPort::open_exchanges() const { return exchanges_.size() - free_exchanges_; }

void NPort::send(Exchange& exchange, wire::RCtl r_ctl, std::span<const std::uint8_t> device_header,
                 std::span<const std::uint8_t> payload, SequenceEnd end, TimeNs reply_timeout, std::uint8_t cs_ctl) {
  acknowledger_->finish();  // the ACK goes before what answers
  SequenceSender sequence;
  sequence.begin_control(exchange, r_ctl, wire::df_ctl::with_device_header(device_header.size()), cs_ctl);
  const std::size_t room = sequence.data_field_bytes() - device_header.size();
  if (reply_timeout > 0) exchange.start_timer(Exchange::TimerUse::Reply, reply_timeout);
  const bool exchange_class_2 = exchange.is_class_2();  // the exchange may be over with its last frame
  RemotePort* remote = sequence.remote();
  const bool held = remote != nullptr && remote->suspended() && exchange.type() != wire::Type::els;
  std::uint32_t offset = 0;
  for (bool last = false; !last;) {
    const auto part = payload.subspan(offset, std::min(room, payload.size() - offset));
    last = offset + part.size() == payload.size();
    FramePtr frame = pool_.take();
    std::uint8_t* at = frame->data_field().data();
    if (!device_header.empty()) std::memcpy(at, device_header.data(), device_header.size());
    if (!part.empty()) std::memcpy(at + device_header.size(), part.data(), part.size());
    sequence.stamp(*frame, device_header.size() + part.size(), offset, last ? &end : nullptr);
    offset += static_cast<std::uint32_t>(part.size());
    if (held) {
      remote->hold(std::move(frame), exchange_class_2 ? &exchange : nullptr);
      continue;
    }
    if (exchange_class_2 && remote != nullptr) {
      remote->send_on_credit(std::move(frame), exchange);
      continue;
    }
    if (exchange_class_2) exchange.frame_sent(false);
    transmitter_.send(std::move(frame));
  }
}

Exchange* NPort::request(wire::FcId d_id, wire::RCtl r_ctl, wire::Type type, std::span<const std::uint8_t> payload,
                         ExchangeUser& user, TimeNs reply_timeout) {
  Exchange* exchange = originate(d_id, type, user);
  if (exchange != nullptr) send(*exchange, r_ctl, {}, payload, {.transfer_initiative = true}, reply_timeout);
  return exchange;
}

// FC-LS lets an answer take 2 x R_A_TOV. In class 3 a request or its answer may be lost, which nobody tells: it is
// repeated after 2 x E_D_TOV, the time that both take where nothing holds them up, and after twice as long each time,
// so that who is slow is heard.
TimeNs NPort::answer_time(int repeated, int left) const {
  const TimeNs most = 2 * r_a_tov_;
  TimeNs time = 2 * e_d_tov_;
  for (int i = 0; i < repeated && time < most; ++i) time *= 2;
  return left > 0 ? std::min(time, most) : most;
}

// --- reception ---------------------------------------------------------------------------------------------------

Discard NPort::admits(const ReceivedFrame& frame) const {
  const wire::FcId d_id = frame.header.d_id;
  // What was under way when the link was interrupted is good all the same.
  if (d_id == n_port_id_ && (online_ || interrupted_)) return Discard::Count;
  const bool to_one =
      data_user_ != nullptr && frame.header.type == data_type_;  // FC-VI connects two ports: no IU of it goes to all
  if (d_id == wire::well_known::broadcast && online_) return to_one ? Discard::WrongAddress : Discard::Count;
  const bool link_service = frame.header.type == wire::Type::els || frame.header.type == wire::Type::bls;
  if (!link_service || is_fixed()) return Discard::WrongAddress;
  // The answer to a FLOGI, or to its ABTS, brings the address.
  if (!online_ && frame.header.s_id == wire::well_known::f_port) return Discard::Count;
  // Another N_Port's FLOGI; its PLOGI brings the address.
  const bool alone = !online_ || attachment_ == Attachment::PointToPoint;
  if (alone && d_id == wire::well_known::f_port && frame.header.s_id == wire::well_known::unidentified)
    return Discard::Count;
  return may_be_assigned() && d_id != wire::well_known::broadcast ? Discard::Count : Discard::WrongAddress;
}

void NPort::receive(FramePtr frame) {
  ++counters_.frames_received;
  if (frame->crc_error) [[unlikely]]
    return counters_.discard(Discard::BadCrc);
  const auto view = wire::FcFrameView::parse(frame->content());
  if (!view) return counters_.discard(Discard::Truncated);
  const bool class_2 = wire::class_of_service(frame->sof) == 2 && !wire::is_link_control(view->header.r_ctl);
  const bool last = class_2 ? view->header.has(wire::f_ctl::end_sequence) : frame->eof == wire::Eof::t;
  const bool first = frame->sof == wire::Sof::i3 || frame->sof == wire::Sof::i2;
  const ReceivedFrame received{view->header, view->data_field, first, last, class_2, &frame};
  const bool known_class = wire::class_of_service(frame->sof) != 0;
  if (!known_class || (frame->eof != wire::Eof::t && frame->eof != wire::Eof::n))
    return counters_.discard(Discard::BadHeader);
  if (const Discard reason = admits(received); reason != Discard::Count) return counters_.discard(reason);
  const bool message_data = is_message_data(received.header);
  if (!message_data && too_much_waits(received.header)) return counters_.discard(Discard::NoResources);
  if (!acknowledger_->begin(received)) return;
  sort_frame(received, message_data);
  acknowledger_->finish();
}

bool NPort::is_message_data(const wire::FcHeader& header) const {
  const bool data = header.r_ctl != wire::RCtl::unsolicited_control && header.r_ctl != wire::RCtl::solicited_control;
  return data_user_ != nullptr && header.type == data_type_ && data;
}

// Who asks on and on, and takes no answers, would have them pile up here. What is lost is asked again (FC-FS: class 3
// may lose it).
bool NPort::too_much_waits(const wire::FcHeader& header) {
  if (header.has(wire::f_ctl::exchange_responder) || wire::is_link_control(header.r_ctl))
    return false;  // asks for nothing
  const RemotePort* remote = find_remote_port(header.s_id);
  return transmitter_.waiting() + (remote != nullptr ? remote->held() : 0) >= config_.max_waiting_frames;
}

/// ESP_Header, Network_Header, Association_Header (FC-FS): a Device_Header would not stand where the data field begins.
static constexpr std::uint8_t other_optional_headers =
    0x40 | wire::df_ctl::network_header | wire::df_ctl::association_header;

void NPort::sort_frame(const ReceivedFrame& received, bool message_data) {
  const wire::FcHeader& header = received.header;
  const auto category = static_cast<std::uint8_t>(header.r_ctl) >> 4;
  if (category == 0x8) return basic_link_service(received);
  if (category == 0xC) return link_control(header);
  if (data_user_ == nullptr || header.type != data_type_) return control_frame(received);
  if ((header.df_ctl & other_optional_headers) != 0) [[unlikely]] {  // FC-VI 5.8.5
    if (message_data && !header.has(wire::f_ctl::exchange_responder))
      acknowledger_->abort_sequence(received);  // 8.4.2 h)
    return counters_.discard(Discard::BadHeader);
  }
  if (message_data) {
    counters_.data_bytes_received += received.data_field.size();
    return data_user_->data_frame_received(received);
  }
  control_frame(received);
}

void NPort::link_control(const wire::FcHeader& header) {
  if (header.r_ctl == wire::RCtl::f_bsy_link) return acknowledger_->busied(header);
  if (Exchange* exchange = find_exchange(header)) return exchange->link_control_received(header);
  counters_.discard(Discard::UnknownExchange);
}

void NPort::control_frame(const ReceivedFrame& frame) {
  Exchange* exchange = find_exchange(frame.header);
  const bool from_originator = !frame.header.has(wire::f_ctl::exchange_responder);
  // On an out-of-order fabric any frame of an exchange's first sequence may be the one that comes first.
  const bool first = frame.first_of_sequence && frame.header.seq_cnt.value == 0;
  const bool opens = from_originator && frame.header.has(wire::f_ctl::first_sequence) &&
                     (first || (!in_order_ && exchange == nullptr));
  if (exchange != nullptr && !opens && exchange->type_ != frame.header.type)
    return counters_.discard(Discard::BadHeader);
  // The first sequence again, by the same SEQ_ID, is a duplicate; another one uses the OX_ID anew.
  if (exchange != nullptr && !(opens && exchange->receive_seq_id_ != frame.header.seq_id))
    return exchange->frame_received(frame);
  if (!opens) return counters_.discard(Discard::UnknownExchange);
  open_exchange(frame);
}

bool NPort::is_logged_in(wire::FcId peer) {
  const RemotePort* remote = find_remote_port(peer);
  return peer == n_port_id_ || (remote != nullptr && remote->logged_in());
}

void NPort::open_exchange(const ReceivedFrame& frame) {
  if (recovery_qualifiers_.covers(frame.header.s_id, frame.header.ox_id, scheduler_.now()))
    return counters_.discard(Discard::AbortedExchange);
  ExchangeUser* user = user_of(frame.header.type);
  if (user == nullptr) return counters_.discard(Discard::UnknownType);
  if (user == data_user_ && !is_logged_in(frame.header.s_id))
    return link_services_->login_missing(frame);  // FC-VI 5.6, 7.7.2
  Exchange* exchange = accept_exchange(frame.header, user, false);
  if (exchange == nullptr) return acknowledger_->busy(frame);
  if (frame.class_2) exchange->use_class_2();  // as it is asked, so it is answered
  exchange->frame_received(frame);
}

void NPort::basic_link_service(const ReceivedFrame& frame) {
  const wire::FcHeader& header = frame.header;
  if (header.r_ctl == wire::RCtl::abts) return abts_received(header);
  if (header.r_ctl == wire::RCtl::nop) return;
  Exchange* exchange = find_exchange(header);
  // One that the peer aborted waits for no answer.
  if (exchange == nullptr || exchange->machine_.is<ex::QuarantinedByPeer>())
    return counters_.discard(Discard::UnknownExchange);
  if (header.r_ctl == wire::RCtl::ba_acc) return exchange->process(ex::BaAccReceived{});
  if (header.r_ctl == wire::RCtl::ba_rjt) return exchange->process(ex::BaRjtReceived{});
  counters_.discard(Discard::BadHeader);
}

void NPort::abts_received(const wire::FcHeader& header) {
  if (header.d_id == wire::well_known::broadcast) return counters_.discard(Discard::BadHeader);
  acknowledger_->exchange_aborted(header);
  Exchange* exchange = find_exchange(header);
  const bool from_originator = !header.has(wire::f_ctl::exchange_responder);
  const bool of_data =
      from_originator && data_user_ != nullptr && data_user_->abort_received(header.s_id, header.ox_id);
  if (exchange == nullptr) {  // FC-FS 23.6.1.1: also for an exchange that never came here, or is still on its way
    if (from_originator && !of_data) recovery_qualifiers_.set(header.s_id, header.ox_id, scheduler_.now(), r_a_tov_);
    return send_ba_acc(header);
  }
  exchange->abts_ = &header;
  exchange->process(ex::AbtsReceived{});
}

void NPort::send_ba_acc(const wire::FcHeader& abts) {
  wire::FcHeader header{.r_ctl = wire::RCtl::ba_acc,
                        .d_id = abts.s_id,
                        .s_id = n_port_id_,
                        .type = wire::Type::bls,
                        .seq_id = abts.seq_id,
                        .ox_id = abts.ox_id,
                        .rx_id = abts.rx_id};
  header.f_ctl = ~abts.f_ctl & wire::f_ctl::exchange_responder;
  header.f_ctl |= wire::f_ctl::last_sequence | wire::f_ctl::end_sequence;
  const wire::bls::BaAcc payload{.ox_id = abts.ox_id, .rx_id = abts.rx_id, .high_seq_cnt = {0xFFFF}};
  std::array<std::uint8_t, wire::bls::BaAcc::size()> bytes;
  payload.write(bytes);
  send_basic(header, bytes);
}

void NPort::send_basic(const wire::FcHeader& header, std::span<const std::uint8_t> payload) {
  FramePtr frame = pool_.take();
  header.write(frame->bytes);
  if (!payload.empty()) std::memcpy(frame->data_field().data(), payload.data(), payload.size());
  frame->size_bytes = static_cast<std::uint16_t>(frame_header_bytes + payload.size());
  frame->sof = wire::Sof::i3;
  frame->eof = wire::Eof::t;
  RemotePort* remote = find_remote_port(header.d_id);
  if (remote != nullptr && remote->suspended())
    remote->hold(std::move(frame));
  else
    transmitter_.send(std::move(frame));
}

}  // namespace fc2
