// The parts of a scenario that say what must happen.
#include <algorithm>
#include <functional>

#include "tools/fcvi_sim/scenario/discard_names.hpp"
#include "tools/faults/iu_flags.hpp"
#include "tools/fcvi_sim/scenario/keys.hpp"
#include "tools/fcvi_sim/scenario/message_names.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"
#include "tools/fcvi_sim/scenario/status_text.hpp"

namespace sim {
using namespace settings;
namespace {

constexpr Choice<vi::State> states[] = {
    {"Idle", vi::State::Idle}, {"Connected", vi::State::Connected}, {"Error", vi::State::Error}};

std::vector<std::string_view> return_names() {
  std::vector<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(vi::Return::NotReachable); ++code)
    names.push_back(to_string(static_cast<vi::Return>(code)));
  return names;
}
std::vector<std::string_view> error_names() {
  std::vector<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(vi::ErrorCode::Catastrophic); ++code)
    names.push_back(to_string(static_cast<vi::ErrorCode>(code)));
  return names;
}
std::vector<std::string_view> endpoint_state_names() {
  return {"Idle", "PendingConnect", "PendingConnectRetry", "Connected", "Error"};
}

// clang-format off
const KeyTable& error_keys() {
  static const KeyTable table{"asynchronous_error", {
    {"port", Form::Text, "whose NIC", true},
    {"error", Form::Choice, "its code", true, InList::No, nullptr, {"error_code", error_names}},
    {"at", Form::TimeBound, "when, after all ports are ready"}}};
  return table;
}

const KeyTable& completion_keys() {
  static const KeyTable table{"completion", {
    {"status", Form::Choice, "of the descriptor, or a list of several that it has at once", false, InList::Also, nullptr, {"status", status_names}},
    {"count", Form::Number, "so many one after the other"},
    {"at", Form::TimeBound, "when each does, after all ports are ready"}}};
  return table;
}

const KeyTable& discard_keys() {
  static const KeyTable table{"discard", {
    {"port", Form::Text, "that discarded", true},
    {"reason", Form::Choice, "as the summary says it", true, InList::No, nullptr, {"discard_reason", known_discard_names}},
    {"times", Form::Number, "so many frames", true}}};
  return table;
}

const KeyTable& kept_keys() {
  static const KeyTable table{"kept", {
    {"port", Form::Text, "that kept frames", true},
    {"min", Form::Bytes, "at least so much"},
    {"max", Form::Bytes, "at most so much"}}};
  return table;
}

const KeyTable& wire_message_keys() {
  static const KeyTable table{"wire_message", {
    {"message", Form::Choice, "its name", true, InList::No, nullptr, {"message", all_message_names}},
    {"fields", Form::BoundsByName, "of its first frame", false, InList::No, nullptr, {"field", all_field_names}}}};
  return table;
}

const KeyTable& wire_keys() {
  static const KeyTable table{"wire", {
    {"message", Form::Choice, "its name", true, InList::No, nullptr, {"message", all_message_names}},
    {"from", Form::Text, "the port that sent it"},
    {"to", Form::Text, "the port that it was sent to"},
    {"flags", Form::Text, "exactly these FCVI_FLAGS", false, InList::Only},
    {"reason", Form::Choice, "Reason Code", false, InList::No, nullptr, {"reason", faults::reason_names}},
    {"exchange", Form::Number, "any number: the same one, the same exchange"},
    {"connection", Form::Number, "any number: the same one, the same FCVI_CONNECTION_ID, or TCP connection"},
    {"ends_exchange", Form::Flag, "Last_Sequence in its last frame"},
    {"gives_initiative", Form::Flag, "Sequence Initiative in its last frame"},
    {"lost", Form::Flag, "whether a fault dropped one of its frames"},
    {"fields", Form::BoundsByName, "of its first frame", false, InList::No, nullptr, {"field", all_field_names}},
    {"payload", Form::Bytes, "behind the Device_Header, of all its frames; of a VI segment"},
    {"at", Form::TimeBound, "when, after all ports are ready"}}};
  return table;
}

const KeyTable& latency_keys() {
  static const KeyTable table{"latency", {
    {"p50", Form::TimeBound, "half of all messages are there within it"},
    {"p90", Form::TimeBound, "90 of 100"},
    {"p99", Form::TimeBound, "99 of 100"},
    {"p99.9", Form::TimeBound, "999 of 1000"},
    {"max", Form::TimeBound, "all"},
    {"mean", Form::TimeBound, "on average"}}};
  return table;
}

