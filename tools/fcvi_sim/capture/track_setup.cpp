// The tracker: set-ups and Disconnects.
#include "tools/fcvi_sim/capture/tracker.hpp"
#include "wire/fcvi/flags.hpp"
#include "wire/text.hpp"

namespace sim::capture {
namespace {
namespace fcvi = wire::fcvi;
using violations::Violation;

constexpr std::uint32_t unassigned = wire::FcviHandle::unassigned.value;
constexpr std::size_t most_parts = 64;  // frames of a payload that is at most 596 bytes

std::string hex(std::uint32_t value) { return wire::text::hex_h(value, 8); }
std::string in_frame(std::uint64_t number) { return "in frame " + std::to_string(number); }

/// The parts in order, as far as they join.
std::vector<std::uint8_t> joined(const Exchange::Parts& parts) {
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < *parts.size) {
    const auto part = parts.by_offset.find(static_cast<std::uint32_t>(bytes.size()));
    if (part == parts.by_offset.end() || part->second.empty()) break;
    bytes.insert(bytes.end(), part->second.begin(), part->second.end());
  }
  return bytes;
}

struct Payload {
  std::vector<std::uint8_t> bytes;
  std::size_t size = 0;  // on the wire
};

/// The payload of an IU of several frames, put together by relative offset. nullopt: not whole yet.
std::optional<Payload> control_payload(Exchange& exchange, const IuFrame& iu) {
  const std::uint32_t offset = iu.header.parameter;
  const std::vector<std::uint8_t> own(iu.payload_data.begin(), iu.payload_data.end());
  if (offset == 0 && iu.ends_sequence()) return Payload{own, iu.payload};
  Exchange::Parts& parts = exchange.parts[iu.opcode()];
  const bool known = parts.by_offset.contains(offset);
  if (!known && parts.by_offset.size() == most_parts) return std::nullopt;
  if (!known) parts.bytes += iu.payload;
  parts.by_offset[offset] = own;
  if (iu.ends_sequence()) parts.size = offset + iu.payload;
  if (!parts.size || parts.bytes < *parts.size) return std::nullopt;
  return Payload{joined(parts), *parts.size};
}

/// Whether the payload is there and whole; its values are then in record.payload.
bool read_payload(Exchange& exchange, const IuFrame& iu, Record& record) {
  const auto payload = control_payload(exchange, iu);
  if (!payload || !check::payload_length(iu, payload->size, record)) return false;
  if (payload->bytes.size() < fcvi::ConnectPayload::layout.size()) return false;
  record.payload = wire::codec::read<fcvi::ConnectPayload>(payload->bytes.data());
  check::connect(payload->bytes, *record.payload, record);
  return true;
}

/// A length that no address has is told of by itself.
bool same_address(const fcvi::NetAddress& one, const fcvi::NetAddress& other) {
  const bool same_length =
      one.discriminator_length == other.discriminator_length || !one.is_valid() || !other.is_valid();
  return same_length && one.host == other.host && one.discriminator == other.discriminator;
}

/// Whether there is a gap in front of the frame, which is noted. `begins`: it is the first frame of the Exchange.
bool has_gap(const std::optional<Exchange::Side>& before, const IuFrame& iu, bool begins, Record& record) {
  const bool in_sequence = before && before->in_sequence;
  const auto count = static_cast<std::uint16_t>(before ? before->count + 1 : 0);
  const std::uint64_t offset = in_sequence ? before->offset : 0;
  const wire::FcHeader& header = iu.header;
  if ((before || begins) && header.seq_cnt.value != count) {
    record.note(Violation::seq_cnt_gap, expected(count, header.seq_cnt.value));
    return true;
  }
  if (iu.payload > 0 && header.parameter != offset) {
    record.note(Violation::offset_gap, expected(offset, header.parameter));
    return true;
  }
  if (in_sequence && header.seq_id.value != before->seq_id)
    record.note(Violation::wrong_seq_id, wire::text::hex_h(header.seq_id.value, 2) + ", without End_Sequence of " +
                                             wire::text::hex_h(before->seq_id, 2));
  return false;
}

/// RETRY and FCVI_CONNECTION_ID of an answer are those of the request (FC-VI 5.9.4.5, 5.9.10).
void echoes(const Setup& setup, const IuFrame& iu, Record& record) {
  if (iu.retry() != setup.retry)
    record.note(Violation::wrong_retry, iu.retry() ? "set, but not in the request" : "not set as in the request");
  if (iu.last_word() != setup.id)
    record.note(Violation::wrong_connection_id, hex(iu.last_word()) + ", the request's is " + hex(setup.id));
}

void not_yet_assigned(const IuFrame& iu, Record& record) {
  if (iu.fields.handle.value != unassigned)
    record.note(Violation::wrong_handle, to_string(iu.fields.handle) + ", not yet assigned is FFFFFFFFh");
}

/// The handle of RESP3. What came to nothing may be acknowledged with either handle (FC-VI 5.3.3).
std::optional<std::uint32_t> handle_of_resp3(const Setup& setup, const IuFrame& iu) {
  const bool made = setup.accepted && !setup.refused_by_originator;
  if (!made && iu.fields.handle.value == unassigned) return std::nullopt;
  return setup.payload ? std::optional(setup.handle) : std::nullopt;
}

void judge_handle(std::optional<std::uint32_t> wanted, const IuFrame& iu, Record& record) {
  if (wanted && iu.fields.handle.value != *wanted)
    record.note(Violation::wrong_handle, to_string(iu.fields.handle) + ", the receiver's is " + hex(*wanted));
}

/// At Reliable Reception the last message that was completed has been answered.
void completed(const IuFrame& iu, Record& record, const Endpoint* one) {
  const Endpoint* other = one == nullptr ? nullptr : one->peer;
  const std::uint32_t id = iu.fields.msg_id.value;
  if (other == nullptr || id == 0 || one->connection->implied ||
      one->connection->level != fcvi::ReliabilityLevel::reliable_reception)
    return;
  const auto answered = [id](const Endpoint& end) {
    const auto found = end.messages.find(id);
    return found != end.messages.end() && found->second->answered != 0;
  };
  if (!answered(*one) && !answered(*other))
    record.note(Violation::early_completion, "message " + std::to_string(id) + " has no response");
}

}  // namespace

