#include "tools/fabricd/nic_status.hpp"

#include <fmt/format.h>

#include "tools/fabricd/fcoe_side.hpp"
#include "tools/fabricd/status_values.hpp"

namespace fabricd {
namespace json = boost::json;

namespace {

std::string text_of_fcf(const json::object& fcf) {
  std::string line = fmt::format("  FCF {} of switch {}, fabric {}, priority {}", text(fcf, "mac"),
                                 text(fcf, "switch_name"), text(fcf, "fabric_name"), number(fcf, "priority"));
  if (fcf.contains("heard_ms_ago")) line += fmt::format(", heard {:.1f} s ago", seconds(fcf, "heard_ms_ago"));
  line += fmt::format("\n  keep-alives {}, every {} ms, {} sent",
                      fcf.at("keep_alives_wanted").as_bool() ? "wanted" : "not wanted", number(fcf, "fka_period_ms"),
                      number(fcf, "keep_alives_sent"));
  if (fcf.contains("latest_keep_alive_ms_ago"))
    line += fmt::format(", the latest {:.1f} s ago", seconds(fcf, "latest_keep_alive_ms_ago"));
  return line + "\n";
}

std::string text_of_counters(const json::object& nic) {
  std::string lines = fmt::format("  FCoE {} in, {} out; FIP {} in, {} out\n", number(nic, "fcoe_in"),
                                  number(nic, "fcoe_out"), number(nic, "fip_in"), number(nic, "fip_out"));
  if (const auto lost = number(nic, "send_drops"); lost > 0) lines += fmt::format("  not sent: {}\n", lost);
  if (const auto drops = number(nic, "kernel_drops"); drops > 0)
    lines += "  " + loss_hint(drops, static_cast<unsigned>(number(nic, "priority"))) + "\n";
  if (const auto evicted = number(nic, "evicted"); evicted > 0)
    lines += fmt::format("  made room for others: {}\n", evicted);
  for (const auto& [reason, count] : nic.at("discarded").as_object())
    lines += fmt::format("  discarded, {}: {}\n", std::string(reason), count.to_number<std::uint64_t>());
  return lines;
}
}  // namespace

std::string text_of_nic(const json::object& nic) {
  std::string lines = fmt::format("NIC of {} (process {}), interface {}, MAC {}, MTU {}, {}\n", text(nic, "program"),
                                  number(nic, "process_id"), text(nic, "interface"), text(nic, "mac"),
                                  number(nic, "mtu"), nic.at("up").as_bool() ? "up" : "no carrier");
  lines += fmt::format("  {}, {}, {}", text(nic, "mode"), text(nic, "state"), text(nic, "port_name"));
  if (const std::string id = text(nic, "n_port_id"); !id.empty()) lines += ", N_Port_ID " + id;
  if (nic.contains("fpma") && !text(nic, "fpma").empty()) lines += ", FPMA " + text(nic, "fpma");
  lines += "\n";
  if (const json::value* fcf = nic.if_contains("fcf"))
    lines += text_of_fcf(fcf->as_object());
  else if (nic.contains("fcfs_known"))
    lines += fmt::format("  no FCF is selected, of {} known\n", number(nic, "fcfs_known"));
  return lines + text_of_counters(nic);
}

}  // namespace fabricd
