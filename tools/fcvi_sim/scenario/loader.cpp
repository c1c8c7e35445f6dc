#include "tools/fcvi_sim/scenario/loader.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "settings/file.hpp"
#include "settings/reader.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/scenario/keys.hpp"
#include "tools/fcvi_sim/scenario/pace_loader.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"
#include "vi/descriptor.hpp"

namespace sim {
using namespace settings;
namespace {

constexpr std::uint64_t max_scenario_bytes = 4u << 20;
constexpr std::uint32_t min_transfer_size = 128;               // what the programs tell each other must fit
constexpr std::size_t most_discriminator_bytes_over_tcp = 64;  // ruling V-14
constexpr Range transfer_sizes{min_transfer_size, 0xFFFFFFFF}, queue_depths{2, 1024}, segment_counts{1, max_segments},
    buffer_counts{2, queue_depths.max}, immediates{0, 0xFFFFFFFF}, repeats{1, 1'000'000}, replies{1, max_reply_bytes};
constexpr Choice<Operation> operations[] = {
    {"send", Operation::Send}, {"rdma_write", Operation::RdmaWrite}, {"rdma_read", Operation::RdmaRead}};
constexpr Choice<Side> directions[] = {{"client_to_server", Side::Client}, {"server_to_client", Side::Server}};
enum class Disconnect : std::uint8_t { Client, Server, Both };
constexpr Choice<Disconnect> disconnects[] = {
    {"client", Disconnect::Client}, {"server", Disconnect::Server}, {"both", Disconnect::Both}};
constexpr Choice<bool> answers[] = {{"accept", false}, {"reject", true}};
constexpr Choice<bool> models[] = {{"client_server", false}, {"peer_to_peer", true}};
constexpr Choice<vi::ReliabilityLevel> levels[] = {{"unreliable_delivery", vi::ReliabilityLevel::UnreliableDelivery},
                                                   {"reliable_delivery", vi::ReliabilityLevel::ReliableDelivery},
                                                   {"reliable_reception", vi::ReliabilityLevel::ReliableReception}};
constexpr Choice<std::uint32_t> statuses[] = {{"success", 0},
                                              {"format_error", vi::status::format_error},
                                              {"protection_error", vi::status::protection_error},
                                              {"length_error", vi::status::length_error},
                                              {"transport_error", vi::status::transport_error},
                                              {"rdma_protection_error", vi::status::rdma_protection_error},
                                              {"remote_descriptor_error", vi::status::remote_descriptor_error},
                                              {"flushed", vi::status::flushed}};

// clang-format off
const KeyTable& data_keys() {
  static const KeyTable table{"data", {{"random", Form::Bytes, "so many bytes, drawn from the seed", true}}};
  return table;
}

const KeyTable& transfer_keys() {
  static const KeyTable table = [] {
    KeyTable own{"transfer", {
      {"operation", Form::Choice, "what moves the data", true, InList::No, nullptr, {"operation", names_in<operations>}},
      {"data", Form::Text, "a file's path, or {random: SIZE}; without it the scenario's file", false, InList::No, one<data_keys>},
      {"message_bytes", Form::Bytes, "of each message; the last may be shorter"},
      within({"segments", Form::Number, "data segments of each descriptor, 1 to 250"}, segment_counts),
      within({"buffers", Form::Number, "messages that each end has memory for, at least 2 and at most queue_depth; without it, all"}, buffer_counts),
      within({"immediate", Form::Number, "Immediate Data of the first message, counted up; not with rdma_read"}, immediates),
      {"direction", Form::Choice, "whose descriptors move the data", false, InList::No, nullptr, {"direction_of_transfer", names_in<directions>}},
      within({"repeat", Form::Number, "how often the whole transfer is done, one after the other"}, repeats),
      {"concurrent", Form::Flag, "at the same time as the transfer before it, which goes the other way; RDMA without Immediate Data"},
      {"status", Form::Choice, "what the descriptors must complete with", false, InList::No, nullptr, {"transfer_status", names_in<statuses>}},
      {"think_time", Form::Time, "closed loop: from the answers to one message (or burst) to the next"},
      within({"reply", Form::Bytes, "the other side answers each message with so many bytes; at most 1MiB"}, replies)}};
    own.keys.insert(own.keys.end(), pace_keys().begin(), pace_keys().end());
    own.alternatives = {"interval", "rate", "think_time"};
    return own;
  }();
  return table;
}

const KeyTable& workload_keys() {
  static const KeyTable table{"workload", {
    {"name", Form::Text, "in messages, diagrams and results", true},
    within({"count", Form::Number, "so many: NAME-1, NAME-2, ..."}, counts),
    {"client", Form::Text, "a port, or with count a group of ports: where the client program runs", true},
    {"server", Form::Text, "the same of the server program", true},
    {"client_address", Form::Address, "which of the client port's addresses it names as its own"},
    {"server_address", Form::Address, "which of the server port's addresses is called"},
    {"model", Form::Choice, "how the connection is made", false, InList::No, nullptr, {"model", names_in<models>}},
    {"discriminator", Form::Text, "of the connection point, up to 128 bytes; by default the name"},
    {"reliability", Form::Choice, "of both VIs", false, InList::No, nullptr, {"reliability", names_in<levels>}},
    within({"max_transfer_size", Form::Bytes, "of both VIs, at least 128"}, transfer_sizes),
    {"rdma_write", Form::Flag, "whether the VIs permit RDMA Write to the other side"},
    {"rdma_read", Form::Flag, "whether the VIs permit RDMA Read to the other side"},
    {"answer", Form::Choice, "what the server program says to the request", false, InList::No, nullptr, {"answer", names_in<answers>}},
    {"start", Form::Time, "when the client program begins, after all ports are ready"},
    {"server_start", Form::Time, "how much later the server program begins"},
    {"connect_timeout", Form::Time, "of VipConnectRequest and VipConnectWait"},
    {"disconnect_by", Form::Choice, "who disconnects first", false, InList::No, nullptr, {"disconnect_by", names_in<disconnects>}},
    {"hold", Form::Time, "from the last transfer to that disconnect"},
    {"second_hold", Form::Time, "from the news of it to the other side's disconnect"},
    {"clean_up", Form::Flag, "disconnect also where the connection was not made"},
    within({"queue_depth", Form::Number, "descriptors that each end keeps posted, 2 to 1024"}, queue_depths),
    {"rdma", Form::None, "kind tcp: it is a stream of RDMA, and not a connection of VIs", false, InList::No, one<rdma_keys>},
    {"transfers", Form::None, "what moves, one after the other", false, InList::Only, one<transfer_keys>},
    {"expect", Form::None, "what must come of it; with count of each", false, InList::No, one<workload_expectation_keys>},
    {"expect_group", Form::None, "with count: what must come of all together", false, InList::No, one<group_expectation_keys>},
    {"except", Form::TablesByName, "with count: members that have an `expect` of their own, by name", false, InList::No, one<workload_expectation_keys>}}};
  return table;
}

std::vector<const KeyTable*> all_fault_keys() { return fault_keys(); }

/// Those that a scenario has when the matrix has taken its own.
const KeyTable& read_keys() {
  static const KeyTable table{"scenario", {
    {"name", Form::Text, "of the scenario", true},
    {"seed", Form::Number, "of all random numbers"},
    {"time_limit", Form::Time, "a run that has not ended by then has failed"},
    {"linger", Form::Time, "how long the ports stay after the programs have ended"},
    {"file", Form::Text, "data of transfers that have none: a path, or a list whose first existing one is taken", false, InList::Also},
    {"topology", Form::None, "what joins the ports; by default one switch", false, InList::No, one<topology_keys>},
    {"ports", Form::None, "the hosts", true, InList::Only, one<port_keys>},
    {"workloads", Form::None, "connections, and what moves over them", false, InList::Only, one<workload_keys>},
    {"background", Form::None, "frames of other FC-4s between ports", false, InList::Only, one<background_keys>},
    {"faults", Form::None, "what goes wrong", false, InList::Only, all_fault_keys},
    {"expectations", Form::None, "what must come of all of it", false, InList::No, one<expectation_keys>}}};
  return table;
}
// clang-format on

class Loader {
 public:
  Loader(const Tree& root, const std::string& folder, const Overrides& overrides)
      : root_(root), folder_(folder), overrides_(overrides) {}
  Scenario load();