/// SEQ_CNT goes on over the IUs of an Exchange that one side sends (FC-VI 5.8.6), the relative offset over the frames
/// of an IU. What the originator sends first begins at 0. Behind a gap all is judged as if the capture began there.
void Tracker::goes_on(Exchange& exchange, const IuFrame& iu, Record& record, bool begins) {
  std::optional<Exchange::Side>& side = exchange.sides[iu.responder() ? 1 : 0];
  const bool gap = in_order_ && has_gap(side, iu, begins, record);
  side = {iu.header.seq_cnt.value, std::uint64_t{iu.header.parameter} + iu.payload, iu.header.seq_id.value,
          !iu.ends_sequence()};
  if (gap && !exchange.disconnect) lose_track(iu.header);
}

// --- Connection Setup

void Tracker::later_of(const Setup* earlier, const Setup& setup, Record& record) const {
  if (setup.retry && earlier == nullptr)
    record.note(Violation::wrong_retry, "RETRY is set, but this is the first try");
  else if (!setup.retry && earlier != nullptr && !earlier->ended)
    record.note(Violation::wrong_retry, "not set, but frame " + std::to_string(earlier->number) + " has the first try");
  else if (earlier != nullptr && earlier->id == setup.id)
    record.note(Violation::wrong_connection_id, hex(setup.id) + " as " + in_frame(earlier->number));
  if (setup.retry && earlier != nullptr) record.retry_of = earlier->number;
}

void Tracker::connect_request(const IuFrame& iu, Record& record) {
  ExchangePtr& exchange = exchange_of(iu.header);
  // An earlier one with that OX_ID may not have become whole.
  const bool anew = in_order_ && iu.header.seq_cnt.value == 0 && iu.header.parameter == 0;
  if (!exchange || !exchange->setup || exchange->setup->payload || anew) {
    exchange = new_exchange(iu, record);
    exchange->setup = std::make_shared<Setup>();
    Setup& made = *exchange->setup;
    made.id = iu.last_word();
    made.retry = iu.retry();
    made.from = iu.header.s_id.value;
    made.to = iu.header.d_id.value;
    made.number = record.number;
  }
  const std::shared_ptr<Setup> setup = exchange->setup;
  record.exchange = exchange;
  record.setup = setup;
  goes_on(*exchange, iu, record, is_whole(iu.header));
  not_yet_assigned(iu, record);
  const auto mode = static_cast<fcvi::ConnectMode>(iu.flags & fcvi::connect_request_flag::mode_mask);
  if (iu.header.parameter == 0 && to_string(mode) == wire::text::unknown)
    record.note(Violation::wrong_mode, std::to_string(static_cast<unsigned>(mode)));
  if (!read_payload(*exchange, iu, record)) {
    if (iu.is_cut) lose_track(iu.header);  // with the handle
    return;
  }
  setup->payload = record.payload;
  setup->handle = record.payload->handle.value;
  exchange->words = "id " + hex(setup->id);
  if (setup->id == unassigned) record.note(Violation::wrong_connection_id, "FFFFFFFFh is unassigned");
  if (setup->handle == unassigned) record.note(Violation::wrong_handle, "FCVI_RQST_HANDLE is not assigned");
  std::shared_ptr<Setup>& latest = setups_[std::uint64_t{setup->from} << 32 | setup->handle];
  // A login ends what was before it; the retry may go under a new one (ruling 177).
  if (latest && latest->number < login_of(iu.header) && !setup->retry) latest = nullptr;
  if (latest || is_whole(iu.header)) later_of(latest.get(), *setup, record);
  latest = setup;
}

