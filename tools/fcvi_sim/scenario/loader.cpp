#include "tools/fcvi_sim/scenario/loader.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "settings/file.hpp"
#include "settings/reader.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"
#include "vi/descriptor.hpp"

namespace sim {
using namespace settings;
namespace {

constexpr std::uint64_t max_scenario_bytes = 4u << 20;
constexpr std::uint32_t min_transfer_size = 128;  // what the programs tell each other must fit
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
  std::map<std::pair<wire::IpAddress, std::string>, std::string> waiting_;  // connection points, and whose they are
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
  map.optional("max_transfer_size", attributes.max_transfer_size_bytes, read_bytes,
               Range{min_transfer_size, 0xFFFFFFFF});
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
  if (workload.discriminator.size() > vi::NetAddress::max_discriminator_bytes)
    throw BadInput{map.tree().where + ": the discriminator (by default the name) has more than 128 bytes"};
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
    for_each_member(item, what, room, "more than " + format_count(max_workloads) + " workloads",
                    [&](const Member& member) { scenario_.workloads.push_back(load_workload(item, member)); });
  }
}

WorkloadSpec Loader::load_workload(const Tree& tree, const Member& member) {
  const std::string& what = member.what;
  const MapReader map(tree, what, {"name",           "count",
                                   "client",         "server",
                                   "client_address", "server_address",
                                   "model",          "discriminator",
                                   "reliability",    "max_transfer_size",
                                   "rdma_write",     "rdma_read",
                                   "answer",         "start",
                                   "server_start",   "connect_timeout",
                                   "disconnect_by",  "hold",
                                   "second_hold",    "clean_up",
                                   "queue_depth",    "transfers",
                                   "expect"});
  WorkloadSpec workload{.name = member.name(read_text(map.require("name"), "name"))};
  if (member.of_group) workload.group = member.group;
  load_ends(map, member, workload);
  load_attributes(map, workload.attributes);
  if (const Tree* model = map.find("model")) workload.peer_to_peer = read_choice(*model, "model", models);
  if (const Tree* answer = map.find("answer")) workload.reject = read_choice(*answer, "answer", answers);
  map.optional("start", workload.start, read_duration, runtime::TimeNs{0}, max_time);
  if (workload.reject && workload.peer_to_peer)
    fail_expected(*map.find("answer"), "answer", "accept with model peer_to_peer");
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
  map.optional("queue_depth", workload.queue_depth, read_number, Range{2, 1024});
  if (const Tree* list = map.find("transfers"))
    for (const Tree& item : read_list(*list, "transfers"))
      workload.transfers.push_back(
          load_transfer(item, what + ".transfers[" + std::to_string(workload.transfers.size()) + "]", workload));
  if (workload.reject) workload.expect.connect = vi::Return::Reject;
  if (const Tree* expect = map.find("expect")) workload.expect = load_workload_expectation(*expect, what + ".expect");
  return workload;
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

TransferSpec Loader::load_transfer(const Tree& tree, const std::string& what, const WorkloadSpec& workload) {
  const MapReader map(
      tree, what,
      {"operation", "data", "message_bytes", "segments", "immediate", "direction", "repeat", "concurrent", "status"});
  TransferSpec transfer{.operation = read_choice(map.require("operation"), "operation", operations)};
  const Tree* data = map.find("data");
  transfer.data = data != nullptr ? load_data(*data) : file_data(tree, scenario_.file);
  const std::uint64_t longest = workload.attributes.max_transfer_size_bytes;
  transfer.message_bytes = std::min<std::uint64_t>(transfer.message_bytes, longest);
  map.optional("message_bytes", transfer.message_bytes, read_bytes, Range{1, longest});
  map.optional("segments", transfer.segments, read_number, Range{1, max_segments});
  map.optional("immediate", transfer.immediate, read_number, Range{0, 0xFFFFFFFF});
  if (transfer.immediate && transfer.operation == Operation::RdmaRead)
    fail_expected(*map.find("immediate"), "immediate", "none with rdma_read");
  if (const Tree* direction = map.find("direction"))
    transfer.initiator = read_choice(*direction, "direction", directions);
  map.optional("repeat", transfer.repeat, read_number, Range{1, 1'000'000});
  map.optional("concurrent", transfer.concurrent, read_bool);
  if (transfer.concurrent) check_concurrent(*map.find("concurrent"), transfer, workload);
  if (const Tree* status = map.find("status")) transfer.expected_status = read_choice(*status, "status", statuses);
  return transfer;
}

DataSpec Loader::load_data(const Tree& tree) {
  if (tree.kind == Tree::Kind::Scalar) return file_data(tree, resolve(read_text(tree, "data")));
  if (tree.kind != Tree::Kind::Map) fail_expected(tree, "data", "a file's path or {random: SIZE}");
  const MapReader map(tree, "data", {"random"});
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
  const MapReader map(
      root_, "the scenario",
      {"name", "seed", "time_limit", "linger", "file", "topology", "ports", "workloads", "faults", "expectations"});
  scenario_.name = read_text(map.require("name"), "name");
  map.optional("seed", scenario_.seed, read_number, Range{});
  if (overrides_.seed) scenario_.seed = *overrides_.seed;
  map.optional("time_limit", scenario_.time_limit, read_duration, runtime::microsecond, max_time);
  map.optional("linger", scenario_.linger, read_duration, runtime::TimeNs{0}, max_time);
  load_file(map);
  load_ports(map);
  if (const Tree* list = map.find("workloads")) load_workloads(*list);
  if (const Tree* tree = map.find("faults")) scenario_.faults = load_faults(*tree, names(), scenario_.topology);
  if (const Tree* tree = map.find("expectations")) scenario_.expectations = load_expectations(*tree, port_names_);
  return std::move(scenario_);
}

}  // namespace

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

Result<Scenario> ScenarioFile::scenario(std::size_t run) const {
  Result<Tree> tree = matrix_.tree(run);
  if (!tree) return tree.error();
  for (const std::string& assignment : overrides_.assignments)
    if (const auto assigned = assign(*tree, assignment); !assigned) return assigned.error();
  try {
    Scenario scenario = Loader(*tree, folder_, overrides_).load();
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