/// `first`, then those of messages.
std::vector<Key> with_message_keys(std::vector<Key> first) {
  first.insert(first.end(), {
    {"latency", Form::None, "from when messages are due to when they are there, or answered", false, InList::No, one<latency_keys>},
    {"throughput", Form::RateBound, "bytes of messages a second, from the first to the last"},
    {"messages_per_second", Form::Bound, "the same of messages"},
    {"recovery", Form::TimeBound, "from the last fault to the next message"}});
  return first;
}

const KeyTable& failed_keys() {
  static const KeyTable table{"failed", {
    {"client_sends", Form::Bound, "of the client's send queue: which, by position from 1, or how many", false, InList::Numbers},
    {"client_receives", Form::Bound, "of the client's receive queue", false, InList::Numbers},
    {"server_sends", Form::Bound, "of the server's send queue", false, InList::Numbers},
    {"server_receives", Form::Bound, "of the server's receive queue", false, InList::Numbers}}};
  return table;
}
// clang-format on

std::string read_endpoint_state(const Tree& tree, std::string_view key) {
  return read_known(tree, key, {"Idle", "PendingConnect", "PendingConnectRetry", "Connected", "Error"});
}

std::vector<std::string> read_endpoint_states(const Tree& tree, std::string_view key) {
  std::vector<std::string> names;
  for (const Tree& item : read_list(tree, key)) names.push_back(read_endpoint_state(item, key));
  return names;
}

vi::ErrorCode read_error(const Tree& tree, std::string_view key) {
  std::vector<std::string_view> known;
  for (int code = 0; code <= static_cast<int>(vi::ErrorCode::Catastrophic); ++code) {
    known.push_back(to_string(static_cast<vi::ErrorCode>(code)));
    if (tree.scalar == known.back()) return static_cast<vi::ErrorCode>(code);
  }
  fail_choice(tree, key, known);
}

ErrorExpectation load_error(const Tree& tree, const std::vector<std::string_view>& ports) {
  const MapReader map(tree, "asynchronous_errors", error_keys().names());
  ErrorExpectation error{.port = read_position(map.require("port"), "port", ports),
                         .error = read_error(map.require("error"), "error")};
  map.optional("at", error.at, read_time_bound);
  return error;
}

/// One name, or several that a descriptor has at once.
std::uint32_t read_status(const Tree& tree, std::string_view key) {
  if (tree.kind == Tree::Kind::List) {
    std::uint32_t bits = 0;
    for (const Tree& item : tree.items) bits |= read_status(item, key);
    return bits;
  }
  const auto bits = tree.kind == Tree::Kind::Scalar ? find_status(tree.scalar) : std::nullopt;
  if (!bits) fail_choice(tree, key, status_names());
  return *bits;
}

std::vector<CompletionExpectation> read_completions(const Tree& tree, std::string_view key) {
  constexpr std::uint64_t most = 100'000;
  std::vector<CompletionExpectation> completions;
  for (const Tree& item : read_list(tree, key)) {
    const MapReader map(item, std::string(key), completion_keys().names());
    CompletionExpectation expected{.where = item.where};
    map.optional("status", expected.error_bits, read_status);
    map.optional("count", expected.count, read_number, Range{1, most});
    map.optional("at", expected.at, read_time_bound);
    completions.push_back(std::move(expected));
  }
  return completions;
}

std::string_view read_discard(const Tree& tree, std::string_view key) {
  const std::vector<std::string_view> known = known_discard_names();
  for (const std::string_view name : known)
    if (tree.scalar == name) return name;
  fail_choice(tree, key, known);
}

DiscardExpectation load_discard(const Tree& tree, const std::vector<std::string_view>& ports) {
  const MapReader map(tree, "discards", discard_keys().names());
  return {.port = read_position(map.require("port"), "port", ports),
          .reason = read_discard(map.require("reason"), "reason"),
          .times = read_number(map.require("times"), "times", Range{1, std::numeric_limits<std::uint64_t>::max()})};
}

KeptExpectation load_kept(const Tree& tree, const std::vector<std::string_view>& ports) {
  const MapReader map(tree, "kept", kept_keys().names());
  KeptExpectation kept{.port = read_position(map.require("port"), "port", ports), .bytes = {}};
  map.optional("min", kept.bytes.min, read_bytes, Range{});
  map.optional("max", kept.bytes.max, read_bytes, Range{});
  return kept;
}