 private:
  void load_file(const MapReader& map);
  void load_ports(const MapReader& map);
  void load_workloads(const Tree& tree);
  WorkloadSpec load_workload(const Tree& tree, const Member& member);
  void load_rdma_workload(const MapReader& map, const Tree& rdma, const std::string& what, WorkloadSpec& workload);
  void load_timing(const MapReader& map, WorkloadSpec& workload);
  void load_group(const MapReader& map, const std::string& what, const Group& group);
  void load_exceptions(const Tree& tree, const std::string& what, const Group& group);
  void load_attributes(const MapReader& map, vi::ViAttributes& attributes);
  void load_ends(const MapReader& map, const Member& member, WorkloadSpec& workload);
  [[nodiscard]] wire::IpAddress load_end_address(const MapReader& map, std::string_view key, std::size_t port) const;
  void refuse_second(const Tree& tree, const WorkloadSpec& workload);
  TransferSpec load_transfer(const Tree& tree, const std::string& what, const WorkloadSpec& workload);
  DataSpec load_data(const Tree& tree);
  DataSpec file_data(const Tree& tree, const std::string& path);
  [[nodiscard]] std::string resolve(const std::string& path) const;
  [[nodiscard]] Names names() const;

  const Tree& root_;
  const std::string& folder_;
  const Overrides& overrides_;
  Scenario scenario_;
  std::vector<std::string_view> port_names_;
  Roster ports_;
  std::set<std::string> workload_names_;
  std::map<std::pair<std::size_t, std::uint16_t>, std::string> rdma_ports_;  // by host and TCP port, whose they are
  std::size_t rdma_streams_ = 0;                                             // without a port of their own
  std::map<std::pair<wire::IpAddress, std::string>, std::string> waiting_;   // connection points, and whose they are
};

std::string Loader::resolve(const std::string& path) const {
  return std::filesystem::path(path).is_absolute() || folder_.empty() ? path : folder_ + "/" + path;
}

// The transfers' default data: the command line's file, else the scenario's first that exists, else this program.
void Loader::load_file(const MapReader& map) {
  std::vector<std::string> candidates{"/usr/bin/python3", "/bin/bash"};
  const Tree* tree = map.find("file");
  if (!overrides_.file.empty()) {
    candidates = {overrides_.file};
  } else if (tree != nullptr && tree->kind == Tree::Kind::Scalar) {
    candidates = {resolve(read_text(*tree, "file"))};
  } else if (tree != nullptr) {
    candidates.clear();
    for (const Tree& item : read_list(*tree, "file")) candidates.push_back(resolve(read_text(item, "file")));
  }
  std::error_code ignored;
  for (const std::string& path : candidates) {
    if (!scenario_.file.empty() || !std::filesystem::is_regular_file(path, ignored)) continue;
    scenario_.file = path;
  }
  if (!scenario_.file.empty()) return;
  if (!overrides_.file.empty()) throw BadInput{"--file " + overrides_.file + ": no such file"};
  if (tree != nullptr && tree->kind == Tree::Kind::Scalar) fail_expected(*tree, "file", "a file that exists");
  scenario_.file = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

void Loader::load_ports(const MapReader& map) {
  const std::vector<Group> groups = sim::load_ports(map, scenario_);
  for (const PortSpec& port : scenario_.ports) port_names_.push_back(port.name);
  ports_ = Roster(port_names_, groups);
}

void Loader::load_attributes(const MapReader& map, vi::ViAttributes& attributes) {
  if (const Tree* tree = map.find("reliability")) attributes.reliability = read_choice(*tree, "reliability", levels);
  attributes.max_transfer_size_bytes = 0xFFFFFFFF;
  attributes.enable_rdma_write = attributes.enable_rdma_read = true;
  map.optional("max_transfer_size", attributes.max_transfer_size_bytes, read_bytes, transfer_sizes);
  map.optional("rdma_write", attributes.enable_rdma_write, read_bool);
  map.optional("rdma_read", attributes.enable_rdma_read, read_bool);
}

void Loader::load_ends(const MapReader& map, const Member& member, WorkloadSpec& workload) {
  workload.client = ports_.pick(map.require("client"), "client", member);
  workload.server = ports_.pick(map.require("server"), "server", member);
  workload.client_address = load_end_address(map, "client_address", workload.client);
  workload.server_address = load_end_address(map, "server_address", workload.server);
  workload.discriminator = workload.name;
  if (const Tree* tree = map.find("discriminator")) workload.discriminator = read_text(*tree, "discriminator");
  const std::size_t longest = scenario_.topology == TopologyKind::Tcp ? most_discriminator_bytes_over_tcp
                                                                      : vi::NetAddress::max_discriminator_bytes;
  if (workload.discriminator.size() > longest)
    throw BadInput{map.tree().where + ": the discriminator (by default the name) has more than " +
                   std::to_string(longest) + " bytes"};
  refuse_second(map.tree(), workload);
}

/// Without the key the port's first.
wire::IpAddress Loader::load_end_address(const MapReader& map, std::string_view key, std::size_t port) const {
  const std::vector<wire::IpAddress>& addresses = scenario_.ports[port].addresses;
  const Tree* tree = map.find(key);
  if (tree == nullptr) return addresses.front();
  const wire::IpAddress address = read_address(*tree, key);
  if (std::find(addresses.begin(), addresses.end(), address) == addresses.end())
    fail_expected(*tree, key, "an address of port " + scenario_.ports[port].name);
  return address;
}

void Loader::refuse_second(const Tree& tree, const WorkloadSpec& workload) {
  if (!workload_names_.insert(workload.name).second)
    throw BadInput{tree.where + ": two workloads have the name \"" + workload.name + "\""};
  const auto [other, first] = waiting_.try_emplace({workload.server_address, workload.discriminator}, workload.name);
  if (!first)
    throw BadInput{tree.where + ": workloads " + other->second + " and " + workload.name +
                   " wait for the same discriminator"};
}

void Loader::load_workloads(const Tree& tree) {
  std::size_t index = 0;
  for (const Tree& item : read_list(tree, "workloads")) {
    const std::string what = "workloads[" + std::to_string(index++) + "]";
    const std::size_t room = max_workloads - scenario_.workloads.size();
    Group group =
        for_each_member(item, what, room, "more than " + format_count(max_workloads) + " workloads",
                        [&](const Member& member) { scenario_.workloads.push_back(load_workload(item, member)); });
    group.first = scenario_.workloads.size() - group.count;
    load_group(MapReader(item, what, workload_keys().names()), what, group);
  }
}

/// Bounds of the times of messages ask when they arrived.
void refuse_unseen_arrivals(const Tree& tree, const WorkloadSpec& workload) {
  if (workload.has_unseen_arrivals())
    throw BadInput{tree.where +
                   ": latency, throughput, messages_per_second, recovery and fairness: an rdma_write is "
                   "complete before it arrives; expected one with immediate, operation send, or "
                   "reliability reliable_reception"};
}

/// Those behind a message that is lost come in its place, so that all must have the same shape; and what the programs
/// tell each other, too.
void refuse_unknown_losses(const Tree& tree, const WorkloadSpec& workload) {
  if (!workload.expect.lost) return;
  const bool unreliable = workload.attributes.reliability == vi::ReliabilityLevel::UnreliableDelivery;
  const auto is_plain = [](const TransferSpec& one) {
    return one.operation == Operation::Send && one.repeat == 1 && one.segments == 1 && !one.reply_bytes &&
           !one.immediate && !one.buffers && one.message_bytes >= least_lost_bytes;
  };
  if (!unreliable || workload.transfers.size() != 1 || !is_plain(workload.transfers.front()))
    throw BadInput{
        tree.where + ": lost: expected only with unreliable_delivery, and one transfer: a send of messages of " +
        std::to_string(least_lost_bytes) + " bytes at least, without repeat, segments, buffers, immediate and reply"};
}

void Loader::load_group(const MapReader& map, const std::string& what, const Group& group) {
  const Tree *const expect = map.find("expect_group"), *const exceptions = map.find("except");
  if (group.name.empty()) {
    for (const Tree* tree : {expect, exceptions})
      if (tree != nullptr) throw BadInput{tree->where + ": " + what + ": expect_group and except come with count"};
    return;
  }
  WorkloadGroup& own = scenario_.workload_groups.emplace_back(WorkloadGroup{group.name, group.first, group.count});
  if (expect != nullptr) own.expect = load_group_expectation(*expect, what + ".expect_group");
  if (exceptions != nullptr) load_exceptions(*exceptions, what + ".except", group);
  for (std::size_t i = group.first; i < group.first + group.count; ++i)
    scenario_.workloads[i].measured = own.expect.measures();
  if (own.expect.measures()) refuse_unseen_arrivals(*expect, scenario_.workloads[group.first]);
}

/// {NAME-3: {connect: Timeout}}
void Loader::load_exceptions(const Tree& tree, const std::string& what, const Group& group) {
  std::vector<std::string_view> members;
  for (std::size_t i = group.first; i < group.first + group.count; ++i) members.push_back(scenario_.workloads[i].name);
  for (const auto& [name, value] : MapReader(tree, what, members).tree().entries) {
    const auto member = static_cast<std::size_t>(std::ranges::find(members, name) - members.begin());
    WorkloadSpec& workload = scenario_.workloads[group.first + member];
    WorkloadExpectation standard;
    if (workload.reject) standard.connect = vi::Return::Reject;
    workload.expect = load_workload_expectation(value, what + "." + name, standard);
    workload.is_exception = true;
    refuse_unknown_losses(value, workload);
    if (!workload.expect.messages.is_any()) refuse_unseen_arrivals(value, workload);
  }
}

WorkloadSpec Loader::load_workload(const Tree& tree, const Member& member) {
  const std::string& what = member.what;
  const MapReader map(tree, what, workload_keys().names());
  WorkloadSpec workload{.name = member.name(read_text(map.require("name"), "name"))};
  if (member.of_group) workload.group = member.group;
  load_ends(map, member, workload);
  if (const Tree* rdma = map.find("rdma")) {
    load_rdma_workload(map, *rdma, what, workload);
    return workload;
  }
  load_attributes(map, workload.attributes);
  if (const Tree* model = map.find("model")) workload.peer_to_peer = read_choice(*model, "model", models);
  if (const Tree* answer = map.find("answer")) workload.reject = read_choice(*answer, "answer", answers);
  if (workload.reject && workload.peer_to_peer)
    fail_expected(*map.find("answer"), "answer", "accept with model peer_to_peer");
  load_timing(map, workload);
  map.optional("queue_depth", workload.queue_depth, read_number, queue_depths);
  if (const Tree* list = map.find("transfers"))
    for (const Tree& item : read_list(*list, "transfers"))
      workload.transfers.push_back(
          load_transfer(item, what + ".transfers[" + std::to_string(workload.transfers.size()) + "]", workload));
  if (workload.reject) workload.expect.connect = vi::Return::Reject;
  if (const Tree* expect = map.find("expect")) {
    workload.expect = load_workload_expectation(*expect, what + ".expect", workload.expect);
    refuse_unknown_losses(*expect, workload);
    if (!workload.expect.messages.is_any()) refuse_unseen_arrivals(*expect, workload);
  }
  return workload;
}

/// Of the other keys only a few say something about it.
void Loader::load_rdma_workload(const MapReader& map, const Tree& rdma, const std::string& what,
                                WorkloadSpec& workload) {
  if (scenario_.topology != TopologyKind::Tcp) throw BadInput{rdma.where + ": rdma: expected with topology.kind tcp"};
  constexpr std::string_view own[] = {"name",           "count",          "client", "server",
                                      "client_address", "server_address", "start",  "rdma"};
  for (const auto& [key, value] : map.tree().entries)
    if (std::ranges::find(own, key) == std::end(own))
      throw BadInput{value.where + ": " + key + ": is of connections of VIs, and " + what + " has rdma"};
  map.optional("start", workload.start, read_duration, runtime::TimeNs{0}, max_time);
  workload.rdma = load_rdma(rdma, what + ".rdma");
  std::uint16_t& port = workload.rdma->tcp_port;
  const bool is_given = port != 0;
  while (!is_given && (port == 0 || rdma_ports_.contains({workload.server, port}) ||
                       port == scenario_.ports[workload.server].tcp.port))
    port = static_cast<std::uint16_t>(first_rdma_port + rdma_streams_++);
  const auto [other, first] = rdma_ports_.try_emplace({workload.server, port}, workload.name);
  if (!first || port == scenario_.ports[workload.server].tcp.port)
    throw BadInput{rdma.where + ": tcp_port: " + (first ? "VI over TCP" : other->second) + " listens at port " +
                   std::to_string(port) + " of " + scenario_.ports[workload.server].name};
}

void Loader::load_timing(const MapReader& map, WorkloadSpec& workload) {
  map.optional("start", workload.start, read_duration, runtime::TimeNs{0}, max_time);
  map.optional("server_start", workload.server_start, read_duration, runtime::TimeNs{0}, max_time);
  map.optional("connect_timeout", workload.connect_timeout, read_duration, runtime::microsecond, max_time);
  if (const Tree* side = map.find("disconnect_by")) {
    const Disconnect who = read_choice(*side, "disconnect_by", disconnects);
    workload.disconnect_by = who == Disconnect::Server ? Side::Server : Side::Client;
    workload.disconnect_by_both = who == Disconnect::Both;
  }
  map.optional("hold", workload.hold, read_duration, runtime::TimeNs{0}, max_time);
  map.optional("second_hold", workload.second_hold, read_duration, runtime::TimeNs{0}, max_time);
  map.optional("clean_up", workload.clean_up, read_bool);
}

/// The programs know of two at a time, each of which leaves the receive queues to their own messages.
void check_concurrent(const Tree& tree, const TransferSpec& transfer, const WorkloadSpec& workload) {
  const TransferSpec* before = workload.transfers.empty() ? nullptr : &workload.transfers.back();
  const auto fits = [](const TransferSpec& one) {
    return one.operation != Operation::Send && !one.immediate && one.repeat == 1;
  };
  if (before == nullptr || before->concurrent || before->initiator == transfer.initiator || !fits(*before) ||
      !fits(transfer))
    fail_expected(tree, "concurrent", "RDMA without immediate, once, the other way than the transfer before it");
}

/// The target compares a message before another comes in its place: its program must notice each, and keep up.
void load_buffers(const MapReader& map, std::uint32_t queue_depth, TransferSpec& transfer) {
  map.optional("buffers", transfer.buffers, read_number, buffer_counts);
  if (transfer.buffers.value_or(0) > queue_depth)
    fail_expected(*map.find("buffers"), "buffers", "at most queue_depth, " + std::to_string(queue_depth));
  if (transfer.buffers && (transfer.operation != Operation::Send || transfer.is_paced()))
    fail_expected(*map.find("buffers"), "buffers", "operation send, without a pace and reply");
}

TransferSpec Loader::load_transfer(const Tree& tree, const std::string& what, const WorkloadSpec& workload) {
  const MapReader map(tree, what, transfer_keys().names());
  TransferSpec transfer{.operation = read_choice(map.require("operation"), "operation", operations)};
  const Tree* data = map.find("data");
  transfer.data = data != nullptr ? load_data(*data) : file_data(tree, scenario_.file);
  const std::uint64_t longest = workload.attributes.max_transfer_size_bytes;
  transfer.message_bytes = std::min<std::uint64_t>(transfer.message_bytes, longest);
  map.optional("message_bytes", transfer.message_bytes, read_bytes, Range{1, longest});
  map.optional("segments", transfer.segments, read_number, segment_counts);
  map.optional("immediate", transfer.immediate, read_number, immediates);
  if (transfer.immediate && transfer.operation == Operation::RdmaRead)
    fail_expected(*map.find("immediate"), "immediate", "none with rdma_read");
  if (const Tree* direction = map.find("direction"))
    transfer.initiator = read_choice(*direction, "direction", directions);
  map.optional("repeat", transfer.repeat, read_number, repeats);
  map.optional("concurrent", transfer.concurrent, read_bool);
  if (transfer.concurrent) check_concurrent(*map.find("concurrent"), transfer, workload);
  if (const Tree* status = map.find("status")) transfer.expected_status = read_choice(*status, "status", statuses);
  load_pace(map, transfer.message_bytes, transfer.pace);
  load_answer(map, longest, transfer);
  load_buffers(map, workload.queue_depth, transfer);
  return transfer;
}

DataSpec Loader::load_data(const Tree& tree) {
  if (tree.kind == Tree::Kind::Scalar) return file_data(tree, resolve(read_text(tree, "data")));
  if (tree.kind != Tree::Kind::Map) fail_expected(tree, "data", "a file's path or {random: SIZE}");
  const MapReader map(tree, "data", data_keys().names());
  return {.path = "", .size_bytes = read_bytes(map.require("random"), "random", {0, max_transfer_bytes})};
}

DataSpec Loader::file_data(const Tree& tree, const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) throw BadInput{tree.where + ": data: no such file: " + path};
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error || size > max_transfer_bytes)
    throw BadInput{tree.where + ": data: " + path + ": expected a file of at most " + format_count(max_transfer_bytes) +
                   " bytes"};
  return {.path = path, .size_bytes = size};
}

Names Loader::names() const {
  Names names{.ports = port_names_,
              .switches = names_of(scenario_.switches),
              .switch_links = {},
              .on_loop = {},
              .workloads = {},
              .workload_groups = {}};
  for (const PortSpec& port : scenario_.ports)
    names.on_loop.push_back(port.at_loop.has_value() || scenario_.topology == TopologyKind::PrivateLoop);
  for (const SwitchLinkSpec& link : scenario_.switch_links) names.switch_links.push_back(link.name);
  for (const WorkloadSpec& workload : scenario_.workloads) {
    names.workloads.push_back(workload.name);
    names.workload_groups.push_back(workload.group);
  }
  return names;
}

Scenario Loader::load() {
  const MapReader map(root_, "the scenario", read_keys().names());
  scenario_.name = read_text(map.require("name"), "name");
  map.optional("seed", scenario_.seed, read_number, Range{});
  if (overrides_.seed) scenario_.seed = *overrides_.seed;
  map.optional("time_limit", scenario_.time_limit, read_duration, runtime::microsecond, max_time);
  map.optional("linger", scenario_.linger, read_duration, runtime::TimeNs{0}, max_time);
  load_file(map);
  load_ports(map);
  if (const Tree* list = map.find("workloads")) load_workloads(*list);
  if (const Tree* list = map.find("background"); list != nullptr && scenario_.topology == TopologyKind::Tcp)
    throw BadInput{list->where + ": background: is of Fibre Channel, and topology.kind is tcp"};
  if (const Tree* list = map.find("background"))
    scenario_.background = load_background(*list, scenario_.ports, port_names_);
  if (const Tree* tree = map.find("faults")) scenario_.faults = load_faults(*tree, names(), scenario_.topology);
  if (const Tree* tree = map.find("expectations"))
    scenario_.expectations = load_expectations(*tree, port_names_, scenario_.topology);
  return std::move(scenario_);
}

}  // namespace

