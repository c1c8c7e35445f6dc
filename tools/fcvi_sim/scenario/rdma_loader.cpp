// `rdma` of a workload: a stream of RDMA over TCP.
#include <algorithm>
#include <set>

#include "settings/units.hpp"
#include "tools/fcvi_sim/scenario/keys.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"
#include "tools/fcvi_sim/scenario/rdma_names.hpp"

namespace sim {
using namespace settings;
namespace {

constexpr Choice<RdmaFraming> framings[] = {{"mpa", RdmaFraming::Mpa}, {"ift", RdmaFraming::Ift}};
constexpr Choice<Side> sides[] = {{"client", Side::Client}, {"server", Side::Server}};
constexpr Choice<ByEnd<bool>> ends[] = {
    {"none", {false, false}}, {"client", {true, false}}, {"server", {false, true}}, {"both", {true, true}}};
constexpr Choice<bool> decisions[] = {{"accept", false}, {"reject", true}};
constexpr Choice<bool> contents_of_regions[] = {{"random", true}, {"zeros", false}};
enum class Rtr : std::uint8_t { None, Send, RdmaWrite, RdmaRead, All };
constexpr Choice<Rtr> rtrs[] = {{"none", Rtr::None},
                                {"send", Rtr::Send},
                                {"rdma_write", Rtr::RdmaWrite},
                                {"rdma_read", Rtr::RdmaRead},
                                {"all", Rtr::All}};
enum class OneRight : std::uint8_t { LocalWrite, RemoteRead, RemoteWrite, RemoteInvalidate };
constexpr Choice<OneRight> rights[] = {{"local_write", OneRight::LocalWrite},
                                       {"remote_read", OneRight::RemoteRead},
                                       {"remote_write", OneRight::RemoteWrite},
                                       {"remote_invalidate", OneRight::RemoteInvalidate}};
constexpr Choice<RdmaAction> rdma_actions[] = {
    {"send", RdmaAction::Send},          {"rdma_write", RdmaAction::RdmaWrite},
    {"rdma_read", RdmaAction::RdmaRead}, {"invalidate", RdmaAction::Invalidate},
    {"wait", RdmaAction::Wait},          {"terminate", RdmaAction::Terminate},
    {"close", RdmaAction::Close},        {"abort", RdmaAction::Abort}};
constexpr Choice<RdmaOutcome> outcomes[] = {{"success", RdmaOutcome::Success},
                                            {"flushed", RdmaOutcome::Flushed},
                                            {"local_protection", RdmaOutcome::LocalProtection},
                                            {"local_length", RdmaOutcome::LocalLength},
                                            {"refused", RdmaOutcome::Refused}};
constexpr Choice<RdmaPlaced> placings[] = {
    {"all", RdmaPlaced::Yes}, {"nothing", RdmaPlaced::No}, {"any", RdmaPlaced::Any}};
constexpr Choice<RdmaEnding> endings[] = {{"none", RdmaEnding::None},
                                          {"closed", RdmaEnding::Closed},
                                          {"lost", RdmaEnding::Lost},
                                          {"given_up", RdmaEnding::GivenUp}};
constexpr Choice<std::uint8_t> layers[] = {{"rdmap", 0}, {"ddp", 1}, {"llp", 2}};
constexpr Choice<iwarp::Operation> completed[] = {{"send", iwarp::Operation::send},
                                                  {"rdma_write", iwarp::Operation::rdma_write},
                                                  {"rdma_read", iwarp::Operation::rdma_read},
                                                  {"invalidate", iwarp::Operation::local_invalidate},
                                                  {"receive", iwarp::Operation::receive}};
constexpr Range rdma_ports{1, 65'535}, revisions{0, 2}, depths{0, 1024}, region_sizes{1, max_rdma_bytes},
    operation_sizes{0, max_rdma_bytes}, offsets{0, ~std::uint64_t{0}}, repeats{1, max_rdma_repeat}, codes{0, 0xFF},
    types{0, 0xF}, completion_counts{1, 1'000'000};

std::vector<std::string_view> start_names() {
  std::vector<std::string_view> names{rdma_connected, rdma_no_start};
  for (const std::string_view name : rdma_failure_names()) names.push_back(name);
  return names;
}

// clang-format off
const KeyTable& region_keys() {
  static const KeyTable table{"rdma_region", {
    {"name", Form::Text, "in operations and expectations", true},
    {"at", Form::Choice, "whose memory it is", true, InList::No, nullptr, {"side", names_in<sides>}},
    within({"bytes", Form::Bytes, "its size", true}, region_sizes),
    {"content", Form::Choice, "before anything moves", false, InList::No, nullptr, {"region_content", names_in<contents_of_regions>}},
    {"rights", Form::Choice, "what may be done with it beside reading it locally", false, InList::Only, nullptr, {"right", names_in<rights>}},
    {"other_domain", Form::Flag, "of another protection domain than the stream"}}};
  return table;
}

const KeyTable& operation_keys() {
  static const KeyTable table{"rdma_operation", {
    {"operation", Form::Choice, "what an end does", true, InList::No, nullptr, {"rdma_operation_name", names_in<rdma_actions>}},
    {"by", Form::Choice, "which end; by default the client", false, InList::No, nullptr, {"side", names_in<sides>}},
    {"from", Form::Text, "the region that is sent, written or read"},
    {"to", Form::Text, "the region where it goes; of a send without it nobody waits for it"},
    within({"bytes", Form::Bytes, "so many; by default all of `from`"}, operation_sizes),
    within({"from_offset", Form::Number, "in `from`"}, offsets),
    within({"to_offset", Form::Number, "in `to`"}, offsets),
    within({"receive_bytes", Form::Bytes, "of a send: the room that waits for it, by default its size"}, operation_sizes),
    {"solicited_event", Form::Flag, "of a send"},
    {"invalidate", Form::Text, "the region that a send invalidates at the other end, or `invalidate` here"},
    {"fence", Form::Flag, "begins when all RDMA Reads before it are complete"},
    within({"repeat", Form::Number, "so often, without waiting in between"}, repeats),
    {"overlaps", Form::Flag, "the next operation does not wait for it"},
    {"for", Form::Time, "of a wait"},
    {"status", Form::Choice, "how it completes", false, InList::No, nullptr, {"rdma_status", names_in<outcomes>}},
    {"placed", Form::Choice, "what of the data `to` has when the stream has ended", false, InList::No, nullptr, {"placed", names_in<placings>}}}};
  return table;
}

const KeyTable& terminate_keys() {
  static const KeyTable table{"rdma_terminate", {
    {"by", Form::Choice, "the end that found the error", true, InList::No, nullptr, {"side", names_in<sides>}},
    {"layer", Form::Choice, "of RFC 5040 4.8", true, InList::No, nullptr, {"layer", names_in<layers>}},
    within({"type", Form::Number, "Error Type"}, types),
    within({"code", Form::Number, "Error Code", true}, codes),
    {"arrives", Form::Flag, "a Terminate Message brings it to the other end; by default true"}}};
  return table;
}

const KeyTable& rdma_completion_keys() {
  static const KeyTable table{"rdma_completion", {
    {"operation", Form::Choice, "what completes", true, InList::No, nullptr, {"rdma_completed", names_in<completed>}},
    {"status", Form::Choice, "how", false, InList::No, nullptr, {"rdma_status", names_in<outcomes>}},
    within({"count", Form::Number, "so many, one after the other"}, completion_counts),
    {"bytes", Form::Bytes, "received, or read"},
    {"solicited_event", Form::Flag, "of a receive"},
    {"invalidated", Form::Text, "of a receive: the region"},
    {"at", Form::TimeBound, "when, after all ports are ready"}}};
  return table;
}

const KeyTable& content_keys() {
  static const KeyTable table = [] {
    KeyTable own{"rdma_content", {
      {"region", Form::Text, "whose octets are looked at when the stream has ended", true},
      within({"offset", Form::Number, "from there on"}, offsets),
      {"bytes", Form::Bytes, "so many; by default all that follow"},
      {"equals", Form::Text, "as that region was at first"},
      within({"equals_offset", Form::Number, "from there on"}, offsets),
      {"unchanged", Form::Flag, "as they were at first"},
      {"sha256", Form::Text, "64 digits"}}};
    own.alternatives = {"equals", "unchanged", "sha256"};
    own.needs_alternative = true;
    return own;
  }();
  return table;
}

const KeyTable& rdma_expectation_keys() {
  static const KeyTable table{"rdma_expectation", {
    {"client_start", Form::Choice, "how the start-up ends there", false, InList::No, nullptr, {"rdma_start", start_names}},
    {"server_start", Form::Choice, "the same of the server; none: it has nothing to decide", false, InList::No, nullptr, {"rdma_start", start_names}},
    {"client_private_data", Form::Text, "that the client was told"},
    {"server_private_data", Form::Text, "that the server was told"},
    {"client_end", Form::Choice, "how the stream ends there", false, InList::No, nullptr, {"rdma_end", names_in<endings>}},
    {"server_end", Form::Choice, "the same of the server", false, InList::No, nullptr, {"rdma_end", names_in<endings>}},
    {"terminate", Form::None, "the error that an end finds and the other is told, or a list; without it there is none", false, InList::Also, one<terminate_keys>},
    {"client_completions", Form::None, "all of the client, in order", false, InList::Only, one<rdma_completion_keys>},
    {"server_completions", Form::None, "all of the server, in order", false, InList::Only, one<rdma_completion_keys>},
    {"contents", Form::None, "what regions hold at the end", false, InList::Only, one<content_keys>}}};
  return table;
}
}  // namespace

const KeyTable& rdma_keys() {
  static const KeyTable table{"rdma", {
    {"framing", Form::Choice, "what carries DDP", false, InList::No, nullptr, {"framing", names_in<framings>}},
    within({"tcp_port", Form::Number, "where the server listens; by default 7174, counted up by workload"}, rdma_ports),
    within({"revision", Form::Number, "of MPA"}, revisions),
    {"fall_back", Form::Flag, "to a lower revision, where the server has no other"},
    {"crc", Form::Choice, "which end wants CRCs: of MPA one is enough", false, InList::No, nullptr, {"ends", names_in<ends>}},
    {"markers", Form::Choice, "which end wants markers of MPA in what it receives", false, InList::No, nullptr, {"ends", names_in<ends>}},
    {"rtr", Form::Choice, "RTR indications that the client offers; none: client-server model", false, InList::No, nullptr, {"rtr", names_in<rtrs>}},
    within({"client_ird", Form::Number, "RDMA Reads that the client can hold"}, depths),
    within({"client_ord", Form::Number, "RDMA Reads that it has outstanding"}, depths),
    within({"server_ird", Form::Number, "the same of the server"}, depths),
    within({"server_ord", Form::Number, "the same of the server"}, depths),
    {"client_private_data", Form::Text, "of MPA, of the Request"},
    {"server_private_data", Form::Text, "of the Reply"},
    {"answer", Form::Choice, "what the server's program says to the request", false, InList::No, nullptr, {"answer", names_in<decisions>}},
    {"startup_timeout", Form::Interval, "for the whole start-up"},
    {"close_timeout", Form::Interval, "for a graceful end"},
    {"patience", Form::Interval, "an end without news for so long gives the stream up"},
    {"regions", Form::None, "registered memory of both ends", false, InList::Only, one<region_keys>},
    {"operations", Form::None, "what the ends do, one after the other; then the client closes", false, InList::Only, one<operation_keys>},
    {"expect", Form::None, "what must come of it", false, InList::No, one<rdma_expectation_keys>}}};
  return table;
}
// clang-format on

namespace {

class RdmaLoader {
 public:
  RdmaLoader(const Tree& tree, std::string what) : what_(std::move(what)), map_(tree, what_, rdma_keys().names()) {}
  RdmaSpec load();

