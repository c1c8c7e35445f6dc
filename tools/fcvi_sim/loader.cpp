#include "tools/fcvi_sim/loader.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "fc2_fabric/loop.hpp"
#include "settings/file.hpp"
#include "settings/reader.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/parts_loader.hpp"
#include "vi/descriptor.hpp"

namespace sim {
using namespace settings;
namespace {

constexpr std::uint64_t max_scenario_bytes = 4u << 20;
constexpr std::uint32_t min_transfer_size = 128;  // what the programs tell each other must fit
constexpr std::uint16_t usual_end_to_end_credit = 16;
constexpr Choice<bool> resolutions[] = {{"name_server", true}, {"farp", false}};
constexpr Choice<Operation> operations[] = {
    {"send", Operation::Send}, {"rdma_write", Operation::RdmaWrite}, {"rdma_read", Operation::RdmaRead}};
constexpr Choice<Side> directions[] = {{"client_to_server", Side::Client},
                                       {"server_to_client", Side::Server}};
enum class Disconnect : std::uint8_t { Client, Server, Both };
constexpr Choice<Disconnect> disconnects[] = {
    {"client", Disconnect::Client}, {"server", Disconnect::Server}, {"both", Disconnect::Both}};
constexpr Choice<bool> answers[] = {{"accept", false}, {"reject", true}};
constexpr Choice<bool> classes[] = {{"2", true}, {"3", false}};
constexpr Choice<bool> models[] = {{"client_server", false}, {"peer_to_peer", true}};
constexpr Choice<vi::ReliabilityLevel> levels[] = {
    {"unreliable_delivery", vi::ReliabilityLevel::UnreliableDelivery},
    {"reliable_delivery", vi::ReliabilityLevel::ReliableDelivery},
    {"reliable_reception", vi::ReliabilityLevel::ReliableReception}};
constexpr Choice<std::uint32_t> statuses[] = {
    {"success", 0},
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
  void check_port_count(const Tree& tree);
  PortSpec load_port(const Tree& tree, std::size_t index, const fc2::LinkConfig& link);
  void load_loop_place(const MapReader& map, PortSpec& port);
  void load_port_protocol(const MapReader& map, PortSpec& port);
  void load_class(const MapReader& map, PortSpec& port);
  WorkloadSpec load_workload(const Tree& tree, std::size_t index);
  void load_attributes(const MapReader& map, vi::ViAttributes& attributes);
  void load_ends(const MapReader& map, WorkloadSpec& workload);
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
};

std::string Loader::resolve(const std::string& path) const {
  return std::filesystem::path(path).is_absolute() || folder_.empty() ? path : folder_ + "/" + path;
}

// The transfers' default data: the command line's file, else the scenario's first that exists, else this
// program.
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
  fc2::LinkConfig link{.latency_ns = 500, .bytes_per_second = fc2::line_rate_bytes_per_second("16GFC")};
  if (const Tree* tree = map.find("topology"); tree != nullptr) load_topology(*tree, scenario_, link);
  const Tree& tree = map.require("ports");
  for (const Tree& item : read_list(tree, "ports")) {
    if (scenario_.ports.size() == max_ports)
      throw BadInput{item.where + ": more than " + std::to_string(max_ports) + " ports"};
    scenario_.ports.push_back(load_port(item, scenario_.ports.size(), link));
  }
  if (scenario_.ports.empty()) fail_expected(tree, "ports", "at least one port");
  check_port_count(tree);
  for (const PortSpec& port : scenario_.ports) port_names_.push_back(port.name);
}

void Loader::check_port_count(const Tree& tree) {
  const std::size_t count = scenario_.ports.size();
  if (scenario_.topology == TopologyKind::PointToPoint && count != 2) fail_expected(tree, "ports", "two ports, point-to-point");
  if (scenario_.topology == TopologyKind::PrivateLoop && count > fc2::Loop::max_stations)
    fail_expected(tree, "ports", "at most 126 ports on a loop");
  for (std::size_t loop = 0; loop < scenario_.loops.size(); ++loop) {
    const auto there = [&](const PortSpec& port) { return port.at_loop == loop; };
    const auto ports = std::count_if(scenario_.ports.begin(), scenario_.ports.end(), there);
    if (static_cast<std::size_t>(ports) > fc2::Loop::max_stations) fail_expected(tree, "ports", "at most 126 ports on a loop");
  }
}

PortSpec Loader::load_port(const Tree& tree, std::size_t index, const fc2::LinkConfig& link) {
  const MapReader map(tree, "ports[" + std::to_string(index) + "]",
                      {"name", "switch", "loop", "private", "port_name", "node_name", "address", "addresses", "resolve", "line_rate",
                       "latency", "bb_credit", "processing_time", "receive_data_field", "first_ox_id", "first_handle", "first_connection_id",
                       "max_iu_bytes", "pipeline_depth", "preference", "class", "end_to_end_credit", "ack_0",
                       "ulp_timeout", "capture"});
  PortSpec port{.name = read_text(map.require("name"), "name"), .link = link};
  if (const Tree* at = map.find("switch")) port.at_switch = read_position(*at, "switch", names_of(scenario_.switches));
  load_loop_place(map, port);
  port.port_name.value = 0x200002FCF0000001 + index;  // a locally assigned block
  port.node_name.value = 0x100002FCF0000001 + index;
  map.optional("port_name", port.port_name, read_name);
  map.optional("node_name", port.node_name, read_name);
  if (const Tree* address = map.find("address")) port.addresses.push_back(read_address(*address, "address"));
  if (const Tree* list = map.find("addresses"))
    for (const Tree& item : read_list(*list, "addresses"))
      port.addresses.push_back(read_address(item, "addresses"));
  if (port.addresses.empty())
    port.addresses.push_back(wire::IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(index + 1)));
  load_link(map, port.link);
  load_port_protocol(map, port);
  for (const PortSpec& other : scenario_.ports) {
    if (other.name == port.name)
      throw BadInput{tree.where + ": two ports have the name \"" + port.name + "\""};
    if (other.port_name == port.port_name)
      throw BadInput{tree.where + ": ports " + other.name + " and " + port.name + " have the same port_name"};
    for (const wire::IpAddress& address : port.addresses)
      if (std::find(other.addresses.begin(), other.addresses.end(), address) != other.addresses.end())
        throw BadInput{tree.where + ": ports " + other.name + " and " + port.name +
                       " have the same address " + to_string(address)};
  }
  return port;
}

