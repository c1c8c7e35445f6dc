#include "vipl/devices/nic_status.hpp"

#include <unistd.h>

#include <cerrno>

#include "vipl/devices/json_object.hpp"

namespace vipl {
namespace {
using fc2::fcoe::FcoeDiscard;

std::string discards(const fc2::fcoe::FcoeCounters& counters) {
  JsonObject object;
  counters.for_each_discard([&](FcoeDiscard reason, std::uint64_t times) { object.number(to_string(reason), times); });
  return object.end();
}

// Advertisements renew it for 2.5 of its periods.
std::string describe(const fc2::fcoe::KnownFcf& fcf, const fc2::fcoe::ENode& node, runtime::TimeNs now) {
  JsonObject object;
  object.text("mac", to_string(fcf.mac))
      .text("switch_name", to_string(fcf.switch_name))
      .text("fabric_name", to_string(fcf.fabric_name));
  object.number("priority", fcf.priority)
      .number("fka_period_ms", static_cast<std::uint64_t>(fcf.period / runtime::millisecond));
  object.flag("keep_alives_wanted", fcf.keep_alives_wanted).number("keep_alives_sent", node.keep_alives_sent());
  if (node.keep_alives_sent() > 0) object.since("latest_keep_alive_ms_ago", node.latest_keep_alive(), now);
  for (const auto& known : node.known_fcfs())
    if (known.mac == fcf.mac)
      object.since("heard_ms_ago", known.expires - fc2::fcoe::FcfTable::patience(known.period), now);
  return object.end();
}

void add_counters(JsonObject& nic, const fc2::fcoe::FcoeCounters& counters, fc2::fcoe::EthernetPort& ethernet) {
  nic.number("fcoe_in", counters.frames_in).number("fcoe_out", counters.frames_out);
  nic.number("fip_in", counters.fip_in).number("fip_out", counters.fip_out).number("evicted", counters.evicted);
  nic.number("send_drops", ethernet.counters().send_drops).number("over_long", ethernet.counters().over_long);
  nic.number("kernel_drops", ethernet.kernel_drops()).raw("discarded", discards(counters));
}
}  // namespace

std::string describe(const NicView& nic) {
  const auto& interface = nic.ethernet.interface();
  JsonObject object;
  object.number("process_id", static_cast<std::uint64_t>(::getpid())).text("program", program_invocation_short_name);
  object.text("interface", interface.name).text("mac", to_string(interface.mac)).number("mtu", interface.mtu);
  object.number("priority", interface.priority).flag("up", nic.ethernet.up()).flag("online", nic.port.online());
  object.text("port_name", to_string(nic.port.config().port_name))
      .text("node_name", to_string(nic.port.config().node_name));
  object.text("n_port_id", nic.port.online() ? to_string(nic.port.n_port_id()) : "");
  object.text("mode", nic.e_node != nullptr ? "fabric" : "vn2vn");
  if (nic.e_node != nullptr) {
    const auto mac = nic.e_node->mac_of(nic.port);
    object.text("state", nic.e_node->state_name())
        .text("fpma", mac ? to_string(*mac) : "")
        .number("fcfs_known", nic.e_node->known_fcfs().size());
    if (nic.e_node->fcf() != nullptr) object.raw("fcf", describe(*nic.e_node->fcf(), *nic.e_node, nic.now));
    add_counters(object, nic.e_node->counters(), nic.ethernet);
  } else {
    object.text("state", nic.vn2vn_node->state_name());
    add_counters(object, nic.vn2vn_node->counters(), nic.ethernet);
  }
  return object.end();
}

}  // namespace vipl