 private:
  void load_startup();
  void load_rtr(const Tree& tree);
  void refuse_keys_of_mpa();
  void load_regions(const Tree& tree);
  void load_operations(const Tree& tree);
  void judge_amount() const;
  RdmaOperationSpec load_operation(const Tree& tree, const std::string& what);
  void load_memory(const MapReader& map, RdmaOperationSpec& operation);
  void load_expectation(const Tree& tree);
  RdmaTerminateExpectation load_terminate(const Tree& tree);
  std::vector<RdmaCompletionExpectation> load_completions(const Tree& tree, const std::string& what);
  RdmaContentExpectation load_content(const Tree& tree, const std::string& what);
  [[nodiscard]] std::vector<std::string_view> region_names() const;
  /// Of `side`, if one is named.
  [[nodiscard]] std::size_t region(const Tree& tree, std::string_view key, std::optional<Side> side) const;

  const std::string what_;
  const MapReader map_;
  RdmaSpec spec_;
};

std::vector<std::string_view> RdmaLoader::region_names() const {
  std::vector<std::string_view> names;
  for (const RdmaRegionSpec& one : spec_.regions) names.push_back(one.name);
  return names;
}

std::size_t RdmaLoader::region(const Tree& tree, std::string_view key, std::optional<Side> side) const {
  const std::size_t found = read_position(tree, key, region_names());
  if (side && spec_.regions[found].at != *side)
    fail_expected(tree, key, std::string("a region of the ") + (*side == Side::Client ? "client" : "server"));
  return found;
}

void RdmaLoader::load_rtr(const Tree& tree) {
  const Rtr rtr = read_choice(tree, "rtr", rtrs);
  spec_.peer_to_peer = rtr != Rtr::None;
  spec_.send_rtr = rtr == Rtr::Send || rtr == Rtr::All;
  spec_.rdma_write_rtr = rtr == Rtr::RdmaWrite || rtr == Rtr::All;
  spec_.rdma_read_rtr = rtr == Rtr::RdmaRead || rtr == Rtr::All;
}

void RdmaLoader::refuse_keys_of_mpa() {
  for (const std::string_view key :
       {"revision", "fall_back", "markers", "rtr", "client_private_data", "server_private_data"})
    if (const Tree* tree = map_.find(key); tree != nullptr)
      throw BadInput{tree->where + ": " + std::string(key) + ": is of MPA, and framing is ift"};
}

std::string read_private_data(const Tree& tree, std::string_view key) {
  std::string data = read_text(tree, key);
  if (data.size() > max_rdma_private_data)
    fail_expected(tree, key, "at most " + std::to_string(max_rdma_private_data) + " bytes");
  return data;
}

void RdmaLoader::load_startup() {
  if (const Tree* tree = map_.find("framing")) spec_.framing = read_choice(*tree, "framing", framings);
  if (spec_.framing == RdmaFraming::Ift) refuse_keys_of_mpa();
  map_.optional("tcp_port", spec_.tcp_port, read_number, rdma_ports);
  map_.optional("revision", spec_.revision, read_number, revisions);
  map_.optional("fall_back", spec_.fall_back, read_bool);
  RdmaEndSpec &client = spec_.ends.client, &server = spec_.ends.server;
  const auto for_ends = [&](std::string_view key, bool RdmaEndSpec::*what) {
    const Tree* tree = map_.find(key);
    if (tree == nullptr) return;
    const ByEnd<bool> which = read_choice(*tree, key, ends);
    client.*what = which.client;
    server.*what = which.server;
  };
  for_ends("crc", &RdmaEndSpec::crc);
  for_ends("markers", &RdmaEndSpec::markers);
  if (spec_.revision < 2) spec_.peer_to_peer = false;
  if (const Tree* tree = map_.find("rtr")) {
    if (spec_.revision < 2) fail_expected(*tree, "rtr", "revision 2");
    load_rtr(*tree);
  }
  map_.optional("client_ird", client.ird, read_number, depths);
  map_.optional("client_ord", client.ord, read_number, depths);
  map_.optional("server_ird", server.ird, read_number, depths);
  map_.optional("server_ord", server.ord, read_number, depths);
  map_.optional("client_private_data", client.private_data, read_private_data);
  map_.optional("server_private_data", server.private_data, read_private_data);
  if (const Tree* tree = map_.find("answer")) spec_.rejects = read_choice(*tree, "answer", decisions);
  map_.optional("startup_timeout", spec_.startup_timeout, read_duration, runtime::microsecond, max_time);
  map_.optional("close_timeout", spec_.close_timeout, read_duration, runtime::microsecond, max_time);
  map_.optional("patience", spec_.patience, read_duration, runtime::microsecond, max_time);
}

iwarp::Rights read_rights(const Tree& tree) {
  iwarp::Rights all;
  for (const Tree& item : read_list(tree, "rights")) switch (read_choice(item, "rights", rights)) {
      case OneRight::LocalWrite: all.local_write = true; break;
      case OneRight::RemoteRead: all.remote_read = true; break;
      case OneRight::RemoteWrite: all.remote_write = true; break;
      case OneRight::RemoteInvalidate: all.remote_invalidate = true; break;
    }
  return all;
}

void RdmaLoader::load_regions(const Tree& tree) {
  for (const Tree& item : read_list(tree, "regions")) {
    const std::string what = what_ + ".regions[" + std::to_string(spec_.regions.size()) + "]";
    if (spec_.regions.size() == max_rdma_regions)
      throw BadInput{item.where + ": more than " + std::to_string(max_rdma_regions) + " regions"};
    const MapReader map(item, what, region_keys().names());
    RdmaRegionSpec region{.name = read_text(map.require("name"), "name"),
                          .at = read_choice(map.require("at"), "at", sides),
                          .size_bytes = read_bytes(map.require("bytes"), "bytes", region_sizes)};
    if (const Tree* content = map.find("content"))
      region.random = read_choice(*content, "content", contents_of_regions);
    region.rights = {.local_write = true, .remote_read = true, .remote_write = true, .remote_invalidate = false};
    if (const Tree* list = map.find("rights")) region.rights = read_rights(*list);
    map.optional("other_domain", region.other_domain, read_bool);
    if (std::ranges::find(spec_.regions, region.name, &RdmaRegionSpec::name) != spec_.regions.end())
      throw BadInput{item.where + ": two regions have the name \"" + region.name + "\""};
    spec_.regions.push_back(std::move(region));
  }
}

/// Of what is sent, written or read, the region that is not the peer's business is `by`'s own.
void RdmaLoader::load_memory(const MapReader& map, RdmaOperationSpec& operation) {
  const bool reads = operation.action == RdmaAction::RdmaRead, sends = operation.action == RdmaAction::Send;
  const Side source = reads ? other(operation.by) : operation.by;
  if (const Tree* tree = map.find("from")) operation.from = region(*tree, "from", source);
  if (const Tree* tree = map.find("to")) operation.to = region(*tree, "to", other(source));
  const bool has_both = operation.from && operation.to;
  if (!has_both && !sends) static_cast<void>(map.require(operation.from ? "to" : "from"));
  if (operation.from) operation.size_bytes = static_cast<std::uint32_t>(spec_.regions[*operation.from].size_bytes);
  map.optional("bytes", operation.size_bytes, read_bytes, operation_sizes);
  if (operation.size_bytes != 0 && !operation.from) static_cast<void>(map.require("from"));
  operation.receive_bytes = operation.size_bytes;
  map.optional("receive_bytes", operation.receive_bytes, read_bytes, operation_sizes);
  map.optional("from_offset", operation.from_offset, read_number, offsets);
  map.optional("to_offset", operation.to_offset, read_number, offsets);
}

/// Keys that would say nothing beside this operation.
void refuse_idle_keys(const MapReader& map, RdmaAction action) {
  const auto only = [&map](bool fits, std::initializer_list<std::string_view> keys, std::string_view with) {
    for (const std::string_view key : keys)
      if (const Tree* of = map.find(key); of != nullptr && !fits) fail_expected(*of, key, with);
  };
  only(moves_data(action), {"from", "to", "bytes", "from_offset", "to_offset", "placed"},
       "operation send, rdma_write or rdma_read");
  only(moves_data(action) || action == RdmaAction::Invalidate, {"status", "fence", "repeat", "overlaps"},
       "an operation that completes");
  only(action == RdmaAction::Send, {"solicited_event", "receive_bytes"}, "operation send");
  only(action == RdmaAction::Wait, {"for"}, "operation wait");
}

RdmaOperationSpec RdmaLoader::load_operation(const Tree& tree, const std::string& what) {
  const MapReader map(tree, what, operation_keys().names());
  RdmaOperationSpec operation{.where = tree.where,
                              .action = read_choice(map.require("operation"), "operation", rdma_actions)};
  if (const Tree* by = map.find("by")) operation.by = read_choice(*by, "by", sides);
  const bool sends = operation.action == RdmaAction::Send;
  if (moves_data(operation.action)) load_memory(map, operation);
  refuse_idle_keys(map, operation.action);
  map.optional("solicited_event", operation.solicited_event, read_bool);
  map.optional("fence", operation.fence, read_bool);
  map.optional("overlaps", operation.overlaps, read_bool);
  map.optional("repeat", operation.repeat, read_number, repeats);
  if (const Tree* invalidated = map.find("invalidate")) {
    if (!sends && operation.action != RdmaAction::Invalidate)
      fail_expected(*invalidated, "invalidate", "operation send or invalidate");
    operation.invalidates = region(*invalidated, "invalidate", sends ? other(operation.by) : operation.by);
  }
  if (operation.action == RdmaAction::Invalidate) static_cast<void>(map.require("invalidate"));
  map.optional("for", operation.wait, read_duration, runtime::TimeNs{0}, max_time);
  if (operation.action == RdmaAction::Wait) static_cast<void>(map.require("for"));
  if (const Tree* status = map.find("status")) operation.outcome = read_choice(*status, "status", outcomes);
  if (operation.outcome != RdmaOutcome::Success) operation.placed = RdmaPlaced::No;
  if (const Tree* placed = map.find("placed")) operation.placed = read_choice(*placed, "placed", placings);
  return operation;
}

void RdmaLoader::load_operations(const Tree& tree) {
  for (const Tree& item : read_list(tree, "operations")) {
    if (spec_.operations.size() == max_rdma_operations)
      throw BadInput{item.where + ": more than " + std::to_string(max_rdma_operations) + " operations"};
    spec_.operations.push_back(
        load_operation(item, what_ + ".operations[" + std::to_string(spec_.operations.size()) + "]"));
  }
}

// --- expectations

RdmaTerminateExpectation RdmaLoader::load_terminate(const Tree& tree) {
  const MapReader map(tree, what_ + ".expect.terminate", terminate_keys().names());
  RdmaTerminateExpectation terminate{.by = read_choice(map.require("by"), "by", sides),
                                     .layer = read_choice(map.require("layer"), "layer", layers)};
  map.optional("type", terminate.type, read_number, types);
  map.optional("code", terminate.code, read_number, codes);
  static_cast<void>(map.require("code"));
  map.optional("arrives", terminate.arrives, read_bool);
  return terminate;
}

std::vector<RdmaCompletionExpectation> RdmaLoader::load_completions(const Tree& tree, const std::string& what) {
  std::vector<RdmaCompletionExpectation> all;
  for (const Tree& item : read_list(tree, what)) {
    const MapReader map(item, what, rdma_completion_keys().names());
    RdmaCompletionExpectation& one = all.emplace_back(RdmaCompletionExpectation{.where = item.where});
    one.operation = read_choice(map.require("operation"), "operation", completed);
    if (const Tree* status = map.find("status")) one.outcome = read_choice(*status, "status", outcomes);
    map.optional("count", one.count, read_number, completion_counts);
    if (const Tree* bytes = map.find("bytes"))
      one.octets = static_cast<std::uint32_t>(read_bytes(*bytes, "bytes", operation_sizes));
    if (const Tree* event = map.find("solicited_event")) one.solicited_event = read_bool(*event, "solicited_event");
    if (const Tree* name = map.find("invalidated")) one.invalidated = region(*name, "invalidated", std::nullopt);
    map.optional("at", one.at, read_time_bound);
  }
  return all;
}

RdmaContentExpectation RdmaLoader::load_content(const Tree& tree, const std::string& what) {
  const MapReader map(tree, what, content_keys().names());
  RdmaContentExpectation content{.where = tree.where, .region = region(map.require("region"), "region", std::nullopt)};
  map.optional("offset", content.offset, read_number, offsets);
  map.optional("equals_offset", content.equals_offset, read_number, offsets);
  map.optional("unchanged", content.unchanged, read_bool);
  map.optional("sha256", content.sha256, read_text);
  if (const Tree* name = map.find("equals")) content.equals = region(*name, "equals", std::nullopt);
  if ((content.equals ? 1 : 0) + (content.unchanged ? 1 : 0) + (content.sha256.empty() ? 0 : 1) != 1)
    throw BadInput{tree.where + ": " + what + ": expected one of equals, unchanged, sha256"};
  const auto room = [&](std::size_t of, std::uint64_t offset, std::string_view key) {
    const std::uint64_t size = spec_.regions[of].size_bytes;
    if (offset > size) fail_expected(*map.find(key), key, "at most " + format_count(size));
    return size - offset;
  };
  std::uint64_t most = room(content.region, content.offset, "offset");
  content.size_bytes = most;
  if (content.equals) most = std::min(most, room(*content.equals, content.equals_offset, "equals_offset"));
  map.optional("bytes", content.size_bytes, read_bytes, Range{0, most});
  content.size_bytes = std::min(content.size_bytes, most);
  return content;
}

void RdmaLoader::load_expectation(const Tree& tree) {
  const std::string what = what_ + ".expect";
  const MapReader map(tree, what, rdma_expectation_keys().names());
  RdmaExpectation& expect = spec_.expect;
  if (const Tree* start = map.find("client_start"))
    expect.start.client = read_known(*start, "client_start", start_names());
  if (expect.start.client != rdma_connected) {
    expect.start.server = rdma_no_start;
    expect.ending = {RdmaEnding::None, RdmaEnding::None};
  }
  if (const Tree* start = map.find("server_start"))
    expect.start.server = read_known(*start, "server_start", start_names());
  map.optional("client_private_data", expect.private_data.client, read_private_data);
  map.optional("server_private_data", expect.private_data.server, read_private_data);
  if (const Tree* end = map.find("client_end")) expect.ending.client = read_choice(*end, "client_end", endings);
  if (const Tree* end = map.find("server_end")) expect.ending.server = read_choice(*end, "server_end", endings);
  if (const Tree* terminate = map.find("terminate")) {
    if (terminate->kind == Tree::Kind::List)
      for (const Tree& item : terminate->items) expect.terminates.push_back(load_terminate(item));
    else
      expect.terminates.push_back(load_terminate(*terminate));
    for (std::size_t i = 0; i < expect.terminates.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (expect.terminates[i].by == expect.terminates[j].by)
          fail_expected(*terminate, "terminate", "one of each end");
  }
  if (const Tree* list = map.find("client_completions"))
    expect.completions.client = load_completions(*list, "client_completions");
  if (const Tree* list = map.find("server_completions"))
    expect.completions.server = load_completions(*list, "server_completions");
  if (const Tree* list = map.find("contents"))
    for (const Tree& item : read_list(*list, "contents"))
      expect.contents.push_back(load_content(item, what + ".contents[" + std::to_string(expect.contents.size()) + "]"));
}

/// What a run of it keeps and does.
void RdmaLoader::judge_amount() const {
  std::uint64_t bytes = 0, repeated = 0;
  for (const RdmaRegionSpec& one : spec_.regions) bytes += 2 * one.size_bytes;
  for (const RdmaOperationSpec& one : spec_.operations) bytes += one.size_bytes, repeated += one.repeat;
  const auto refuse = [this](const std::string& why) { throw BadInput{map_.tree().where + ": " + what_ + ": " + why}; };
  if (bytes > max_rdma_memory)
    refuse("its regions twice and the data of its operations once are more than " + format_count(max_rdma_memory) +
           " bytes");
  if (repeated > max_rdma_repeats)
    refuse("more than " + format_count(max_rdma_repeats) + " operations with their repetitions");
}

RdmaSpec RdmaLoader::load() {
  load_startup();
  if (const Tree* list = map_.find("regions")) load_regions(*list);
  if (const Tree* list = map_.find("operations")) load_operations(*list);
  judge_amount();
  if (spec_.rejects) {
    spec_.expect.start = {std::string(rdma_failure_name(machines::iwarp::Failure::Rejected)),
                          std::string(rdma_no_start)};
    spec_.expect.ending = {RdmaEnding::None, RdmaEnding::None};
  }
  if (const Tree* expect = map_.find("expect")) load_expectation(*expect);
  return std::move(spec_);
}

}  // namespace

RdmaSpec load_rdma(const Tree& tree, const std::string& what) { return RdmaLoader(tree, what).load(); }

}  // namespace sim