/// Both of IUs and of VI segments.
template <class Wanted>
void load_fields(const MapReader& map, TopologyKind topology, Wanted& wanted) {
  if (topology == TopologyKind::Tcp)
    map.optional("fields", wanted.segment_fields, read_segment_fields);
  else
    map.optional("fields", wanted.fields, read_fields);
}

WireMessage load_wire_message(const Tree& tree, TopologyKind topology) {
  const std::vector<std::string_view> names = message_names_of(topology);
  if (tree.kind != Tree::Kind::Map) return {.message = read_known(tree, "wire_messages", names)};
  const MapReader map(tree, "wire_messages", wire_message_keys().names());
  WireMessage wanted{.message = read_known(map.require("message"), "message", names)};
  load_fields(map, topology, wanted);
  return wanted;
}

void load_numbers(const MapReader& map, WireExpectation& expected) {
  map.optional("exchange", expected.exchange, read_number, Range{});
  map.optional("connection", expected.connection, read_number, Range{});
  map.optional("ends_exchange", expected.ends_exchange, read_bool);
  map.optional("gives_initiative", expected.gives_initiative, read_bool);
  map.optional("lost", expected.lost, read_bool);
  map.optional("payload", expected.payload_bytes, read_bytes, Range{});
  map.optional("at", expected.at, read_time_bound);
}

constexpr std::string_view keys_of_ius[] = {"flags", "reason", "exchange", "ends_exchange", "gives_initiative", "lost"};

WireExpectation load_iu(const Tree& tree, const std::vector<std::string_view>& ports, TopologyKind topology) {
  const MapReader map(tree, "wire", wire_keys().names());
  if (topology == TopologyKind::Tcp) refuse_keys_of_frames(map, keys_of_ius);
  WireExpectation expected{.where = tree.where,
                           .message = read_known(map.require("message"), "message", message_names_of(topology))};
  map.optional("from", expected.from, read_position, ports);
  map.optional("to", expected.to, read_position, ports);
  if (const Tree* flags = map.find("flags")) expected.flags = read_flags(*flags, "flags", expected.message);
  map.optional("reason", expected.reason, read_reason);
  load_fields(map, topology, expected);
  load_numbers(map, expected);
  return expected;
}

void load_wire(const MapReader& map, const std::vector<std::string_view>& ports, TopologyKind topology,
               Expectations& expectations) {
  if (const Tree* list = map.find("wire")) {
    expectations.wire.emplace();
    for (const Tree& item : read_list(*list, "wire")) expectations.wire->push_back(load_iu(item, ports, topology));
  }
  map.optional("wire_from", expectations.wire_from, read_duration, runtime::TimeNs{0}, max_time);
  if (const Tree* list = map.find("wire_messages"))
    for (const Tree& item : read_list(*list, "wire_messages"))
      expectations.wire_messages.push_back(load_wire_message(item, topology));
  map.optional("wire_frames", expectations.wire_frames, read_bool);
}

ShareBound read_share_bound(const Tree& tree, std::string_view key) {
  return read_bound_of<ShareBound>(tree, key, read_share);
}

std::uint64_t read_throughput(const Tree& tree, std::string_view key) {
  const std::uint64_t rate = read_line_rate(tree, key);
  if (rate == 0) fail_expected(tree, key, "bytes per second such as 400MB/s");
  return rate;
}

Bound read_rate_bound(const Tree& tree, std::string_view key) {
  return read_bound_of<Bound>(tree, key, read_throughput);
}

void load_messages(const MapReader& map, MessageExpectation& expect) {
  if (const Tree* tree = map.find("latency")) {
    const MapReader latency(*tree, "latency", latency_keys().names());
    for (const LatencyPoint point : latency_points)
      if (const Tree* bound = latency.find(to_string(point)))
        expect.latencies.push_back({point, read_time_bound(*bound, to_string(point))});
  }
  map.optional("throughput", expect.bytes_per_second, read_rate_bound);
  map.optional("messages_per_second", expect.messages_per_second, read_bound);
  map.optional("recovery", expect.recovery, read_time_bound);
}

