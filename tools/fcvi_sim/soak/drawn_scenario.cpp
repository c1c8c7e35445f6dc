#include "tools/fcvi_sim/soak/drawn_scenario.hpp"

#include <iterator>

#include "tools/fcvi_sim/soak/draw.hpp"

namespace sim::soak {

void Draw::draw_size() {
  large_ = chance(8);
  const std::uint64_t which = random_.below(100);
  kind_ = which < 70 ? Kind::Fabric : which < 85 ? Kind::PointToPoint : Kind::PrivateLoop;
  ports_ = kind_ == Kind::PointToPoint ? 2 : between(large_ ? 3 : 2, large_ ? 8 : 3);
  workloads_ = large_ ? between(3, 8) : between(1, 3);
  if (kind_ == Kind::Fabric && chance(25)) switches_ = between(2, large_ ? 4 : 2);
  loop_ = kind_ == Kind::Fabric && chance(10);
  class_2_ = chance(30);
}

void Draw::joins(Map& map) {
  if (switches_ == 1) return;
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= switches_; ++i) {
    Map one;
    one.add("name", "s" + std::to_string(i));
    sometimes(one, 20, "priority", {"1", "5", "254"});
    names.push_back(one.text());
  }
  map.add("switches", list_of(names));
  isls_ = switches_ == 2 ? between(1, 2) : switches_;
  std::vector<std::string> isls;
  for (std::size_t i = 0; i < isls_; ++i) {
    const std::size_t from = switches_ == 2 ? 0 : i, to = switches_ == 2 ? 1 : (i + 1) % switches_;
    isls.push_back("{name: i" + std::to_string(i + 1) + ", between: [s" + std::to_string(from + 1) + ", s" +
                   std::to_string(to + 1) + "]}");
  }
  map.add("isls", list_of(isls));
  sometimes(map, 30, "multipath", {"exchange", "frame"});
  sometimes(map, 30, "reconfiguration_delay", {"0", "1ms", "500ms"});
}

std::string Draw::topology() {
  Map map;
  if (kind_ == Kind::PointToPoint) map.add("kind", "point_to_point");
  if (kind_ == Kind::PrivateLoop) map.add("kind", "private_loop");
  sometimes(map, 50, "line_rate", {"1GFC", "4GFC", "8GFC", "32GFC", "128GFC", "unlimited"});
  const bool loop = loop_ || kind_ == Kind::PrivateLoop;  // the latency is from each port to the next
  const std::string latency =
      sometimes(map, 50, "latency", loop ? Texts{"0", "5ns", "1us", "10us"} : Texts{"0", "5ns", "10us", "1ms", "20ms"});
  far_ = latency == "20ms";
  sometimes(map, 50, "bb_credit", {"1", "2", "3", "8", "64"});
  sometimes(map, 30, "processing_time", {"100ns", "5us", "100us"});
  out_of_order_ = kind_ == Kind::Fabric && chance(35);
  if (out_of_order_) map.add("in_order", "false");
  joins(map);
  if (loop_) map.add("loops", "[{name: loop}]");
  return map.text();
}

// Numbers that come round soon, and those at the ends of their fields.
void Draw::numbers(Map& map) {
  sometimes(map, 25, "first_ox_id", {"0", "255", "65533", "65534"});
  sometimes(map, 25, "first_handle", {"0", "1", "2147483647", "4294967293", "4294967294"});
  sometimes(map, 25, "first_connection_id", {"1", "2147483647", "4294967293", "4294967294"});
}

void Draw::class_2(Map& map) {
  if (!class_2_ || chance(20)) return;
  if (chance(80)) map.add("class", "2");
  map.add("end_to_end_credit", one_of({"1", "2", "3", "16", "32767"}));
  sometimes(map, 40, "ack_0", {"true"});
}