const KeyTable& scenario_keys() {
  static const KeyTable table = [] {
    KeyTable own = read_keys();
    for (const Key& key : matrix_keys()) own.keys.push_back(key);
    return own;
  }();
  return table;
}

std::string_view to_string(Operation operation) {
  switch (operation) {
    case Operation::Send: return "Send";
    case Operation::RdmaWrite: return "RDMA Write";
    case Operation::RdmaRead: return "RDMA Read";
  }
  return "?";
}

Result<ScenarioFile> ScenarioFile::read(const std::string& text, const std::string& name, const std::string& folder,
                                        const Overrides& overrides) {
  Result<Matrix> matrix = Matrix::read(text, name, folder, overrides.parameters);
  if (!matrix) return matrix.error();
  return ScenarioFile(std::move(*matrix), name, folder, overrides);
}

Result<ScenarioFile> ScenarioFile::load(const std::string& path, const Overrides& overrides) {
  const Result<std::string> text = read_file(path, max_scenario_bytes);
  if (!text) return text.error();
  return read(*text, path, std::filesystem::path(path).parent_path().string(), overrides);
}

/// What the matrix took already, --set cannot change. "": it is nothing of that.
static std::string refusal_of(const std::string& assignment) {
  const std::string_view path = std::string_view(assignment).substr(0, assignment.find('='));
  const std::string_view first = path.substr(0, path.find('.'));
  const std::string where = "--set " + assignment + ": ";
  if (first == "parameters") return where + "a parameter is chosen with --param NAME=VALUE";
  if (first == "for_each") return where + "values of for_each are chosen with --only NAME=VALUE";
  return first == "include" ? where + "what is included cannot be changed" : "";
}