void Loader::load_loop_place(const MapReader& map, PortSpec& port) {
  const Tree* loop = map.find("loop");
  if (const Tree* tree = map.find("private"); tree != nullptr && loop == nullptr) fail_expected(*tree, "private", "a loop to be private on");
  if (loop == nullptr) return;
  if (const Tree* tree = map.find("switch")) fail_expected(*tree, "switch", "either a loop or a switch");
  std::vector<std::string_view> loops;
  for (const LoopSpec& spec : scenario_.loops) loops.push_back(spec.name);
  port.at_loop = read_position(*loop, "loop", loops);
  map.optional("private", port.is_private, read_bool);
}

void Loader::load_port_protocol(const MapReader& map, PortSpec& port) {
  if (const Tree* tree = map.find("resolve"))
    port.use_name_server = read_choice(*tree, "resolve", resolutions);
  if (const Tree* tree = map.find("receive_data_field")) {
    port.receive_data_field_bytes =
        static_cast<std::uint16_t>(read_bytes(*tree, "receive_data_field", {256, 2112}));
    if (port.receive_data_field_bytes % 4 != 0) fail_expected(*tree, "receive_data_field", "a multiple of 4");
  }
  map.optional("first_ox_id", port.first_ox_id, read_number, Range{0, 0xFFFE});
  map.optional("first_handle", port.first_handle, read_number, Range{0, 0xFFFFFFFE});
  map.optional("first_connection_id", port.first_connection_id, read_number, Range{1, 0xFFFFFFFE});
  map.optional("max_iu_bytes", port.max_iu_bytes, read_bytes, Range{2080, 65536ull * 2080});
  map.optional("pipeline_depth", port.pipeline_depth, read_number, Range{0, 255});
  map.optional("preference", port.preference, read_bool);
  load_class(map, port);
  map.optional("ulp_timeout", port.ulp_timeout, read_duration, fc2::TimeNs{0}, max_time);
  map.optional("capture", port.capture, read_bool);
}

