#include "fc2_fabric/node/exchange_table.hpp"

#include <cassert>
#include <utility>

#include "fc2_fabric/node/remote_ports.hpp"
#include "fc2_fabric/node/sent_sequence.hpp"
#include "state_machines/consistency.hpp"

namespace fc2 {
namespace ex = machines::exchange;

ExchangeTable::~ExchangeTable() = default;

// An id that was used a moment ago may still stand in frames that are late or come twice: so many others come before
// it. No fabric delivers a frame after R_A_TOV, and none delivers it twice; this keeps apart what worse networks do, as
// far as it costs little.
static constexpr std::size_t resting_exchanges = 32;

Exchange* ExchangeTable::take(bool originator) {
  constexpr std::size_t ids = 0xFFFF;  // OX_IDs and RX_IDs, without FFFFh
  if (open_[originator] == port_.config().max_exchanges) return nullptr;
  const bool may_grow = exchanges_.size() < ids;
  if (free_ == 0 && !may_grow) return nullptr;
  ++open_[originator];
  if (free_ < resting_exchanges && may_grow) {
    const auto slot = static_cast<std::uint16_t>(exchanges_.size());
    exchanges_.push_back(std::make_unique<Exchange>(*this, slot));
    return exchanges_.back().get();
  }
  --free_;
  return std::exchange(longest_free_, longest_free_->next_free_);
}

// FFFFh means unassigned: the ids of the slots leave it out.
static std::uint16_t exchange_id(std::uint16_t first, std::uint16_t slot) {
  const std::uint32_t sum = std::uint32_t{first} + slot;  // below twice FFFFh
  return static_cast<std::uint16_t>(sum < 0xFFFF ? sum : sum - 0xFFFF);
}

Exchange* ExchangeTable::originate(wire::FcId d_id, wire::Type type, ExchangeUser& user) {
  Exchange* exchange = take(true);
  if (exchange == nullptr) return nullptr;
  // FC-LS: a FLOGI is sent without an address, on a loop with the AL_PA alone.
  const bool addressed = port_.online() || d_id != wire::well_known::f_port;
  exchange->open(true, addressed ? port_.n_port_id() : wire::FcId{port_.al_pa()}, d_id, fc4s_.of(type), &user);
  exchange->ox_id_ = own_ox_id(*exchange);
  exchange->process(ex::Originated{});
  return exchange;
}

wire::OxId ExchangeTable::own_ox_id(const Exchange& exchange) const {
  return {exchange_id(port_.config().first_ox_id, exchange.slot_)};
}

std::optional<wire::OxId> ExchangeTable::pass_ox_id() {
  if (free_ >= resting_exchanges && open_[true] != port_.config().max_exchanges)
      [[likely]] {  // the first becomes the last
    Exchange* const passed = std::exchange(longest_free_, longest_free_->next_free_);
    latest_free_ = latest_free_->next_free_ = passed;
    return own_ox_id(*passed);
  }
  Exchange* exchange = take(true);
  if (exchange == nullptr) return std::nullopt;
  --open_[true];
  put_back(*exchange);
  FCVI_ASSERT_CONSISTENT(*this);
  return own_ox_id(*exchange);
}

/// A quarter is kept for answers to message data, and no peer has more than half: whoever opens exchanges and does not
/// go on with them stops neither the messages of others nor their set-ups.
bool ExchangeTable::may_open(std::size_t opened_by_peer) const {
  const std::size_t most = port_.config().max_exchanges;
  return opened_by_peer < most - most / 2 && open_[0] < most - most / 4;
}

Exchange* ExchangeTable::accept(const wire::FcHeader& header, ExchangeUser& user) {
  return open_responder(header, user, false);
}

// An address that we may come to have, or FFFFFEh, is answered from.
wire::FcId ExchangeTable::local_address(const wire::FcHeader& of_peer) const {
  if (port_.config().is_fixed()) return port_.config().fixed_id;
  const bool to_other = !port_.online() || of_peer.d_id == wire::well_known::f_port;
  return to_other ? of_peer.d_id : port_.n_port_id();
}

Exchange* ExchangeTable::open_responder(const wire::FcHeader& header, ExchangeUser& user, bool for_reply) {
  if (Exchange* old = find_responder(header.s_id, header.ox_id)) old->supersede();
  RemotePort* peer = remote_ports_.find(header.s_id);
  std::size_t& opened = peer != nullptr ? peer->exchanges_opened : opened_by_strangers_;
  Exchange* exchange = for_reply || may_open(opened) ? take(false) : nullptr;
  if (exchange == nullptr) {
    port_.counters().discard(Discard::NoResources);
    return nullptr;
  }
  ++*(exchange->opened_by_peer_ = &opened);
  exchange->open(false, local_address(header), header.s_id, fc4s_.of(header.type), &user);
  exchange->ox_id_ = header.ox_id;
  exchange->rx_id_ = {exchange_id(port_.config().first_ox_id, exchange->slot_)};
  exchange->responder_key_ = key(header.s_id, header.ox_id);
  responders_[exchange->responder_key_] = exchange;
  FCVI_ASSERT_CONSISTENT(*this);
  return exchange;
}

Exchange* ExchangeTable::open_for_reply(const ReceivedFrame& frame, DataFrameUser& user) {
  Exchange* exchange = open_responder(frame.header, user, true);
  if (exchange == nullptr) return nullptr;
  if (frame.class_2) exchange->use_class_2();
  exchange->receive_seq_id_ = frame.header.seq_id;
  exchange->process(ex::SequenceReceived{.transfers_initiative = true});
  return exchange;
}

Exchange* ExchangeTable::find_responder(wire::FcId peer, wire::OxId ox_id) {
  const auto found = responders_.find(key(peer, ox_id));
  return found == responders_.end() ? nullptr : found->second;
}

Exchange* ExchangeTable::find(const wire::FcHeader& header) {
  if (!header.has(wire::f_ctl::exchange_responder)) return find_responder(header.s_id, header.ox_id);
  const std::uint32_t slot = (header.ox_id.value + 0xFFFFu - port_.config().first_ox_id) % 0xFFFF;
  if (slot >= exchanges_.size()) return nullptr;
  Exchange* exchange = exchanges_[slot].get();
  const bool open = exchange->originator_ && exchange->is_open() && exchange->ox_id_ == header.ox_id;
  return open && exchange->peer_ == header.s_id ? exchange : nullptr;
}

// A user may have released an exchange that its last sequence ends anyway.
void ExchangeTable::recycle(Exchange& exchange) {
  if (!std::exchange(exchange.in_use_, false)) return;
  --open_[exchange.originator_];
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
  put_back(exchange);
  FCVI_ASSERT_CONSISTENT(*this);
}

void ExchangeTable::put_back(Exchange& exchange) {
  (free_++ == 0 ? longest_free_ : latest_free_->next_free_) = &exchange;
  latest_free_ = &exchange;
}

bool ExchangeTable::is_consistent() const {
  const bool counted = open_[0] + open_[1] == exchanges_.size() - free_ && responders_.size() == open_[0];
  const bool listed = free_ == 0 || (!longest_free_->in_use_ && !latest_free_->in_use_);
  return counted && listed && opened_by_strangers_ <= open_[0] && (open_[0] != 0 || assembled_bytes_ == 0);
}

void ExchangeTable::abort(Exchange& exchange) {
  exchange.user_ = nullptr;
  exchange.process(ex::AbortRequested{});
}

void ExchangeTable::abort_and_report(Exchange& exchange, ExchangeUser& listener) {
  exchange.abort_listener_ = &listener;
  abort(exchange);
}

void ExchangeTable::forget_abort(const ExchangeUser& listener) {
  for (auto& exchange : exchanges_)
    if (exchange->abort_listener_ == &listener) exchange->abort_listener_ = nullptr;
}

void ExchangeTable::forget_user(const ExchangeUser& user) {
  for (auto& exchange : exchanges_)
    if (exchange->user_ == &user) exchange->user_ = nullptr;
}

void ExchangeTable::logged_out(wire::FcId peer) {
  recovery_qualifiers_.logged_out(peer);
  for (std::size_t slot = 0; slot < exchanges_.size(); ++slot) {
    Exchange& exchange = *exchanges_[slot];
    // The logout's own exchange is an ELS; those end by themselves.
    const bool concerned = exchange.peer_ == peer && exchange.type() != wire::Type::els;
    if (concerned && !exchange.machine_.is<ex::Closed>()) exchange.process(ex::PortLoggedOut{});
  }
}

void ExchangeTable::reinstate(wire::FcId peer, wire::OxId ox_id) {
  recovery_qualifiers_.clear(peer, ox_id);
  Exchange* exchange = find_responder(peer, ox_id);
  if (exchange != nullptr && exchange->machine_.is<ex::QuarantinedByPeer>()) exchange->process(ex::RrqReceived{});
}

void ExchangeTable::abts_without_exchange(const wire::FcHeader& abts) {
  recovery_qualifiers_.set(abts.s_id, abts.ox_id, port_.scheduler().now(), port_.r_a_tov());
}

bool ExchangeTable::was_aborted(const wire::FcHeader& header) {
  return recovery_qualifiers_.covers(header.s_id, header.ox_id, port_.scheduler().now());
}

bool ExchangeTable::take_room(std::size_t bytes) {
  if (assembled_bytes_ + bytes > port_.config().max_assembled_bytes) return false;
  assembled_bytes_ += bytes;
  return true;
}

}  // namespace fc2