std::string Draw::drawn_port(std::size_t number) {
  Map map;
  map.add("name", "p" + std::to_string(number));
  on_loop_.push_back(kind_ == Kind::PrivateLoop || (loop_ && chance(60)));
  if (loop_ && on_loop_.back())
    map.add("loop", "loop");
  else if (switches_ > 1)
    map.add("switch", "s" + std::to_string(between(1, switches_)));
  if (chance(10)) map.add("address", "2001:db8::" + std::to_string(number));
  if (kind_ == Kind::Fabric) sometimes(map, 10, "resolve", {"farp"});
  sometimes(map, 40, "receive_data_field", {"256", "260", "512", "1024", "2048", "2108"});
  sometimes(map, 30, "max_iu_bytes", {"2080", "4160", "8KiB"});
  sometimes(map, 40, "pipeline_depth", {"0", "1", "2", "3", "255"});
  sometimes(map, 20, "preference", {"true"});
  sometimes(map, 10, "processing_time", {"1us", "200us"});
  sometimes(map, 10, "ulp_timeout", {"12s", "15s"});
  numbers(map);
  class_2(map);
  return map.text();
}

// The longest transfers have some forty messages: all are due within a second.
void Draw::pace(Map& map) {
  const std::string loop = one_of({"interval", "rate", "think_time"});
  map.add(loop, loop == "rate" ? one_of({"100/s", "5000/s", "1000000/s", "1MB/s", "200MB/s"})
                               : one_of({"1ns", "100ns", "10us", "1ms", "20ms"}));
  sometimes(map, 50, "arrivals", {"poisson"});
  if (chance(30)) map.add("burst", std::to_string(between(2, 5)));
}

std::string Draw::transfer(std::uint64_t& messages, bool reliable) {
  Map map;
  const std::string operation = one_of({"send", "send", "rdma_write", "rdma_write", "rdma_read"});
  const bool read = reliable && operation == "rdma_read";
  map.add("operation", operation == "rdma_read" && !read ? "send" : operation);
  const std::uint64_t most = tiny_ ? 200 : chance(large_ ? 30 : 8) ? 60'000 : chance(40) ? 9000 : 300;
  const std::uint64_t size = between(0, most), pieces = chance(50) ? 1 : between(1, 6);
  map.add("data", "{random: " + std::to_string(size) + "}");
  const std::uint64_t message = size / pieces + 1;
  if (pieces > 1) map.add("message_bytes", std::to_string(message));
  sometimes(map, 25, "segments", {"2", "3", "7"});
  const bool immediate = !read && chance(20);
  if (immediate) map.add("immediate", one_of({"0", "7", "4294967290"}));
  sometimes(map, 40, "direction", {"server_to_client"});
  if (chance(15)) pace(map);
  const std::uint64_t repeat = chance(20) ? between(2, 4) : 1;
  if (repeat > 1) map.add("repeat", std::to_string(repeat));
  messages += (size / message + 1) * repeat;
  if (!read && (operation != "rdma_write" || immediate)) reply(map);  // a program notices what it answers
  return map.text();
}

void Draw::reply(Map& map) {
  const Later later(*this);
  if (chance(15)) map.add("reply", std::to_string(between(1, chance(20) ? 9000 : 300)));
}

// Some hundred frames at most, while connections are made and messages go; where credit may wait for them for 40 ms
// each, some twenty.
std::string Draw::background(std::size_t number) {
  Map map;
  const std::uint64_t from = between(1, ports_), to = between(1, ports_ - 1);
  map.add("name", "b" + std::to_string(number)).add("from", "p" + std::to_string(from));
  map.add("to", "p" + std::to_string(to < from ? to : to + 1));
  sometimes(map, 50, "type", {"ip", "nvme"});
  map.add("frame_bytes", std::to_string(between(1, 2112)));
  struct Times {
    const char *interval, *until, *until_if_far;
  };
  constexpr Times all[] = {{"1us", "60us", "5us"},
                           {"10us", "600us", "50us"},
                           {"300us", "20ms", "1500us"},
                           {"20ms", "1s", "100ms"},
                           {"500ms", "30s", "2500ms"}};
  const Times& times = all[random_.below(std::size(all))];
  map.add("interval", times.interval).add("until", far_ ? times.until_if_far : times.until);
  sometimes(map, 40, "arrivals", {"poisson"});
  sometimes(map, 20, "burst", {"2", "4"});
  return map.text();
}