void Tracker::connect(Setup& setup, const IuFrame& iu, Record& record) {
  const fcvi::ConnectPayload &own = *setup.payload, &payload = *record.payload;
  Endpoint* one = endpoint(setup.from, setup.handle);
  Endpoint* other = endpoint(iu.header.s_id.value, payload.handle.value);
  Connection* connection = nullptr;
  if (one != nullptr && other != nullptr && one->peer == other) {  // a retry after the last answer was lost
    connection = one->connection;
  } else {
    connection = new_connection();
    one = add_endpoint(setup.from, setup.handle, connection);
    other = add_endpoint(iu.header.s_id.value, payload.handle.value, connection);
    one->peer = other;
    other->peer = one;
  }
  one->attributes = own.local_attributes;
  other->attributes = payload.local_attributes;
  one->address = own.local_address;
  other->address = own.remote_address;
  connection->originator = one;
  connection->responder = other;
  connection->level = own.local_attributes.reliability_level;
  connection->window =
      std::uint64_t{1} + std::min(own.local_attributes.qos.pipeline_depth, payload.local_attributes.qos.pipeline_depth);
  setup.connection = record.connection = connection;
}

/// What RESP1 says to a request whose payload is known.
void Tracker::judge_answer(Setup& setup, const IuFrame& iu, Record& record) {
  const fcvi::ConnectPayload &payload = *record.payload, &asked = *setup.payload;
  if (!same_address(payload.local_address, asked.remote_address) ||
      !same_address(payload.remote_address, asked.local_address))
    record.note(Violation::wrong_answer, "the addresses are not those of the request");
  setup.accepted = !iu.conn_sts();
  setup.has_answer = true;
  setup.resp_handle = payload.handle.value;
  if (!setup.accepted) {
    setup.ended = true;
    if (setup.resp_handle != unassigned)
      record.note(Violation::wrong_handle, "FCVI_RESP_HANDLE of a set-up that is not accepted");
    return;
  }
  if (setup.resp_handle == unassigned) return record.note(Violation::wrong_handle, "FCVI_RESP_HANDLE is not assigned");
  const auto level = payload.local_attributes.reliability_level, wanted = asked.local_attributes.reliability_level;
  if (level != wanted)
    record.note(Violation::wrong_answer,
                std::string(to_string(level)) + ", asked for " + std::string(to_string(wanted)));
  connect(setup, iu, record);
}

void Tracker::connect_resp1(const IuFrame& iu, Record& record) {
  ExchangePtr& exchange = exchange_of(iu.header);
  const std::shared_ptr<Setup> setup = exchange ? exchange->setup : nullptr;
  not_yet_assigned(iu, record);
  if (!setup) {
    if (is_whole(iu.header)) record.note(Violation::no_request);
    if (!exchange) exchange = new_exchange(iu, record);
    record.exchange = exchange;
    read_payload(*exchange, iu, record);
    return;
  }
  record.exchange = exchange;
  record.setup = setup;
  record.request = exchange->number;
  record.request_time = exchange->time;
  const bool begins = iu.header.parameter == 0;
  if (setup->resp1 != 0 && begins) return record.note(Violation::repeated_answer, in_frame(setup->resp1));
  goes_on(*exchange, iu, record, false);
  if (begins) {
    setup->resp1 = record.number;
    echoes(*setup, iu, record);
  }
  const bool is_read = read_payload(*exchange, iu, record);
  if (!is_read && iu.is_cut) lose_track(iu.header);
  if (!is_read || !setup->payload) return;
  if (exchange->response == 0) exchange->response = record.number;
  judge_answer(*setup, iu, record);
}

/// RESP2 and RESP3; `before` is the answer that must have come.
std::shared_ptr<Setup> Tracker::later_answer(const IuFrame& iu, Record& record, std::uint64_t Setup::*before,
                                             std::string_view before_name, std::uint64_t Setup::*which) {
  const ExchangePtr exchange = exchange_of(iu.header);
  const std::shared_ptr<Setup> setup = exchange ? exchange->setup : nullptr;
  record.exchange = exchange;
  if (!setup || (*setup).*before == 0) {
    if (setup)
      record.note(Violation::no_request, "there was no " + std::string(before_name));
    else if (is_whole(iu.header))
      record.note(Violation::no_request);
    return nullptr;
  }
  record.setup = setup;
  record.connection = setup->connection;
  record.request = exchange->number;
  record.request_time = exchange->time;
  if ((*setup).*which != 0) {
    record.note(Violation::repeated_answer, in_frame((*setup).*which));
    return nullptr;
  }
  (*setup).*which = record.number;
  goes_on(*exchange, iu, record, false);
  echoes(*setup, iu, record);
  return setup;
}