// What a port says of itself must fit together; what two ports make of it is their affair (FC-VI 8.1).
void Loader::load_class(const MapReader& map, PortSpec& port) {
  if (const Tree* tree = map.find("class")) port.class_2 = read_choice(*tree, "class", classes);
  if (port.class_2) port.end_to_end_credit = usual_end_to_end_credit;
  map.optional("end_to_end_credit", port.end_to_end_credit, read_number, Range{0, 0x7FFF});
  map.optional("ack_0", port.ack_0, read_bool);
  if (port.end_to_end_credit != 0) return;
  if (port.class_2) fail_expected(*map.find("end_to_end_credit"), "end_to_end_credit", "at least 1 with class 2");
  if (port.ack_0) fail_expected(*map.find("ack_0"), "ack_0", "false without end_to_end_credit");
}

void Loader::load_attributes(const MapReader& map, vi::ViAttributes& attributes) {
  if (const Tree* tree = map.find("reliability"))
    attributes.reliability = read_choice(*tree, "reliability", levels);
  attributes.max_transfer_size_bytes = 0xFFFFFFFF;
  attributes.enable_rdma_write = attributes.enable_rdma_read = true;
  map.optional("max_transfer_size", attributes.max_transfer_size_bytes, read_bytes,
               Range{min_transfer_size, 0xFFFFFFFF});
  map.optional("rdma_write", attributes.enable_rdma_write, read_bool);
  map.optional("rdma_read", attributes.enable_rdma_read, read_bool);
}

void Loader::load_ends(const MapReader& map, WorkloadSpec& workload) {
  workload.client = read_position(map.require("client"), "client", port_names_);
  workload.server = read_position(map.require("server"), "server", port_names_);
  workload.discriminator = workload.name;
  if (const Tree* tree = map.find("discriminator"))
    workload.discriminator = read_text(*tree, "discriminator");
  if (workload.discriminator.size() > vi::NetAddress::max_discriminator_bytes)
    throw BadInput{map.tree().where + ": the discriminator (by default the name) has more than 128 bytes"};
  for (const WorkloadSpec& other : scenario_.workloads) {
    if (other.name == workload.name)
      throw BadInput{map.tree().where + ": two workloads have the name \"" + workload.name + "\""};
    if (other.server == workload.server && other.discriminator == workload.discriminator)
      throw BadInput{map.tree().where + ": workloads " + other.name + " and " + workload.name +
                     " wait for the same discriminator"};
  }
}

WorkloadSpec Loader::load_workload(const Tree& tree, std::size_t index) {
  const std::string what = "workloads[" + std::to_string(index) + "]";
  const MapReader map(tree, what,
                      {"name", "client", "server", "model", "discriminator", "reliability", "max_transfer_size",
                       "rdma_write", "rdma_read", "answer", "start", "server_start", "connect_timeout",
                       "disconnect_by", "hold", "second_hold", "clean_up", "queue_depth", "transfers", "expect"});
  WorkloadSpec workload{.name = read_text(map.require("name"), "name")};
  load_ends(map, workload);
  load_attributes(map, workload.attributes);
  if (const Tree* model = map.find("model")) workload.peer_to_peer = read_choice(*model, "model", models);
  if (const Tree* answer = map.find("answer")) workload.reject = read_choice(*answer, "answer", answers);
  map.optional("start", workload.start, read_duration, fc2::TimeNs{0}, max_time);
  if (workload.reject && workload.peer_to_peer)
    fail_expected(*map.find("answer"), "answer", "accept with model peer_to_peer");
  map.optional("server_start", workload.server_start, read_duration, fc2::TimeNs{0}, max_time);
  map.optional("connect_timeout", workload.connect_timeout, read_duration, fc2::microsecond, max_time);
  if (const Tree* side = map.find("disconnect_by")) {
    const Disconnect who = read_choice(*side, "disconnect_by", disconnects);
    workload.disconnect_by = who == Disconnect::Server ? Side::Server : Side::Client;
    workload.disconnect_by_both = who == Disconnect::Both;
  }
  map.optional("hold", workload.hold, read_duration, fc2::TimeNs{0}, max_time);
  map.optional("second_hold", workload.second_hold, read_duration, fc2::TimeNs{0}, max_time);
  map.optional("clean_up", workload.clean_up, read_bool);
  map.optional("queue_depth", workload.queue_depth, read_number, Range{2, 1024});
  if (const Tree* list = map.find("transfers"))
    for (const Tree& item : read_list(*list, "transfers"))
      workload.transfers.push_back(load_transfer(
          item, what + ".transfers[" + std::to_string(workload.transfers.size()) + "]", workload));
  if (workload.reject) workload.expect.connect = vi::Return::Reject;
  if (const Tree* expect = map.find("expect")) workload.expect = load_workload_expectation(*expect, what + ".expect");
  return workload;
}

