// The parts of a scenario that say what must happen.
#include "tools/fcvi_sim/scenario/discard_names.hpp"
#include "tools/fcvi_sim/scenario/message_names.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"
#include "tools/fcvi_sim/scenario/status_text.hpp"

namespace sim {
using namespace settings;
namespace {

constexpr Choice<vi::State> states[] = {
    {"Idle", vi::State::Idle}, {"Connected", vi::State::Connected}, {"Error", vi::State::Error}};

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
  const MapReader map(tree, "asynchronous_errors", {"port", "error", "at"});
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
    const MapReader map(item, std::string(key), {"status", "count", "at"});
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
  const MapReader map(tree, "discards", {"port", "reason", "times"});
  return {.port = read_position(map.require("port"), "port", ports),
          .reason = read_discard(map.require("reason"), "reason"),
          .times = read_number(map.require("times"), "times", Range{1, std::numeric_limits<std::uint64_t>::max()})};
}

KeptExpectation load_kept(const Tree& tree, const std::vector<std::string_view>& ports) {
  const MapReader map(tree, "kept", {"port", "min", "max"});
  KeptExpectation kept{.port = read_position(map.require("port"), "port", ports), .bytes = {}};
  map.optional("min", kept.bytes.min, read_bytes, Range{});
  map.optional("max", kept.bytes.max, read_bytes, Range{});
  return kept;
}

WireMessage load_wire_message(const Tree& tree) {
  if (tree.kind != Tree::Kind::Map) return {.message = read_known(tree, "wire_messages", known_message_names())};
  const MapReader map(tree, "wire_messages", {"message", "fields"});
  WireMessage wanted{.message = read_known(map.require("message"), "message", known_message_names())};
  map.optional("fields", wanted.fields, read_fields);
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

WireExpectation load_iu(const Tree& tree, const std::vector<std::string_view>& ports) {
  const MapReader map(tree, "wire",
                      {"message", "from", "to", "flags", "reason", "exchange", "connection", "ends_exchange",
                       "gives_initiative", "lost", "fields", "payload", "at"});
  WireExpectation expected{.where = tree.where,
                           .message = read_known(map.require("message"), "message", known_message_names())};
  map.optional("from", expected.from, read_position, ports);
  map.optional("to", expected.to, read_position, ports);
  if (const Tree* flags = map.find("flags")) expected.flags = read_flags(*flags, "flags", expected.message);
  map.optional("reason", expected.reason, read_reason);
  map.optional("fields", expected.fields, read_fields);
  load_numbers(map, expected);
  return expected;
}

void load_wire(const MapReader& map, const std::vector<std::string_view>& ports, Expectations& expectations) {
  if (const Tree* list = map.find("wire")) {
    expectations.wire.emplace();
    for (const Tree& item : read_list(*list, "wire")) expectations.wire->push_back(load_iu(item, ports));
  }
  map.optional("wire_from", expectations.wire_from, read_duration, runtime::TimeNs{0}, max_time);
  if (const Tree* list = map.find("wire_messages"))
    for (const Tree& item : read_list(*list, "wire_messages"))
      expectations.wire_messages.push_back(load_wire_message(item));
  map.optional("wire_frames", expectations.wire_frames, read_bool);
}

}  // namespace

Expectations load_expectations(const Tree& tree, const std::vector<std::string_view>& ports) {
  const MapReader map(tree, "expectations",
                      {"ius", "wire", "wire_messages", "wire_frames", "wire_from", "discards", "kept",
                       "asynchronous_errors", "duration"});
  Expectations expectations;
  if (const Tree* ius = map.find("ius"))
    for (const auto& [name, bound] : MapReader(*ius, "ius", known_message_names()).tree().entries)
      expectations.ius[name] = read_bound(bound, name);
  load_wire(map, ports, expectations);
  if (const Tree* discards = map.find("discards"); discards != nullptr && discards->kind == Tree::Kind::List) {
    expectations.discard_list.emplace();
    for (const Tree& item : discards->items) expectations.discard_list->push_back(load_discard(item, ports));
  } else {
    map.optional("discards", expectations.discards, read_bound);
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

WorkloadExpectation load_workload_expectation(const Tree& tree, const std::string& what) {
  const MapReader map(tree, what,
                      {"connect", "accept", "disconnect", "server_disconnect", "client_state", "server_state",
                       "client_states", "server_states", "connect_time", "accept_time", "gives_up", "client_sends",
                       "client_receives", "server_sends", "server_receives"});
  WorkloadExpectation expect;
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
  map.optional("client_sends", expect.client_sends, read_completions);
  map.optional("client_receives", expect.client_receives, read_completions);
  map.optional("server_sends", expect.server_sends, read_completions);
  map.optional("server_receives", expect.server_receives, read_completions);
  return expect;
}

}  // namespace sim