/// [3, 7]: these; 2: so many.
FailureExpectation read_failed(const Tree& tree, std::string_view key) {
  constexpr std::uint64_t most = 100'000;
  FailureExpectation failed;
  if (tree.kind != Tree::Kind::List) {
    failed.count = read_bound(tree, key);
    return failed;
  }
  failed.positions.emplace();
  for (const Tree& item : tree.items) failed.positions->push_back(read_number(item, key, {1, most}));
  if (!std::ranges::is_sorted(*failed.positions, std::ranges::less_equal{}))
    fail_expected(tree, key, "positions in ascending order");
  return failed;
}

void load_failed(const Tree& tree, WorkloadExpectation& expect) {
  const MapReader map(tree, "failed", failed_keys().names());
  map.optional("client_sends", expect.failed_client_sends, read_failed);
  map.optional("client_receives", expect.failed_client_receives, read_failed);
  map.optional("server_sends", expect.failed_server_sends, read_failed);
  map.optional("server_receives", expect.failed_server_receives, read_failed);
}

}  // namespace

// clang-format off
const KeyTable& workload_expectation_keys() {
  static const KeyTable table = [] {
    const NameSet returns{"return_code", return_names}, last{"state", names_in<states>},
                  all{"endpoint_state", endpoint_state_names};
    return KeyTable{"workload_expectation", with_message_keys({
      {"connect", Form::Choice, "what the client's call returns", false, InList::No, nullptr, returns},
      {"accept", Form::Choice, "what the server's calls return", false, InList::No, nullptr, returns},
      {"disconnect", Form::Choice, "what the client's VipDisconnect returns", false, InList::No, nullptr, returns},
      {"server_disconnect", Form::Choice, "what the server's VipDisconnect returns", false, InList::No, nullptr, returns},
      {"client_state", Form::Choice, "of the client's VI when the programs have ended", false, InList::No, nullptr, last},
      {"server_state", Form::Choice, "of the server's VI", false, InList::No, nullptr, last},
      {"client_states", Form::Choice, "all states of FC-VI 8.2 after Idle, in order", false, InList::Only, nullptr, all},
      {"server_states", Form::Choice, "the same of the server", false, InList::Only, nullptr, all},
      {"connect_time", Form::TimeBound, "how long the client's call took"},
      {"accept_time", Form::TimeBound, "how long the server's call took"},
      {"gives_up", Form::Text, "why the first program that gives up does so, or any; transfers are then not checked"},
      {"lost", Form::Bound, "messages that never come; with unreliable_delivery, where the programs go on without them"},
      {"client_sends", Form::None, "all descriptors of that queue that complete, in order", false, InList::Only, one<completion_keys>},
      {"client_receives", Form::None, "the same of the client's receive queue", false, InList::Only, one<completion_keys>},
      {"server_sends", Form::None, "the same of the server's send queue", false, InList::Only, one<completion_keys>},
      {"server_receives", Form::None, "the same of the server's receive queue", false, InList::Only, one<completion_keys>},
      {"failed", Form::None, "which descriptors fail; those that are flushed then do not count", false, InList::No, one<failed_keys>}})};
  }();
  return table;
}

const KeyTable& group_expectation_keys() {
  static const KeyTable table{"group_expectation", with_message_keys({
    {"fairness", Form::ShareBound, "Jain's index of what the members moved per second: 1 if all moved the same"},
    {"survivors", Form::Bound, "so many members do what `expect` says; the others may fail"}})};
  return table;
}

const KeyTable& expectation_keys() {
  static const KeyTable table{"expectations", {
    {"ius", Form::BoundsByName, "how many of each message", false, InList::No, nullptr, {"iu", known_message_names}},
    {"segments", Form::BoundsByName, "kind tcp: how many VI segments of each type", false, InList::No, nullptr, {"segment", segment_names}},
    {"wire", Form::None, "exactly these IUs, or VI segments, in the order in which ports sent them", false, InList::Only, one<wire_keys>},
    {"wire_messages", Form::Choice, "the messages that wire lists", false, InList::Only, one<wire_message_keys>, {"message", all_message_names}},
    {"wire_frames", Form::Flag, "an item of wire for each frame, not for each IU"},
    {"wire_from", Form::Time, "what was sent before does not count for wire"},
    {"discards", Form::Bound, "frames discarded anywhere, or a list of all", false, InList::Mappings, one<discard_keys>},
    {"kept", Form::None, "the most memory for frames that overtook others", false, InList::Only, one<kept_keys>},
    {"asynchronous_errors", Form::Bound, "of all NICs, or a list in the order of time", false, InList::Mappings, one<error_keys>},
    {"duration", Form::Time, "from power-on to the last logout, at most"}}};
  return table;
}
// clang-format on

