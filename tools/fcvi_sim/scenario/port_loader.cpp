// The scenario's ports: single ones, and groups of any number.
#include <algorithm>
#include <map>
#include <set>

#include "fc2_fabric/link/loop.hpp"
#include "settings/reader.hpp"
#include "settings/units.hpp"
#include "tools/fcvi_sim/scenario/keys.hpp"
#include "tools/fcvi_sim/scenario/parts_loader.hpp"
#include "wire/bytes.hpp"
#include "wire/line_rate.hpp"

namespace sim {
using namespace settings;
namespace {

constexpr std::uint16_t usual_end_to_end_credit = 16;

// Of what a port's keys may be.
constexpr Range receive_data_fields{256, 2112}, first_ox_ids{0, 0xFFFE}, first_handles{0, 0xFFFFFFFE},
    first_connection_ids{1, 0xFFFFFFFE}, iu_sizes{2080, 65536ull * 2080}, pipeline_depths{0, 255},
    reorder_pools{65536, 64ull << 30}, end_to_end_credits{0, 0x7FFF};
constexpr Choice<bool> resolutions[] = {{"name_server", true}, {"farp", false}};
constexpr Choice<bool> classes[] = {{"2", true}, {"3", false}};

class PortLoader {
 public:
  explicit PortLoader(Scenario& scenario) : scenario_(scenario) {}
  std::vector<Group> load(const MapReader& map);

 private:
  void check_port_count(const Tree& tree);
  PortSpec load_port(const Tree& tree, const Member& member);
  void load_names(const MapReader& map, const Member& member, PortSpec& port);
  void warn_of_ulp_timeout(const MapReader& map, const PortSpec& port);
  void load_addresses(const MapReader& map, const Member& member, PortSpec& port);
  void load_loop_place(const MapReader& map, PortSpec& port);
  void load_port_protocol(const MapReader& map, PortSpec& port);
  void load_class(const MapReader& map, PortSpec& port);
  void refuse_second(const Tree& tree, const PortSpec& port);