std::string Draw::workload(std::size_t number) {
  Map map;
  const std::string name = "w" + std::to_string(number), client = port();
  std::string server = port();
  // One link, two ports: what a port sends to itself nobody sends back.
  while (server == client && (kind_ == Kind::PointToPoint || !chance(20))) server = port();
  map.add("name", name).add("client", client).add("server", server);
  if (chance(10)) map.add("discriminator", name + std::string((kind_ == Kind::Hosts ? 64 : 128) - name.size(), 'd'));
  const std::string level = one_of({"unreliable_delivery", "reliable_delivery", "reliable_reception"});
  if (level != "reliable_delivery") map.add("reliability", level);
  const bool peers = chance(20);
  if (peers) map.add("model", "peer_to_peer");
  if (!peers) sometimes(map, 8, "answer", {"reject"});
  if (chance(50)) map.add("start", time_up_to(3));
  if (peers && chance(50)) map.add("server_start", time_up_to(3));  // a client that comes first finds nobody
  map.add("connect_timeout", one_of({"8s", "15s", "25s", "60s"}));
  sometimes(map, 40, "disconnect_by", {"server", "both"});
  // Without a hold the Disconnect comes right behind the last message, or the last answer.
  sometimes(map, 70, "hold", {"1ms", "1s", "2s", "5s"});
  sometimes(map, 15, "second_hold", {"1ms", "1s", "30s"});
  sometimes(map, 15, "queue_depth", {"2", "3", "5"});
  sometimes(map, 6, "rdma_write", {"false"});
  sometimes(map, 6, "rdma_read", {"false"});
  std::vector<std::string> transfers;
  std::uint64_t messages = 0;
  for (std::uint64_t left = between(0, 4); left > 0 && messages < 40; --left)
    transfers.push_back(transfer(messages, level != "unreliable_delivery"));
  if (!transfers.empty()) map.add("transfers", list_of(transfers));
  const Later later(*this);
  sometimes(map, 50, "clean_up", {"true"});
  return map.text();
}

// --- faults ------------------------------------------------------------------------------------------------------

void Draw::frames(Map& map) {
  if (chance(70))
    map.add("message", one_of({"FCVI_CONNECT_RQST",
                               "FCVI_CONNECT_RESP1",
                               "FCVI_CONNECT_RESP2",
                               "FCVI_CONNECT_RESP3",
                               "FCVI_DISCONNECT_RQST",
                               "FCVI_DISCONNECT_RESP",
                               "FCVI_SEND_RQST",
                               "FCVI_SEND_RQST",
                               "FCVI_SEND_RESP",
                               "FCVI_WRITE_RQST",
                               "FCVI_WRITE_RQST",
                               "FCVI_WRITE_RESP",
                               "FCVI_READ_RQST",
                               "FCVI_READ_RESP",
                               "ABTS",
                               "BA_ACC",
                               "ACK_1",
                               "ACK_0",
                               "PLOGI",
                               "LS_ACC",
                               "LOGO",
                               "GID_IPP",
                               "CT_ACC",
                               "RSCN",
                               "ADISC",
                               "FARP-REQ",
                               "PRLI"}));
  if (chance(30)) map.add("port", port());
  sometimes(map, 25, "direction", {"both", "received"});
  map.add("from", "0");
}

void Draw::turns(Map& map) {
  if (chance(65)) {
    map.add("nth", std::to_string(chance(70) ? between(1, 4) : between(1, 60)));
    return;
  }
  if (chance(40))
    map.add("every", std::to_string(between(2, 9)));
  else
    map.add("probability", one_of({"0.01", "0.05", "0.2", "0.5"}));
  map.add("limit", one_of({"2", "5", "20"})).add("until", one_of({"1s", "15s", "30s"}));
}

