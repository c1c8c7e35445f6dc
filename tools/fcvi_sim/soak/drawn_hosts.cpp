#include "tools/fcvi_sim/soak/draw.hpp"

namespace sim::soak {

void Draw::draw_size_of_hosts() {
  kind_ = Kind::Hosts;
  large_ = chance(8);
  tiny_ = !large_ && chance(20);
  checked_ = chance(40);
  ports_ = between(2, large_ ? 6 : 3);
  workloads_ = large_ ? between(3, 8) : between(1, 3);
}

std::string Draw::topology_of_hosts() {
  Map map;
  map.add("kind", "tcp");
  sometimes(map, 50, "latency", tiny_ ? Texts{"0", "5ns", "1us"} : Texts{"0", "5ns", "10us", "1ms", "20ms"});
  sometimes(map, 40, "line_rate", {"1MB/s", "10MB/s", "125MB/s"});
  if (tiny_) map.add("tcp_segment", one_of({"1", "2", "7", "19"}));
  if (checked_) map.add("crc", "ask");
  return map.text();
}

// Where only one asks for the CRC, or refuses it, there is none: what is damaged then is nobody's to find.
std::string Draw::drawn_host(std::size_t number) {
  Map map;
  map.add("name", "p" + std::to_string(number));
  if (chance(20))
    map.add("addresses", "[10.1.0." + std::to_string(number) + ", \"fd00::" + std::to_string(number) + "\"]");
  sometimes(map, 20, "latency", {"0", "1us", "100us"});
  if (!tiny_) sometimes(map, 40, "tcp_segment", {"164", "536", "1000", "1460", "9000", "65000"});
  sometimes(map, 40, "tcp_segments", {"drawn"});
  sometimes(map, 30, "send_buffer", {"64KiB", "65537"});
  sometimes(map, 40, "receive_buffer", tiny_ ? Texts{"1", "7", "20", "100"} : Texts{"1000", "4KiB", "64KiB"});
  sometimes(map, 40, "vi_segment", {"256", "300", "1000", "16KiB"});
  if (!checked_) sometimes(map, 30, "crc", {"ask", "refuse"});
  sometimes(map, 15, "descriptor_flow_control", {"false"});
  sometimes(map, 30, "urgent", {"send", "refuse"});
  sometimes(map, 30, "rdma_read_window", {"1", "2", "3"});
  sometimes(map, 15, "request_timeout", {"11s", "15s"});
  sometimes(map, 30, "close_timeout", {"500ms", "3s", "9s"});
  return map.text();
}

std::string Draw::segment_fault() {
  Map map;
  const std::string action = checked_ && chance(40) ? one_of({"corrupt", "corrupt", "bad_crc"})
                                                    : one_of({"reset", "reset", "close", "close", "stall", "delay"});
  map.add("action", action);
  if (chance(70))
    map.add("message", one_of({"ConnectRequest", "ConnectAccept", "ConnectReject", "ConnectNoMatch", "Send", "Send",
                               "Send", "RdmaWrite", "RdmaWrite", "RdmaReadRequest", "RdmaReadResponse", "NOP"}));
  if (chance(30)) map.add("port", port());
  sometimes(map, 25, "direction", {"both", "received"});
  map.add("from", "0");
  turns(map);
  if (action == "reset" || action == "close" || action == "stall") {
    if (chance(70)) map.add("octets", std::to_string(chance(60) ? between(0, 40) : between(0, 400)));
  }
  if (action == "stall") sometimes(map, 70, "for", {"1us", "10ms", "1500ms", "4s", "9s"});
  if (action == "delay") map.add("by", one_of({"1us", "100us", "10ms", "1500ms", "4s", "9s"}));
  if (action == "corrupt")
    map.add("bit", std::to_string(chance(60) ? between(0, 8 * 40 - 1) : between(0, 8 * 2000 - 1)));
  return map.text();
}

std::string Draw::host_fault() {
  Map map;
  map.add("action", "link_down").add("port", port());
  if (chance(60))
    map.add("at", time_up_to(3));
  else
    map.add("message", one_of({"ConnectRequest", "ConnectAccept", "Send", "RdmaWrite", "RdmaReadRequest", "NOP"}))
        .add("from", "0");
  return map.add("for", one_of({"1us", "10ms", "1s", "3s", "12s", "25s"})).text();
}

std::string Draw::scenario_of_hosts() {
  std::swap(random_, hosts_);
  draw_size_of_hosts();
  std::string text =
      "name: soak " + std::to_string(seed_) + "\nseed: " + std::to_string(seed_) + "\ntopology: " + topology_of_hosts();
  std::vector<std::string> ports;
  for (std::size_t i = 1; i <= ports_; ++i) ports.push_back(drawn_host(i));
  text += "\nports: " + list_of(ports) + "\nworkloads:\n";
  for (std::size_t i = 1; i <= workloads_; ++i) text += "  - " + workload(i) + "\n";
  const std::uint64_t faults = chance(15) ? 0 : chance(40) ? 1 : between(2, large_ ? 10 : 5);
  std::string list;
  for (std::uint64_t i = 0; i < faults; ++i) list += "  - " + (chance(85) ? segment_fault() : host_fault()) + "\n";
  return list.empty() ? text : text + "faults:\n" + list;
}

}  // namespace sim::soak