  Scenario& scenario_;
  fc2::LinkConfig link_{.latency_ns = 500, .bytes_per_second = wire::line_rate_bytes_per_second("16GFC")};
  TcpSpec tcp_;
  Roster switches_;
  std::set<std::string> names_;
  std::map<wire::Wwn, std::string> port_names_;  // whose they are
  std::map<wire::IpAddress, std::string> addresses_;
};

std::vector<Group> PortLoader::load(const MapReader& map) {
  std::vector<Group> groups, switch_groups;
  if (const Tree* tree = map.find("topology"); tree != nullptr)
    switch_groups = load_topology(*tree, scenario_, link_, tcp_);
  switches_ = Roster(names_of(scenario_.switches), switch_groups);
  const Tree& tree = map.require("ports");
  std::size_t index = 0;
  for (const Tree& item : read_list(tree, "ports")) {
    const std::size_t first = scenario_.ports.size();
    const std::string what = "ports[" + std::to_string(index++) + "]";
    const Group group =
        for_each_member(item, what, max_ports - first, "more than " + format_count(max_ports) + " ports",
                        [&](const Member& member) { scenario_.ports.push_back(load_port(item, member)); });
    if (!group.name.empty()) groups.push_back({group.name, first, group.count});
  }
  if (scenario_.ports.empty()) fail_expected(tree, "ports", "at least one port");
  check_port_count(tree);
  return groups;
}

void PortLoader::check_port_count(const Tree& tree) {
  const std::size_t count = scenario_.ports.size();
  if (scenario_.topology == TopologyKind::PointToPoint && count != 2)
    fail_expected(tree, "ports", "two ports, point-to-point");
  if (scenario_.topology == TopologyKind::PrivateLoop && count > fc2::Loop::max_stations)
    fail_expected(tree, "ports", "at most 126 ports on a loop");
  for (std::size_t loop = 0; loop < scenario_.loops.size(); ++loop) {
    const auto there = [&](const PortSpec& port) { return port.at_loop == loop; };
    const auto ports = std::count_if(scenario_.ports.begin(), scenario_.ports.end(), there);
    if (static_cast<std::size_t>(ports) > fc2::Loop::max_stations)
      fail_expected(tree, "ports", "at most 126 ports on a loop");
  }
}

PortSpec PortLoader::load_port(const Tree& tree, const Member& member) {
  const MapReader map(tree, member.what, port_keys().names());
  refuse_keys_of_others(map, scenario_.topology);
  PortSpec port{.name = member.name(read_text(map.require("name"), "name")), .link = link_};
  port.tcp = tcp_;
  load_tcp(map, port.tcp);
  if (const Tree* at = map.find("switch")) port.at_switch = switches_.pick(*at, "switch", member);
  load_loop_place(map, port);
  load_names(map, member, port);
  load_addresses(map, member, port);
  load_link(map, port.link);
  load_port_protocol(map, port);
  refuse_second(tree, port);
  return port;
}

void PortLoader::load_names(const MapReader& map, const Member& member, PortSpec& port) {
  const std::size_t index = scenario_.ports.size();
  for (const char* key : {"port_name", "node_name", "addresses"})
    if (const Tree* tree = map.find(key); tree != nullptr && member.of_group)
      fail_expected(*tree, key, "none with count");
  port.port_name.value = 0x200002FCF0000001 + index;  // a locally assigned block
  port.node_name.value = 0x100002FCF0000001 + index;
  map.optional("port_name", port.port_name, read_name);
  map.optional("node_name", port.node_name, read_name);
}

/// The address that comes `steps` behind it, of the same 65,536.
wire::IpAddress counted_up(wire::IpAddress address, std::size_t steps) {
  const std::size_t value = wire::load_big<2>(address.bytes.data() + 14) + steps;
  wire::store_big<2>(address.bytes.data() + 14, static_cast<std::uint16_t>(value));
  return address;
}

/// Of a port that names none: 10.0.0.1 and so on.
wire::IpAddress usual_address(std::size_t index) {
  const auto octet = [&](unsigned shift) { return static_cast<std::uint8_t>((index + 1) >> shift); };
  return wire::IpAddress::v4(10, octet(16), octet(8), octet(0));
}

void PortLoader::load_addresses(const MapReader& map, const Member& member, PortSpec& port) {
  if (const Tree* tree = map.find("address")) {
    const wire::IpAddress first = read_address(*tree, "address");
    if (wire::load_big<2>(first.bytes.data() + 14) + member.index > 0xFFFF)
      fail_expected(*tree, "address", "one that " + std::to_string(member.index) + " more come behind");
    port.addresses.push_back(counted_up(first, member.index));
  }
  if (const Tree* list = map.find("addresses"))
    for (const Tree& item : read_list(*list, "addresses")) port.addresses.push_back(read_address(item, "addresses"));
  if (port.addresses.empty()) port.addresses.push_back(usual_address(scenario_.ports.size()));
}

void PortLoader::refuse_second(const Tree& tree, const PortSpec& port) {
  const auto refuse = [&](const std::string& other, const std::string& what) {
    throw BadInput{tree.where + ": ports " + other + " and " + port.name + " have the same " + what};
  };
  if (!names_.insert(port.name).second) throw BadInput{tree.where + ": two ports have the name \"" + port.name + "\""};
  if (const auto [other, first] = port_names_.try_emplace(port.port_name, port.name); !first)
    refuse(other->second, "port_name");
  for (const wire::IpAddress& address : port.addresses)
    if (const auto [other, first] = addresses_.try_emplace(address, port.name); !first && other->second != port.name)
      refuse(other->second, "address " + to_string(address));
}

void PortLoader::load_loop_place(const MapReader& map, PortSpec& port) {
  const Tree* loop = map.find("loop");
  if (const Tree* tree = map.find("private"); tree != nullptr && loop == nullptr)
    fail_expected(*tree, "private", "a loop to be private on");
  if (loop == nullptr) return;
  if (const Tree* tree = map.find("switch")) fail_expected(*tree, "switch", "either a loop or a switch");
  std::vector<std::string_view> loops;
  for (const LoopSpec& spec : scenario_.loops) loops.push_back(spec.name);
  port.at_loop = read_position(*loop, "loop", loops);
  port.at_switch = scenario_.loops[*port.at_loop].at_switch;
  map.optional("private", port.is_private, read_bool);
}

void PortLoader::warn_of_ulp_timeout(const MapReader& map, const PortSpec& port) {
  const runtime::TimeNs r_a_tov = fc2::SwitchConfig().r_a_tov;  // of every fabric that a scenario makes
  if (port.ulp_timeout == 0 || port.ulp_timeout == r_a_tov) return;
  scenario_.warnings.push_back(map.find("ulp_timeout")->where + ": ulp_timeout is " +
                               settings::format_duration(port.ulp_timeout) + "; FC-VI 8.3 asks for R_A_TOV, " +
                               settings::format_duration(r_a_tov));
}

void PortLoader::load_port_protocol(const MapReader& map, PortSpec& port) {
  if (const Tree* tree = map.find("resolve")) port.use_name_server = read_choice(*tree, "resolve", resolutions);
  if (const Tree* tree = map.find("receive_data_field")) {
    port.receive_data_field_bytes =
        static_cast<std::uint16_t>(read_bytes(*tree, "receive_data_field", receive_data_fields));
    if (port.receive_data_field_bytes % 4 != 0) fail_expected(*tree, "receive_data_field", "a multiple of 4");
  }
  map.optional("first_ox_id", port.first_ox_id, read_number, first_ox_ids);
  map.optional("first_handle", port.first_handle, read_number, first_handles);
  map.optional("first_connection_id", port.first_connection_id, read_number, first_connection_ids);
  map.optional("max_iu_bytes", port.max_iu_bytes, read_bytes, iu_sizes);
  map.optional("pipeline_depth", port.pipeline_depth, read_number, pipeline_depths);
  map.optional("reorder_pool", port.reorder_pool_bytes, read_bytes, reorder_pools);
  map.optional("preference", port.preference, read_bool);
  load_class(map, port);
  map.optional("ulp_timeout", port.ulp_timeout, read_duration, runtime::TimeNs{0}, max_time);
  warn_of_ulp_timeout(map, port);
  map.optional("capture", port.capture, read_bool);
}

// What a port says of itself must fit together; what two ports make of it is their affair (FC-VI 8.1).
void PortLoader::load_class(const MapReader& map, PortSpec& port) {
  if (const Tree* tree = map.find("class")) port.class_2 = read_choice(*tree, "class", classes);
  if (port.class_2) port.end_to_end_credit = usual_end_to_end_credit;
  map.optional("end_to_end_credit", port.end_to_end_credit, read_number, end_to_end_credits);
  map.optional("ack_0", port.ack_0, read_bool);
  if (port.end_to_end_credit != 0) return;
  if (port.class_2) fail_expected(*map.find("end_to_end_credit"), "end_to_end_credit", "at least 1 with class 2");
  if (port.ack_0) fail_expected(*map.find("ack_0"), "ack_0", "false without end_to_end_credit");
}

}  // namespace

// clang-format off
const KeyTable& port_keys() {
  static const KeyTable table{"port", {
    {"name", Form::Text, "in this file, captures, diagrams", true},
    within({"count", Form::Number, "so many: NAME-1, NAME-2, ..."}, counts),
    {"switch", Form::Text, "where it is attached; by default the first, with count also a group"},
    {"loop", Form::Text, "on that loop instead, as a public NL_Port"},
    {"private", Form::Flag, "on the loop a private NL_Port"},
    {"port_name", Form::Wwn, "its world wide name"},
    {"node_name", Form::Wwn, "its node's"},
    {"address", Form::Address, "of the host; with count the first, the others count up"},
    {"addresses", Form::Address, "several; the first is the NIC's", false, InList::Only},
    {"resolve", Form::Choice, "how others are found", false, InList::No, nullptr, {"resolve", names_in<resolutions>}},
    {"line_rate", Form::LineRate, "of its link"},
    {"latency", Form::Time, "of its link, each way"},
    within({"bb_credit", Form::Number, "buffer-to-buffer credit of its link; 0: no limit"}, bb_credits),
    {"processing_time", Form::Time, "what it needs for a frame before the buffer is free again"},
    within({"receive_data_field", Form::Bytes, "256 to 2112, a multiple of 4"}, receive_data_fields),
    within({"first_ox_id", Form::Number, "where OX_IDs begin; by default drawn from the seed"}, first_ox_ids),
    within({"first_handle", Form::Number, "where FCVI_HANDLEs begin; the same"}, first_handles),
    within({"first_connection_id", Form::Number, "where FCVI_CONNECTION_IDs begin; the same"}, first_connection_ids),
    within({"max_iu_bytes", Form::Bytes, "message data in one IU; by default the most that fits"}, iu_sizes),
    within({"pipeline_depth", Form::Number, "FCVI_PIPELINE_DEPTH, 0 to 255"}, pipeline_depths),
    within({"reorder_pool", Form::Bytes, "memory for frames that came before their turn"}, reorder_pools),
    {"preference", Form::Flag, "FCVI_PREF"},
    {"class", Form::Choice, "of its messages", false, InList::No, nullptr, {"class", names_in<classes>}},
    within({"end_to_end_credit", Form::Number, "frames of class 2 before one is acknowledged; 0: no class 2"}, end_to_end_credits),
    {"ack_0", Form::Flag, "class 2: a sequence is acknowledged at once"},
    {"ulp_timeout", Form::Time, "FCVI_ULP_TIMEOUT; by default R_A_TOV"},
    {"capture", Form::Flag, "whether it is an interface of the capture"}}};
  static const KeyTable with_tcp = [] {
    KeyTable all = table;
    all.keys.insert(all.keys.end(), tcp_keys().begin(), tcp_keys().end());
    return all;
  }();
  return with_tcp;
}
// clang-format on

std::vector<Group> load_ports(const MapReader& map, Scenario& scenario) { return PortLoader(scenario).load(map); }

}  // namespace sim