void Tracker::connect_resp2(const IuFrame& iu, Record& record) {
  const auto setup = later_answer(iu, record, &Setup::resp1, "FCVI_CONNECT_RESP1", &Setup::resp2);
  if (!setup) return;
  judge_handle(setup->has_answer ? std::optional(setup->resp_handle) : std::nullopt, iu, record);
  if (iu.conn_sts()) setup->refused_by_originator = setup->ended = true;
}

void Tracker::connect_resp3(const IuFrame& iu, Record& record) {
  const auto setup = later_answer(iu, record, &Setup::resp2, "FCVI_CONNECT_RESP2", &Setup::resp3);
  if (!setup) return;
  judge_handle(handle_of_resp3(*setup, iu), iu, record);
  setup->ended = true;
}

// --- Disconnect

void Tracker::end_setups(std::uint32_t port, std::uint32_t id) {
  for (const auto& [owner, setup] : setups_)
    if (setup->id == id && (setup->from == port || setup->to == port)) setup->ended = true;
}

void Tracker::disconnect_request(const IuFrame& iu, Record& record) {
  ExchangePtr& exchange = exchange_of(iu.header);
  exchange = new_exchange(iu, record);
  Disconnect& disconnect = exchange->disconnect.emplace();
  disconnect.flags = iu.flags;
  disconnect.id = iu.last_word();
  disconnect.aborts = iu.aborts_setup();
  record.exchange = exchange;
  goes_on(*exchange, iu, record, true);
  if (disconnect.aborts)
    end_setups(iu.header.s_id.value, iu.last_word());
  else if (iu.last_word() != 0 && iu.last_word() != unassigned)
    record.note(Violation::wrong_connection_id, hex(iu.last_word()) + ", of an established connection it is 0");
  if (iu.fields.handle.value == unassigned) {
    if (!disconnect.aborts) record.note(Violation::wrong_handle, "FFFFFFFFh is not assigned");
    return;
  }
  Endpoint* to = endpoint(iu.header.d_id.value, iu.fields.handle.value);
  if (to == nullptr) {
    if (is_whole(iu.header) && !disconnect.aborts) record.note(Violation::unknown_handle, to_string(iu.fields.handle));
    return;
  }
  disconnect.to = to;
  record.connection = to->connection;
  completed(iu, record, to);
  if (to->peer != nullptr && !disconnect.aborts) to->peer->closed = record.number;
}

void Tracker::end_of_disconnect(Disconnect& request, const IuFrame& iu, Record& record) {
  Endpoint* to = request.to;
  const bool assigned = iu.fields.handle.value != unassigned;
  record.connection = to->connection;
  if (to->peer != nullptr) {
    if (assigned && iu.fields.handle.value != to->peer->handle)
      record.note(Violation::wrong_handle,
                  to_string(iu.fields.handle) + ", the originator's is " + hex(to->peer->handle));
  } else if (assigned) {
    learn_peer(to, iu.header.d_id.value, iu.fields.handle.value, record);
  }
  completed(iu, record, to);
  if (to->closed == 0) to->closed = record.number;
}

void Tracker::disconnect_response(const IuFrame& iu, Record& record) {
  const ExchangePtr exchange = exchange_of(iu.header);
  record.exchange = exchange;
  if (!exchange || !exchange->disconnect) {
    if (is_whole(iu.header)) record.note(Violation::no_request);
    return;
  }
  Disconnect& request = *exchange->disconnect;
  record.request = exchange->number;
  record.request_time = exchange->time;
  if (request.answered != 0) return record.note(Violation::repeated_answer, in_frame(request.answered));
  request.answered = exchange->response = record.number;
  constexpr std::uint8_t echoed = fcvi::disconnect_flag::conn_setup_abort | fcvi::disconnect_flag::vi_app_discon;
  if (((iu.flags ^ request.flags) & echoed) != 0)
    record.note(Violation::wrong_answer, "CONN_SETUP_ABORT and VI_APP_DISCON are not those of the request");
  if (iu.last_word() != request.id)
    record.note(Violation::wrong_connection_id, hex(iu.last_word()) + ", the request's is " + hex(request.id));
  if (request.to != nullptr) end_of_disconnect(request, iu, record);
}

}  // namespace sim::capture