std::string Draw::frame_fault() {
  Map map;
  const std::string action =
      one_of({"drop", "drop", "drop", "duplicate", "delay", "delay", "reorder", "reorder", "corrupt", "truncate"});
  map.add("action", action);
  frames(map);
  turns(map);
  if (action == "duplicate") {
    sometimes(map, 50, "by", {"1us", "1ms", "1500ms", "9s"});
    sometimes(map, 20, "copies", {"2"});
  }
  if (action == "delay") map.add("by", one_of({"1us", "100us", "10ms", "1500ms", "4s", "9s"}));
  if (action == "reorder") {
    if (chance(50)) map.add("frames", std::to_string(between(1, 9)));
    map.add("longest_hold", one_of({"1ms", "100ms"}));
  }
  if (action == "corrupt") map.add("bit", std::to_string(between(0, 8 * (24 + 2112) - 1)));
  if (action == "truncate") map.add("bytes", std::to_string(between(0, 200)));
  return map.text();
}

/// Where the fabric promises no order: the frames of messages are what it matters to.
std::string Draw::overtaken_data() {
  Map map;
  map.add("action", "reorder").add("message", one_of({"FCVI_SEND_RQST", "FCVI_WRITE_RQST", "FCVI_READ_RESP"}));
  map.add("from", "0");
  turns(map);
  sometimes(map, 50, "frames", {"1", "2", "3"});
  return map.add("longest_hold", one_of({"1ms", "100ms"})).text();
}

/// What passes at a port's link while it logs in and registers, and how often at least.
struct AtLogin {
  std::string_view message;
  std::uint64_t times;
};
constexpr AtLogin login_messages[] = {{"PLOGI", 1},  {"LS_ACC", 1},  // everywhere
                                      {"FLOGI", 1},                  // not on a private loop
                                      {"LS_ACC", 3}, {"RIPP_ID", 1}, {"CT_ACC", 2}, {"SCR", 1}};  // in a fabric
constexpr std::size_t on_private_loop = 2, point_to_point = 3;                                    // so many of these

// While ports log in and register: before all are ready no time counts.
std::string Draw::port_fault_at_login() {
  Map map;
  const std::size_t number = between(1, ports_);
  std::string action = on_loop_[number - 1] ? one_of({"link_down", "lip", "replug"})
                                            : one_of({"link_down", "cut", "nos", "ols", "link_reset", "replug"});
  if (action == "replug" && kind_ == Kind::PointToPoint) action = "nos";
  map.add("action", action).add("port", "p" + std::to_string(number));
  const std::size_t kinds = kind_ == Kind::PrivateLoop    ? on_private_loop
                            : kind_ == Kind::PointToPoint ? point_to_point
                                                          : std::size(login_messages);
  const AtLogin& chosen = login_messages[random_.below(kinds)];
  map.add("message", std::string(chosen.message));
  map.add("direction", "both").add("nth", std::to_string(between(1, chosen.times)));
  if (action == "link_down" || action == "cut") map.add("for", one_of({"1us", "10ms", "3s", "12s"}));
  return map.text();
}