/// The programs know of two at a time, each of which leaves the receive queues to their own messages.
void check_concurrent(const Tree& tree, const TransferSpec& transfer, const WorkloadSpec& workload) {
  const TransferSpec* before = workload.transfers.empty() ? nullptr : &workload.transfers.back();
  const auto fits = [](const TransferSpec& one) { return one.operation != Operation::Send && !one.immediate && one.repeat == 1; };
  if (before == nullptr || before->concurrent || before->initiator == transfer.initiator || !fits(*before) || !fits(transfer))
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
  if (const Tree* status = map.find("status"))
    transfer.expected_status = read_choice(*status, "status", statuses);
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
  if (!std::filesystem::is_regular_file(path, error))
    throw BadInput{tree.where + ": data: no such file: " + path};
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error || size > max_transfer_bytes)
    throw BadInput{tree.where + ": data: " + path + ": expected a file of at most " +
                   format_count(max_transfer_bytes) + " bytes"};
  return {.path = path, .size_bytes = size};
}

Names Loader::names() const {
  Names names{.ports = port_names_, .switches = names_of(scenario_.switches), .switch_links = {}, .on_loop = {}};
  for (const PortSpec& port : scenario_.ports)
    names.on_loop.push_back(port.at_loop.has_value() || scenario_.topology == TopologyKind::PrivateLoop);
  for (const SwitchLinkSpec& link : scenario_.switch_links) names.switch_links.push_back(link.name);
  return names;
}

Scenario Loader::load() {
  const MapReader map(
      root_, "the scenario",
      {"name", "seed", "time_limit", "linger", "file", "topology", "ports", "workloads", "faults", "expectations"});
  scenario_.name = read_text(map.require("name"), "name");
  map.optional("seed", scenario_.seed, read_number, Range{});
  if (overrides_.seed) scenario_.seed = *overrides_.seed;
  map.optional("time_limit", scenario_.time_limit, read_duration, fc2::microsecond, max_time);
  map.optional("linger", scenario_.linger, read_duration, fc2::TimeNs{0}, max_time);
  load_file(map);
  load_ports(map);
  if (const Tree* list = map.find("workloads")) {
    for (const Tree& item : read_list(*list, "workloads")) {
      if (scenario_.workloads.size() == max_workloads)
        throw BadInput{item.where + ": more than " + std::to_string(max_workloads) + " workloads"};
      scenario_.workloads.push_back(load_workload(item, scenario_.workloads.size()));
    }
  }
  if (const Tree* tree = map.find("faults")) scenario_.faults = load_faults(*tree, names(), scenario_.topology);
  if (const Tree* tree = map.find("expectations")) scenario_.expectations = load_expectations(*tree, port_names_);
  return std::move(scenario_);
}

}  // namespace

std::string_view to_string(Operation operation) {
  switch (operation) {
    case Operation::Send:
      return "Send";
    case Operation::RdmaWrite:
      return "RDMA Write";
    case Operation::RdmaRead:
      return "RDMA Read";
  }
  return "?";
}

Result<Scenario> read_scenario(const std::string& text, const std::string& name, const std::string& folder,
                               const Overrides& overrides) {
  Result<Tree> tree = parse_yaml(text, name);
  if (!tree) return tree.error();
  if (tree->kind == Tree::Kind::Null) return BadInput{name + ": is empty, expected a scenario"};
  for (const std::string& assignment : overrides.assignments)
    if (const auto assigned = assign(*tree, assignment); !assigned) return assigned.error();
  try {
    return Loader(*tree, folder, overrides).load();
  } catch (const BadInput& error) {
    return error;
  }
}

Result<Scenario> load_scenario(const std::string& path, const Overrides& overrides) {
  const Result<std::string> text = read_file(path, max_scenario_bytes);
  if (!text) return text.error();
  return read_scenario(*text, path, std::filesystem::path(path).parent_path().string(), overrides);
}

}  // namespace sim
