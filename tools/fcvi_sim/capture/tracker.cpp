#include "tools/fcvi_sim/capture/tracker.hpp"

#include "wire/header_fields.hpp"

namespace sim::capture {
namespace {
namespace fcvi = wire::fcvi;
constexpr std::size_t most_seen = 32768;
}  // namespace

// --- what is known about ports and handles

std::uint64_t Tracker::pair_of(std::uint32_t a, std::uint32_t b) {
  return std::uint64_t{std::min(a, b)} << 24 | std::max(a, b);
}

/// The login of the two ports is in the capture: what they say afterwards is known from its beginning.
bool Tracker::is_whole(const wire::FcHeader& header) const {
  return logins_.contains(pair_of(header.s_id.value, header.d_id.value));
}

/// Its responder is part of the key, since OX_IDs count for each pair of ports.
std::uint64_t Tracker::key_of(const wire::FcHeader& header) {
  const bool responder = header.has(wire::f_ctl::exchange_responder);
  const std::uint64_t from = header.s_id.value, to = header.d_id.value;
  return (responder ? to : from) << 40 | (responder ? from : to) << 16 | header.ox_id.value;
}

std::uint64_t Tracker::login_of(const wire::FcHeader& header) const {
  const auto found = begun_.find(pair_of(header.s_id.value, header.d_id.value));
  return found == begun_.end() ? 0 : found->second;
}

/// A login ends the Exchanges before it.
Tracker::ExchangePtr& Tracker::exchange_of(const wire::FcHeader& header) {
  ExchangePtr& exchange = exchanges_[key_of(header)];
  if (exchange && exchange->number < login_of(header)) exchange = nullptr;
  return exchange;
}

Tracker::ExchangePtr Tracker::new_exchange(const IuFrame& iu, const Record& record) {
  auto exchange = std::make_shared<Exchange>();
  exchange->number = record.number;
  exchange->time = record.time;
  exchange->iu = iu.iu;
  return exchange;
}

Endpoint* Tracker::endpoint(std::uint32_t port, std::uint32_t handle) {
  const auto handles = ports_.find(port);
  if (handles == ports_.end()) return nullptr;
  const auto found = handles->second.find(handle);
  return found == handles->second.end() ? nullptr : found->second;
}

Endpoint* Tracker::add_endpoint(std::uint32_t port, std::uint32_t handle, Connection* connection) {
  Endpoint& made = endpoints_.emplace_back();
  made.port = port;
  made.handle = handle;
  made.connection = connection;
  ports_[port][handle] = &made;
  return &made;
}

Connection* Tracker::new_connection() {
  Connection& made = connections_.emplace_back();
  made.index = connections_.size();
  return &made;
}

/// An endpoint of which the capture has no set-up. Its other end is learnt from answers.
Endpoint* Tracker::implied_endpoint(std::uint32_t port, std::uint32_t handle) {
  Connection* connection = new_connection();
  connection->implied = true;
  return add_endpoint(port, handle, connection);
}

/// Of an implied connection the other end becomes known.
void Tracker::learn_peer(Endpoint* one, std::uint32_t port, std::uint32_t handle, Record& record) {
  Endpoint* other = endpoint(port, handle);
  if (other == nullptr)
    other = add_endpoint(port, handle, one->connection);
  else if (other->peer != nullptr)
    return;
  else
    other->connection = one->connection;
  one->peer = other;
  other->peer = one;
  record.connection = one->connection;
}

// --- frames that were seen before: copies are found by their headers

Tracker::Ptr Tracker::seen_before(const std::string& raw) const {
  if (const auto found = seen_.find(raw); found != seen_.end()) return found->second;
  const auto found = seen_before_.find(raw);
  return found == seen_before_.end() ? nullptr : found->second;
}

/// What has the bytes of a frame before the login is its copy only where that frame was not seen yet: the ids are used
/// anew.
Tracker::Ptr Tracker::copied(const std::string& raw, const IuFrame& iu, View view) const {
  const Ptr first = seen_before(raw);
  if (!first || first->number >= login_of(iu.header)) return first;
  return view == View::unknown || first->seen[static_cast<std::size_t>(view)] ? nullptr : first;
}

void Tracker::remember(std::string raw, const Ptr& record) {
  seen_[std::move(raw)] = record;
  if (seen_.size() < most_seen) return;
  seen_before_ = std::move(seen_);
  seen_.clear();
}

/// The same frame at another place: what is wrong with it is wrong here too, but for gaps, which each view has for
/// itself.
void Tracker::copy(Record& first, const IuFrame& iu, Record& record, View view) {
  const MessagePtr& message = first.message;
  record.message = message;
  record.open = first.open;
  record.same = first.number;
  if (!message || first.answers) {
    record.connection = first.connection;
    record.exchange = first.exchange;
    record.setup = first.setup;
    record.request = first.request;
    record.request_time = first.request_time;
    record.payload = first.payload;
    record.retry_of = first.retry_of;
    record.answers = first.answers;
  }
  const std::size_t notes = first.has_own_notes ? first.own_notes : first.notes.size();
  record.notes.assign(first.notes.begin(), first.notes.begin() + static_cast<std::ptrdiff_t>(notes));
  bool& seen = first.seen[static_cast<std::size_t>(view)];
  if (seen) {
    // At one more place on its way, or a frame that the fabric made two of: a capture does not tell.
    if (message) record.flow = first.flow;
    return;
  }
  seen = true;
  if (!message || !first.flow) return;
  if (first.answers)
    response_in_view(*message, iu, view, record);
  else
    request_in_view(*message, iu, view, record);
}

// --- the entrance

void Tracker::handle(const IuFrame& iu, Record& record, View view) {
  switch (iu.opcode()) {
    case fcvi::Opcode::send_rqst:
    case fcvi::Opcode::write_rqst:
    case fcvi::Opcode::read_rqst: return message_request(iu, record, view);
    case fcvi::Opcode::send_resp:
    case fcvi::Opcode::write_resp:
    case fcvi::Opcode::read_resp: return message_response(iu, record, view);
    case fcvi::Opcode::connect_rqst: return connect_request(iu, record);
    case fcvi::Opcode::connect_resp1: return connect_resp1(iu, record);
    case fcvi::Opcode::connect_resp2: return connect_resp2(iu, record);
    case fcvi::Opcode::connect_resp3: return connect_resp3(iu, record);
    case fcvi::Opcode::disconnect_rqst: return disconnect_request(iu, record);
    case fcvi::Opcode::disconnect_resp: return disconnect_response(iu, record);
  }
}

Tracker::Ptr Tracker::new_record(std::uint64_t number, Time time) {
  auto record = std::make_shared<Record>();
  record->number = number;
  record->time = time;
  return record;
}

Tracker::Ptr Tracker::read_iu(const Frame& frame, std::uint64_t number, Time time, View view) {
  Ptr record = new_record(number, time);
  if (!frame.counts()) return record;  // no port takes it: it is shown, and nothing follows from it
  record->seen[static_cast<std::size_t>(view)] = true;
  IuFrame iu = iu_of(frame);
  const MessagePtr message = continued(iu);
  if (!message) read_device_header(iu);
  std::string raw(iu.raw.begin(), iu.raw.end());
  if (const Ptr first = copied(raw, iu, view)) {
    copy(*first, iu, *record, view);
    return record;
  }
  remember(std::move(raw), record);
  if (message)
    continue_message(message, iu, *record, view);
  else if (check::header(iu, *record))
    handle(iu, *record, view);
  else if (iu.is_cut && !iu.has_header)
    unreadable(iu.header);
  return record;
}

Tracker::Ptr Tracker::read(const Frame& frame, std::uint64_t number, Time time, View view, bool again) {
  if (frame.is_fc_vi()) return read_iu(frame, number, time, view);
  if (frame.counts()) {
    const wire::RCtl r_ctl = frame.header->r_ctl;
    if (!again && (r_ctl == wire::RCtl::els_request || r_ctl == wire::RCtl::els_reply))
      extended_link_service(frame, number);
    const unsigned routing = static_cast<unsigned>(r_ctl) >> 4;
    if (routing == 0x8 || routing == 0xC) return link_service(frame, number, time);
  }
  return new_record(number, time);
}

/// Requests of a set-up or a Disconnect are tries, which a later one refers to. ABTS tells what a request was.
void Tracker::try_lost(const IuFrame& iu, Record& record) {
  const bool begins = iu.header.has(wire::f_ctl::first_sequence) && iu.header.seq_cnt.value == 0;
  if (iu.opcode() == fcvi::Opcode::connect_rqst) {
    connect_request(iu, record);
  } else if (iu.opcode() == fcvi::Opcode::disconnect_rqst) {
    disconnect_request(iu, record);
  } else if (begins && iu.iu->category == fcvi::Category::message_request) {
    exchange_of(iu.header) = new_exchange(iu, record);
    exchange_of(iu.header)->unknown = true;
  }
  record.notes.clear();  // nobody sees them
}

Tracker::Ptr Tracker::read_lost(const Frame& frame, std::uint64_t number, Time time) {
  const unsigned routing = static_cast<unsigned>(frame.header->r_ctl) >> 4;
  if (routing == 0x8 || routing == 0xC) return link_service(frame, number, time);
  Ptr record = new_record(number, time);
  if (!frame.is_fc_vi() || !frame.counts()) return record;
  IuFrame iu = iu_of(frame);
  read_device_header(iu);
  if (const Ptr first = copied({iu.raw.begin(), iu.raw.end()}, iu, View::unknown))
    record->same = first->number;  // it was shown before it was lost
  else if (Record nowhere; check::header(iu, nowhere))
    try_lost(iu, *record);
  return record;
}

void Tracker::frames_missing() {
  exchanges_.clear();
  setups_.clear();
  logins_.clear();
  seen_.clear();
  seen_before_.clear();
  // Others may have the same handles by now.
  for (Connection& connection : connections_) {
    connection.implied = true;
    connection.level.reset();
    connection.window.reset();
  }
  for (Endpoint& endpoint : endpoints_) {
    endpoint.peer = nullptr;
    endpoint.attributes.reset();
    endpoint.next = {};
    endpoint.messages.clear();
    endpoint.open = endpoint.closed = 0;
  }
}

/// ABTS and what answers it, ACKs and rejects: of which message or set-up.
Tracker::Ptr Tracker::link_service(const Frame& frame, std::uint64_t number, Time time) {
  Ptr record = new_record(number, time);
  const auto found = exchanges_.find(key_of(*frame.header));
  if (found == exchanges_.end() || !found->second || found->second->number < login_of(*frame.header)) return record;
  const ExchangePtr& exchange = found->second;
  if (!wire::is_link_control(frame.header->r_ctl)) record->aborts = exchange->number;
  record->exchange = exchange;
  record->setup = exchange->setup;
  if (exchange->disconnect && exchange->disconnect->to != nullptr)
    record->connection = exchange->disconnect->to->connection;
  record->message = exchange->message;
  record->answers = true;
  return record;
}

/// A login or logout ends what was between two ports (FC-FS).
void Tracker::forget_connections(std::uint32_t one, std::uint32_t other) {
  for (const std::uint32_t port : {one, other}) {
    const auto handles = ports_.find(port);
    if (handles == ports_.end()) continue;
    boost::unordered::erase_if(handles->second, [&](const auto& entry) {
      const Endpoint* peer = entry.second->peer;
      return peer != nullptr && (peer->port == one || peer->port == other);
    });
  }
}

/// What is wanted of a frame was cut off: the rest of what its ports say is judged as if its beginning was not
/// captured.
void Tracker::lose_track(const wire::FcHeader& header) {
  logins_.erase(pair_of(header.s_id.value, header.d_id.value));
  for (const auto& [at, from] : {std::pair(header.d_id, header.s_id), std::pair(header.s_id, header.d_id)}) {
    const auto handles = ports_.find(at.value);
    if (handles == ports_.end()) continue;
    for (const auto& [handle, endpoint] : handles->second) {
      if (endpoint->peer != nullptr && endpoint->peer->port != from.value) continue;
      endpoint->connection->implied = true;
      endpoint->connection->window.reset();
      endpoint->next = {};
    }
  }
}

/// Its Device_Header was cut off.
void Tracker::unreadable(const wire::FcHeader& header) {
  lose_track(header);
  if (!header.has(wire::f_ctl::exchange_responder) && header.seq_cnt.value == 0) exchange_of(header) = nullptr;
}

/// Set-ups, Exchanges and ids before a PLOGI are no more.
void Tracker::request_of_login(const wire::FcHeader& header, wire::els::Command command, std::uint64_t number) {
  const std::uint64_t pair = pair_of(header.s_id.value, header.d_id.value);
  forget_connections(header.s_id.value, header.d_id.value);
  if (command == wire::els::Command::logo) {
    logins_.erase(pair);
    return;
  }
  logins_.insert(pair);
  begun_[pair] = number;
}

/// What FFFFFEh answers: by LS_ACC to FLOGI whether the fabric keeps the order of frames, and for how long it may hold
/// one. Of an answer as long as that which was cut neither is known: order is not asked for.
void Tracker::reply_of_fabric(const Frame& frame) {
  if (frame.data_field_bytes < wire::els::Login::size()) return;
  if (frame.data_field.size() < wire::els::Login::size()) {
    in_order_ = false;
    return;
  }
  if (wire::els::command_of(frame.data_field) != wire::els::Command::ls_acc) return;
  const auto login = wire::codec::read<wire::els::Login>(frame.data_field.data());
  in_order_ = (login.class_3.service_options & wire::els::class_option::sequential_delivery) != 0;
  r_a_tov_ = Time{login.r_a_tov_ms()} * 1'000'000;
}

void Tracker::extended_link_service(const Frame& frame, std::uint64_t number) {
  const wire::FcHeader& header = *frame.header;
  if (header.r_ctl == wire::RCtl::els_reply && header.s_id == wire::well_known::f_port) return reply_of_fabric(frame);
  if (frame.data_field.empty() || header.r_ctl != wire::RCtl::els_request) return;
  const auto command = wire::els::command_of(frame.data_field);
  if (command == wire::els::Command::plogi || command == wire::els::Command::logo)
    request_of_login(header, command, number);
}

}  // namespace sim::capture