namespace {

/// "ius", or over TCP "segments".
void load_message_counts(const MapReader& map, TopologyKind topology, Expectations& expectations) {
  const bool tcp = topology == TopologyKind::Tcp;
  constexpr std::string_view keys_of_frames[] = {"ius", "wire_frames", "kept"};
  if (tcp) refuse_keys_of_frames(map, keys_of_frames);
  if (const Tree* tree = map.find("segments"); tree != nullptr && !tcp)
    throw BadInput{tree->where + ": segments: expected with topology.kind tcp"};
  const std::string key = tcp ? "segments" : "ius";
  if (const Tree* counts = map.find(key))
    for (const auto& [name, bound] : MapReader(*counts, key, message_names_of(topology)).tree().entries)
      expectations.ius[name] = read_bound(bound, name);
}

}  // namespace

Expectations load_expectations(const Tree& tree, const std::vector<std::string_view>& ports, TopologyKind topology) {
  const MapReader map(tree, "expectations", expectation_keys().names());
  Expectations expectations;
  load_message_counts(map, topology, expectations);
  load_wire(map, ports, topology, expectations);
  if (const Tree* discards = map.find("discards"); discards != nullptr && discards->kind == Tree::Kind::List) {
    expectations.discard_list.emplace();
    for (const Tree& item : discards->items) expectations.discard_list->push_back(load_discard(item, ports));
  } else {
    map.optional("discards", expectations.discards, read_bound);
    expectations.discards_given = discards != nullptr;
  }
  if (const Tree* kept = map.find("kept"))
    for (const Tree& item : read_list(*kept, "kept")) expectations.kept.push_back(load_kept(item, ports));
  if (const Tree* errors = map.find("asynchronous_errors"); errors != nullptr && errors->kind == Tree::Kind::List) {
    expectations.errors.emplace();
    for (const Tree& item : errors->items) expectations.errors->push_back(load_error(item, ports));
  } else {
    map.optional("asynchronous_errors", expectations.asynchronous_errors, read_bound);
  }
  map.optional("duration", expectations.max_duration, read_duration, runtime::TimeNs{1}, max_time);
  return expectations;
}

WorkloadExpectation load_workload_expectation(const Tree& tree, const std::string& what,
                                              const WorkloadExpectation& standard) {
  const MapReader map(tree, what, workload_expectation_keys().names());
  WorkloadExpectation expect = standard;
  const auto read_state = [](const Tree& value, std::string_view key) { return read_choice(value, key, states); };
  map.optional("connect", expect.connect, read_return);
  map.optional("accept", expect.accept, read_return);
  map.optional("disconnect", expect.disconnect, read_return);
  map.optional("server_disconnect", expect.server_disconnect, read_return);
  map.optional("client_state", expect.client_state, read_state);
  map.optional("server_state", expect.server_state, read_state);
  map.optional("client_states", expect.client_states, read_endpoint_states);
  map.optional("server_states", expect.server_states, read_endpoint_states);
  map.optional("connect_time", expect.connect_time, read_time_bound);
  map.optional("accept_time", expect.accept_time, read_time_bound);
  map.optional("gives_up", expect.gives_up, read_text);
  map.optional("lost", expect.lost, read_bound);
  map.optional("client_sends", expect.client_sends, read_completions);
  map.optional("client_receives", expect.client_receives, read_completions);
  map.optional("server_sends", expect.server_sends, read_completions);
  map.optional("server_receives", expect.server_receives, read_completions);
  if (const Tree* failed = map.find("failed")) load_failed(*failed, expect);
  load_messages(map, expect.messages);
  return expect;
}

GroupExpectation load_group_expectation(const Tree& tree, const std::string& what) {
  const MapReader map(tree, what, group_expectation_keys().names());
  GroupExpectation expect;
  load_messages(map, expect.messages);
  map.optional("fairness", expect.fairness, read_share_bound);
  map.optional("survivors", expect.survivors, read_bound);
  return expect;
}

std::string_view to_string(LatencyPoint point) {
  switch (point) {
    case LatencyPoint::P50: return "p50";
    case LatencyPoint::P90: return "p90";
    case LatencyPoint::P99: return "p99";
    case LatencyPoint::P99_9: return "p99.9";
    case LatencyPoint::Max: return "max";
    case LatencyPoint::Mean: return "mean";
  }
  return "?";
}

}  // namespace sim