std::string Draw::port_fault() {
  Map map;
  const std::size_t number = between(1, ports_);
  const std::string name = "p" + std::to_string(number), duration = one_of({"1us", "10ms", "1s", "3s", "12s", "25s"});
  if (isls_ > 0 && chance(30))
    return map.add("action", "isl_down")
        .add("isl", "i" + std::to_string(between(1, isls_)))
        .add("at", time_up_to(3))
        .add("for", duration)
        .text();
  if (kind_ == Kind::Fabric && chance(8)) {
    map.add("action", "switch_down")
        .add("switch", switches_ == 1 ? "switch" : "s" + std::to_string(between(1, switches_)));
    return map.add("at", time_up_to(3)).add("for", duration).text();
  }
  if (chance(15)) {
    const std::string until = one_of({"200ms", "2s", "25s"});
    if (chance(50)) return map.add("action", "silence").add("port", name).add("from", "0").add("until", until).text();
    return map.add("action", "partition")
        .add("ports", "[" + name + "]")
        .add("from", time_up_to(3))
        .add("until", "30s")
        .text();
  }
  std::string action = on_loop_[number - 1]
                           ? one_of({"link_down", "lip", "replug", "log_out"})
                           : one_of({"link_down", "cut", "nos", "ols", "link_reset", "replug", "log_out"});
  if (action == "replug" && kind_ == Kind::PointToPoint) action = "nos";
  map.add("action", action).add("port", name);
  if (action == "log_out") {
    map.add("peer", "p" + std::to_string(number == ports_ ? 1 : number + 1));
    sometimes(map, 40, "implicit", {"true"});
  }
  if (chance(60))
    map.add("at", time_up_to(3));
  else
    map.add("message", one_of({"FCVI_SEND_RQST", "FCVI_CONNECT_RQST", "FCVI_CONNECT_RESP1", "FCVI_WRITE_RQST",
                               "FCVI_DISCONNECT_RQST", "PLOGI"}))
        .add("from", "0");
  if (action == "link_down" || action == "cut") map.add("for", duration);
  return map.text();
}

// Before the programs begin: of the logins and registrations that make a port ready. One at most, so that its port has
// tries left.
std::string Draw::login_fault() {
  Map map;
  const std::string action = one_of({"drop", "drop", "duplicate", "delay", "corrupt", "truncate"});
  map.add("action", action)
      .add("message", one_of({"FLOGI", "PLOGI", "LS_ACC", "RIPP_ID", "RFT_ID", "CT_ACC", "SCR", "RSCN", "FARP-REQ"}));
  if (chance(50)) map.add("port", port());
  sometimes(map, 25, "direction", {"both", "received"});
  map.add("nth", chance(70) ? std::to_string(between(1, 3)) : "[1, 2]");
  if (action == "delay") map.add("by", one_of({"1us", "1ms", "1500ms", "4s", "9s"}));
  if (action == "duplicate") sometimes(map, 50, "by", {"1us", "1ms", "1500ms", "9s"});
  if (action == "corrupt") map.add("bit", std::to_string(between(0, 8 * 140 - 1)));
  if (action == "truncate") map.add("bytes", std::to_string(between(0, 140)));
  return map.text();
}

std::string Draw::backgrounds() {
  const Later later(*this);
  std::string list;
  if (chance(12))
    for (std::size_t i = 1; i == 1 || (large_ && i < 4 && chance(50)); ++i) list += "  - " + background(i) + "\n";
  return list.empty() ? list : "background:\n" + list;
}

std::string Draw::fault() {
  if (out_of_order_ && chance(30)) return overtaken_data();
  return chance(70) ? frame_fault() : port_fault();
}

std::string Draw::scenario() {
  if (hosts_.below(100) < 20) return scenario_of_hosts();
  draw_size();
  std::string text =
      "name: soak " + std::to_string(seed_) + "\nseed: " + std::to_string(seed_) + "\ntopology: " + topology();
  std::vector<std::string> ports;
  for (std::size_t i = 1; i <= ports_; ++i) ports.push_back(drawn_port(i));
  text += "\nports: " + list_of(ports) + "\nworkloads:\n";
  for (std::size_t i = 1; i <= workloads_; ++i) text += "  - " + workload(i) + "\n";
  text += backgrounds();
  const std::uint64_t faults = chance(15) ? 0 : chance(40) ? 1 : between(2, large_ ? 10 : 5);
  const bool at_login = chance(10);
  std::string list;
  if (at_login) list += "  - " + login_fault() + "\n";
  for (std::uint64_t i = 0; i < faults; ++i) list += "  - " + fault() + "\n";
  const Later later(*this);
  if (chance(5)) list += "  - " + port_fault_at_login() + "\n";
  return list.empty() ? text : text + "faults:\n" + list;
}

std::string drawn_scenario(std::uint64_t seed) { return Draw(seed).scenario(); }

}  // namespace sim::soak