Result<Scenario> ScenarioFile::scenario(std::size_t run) const {
  Result<Tree> tree = matrix_.tree(run);
  if (!tree) return tree.error();
  for (const std::string& assignment : overrides_.assignments) {
    if (const std::string error = refusal_of(assignment); !error.empty()) return BadInput{error};
    if (const auto assigned = assign(*tree, assignment); !assigned) return assigned.error();
  }
  try {
    Scenario scenario = Loader(*tree, folder_, overrides_).load();
    const std::vector<std::string>& warnings = matrix_.warnings();
    scenario.warnings.insert(scenario.warnings.begin(), warnings.begin(), warnings.end());
    if (const std::string own = label(run); !own.empty()) scenario.name += " (" + own + ")";
    return scenario;
  } catch (const BadInput& error) {
    const std::string own = label(run);
    return own.empty() ? error : BadInput{error.message + " [run " + own + "]"};
  }
}

Result<Scenario> ScenarioFile::only_run() const {
  if (size() == 1) return scenario(0);
  return BadInput{name_ + ": describes " + format_count(size()) + " runs, by " + matrix_.varied() +
                  "; choose one with --only NAME=VALUE"};
}

Result<Scenario> read_scenario(const std::string& text, const std::string& name, const std::string& folder,
                               const Overrides& overrides) {
  const auto file = ScenarioFile::read(text, name, folder, overrides);
  return file ? file->only_run() : file.error();
}

Result<Scenario> load_scenario(const std::string& path, const Overrides& overrides) {
  const auto file = ScenarioFile::load(path, overrides);
  return file ? file->only_run() : file.error();
}

}  // namespace sim
