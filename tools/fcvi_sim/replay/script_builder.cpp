#include "tools/fcvi_sim/replay/script_builder.hpp"

#include <algorithm>
#include <cstdlib>

#include "fcvi/conversions.hpp"
#include "wire/ct/gid_ipp.hpp"
#include "wire/describe.hpp"
#include "wire/els/farp.hpp"
#include "wire/els/login.hpp"

namespace sim::replay {
namespace {
using wire::fcvi::ConnectMode;
using wire::fcvi::Opcode;
using wire::fcvi::Reason;

/// One that is not the one that was asked for, as somebody else's.
vi::NetAddress another(vi::NetAddress address) {
  address.discriminator.fill(0xFF);
  address.discriminator_length = vi::NetAddress::max_discriminator_bytes;
  return address;
}

std::optional<wire::els::Login> flogi_accept(const CapturedFrame& frame) {
  if (frame.header.s_id != wire::well_known::f_port || frame.header.type != wire::Type::els) return std::nullopt;
  const auto login = wire::els::Login::parse(frame.message);
  return login ? std::optional(*login) : std::nullopt;
}

/// What was wrong with a message that ended a connection, as message_response_flag.
std::uint8_t causes_of(Reason reason) {
  namespace flag = wire::fcvi::message_response_flag;
  switch (reason) {
    case Reason::remote_descriptor_error: return flag::desc_err;
    case Reason::rdma_protection_error:
    case Reason::remote_rdma_write_protection_error:
    case Reason::remote_rdma_read_protection_error: return flag::prot_err;
    default: return 0;
  }
}

}  // namespace

Script ScriptBuilder::build() {
  for (std::size_t at = 0; at < frames_.size(); ++at) {
    listings_.add(at, frames_[at]);
    note_private_loop(at);
    if (frames_[at].sent)
      read_sent(at);
    else
      read_received(at);
  }
  end_calls();
  lost_searches();
  other_logins();
  for (Listings::Listing& listing : listings_.take()) put(listing.at, call::List{std::move(listing.wanted)});
  finish_messages();
  return std::move(script_);
}

void ScriptBuilder::read_sent(std::size_t at) {
  const CapturedFrame& frame = frames_[at];
  if (frame.header.r_ctl == wire::RCtl::abts) return abort_sent(at);
  if (frame.is_of_other_fc4()) {
    other_users_.insert(frame.header.d_id.value);
    return;
  }
  if (!frame.is_fc_vi()) {
    login_sent(at);
    return note_search(at);
  }
  if (const auto request = wire::fcvi::ConnectRqst::parse(frame.message)) {
    if (is_sound(at, request->payload)) request_sent(at, *request);
    return;
  }
  if (const auto answer = wire::fcvi::ConnectResp1::parse(frame.message)) return answer_sent(at, *answer);
  const auto fields = wire::fcvi::DeviceHeader::parse(frame.header.device_header_size(), frame.data_field());
  if (!fields) return;
  if (fields->opcode == Opcode::connect_resp2) return resp2_sent(at, wire::fcvi::ConnectResp2::from(*fields));
  if (fields->opcode == Opcode::connect_resp3) return set_up(at, fields->tot_len_or_connection_id);
  if (fields->opcode == Opcode::disconnect_rqst) return disconnect_sent(at, wire::fcvi::DisconnectRqst::from(*fields));
  message_sent(at, *fields);
}

void ScriptBuilder::read_received(std::size_t at) {
  const CapturedFrame& frame = frames_[at];
  if (const auto login = flogi_accept(frame)) {
    logged_in_ = true;
    if (login->r_a_tov_ms() != 0) r_a_tov_ = capture::Time{login->r_a_tov_ms()} * 1'000'000;
  }
  if (frame.header.s_id == wire::well_known::f_port) public_loop_interrupted(at);
  if (!frame.is_fc_vi() || frame.crc_error) return;
  if (const auto request = wire::fcvi::ConnectRqst::parse(frame.message)) {
    // The port is asked, and refuses it: no user hears of it.
    if (!request->payload.local_address.is_valid() || !request->payload.remote_address.is_valid()) return;
    Incoming& incoming = incoming_[{frame.header.s_id.value, request->connection_id.value}];
    incoming = {at, *request, false};
    return;
  }
  if (const auto answer = wire::fcvi::ConnectResp1::parse(frame.message)) return answer_received(at, *answer);
  const auto fields = wire::fcvi::DeviceHeader::parse(frame.header.device_header_size(), frame.data_field());
  if (!fields) return;
  if (fields->opcode == Opcode::connect_resp3 || fields->opcode == Opcode::disconnect_rqst)
    end_try(at, fields->tot_len_or_connection_id);
  if (fields->opcode == Opcode::connect_resp3) set_up(at, fields->tot_len_or_connection_id);
  message_received(at, *fields);
}

/// An address that the port cannot have sent.
bool ScriptBuilder::is_sound(std::size_t at, const wire::fcvi::ConnectPayload& payload) {
  const bool sound = payload.local_address.is_valid() && payload.remote_address.is_valid();
  if (!sound) fail(at, "has an address with a length that FC-VI 7.2 does not have: a replay cannot ask for it");
  return sound;
}

// --- before the set-up -------------------------------------------------------------------------------------------

void ScriptBuilder::login_sent(std::size_t at) {
  const CapturedFrame& frame = frames_[at];
  const std::string_view name = wire::message_name(frame.message_header, frame.message);
  if (name == "FLOGI" && std::exchange(logged_in_, false)) {
    if (is_with_logins(at))
      put(at, call::LinkBreak{});
    else
      script_.links_down.insert(at);
  }
  if (name == "LOGO" && frame.header.d_id == wire::well_known::f_port) {
    logged_in_ = false;
    put(at, call::LogOut{});
  }
}

/// Without a fabric ports ask each other by ADISC where a LIP came between, or log out where they have another address
/// since then (FC-VI 7.7.3). One that was not answered is repeated.
void ScriptBuilder::note_private_loop(std::size_t at) {
  const CapturedFrame& frame = frames_[at];
  const wire::FcHeader& header = frame.header;
  const wire::FcId own = frame.sent ? header.s_id : header.d_id, other = frame.sent ? header.d_id : header.s_id;
  if (own.domain() != 0 || wire::is_of_fabric(other) || header.type != wire::Type::els) return;
  const bool moved = frame.sent && own_id_ && *own_id_ != header.s_id;
  if (frame.sent) own_id_ = header.s_id;
  const std::string_view name = wire::message_name(frame.message_header, frame.message);
  const std::pair<std::uint32_t, bool> key{other.value, frame.sent == frame.by_responder()};
  const auto asked = asked_.find(key);
  if (frame.by_responder() && asked != asked_.end()) asked->second = true;
  const bool asks = name == "ADISC" && !frame.by_responder() && (frame.sent || other.domain() == 0);
  const bool anew = asks && (asked_.empty() || (asked != asked_.end() && asked->second));
  if (anew || (moved && sent_since_lip_ != 0)) {
    asked_.clear();
    sent_since_lip_ = 0;
    put(at, call::LinkBreak{});
  }
  if (frame.sent) ++sent_since_lip_;
  if (asks) asked_[key] = false;
}

/// FAN says that all is as before a LIP (FC-VI 7.7.4). What the port received since its last frame, it received perhaps
/// when that LIP was over.
void ScriptBuilder::public_loop_interrupted(std::size_t at) {
  const CapturedFrame& frame = frames_[at];
  if (!logged_in_ || wire::message_name(frame.message_header, frame.message) != "FAN") return;
  constexpr capture::Time longest = 1'000'000'000;  // less than E_D_TOV, for which FAN is waited for
  std::size_t begin = at;
  while (begin > 0 && !frames_[begin - 1].sent && time_of(at) - time_of(begin - 1) < longest) --begin;
  put(begin, call::LinkBreak{});
}

/// Who logs in anew with the fabric and was still logged in with others asks them by ADISC, or logs them out where its
/// address has changed (FC-VI 7.7.5): at once, before it hears of others.
bool ScriptBuilder::is_with_logins(std::size_t flogi) const {
  for (std::size_t at = flogi + 1; at < frames_.size(); ++at) {
    const CapturedFrame& frame = frames_[at];
    if (frame.header.type != wire::Type::els || frame.message.empty()) continue;
    const std::string_view name = wire::message_name(frame.message_header, frame.message);
    if (name == (frame.sent ? "FLOGI" : "RSCN")) return false;
    if (frame.sent && (name == "ADISC" || name == "LOGO")) return !wire::is_of_fabric(frame.header.d_id);
  }
  return false;
}

void ScriptBuilder::note_search(std::size_t at) {
  const CapturedFrame& frame = frames_[at];
  if (const auto asks = wire::ct::GidIpp::parse(frame.message); asks && frame.header.type == wire::Type::ct)
    searches_.push_back({at, asks->ip_address, {}, false});
  if (frame.header.type != wire::Type::els) return;
  if (const auto asks = wire::els::FarpRequest::parse(frame.message))
    searches_.push_back({at, asks->responding_ip, {}, false});
  const auto login = wire::els::Login::parse(frame.message);
  if (login && login->command == wire::els::Command::plogi && !wire::is_of_fabric(frame.header.d_id))
    searches_.push_back({at, std::nullopt, frame.header.d_id, false});
}

/// Where the call began that led to this frame: with the first question that was asked for its sake.
std::size_t ScriptBuilder::begin_of_call(std::size_t at, const wire::IpAddress& host, wire::FcId port) {
  std::size_t begin = at;
  for (Search& search : searches_) {
    const bool fits = search.host ? *search.host == host : search.port == port;
    if (!std::exchange(search.used, search.used || fits) && fits) begin = std::min(begin, search.at);
  }
  return begin;
}

// --- set-ups -----------------------------------------------------------------------------------------------------

std::size_t ScriptBuilder::vi_of(const wire::fcvi::ConnectPayload& own) {
  const auto [known, is_new] = by_own_handle_.try_emplace(own.handle.value, script_.vis.size());
  if (!is_new) return known->second;
  ViSpec spec;
  spec.handle = own.handle;
  if (const auto attributes = fcvi::from_wire(own.local_attributes)) spec.attributes = *attributes;
  spec.options.preference = own.local_attributes.qos.pref != 0;
  script_.vis.push_back(std::move(spec));
  disconnected_.push_back(false);
  return known->second;
}

std::size_t ScriptBuilder::add_outgoing(std::size_t vi, std::size_t begin, std::size_t at, bool peer_to_peer,
                                        const vi::NetAddress& local, const vi::NetAddress& remote) {
  Outgoing call;
  call.vi = vi;
  call.begin = begin;
  call.last = at;
  call.peer_to_peer = peer_to_peer;
  call.local = local;
  call.remote = remote;
  outgoing_.push_back(call);
  return call_of_[vi] = outgoing_.size() - 1;
}

void ScriptBuilder::request_sent(std::size_t at, const wire::fcvi::ConnectRqst& request) {
  const CapturedFrame& frame = frames_[at];
  const bool is_new = !by_own_handle_.contains(request.payload.handle.value);
  const std::size_t vi = vi_of(request.payload);
  const std::size_t begin = begin_of_call(at, request.payload.remote_address.host, frame.header.d_id);
  if (is_new)
    add_outgoing(vi, begin, at, request.mode == ConnectMode::peer_to_peer, fcvi::local_address(request.payload),
                 fcvi::remote_address(request.payload));
  const std::size_t call = call_of_.at(vi);
  outgoing_[call].last = at;
  tries_[request.connection_id.value] = {call, at, frame.header.ox_id, {}, {}};
  ++outgoing_[call].tries;
  vi_by_setup_[{frame.header.s_id.value, request.connection_id.value}] = vi;
}

std::size_t ScriptBuilder::wait_before(Incoming& incoming, const vi::NetAddress& local) {
  incoming.waited = true;
  put(incoming.at, call::Wait{waits_, local});
  return waits_++;
}

void ScriptBuilder::answer_sent(std::size_t at, const wire::fcvi::ConnectResp1& answer) {
  const auto found = incoming_.find({frames_[at].header.d_id.value, answer.connection_id.value});
  if (found == incoming_.end()) return;
  if (answer.status)
    refused(at, found->second, answer.status->reason);
  else
    accepted(at, found->second, answer);
}

void ScriptBuilder::accepted(std::size_t at, Incoming& incoming, const wire::fcvi::ConnectResp1& answer) {
  const wire::fcvi::ConnectPayload& theirs = incoming.request.payload;
  const wire::FcId peer = frames_[at].header.d_id;
  const bool is_new = !by_own_handle_.contains(answer.payload.handle.value);
  const std::size_t vi = vi_of(answer.payload);
  by_peer_handle_[{peer.value, theirs.handle.value}] = vi;
  vi_by_setup_[{peer.value, answer.connection_id.value}] = vi;
  const bool peer_to_peer = incoming.request.mode == ConnectMode::peer_to_peer;
  if (peer_to_peer && is_new) {
    const std::size_t begin = begin_of_call(incoming.at, theirs.local_address.host, peer);
    add_outgoing(vi, begin, at, true, fcvi::remote_address(theirs), fcvi::local_address(theirs));
  }
  if (peer_to_peer) outgoing_[call_of_.at(vi)].last = at;
  incoming.waited = true;
  if (peer_to_peer || !is_new) return;
  const std::size_t wait = wait_before(incoming, fcvi::remote_address(theirs));
  put(at, call::Accept{vi, wait});
}

void ScriptBuilder::refused(std::size_t at, Incoming& incoming, Reason reason) {
  const bool peer_to_peer = incoming.request.mode == ConnectMode::peer_to_peer;
  const vi::NetAddress asked = fcvi::remote_address(incoming.request.payload);
  incoming.waited = true;
  if (peer_to_peer && reason == Reason::no_waiting_remote_connectionpoint) nobody_waited(incoming.at);
  if (peer_to_peer && reason == Reason::no_discriminator_match) somebody_waited(at);
  if (peer_to_peer) return;
  if (reason == Reason::connect_reject) put(at, call::Reject{wait_before(incoming, asked)});
  if (reason != Reason::no_discriminator_match) return;
  put(at, call::Withdraw{wait_before(incoming, another(asked))});
}

/// Requests of peers that were in the pool had run out of time, or were answered, when that request came.
void ScriptBuilder::nobody_waited(std::size_t at) {
  for (Outgoing& call : outgoing_)
    if (call.peer_to_peer && !call.decided && !call.deadline) call.deadline = time_of(at) - 1;
}

void ScriptBuilder::somebody_waited(std::size_t at) {
  for (auto call = outgoing_.rbegin(); call != outgoing_.rend(); ++call) {
    if (!call->peer_to_peer || call->decided) continue;
    call->last = at;
    return;
  }
}

void ScriptBuilder::answer_received(std::size_t at, const wire::fcvi::ConnectResp1& answer) {
  const auto found = tries_.find(answer.connection_id.value);
  if (found == tries_.end()) return;
  Outgoing& call = outgoing_[found->second.call];
  call.last = at;
  if (answer.status) return;
  by_peer_handle_[{frames_[at].header.s_id.value, answer.payload.handle.value}] = call.vi;
}

void ScriptBuilder::resp2_sent(std::size_t at, const wire::fcvi::ConnectResp2& answer) {
  const auto found = tries_.find(answer.connection_id.value);
  if (found == tries_.end()) return;
  Outgoing& call = outgoing_[found->second.call];
  const bool late = answer.status && answer.status->reason == Reason::connect_timeout;
  if (late && !call.deadline) call.deadline = time_of(std::min(call.last, at)) - 1;  // when RESP1 came it was over
  if (!call.peer_to_peer || answer.handle != wire::FcviHandle::unassigned) call.decided = true;
}

/// By RESP3, at either end.
void ScriptBuilder::set_up(std::size_t at, std::uint32_t connection_id) {
  const auto found = vi_by_setup_.find({frames_[at].header.d_id.value, connection_id});
  if (found != vi_by_setup_.end()) script_.vis[found->second].connected_at = at + 1;
}

void ScriptBuilder::abort_sent(std::size_t at) {
  const CapturedFrame& frame = frames_[at];
  if (frame.by_responder()) return;
  for (auto& [id, attempt] : tries_)
    if (attempt.ox_id == frame.header.ox_id && attempt.at < at && !attempt.aborted_at) attempt.aborted_at = at;
}

void ScriptBuilder::disconnect_sent(std::size_t at, const wire::fcvi::DisconnectRqst& request) {
  const wire::FcHeader& header = frames_[at].header;
  std::optional<std::size_t> vi = vi_at(header, request.handle);
  if (vi && request.status) refuse_message(*vi, request.last_msg_id.value + 1, causes_of(request.status->reason));
  if (!request.vi_app_discon) return;
  if (!vi && request.conn_setup_abort) {
    for (const std::uint32_t port : {header.s_id.value, header.d_id.value})
      if (const auto found = vi_by_setup_.find({port, request.connection_id.value}); found != vi_by_setup_.end())
        vi = found->second;
  }
  if (!vi || disconnected_[*vi]) return;
  disconnected_[*vi] = true;
  if (const auto call = call_of_.find(*vi); call != call_of_.end()) outgoing_[call->second].decided = true;
  put(at, call::Disconnect{*vi});
}

std::optional<std::size_t> ScriptBuilder::vi_at(const wire::FcHeader& header, wire::FcviHandle peers) const {
  const auto found = by_peer_handle_.find({header.d_id.value, peers.value});
  return found == by_peer_handle_.end() ? std::nullopt : std::optional(found->second);
}

// --- what the frames do not say ----------------------------------------------------------------------------------

/// A first try that nobody answers is aborted and tried again, but where the time of the call is over by then.
void ScriptBuilder::end_tries() {
  for (const auto& [id, attempt] : tries_) {
    Outgoing& call = outgoing_[attempt.call];
    if (!attempt.aborted_at || call.tries > 1 || call.peer_to_peer || call.decided || call.deadline) continue;
    const bool nothing_came =
        *attempt.aborted_at > 0 && time_of(*attempt.aborted_at - 1) < time_of(*attempt.aborted_at);
    if (nothing_came) call.deadline = time_of(*attempt.aborted_at) - 1;
  }
}

void ScriptBuilder::end_try(std::size_t at, std::uint32_t connection_id) {
  const auto found = tries_.find(connection_id);
  if (found != tries_.end() && !found->second.ended_at) found->second.ended_at = at;
}

/// How long a set-up was left open tells FCVI_ULP_TIMEOUT, or that it is longer than that.
void ScriptBuilder::measure_patience() {
  constexpr capture::Time margin = 500'000'000;
  for (const auto& [id, attempt] : tries_) {
    const std::size_t end =
        std::min(attempt.aborted_at.value_or(frames_.size() - 1), attempt.ended_at.value_or(frames_.size() - 1));
    const capture::Time open = time_of(end) - time_of(attempt.at);
    const bool expired = attempt.aborted_at == end && time_of(end - 1) < time_of(end);
    if (expired && open > margin && std::abs(open - r_a_tov_) > margin && script_.ulp_timeout == 0)
      script_.ulp_timeout = open;
    if (!expired && open > r_a_tov_ + margin) script_.ulp_timeout = std::max(script_.ulp_timeout, open + margin);
  }
}

/// A peer asks again as long as its call lasts: silence means that its time was over.
void ScriptBuilder::end_call(Outgoing& call) {
  constexpr capture::Time patience = 5'000'000'000, search_interval = 10'000'000'000;
  if (call.peer_to_peer && !call.decided && !call.deadline && !frames_.empty() &&
      frames_.back().at > time_of(call.last) + search_interval)
    call.deadline = time_of(call.last) + patience;
  runtime::TimeNs timeout = runtime::never;
  if (call.deadline) timeout = std::max<capture::Time>(*call.deadline - time_of(call.begin), 1);
  put(call.begin, call::Connect{call.vi, call.local, call.remote, call.peer_to_peer, timeout});
}

/// Nothing was answered: somebody waited, and did not decide.
void ScriptBuilder::end_unanswered_request(Incoming& incoming) {
  if (incoming.waited || incoming.request.mode != ConnectMode::client_server) return;
  const std::size_t wait = wait_before(incoming, fcvi::remote_address(incoming.request.payload));
  put(incoming.at + 1, call::Withdraw{wait});
}

void ScriptBuilder::end_calls() {
  end_tries();
  measure_patience();
  for (Outgoing& call : outgoing_) end_call(call);
  for (auto& [key, incoming] : incoming_) end_unanswered_request(incoming);
}

/// Calls whose peer was not found.
void ScriptBuilder::lost_searches() {
  for (const Search& search : searches_) {
    if (search.used || !search.host) continue;
    begin_of_call(search.at, *search.host, {});
    script_.vis.emplace_back();
    put(search.at,
        call::Connect{script_.vis.size() - 1, {}, vi::NetAddress::make(*search.host, {}), false, runtime::never});
  }
}

/// A port is logged in with once for all FC-4s: where no set-up did it, another one's user did.
void ScriptBuilder::other_logins() {
  for (const Search& search : searches_)
    if (!search.used && !search.host && other_users_.contains(search.port.value))
      put(search.at, call::LogIn{search.port});
}

}  // namespace sim::replay
