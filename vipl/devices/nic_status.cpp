#include "vipl/devices/nic_status.hpp"

#include <unistd.h>

#include <cerrno>

namespace vipl {
namespace {
using fc2::fcoe::FcoeDiscard;

std::string quoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (code < 0x20 || code >= 0x7F)
      out += "\\u00", out += digits[code >> 4], out += digits[code & 15];
    else
      out += c;
  }
  return out + '"';
}

/// Members in the order of the calls.
class Object {
 public:
  Object& text(std::string_view key, std::string_view value) { return raw(key, quoted(value)); }
  Object& number(std::string_view key, std::uint64_t value) { return raw(key, std::to_string(value)); }
  Object& flag(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  /// Milliseconds that have passed since.
  Object& since(std::string_view key, runtime::TimeNs then, runtime::TimeNs now) {
    return number(key, static_cast<std::uint64_t>((now - then) / runtime::millisecond));
  }
  Object& raw(std::string_view key, const std::string& value) {
    members_ += (members_.empty() ? "" : ",") + quoted(key) + ":" + value;
    return *this;
  }
  [[nodiscard]] std::string end() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

std::string discards(const fc2::fcoe::FcoeCounters& counters) {
  Object object;
  counters.for_each_discard([&](FcoeDiscard reason, std::uint64_t times) { object.number(to_string(reason), times); });
  return object.end();
}

// Advertisements renew it for 2.5 of its periods.
std::string describe(const fc2::fcoe::KnownFcf& fcf, const fc2::fcoe::ENode& node, runtime::TimeNs now) {
  Object object;
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

void add_counters(Object& nic, const fc2::fcoe::FcoeCounters& counters, fc2::fcoe::EthernetPort& ethernet) {
  nic.number("fcoe_in", counters.frames_in).number("fcoe_out", counters.frames_out);
  nic.number("fip_in", counters.fip_in).number("fip_out", counters.fip_out).number("evicted", counters.evicted);
  nic.number("send_drops", ethernet.counters().send_drops).number("over_long", ethernet.counters().over_long);
  nic.number("kernel_drops", ethernet.kernel_drops()).raw("discarded", discards(counters));
}
}  // namespace

std::string describe(const NicView& nic) {
  const auto& interface = nic.ethernet.interface();
  Object object;
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
