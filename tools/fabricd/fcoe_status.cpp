#include "tools/fabricd/fcoe_status.hpp"

#include <fmt/format.h>

#include "fc2_fabric/switch/f_port.hpp"
#include "fc2_fabric/switch/name_server.hpp"
#include "tools/fabricd/fcoe_side.hpp"
#include "tools/fabricd/status_values.hpp"
#include "tools/fabricd/rates.hpp"

namespace fabricd {
namespace json = boost::json;
using fc2::fcoe::FcoeDiscard;

namespace {

// What all descriptions need.
struct Look {
  fc2::Switch& fabric;
  const Rates& rates;
  std::uint32_t fc_map;
  runtime::TimeNs now;
};

VnPortStatus describe(const fc2::fcoe::FcfVnPort& port, const Look& look) {
  VnPortStatus status{
      to_string(port.id),   to_string(wire::mac_of(port.id, look.fc_map)), to_string(port.port_name), {}, {}, {},
      look.now - port.heard};
  const auto* registered = look.fabric.name_server().database().find(port.id);
  if (registered == nullptr) return status;
  for (const auto& address : registered->addresses) status.addresses.push_back(to_string(address));
  status.node_name = to_string(registered->node_name);
  status.fc4_types = text_of_types(registered->types);
  return status;
}

ENodeStatus describe(const fc2::fcoe::FcfLink& link, const Look& look) {
  ENodeStatus status{to_string(link.e_node()), std::string(link.state_name()), {}};
  for (const auto& port : link.vn_ports()) status.vn_ports.push_back(describe(port, look));
  status.silent = look.now - link.heard();
  if (const fc2::FPort* port = link.f_port()) {
    status.frames_in = port->frames_from_port();
    status.frames_out = port->frames_to_port();
    status.frames_waiting = port->waiting();
    status.stalled = port->stalled();
    const Rates::PerSecond rate = look.rates.of(*port, look.now);
    status.in_per_second = rate.in;
    status.out_per_second = rate.out;
  }
  return status;
}

EthernetStatus describe(TappedEthernet& port, const fc2::fcoe::FcfInterface& interface, const Look& look) {
  EthernetStatus status{port.interface().name, to_string(port.interface().mac), port.interface().mtu, port.up()};
  const auto& counters = interface.counters();
  status.fcoe_in = counters.frames_in;
  status.fcoe_out = counters.frames_out;
  status.fip_in = counters.fip_in;
  status.fip_out = counters.fip_out;
  status.send_drops = port.port_counters().send_drops;
  status.kernel_drops = port.kernel_drops();
  status.evicted = counters.evicted;
  status.priority = port.interface().priority;
  status.over_long = port.port_counters().over_long + port.counters().over_long;
  counters.for_each_discard(
      [&](FcoeDiscard reason, std::uint64_t times) { status.discarded.emplace_back(to_string(reason), times); });
  for (const auto& [mac, link] : interface.links()) status.e_nodes.push_back(describe(*link, look));
  return status;
}

json::object to_object(const VnPortStatus& port) {
  return {{"n_port_id", port.n_port_id},
          {"mac", port.mac},
          {"port_name", port.port_name},
          {"node_name", port.node_name},
          {"fc4_types", port.fc4_types},
          {"silent_ms", port.silent / runtime::millisecond},
          {"addresses", json::array(port.addresses.begin(), port.addresses.end())}};
}

json::object to_object(const ENodeStatus& node) {
  json::array ports;
  for (const VnPortStatus& port : node.vn_ports) ports.push_back(to_object(port));
  return {{"mac", node.mac},
          {"state", node.state},
          {"frames_in", node.frames_in},
          {"frames_out", node.frames_out},
          {"frames_waiting", node.frames_waiting},
          {"stalled", node.stalled},
          {"frames_in_per_second", node.in_per_second},
          {"frames_out_per_second", node.out_per_second},
          {"silent_ms", node.silent / runtime::millisecond},
          {"vn_ports", ports}};
}

json::object to_object(const EthernetStatus& interface) {
  json::object discarded;
  for (const auto& [reason, count] : interface.discarded) discarded[reason] = count;
  json::array nodes;
  for (const ENodeStatus& node : interface.e_nodes) nodes.push_back(to_object(node));
  return {{"name", interface.name},
          {"mac", interface.mac},
          {"mtu", interface.mtu},
          {"up", interface.up},
          {"fcoe_in", interface.fcoe_in},
          {"fcoe_out", interface.fcoe_out},
          {"fip_in", interface.fip_in},
          {"fip_out", interface.fip_out},
          {"send_drops", interface.send_drops},
          {"kernel_drops", interface.kernel_drops},
          {"over_long", interface.over_long},
          {"evicted", interface.evicted},
          {"priority", interface.priority},
          {"discarded", discarded},
          {"enodes", nodes}};
}

// --- for people --------------------------------------------------------------------------------------------------

std::string text_of_node(const json::object& node) {
  const auto real = [&](const char* key) { return node.at(key).to_number<double>(); };
  std::string lines =
      fmt::format("  ENode {}, {}, heard {:.1f} s ago, {} frames in ({:.1f}/s), {} out ({:.1f}/s){}\n",
                  text(node, "mac"), text(node, "state"), seconds(node, "silent_ms"), number(node, "frames_in"),
                  real("frames_in_per_second"), number(node, "frames_out"), real("frames_out_per_second"),
                  node.at("stalled").as_bool() ? " (takes no frames)" : "");
  for (const json::value& value : node.at("vn_ports").as_array()) {
    const json::object& port = value.as_object();
    lines += fmt::format("    VN_Port {} {}, heard {:.1f} s ago", text(port, "n_port_id"), text(port, "port_name"),
                         seconds(port, "silent_ms"));
    if (const std::string types = text(port, "fc4_types"); !types.empty()) lines += ", " + types;
    for (const json::value& address : port.at("addresses").as_array()) lines += " " + std::string(address.as_string());
    lines += "\n";
  }
  return lines;
}

std::string text_of_interface(const json::object& interface) {
  std::string lines = fmt::format("interface {}, MAC {}, MTU {}, {}\n", text(interface, "name"), text(interface, "mac"),
                                  number(interface, "mtu"), interface.at("up").as_bool() ? "up" : "no carrier");
  lines += fmt::format("  FCoE {} in, {} out; FIP {} in, {} out\n", number(interface, "fcoe_in"),
                       number(interface, "fcoe_out"), number(interface, "fip_in"), number(interface, "fip_out"));
  const std::uint64_t lost = number(interface, "send_drops"), long_ones = number(interface, "over_long");
  if (lost > 0) lines += fmt::format("  not sent: {}\n", lost);
  if (const auto drops = number(interface, "kernel_drops"); drops > 0)
    lines += "  " + loss_hint(drops, static_cast<unsigned>(number(interface, "priority"))) + "\n";
  if (const auto evicted = number(interface, "evicted"); evicted > 0)
    lines += fmt::format("  hosts that made room for others: {}\n", evicted);
  if (long_ones > 0) lines += fmt::format("  discarded, longer than the MTU: {}\n", long_ones);
  for (const auto& [reason, count] : interface.at("discarded").as_object())
    lines += fmt::format("  discarded, {}: {}\n", std::string(reason), count.to_number<std::uint64_t>());
  for (const json::value& node : interface.at("enodes").as_array()) lines += text_of_node(node.as_object());
  return lines;
}

}  // namespace

FcoeStatus describe(FcoeSide& fcoe, fc2::Switch& fabric, const Rates& rates, runtime::TimeNs now) {
  const fc2::fcoe::FcfConfig& config = fcoe.fcf()->config();
  FcoeStatus status{to_string(fabric.config().switch_name),
                    fmt::format("{:06X}", config.fc_map),
                    config.priority,
                    config.period,
                    {},
                    config.vlan};
  for (std::size_t i = 0; i < fcoe.ports().size(); ++i)
    status.interfaces.push_back(
        describe(fcoe.ports()[i], *fcoe.fcf()->interfaces()[i], Look{fabric, rates, config.fc_map, now}));
  return status;
}

json::object to_object(const FcoeStatus& fcoe) {
  json::array interfaces;
  for (const EthernetStatus& interface : fcoe.interfaces) interfaces.push_back(to_object(interface));
  return {{"switch_name", fcoe.switch_name},
          {"fc_map", fcoe.fc_map},
          {"priority", fcoe.priority},
          {"period_ms", fcoe.period / runtime::millisecond},
          {"vlan", fcoe.vlan},
          {"interfaces", interfaces}};
}

std::string text_of_fcoe(const json::object& fcoe) {
  const std::uint64_t vlan = number(fcoe, "vlan");
  std::string lines = fmt::format("FCF {}, FC-MAP {}, priority {}, FKA period {} ms{}\n", text(fcoe, "switch_name"),
                                  text(fcoe, "fc_map"), number(fcoe, "priority"), number(fcoe, "period_ms"),
                                  vlan == 0 ? "" : fmt::format(", VLAN {}", vlan));
  for (const json::value& interface : fcoe.at("interfaces").as_array())
    lines += text_of_interface(interface.as_object());
  return lines;
}

}  // namespace fabricd
