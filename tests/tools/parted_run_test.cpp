// A run in parts gives the same frames at the same times, and the same results, as in one; what it cannot do it
// refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "tools/fcvi_sim/parts/share.hpp"
#include "tools/fcvi_sim/parts/thread_exchange.hpp"
#include "tools/fcvi_sim/run/expectations.hpp"
#include "tools/fcvi_sim/run/parted_run.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"
#include "tools/fcvi_sim/run/summary.hpp"
#include "tools/fcvi_sim/run/wire_check.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim {
namespace {

struct Bytes final : fc2::ByteSink {
  void write(std::span<const std::uint8_t> more) override { all.insert(all.end(), more.begin(), more.end()); }
  std::vector<std::uint8_t> all;
};

struct Seen {
  std::string summary;
  std::vector<std::uint8_t> capture;
  RunResult result;
  std::string picture;
  std::string record;
};

/// All that a report is made of besides frames.
std::string lines_of(const RunRecord& record) {
  std::ostringstream text;
  for (const StateChange& one : record.states)
    text << one.at << ' ' << one.port << ' ' << one.connection << ' ' << one.from << ' ' << one.to << '\n';
  for (const RowLog::Row& one : record.rows.rows())
    text << one.row.machine << ' ' << one.row.source << ' ' << one.row.event << ' ' << one.times << ' ' << one.kept
         << '\n';
  for (const RowLog::Fired& one : record.rows.fired()) text << one.at << ' ' << one.place << ' ' << one.row << '\n';
  for (const Series& one : record.series) {
    text << one.group << ' ' << one.name << ' ' << one.unit;
    for (std::size_t i = 0; i < one.at.size(); ++i) text << ' ' << one.at[i] << '=' << one.values[i];
    text << '\n';
  }
  for (const FaultHit& one : record.hits) text << one.record << ' ' << one.rule << '\n';
  text << record.values_left_out << ' ' << record.queues_left_out << '\n';
  return text.str();
}

std::string lines_of(const Scenario& scenario, const std::vector<WireIu>& wire) {
  std::string text;
  for (const WireIu& iu : wire)
    text +=
        describe_iu(scenario, iu) + ' ' + std::to_string(iu.payload_bytes) + ' ' + std::to_string(iu.last_f_ctl) + '\n';
  return text;
}

/// The first line that differs.
std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream left(a), right(b);
  std::string one, other;
  for (int line = 1;; ++line) {
    const bool more = static_cast<bool>(std::getline(left, one)),
               others = static_cast<bool>(std::getline(right, other));
    if (!more && !others) return {};
    if (more != others || one != other) return "line " + std::to_string(line) + ": " + one + "\n" + other;
  }
}

Scenario read(const std::string& text) {
  auto scenario = read_scenario(text, "s.yaml", "", {});
  if (!scenario) throw std::runtime_error(scenario.error().message);
  return std::move(*scenario);
}

std::string words_of(const Scenario& scenario, const RunResult& result) {
  return summary(scenario, result) + summary(check_expectations(scenario, result));
}

Seen run_whole(const Scenario& scenario, bool reports) {
  ContentStore contents(scenario.seed);
  Bytes bytes;
  fc2::Capture capture(bytes);
  Ladder ladder(scenario);
  RunRecord record;
  Simulation simulation(scenario, contents,
                        {.capture = &capture, .ladder = &ladder, .check = true, .record = reports ? &record : nullptr});
  const RunResult result = simulation.run();
  return {words_of(scenario, result), bytes.all, result, to_svg(ladder, "t", simulation.start()), lines_of(record)};
}

Seen run_parts(const Scenario& scenario, std::size_t parts, bool reports = false) {
  ContentStore contents(scenario.seed);
  Bytes bytes;
  fc2::Capture capture(bytes);
  Ladder ladder(scenario);
  RunRecord record;
  const PartedResult parted = run_in_threads(
      scenario, contents, parts, {true, &capture, true, &ladder, true, reports, reports ? &record : nullptr});
  EXPECT_EQ(parted.error, "");
  return {words_of(scenario, parted.result), bytes.all, parted.result, to_svg(ladder, "t", parted.start),
          lines_of(record)};
}

/// `reports`: what a report shows, too.
void expect_same(const std::string& text, bool reports = false) {
  const Scenario scenario = read(text);
  ASSERT_EQ(why_not_in_parts(scenario, scenario.switches.size()), "");
  const Seen whole = run_whole(scenario, reports);
  EXPECT_EQ(whole.result.inconsistent, "");
  for (std::size_t parts = 1; parts <= scenario.switches.size(); ++parts) {
    const Seen seen = run_parts(scenario, parts, reports);
    EXPECT_EQ(seen.summary, whole.summary) << parts << " parts";
    EXPECT_TRUE(seen.capture == whole.capture) << parts << " parts: the captures differ";
    EXPECT_TRUE(seen.picture == whole.picture) << parts << " parts: the ladders differ";
    EXPECT_EQ(seen.result.duration, whole.result.duration) << parts << " parts";
    EXPECT_EQ(first_difference(seen.record, whole.record), "") << parts << " parts";
    EXPECT_EQ(first_difference(lines_of(scenario, seen.result.wire), lines_of(scenario, whole.result.wire)), "")
        << parts << " parts";
  }
}

// Four hosts at each of three switches; all links are the same, so that much happens at one time.
std::string ring(const std::string& topology = "", const std::string& ports = "") {
  return "name: t\ntopology:\n  line_rate: 16GFC\n  latency: 100ns\n  bb_credit: 16\n  directory_delay: 5us\n" +
         topology +
         R"(  switches: [{name: left}, {name: middle}, {name: right}]
  isls: [{pattern: ring, latency: 5us, bb_credit: 64}]
ports:
  - {name: a, count: 4, switch: left)" +
         ports + R"(}
  - {name: b, count: 4, switch: middle)" +
         ports + R"(}
  - {name: c, count: 4, switch: right)" +
         ports + R"(}
)";
}

constexpr const char* every_way = R"(workloads:
  - {name: ab, count: 4, client: a, server: b, transfers: [{operation: send, data: {random: 64KiB}, message_bytes: 4KiB}]}
  - {name: bc, count: 4, client: b, server: c, transfers: [{operation: rdma_write, data: {random: 90KiB}, repeat: 2}]}
  - {name: ca, count: 4, client: c, server: a, transfers: [{operation: rdma_read, data: {random: 50KiB}}]}
  - {name: aa, client: a-1, server: a-2, transfers: [{operation: send, data: {random: 9KiB}}]}
)";

// Parts in threads make and drop the same random data at once.
TEST(PartedRun, contents_are_for_all_threads) {
  const ContentStore contents(7);
  const auto ask = [&contents] {
    for (int i = 0; i != 4000; ++i)
      if (contents.get({.path = "", .size_bytes = 64}, std::to_string(i % 40))->bytes.size() != 64)
        throw std::runtime_error("no content");
  };
  const std::shared_ptr<const Content> before = contents.get({.path = "", .size_bytes = 64}, "3");
  std::vector<std::jthread> threads;
  for (int i = 0; i != 3; ++i) threads.emplace_back(ask);
  threads.clear();
  EXPECT_EQ(contents.get({.path = "", .size_bytes = 64}, "3")->bytes, before->bytes);
}

// All send to all: of frames that come to a switch at one time, over several ISLs, one must be first.
TEST(PartedRun, transfers_in_every_direction_give_the_same_capture) { expect_same(ring() + every_way); }

TEST(PartedRun, reliable_reception_gives_the_same_capture) {
  expect_same(ring() + R"(workloads:
  - {name: ab, count: 4, client: a, server: b, reliability: reliable_reception,
     transfers: [{operation: send, data: {random: 64KiB}, message_bytes: 2KiB}]}
  - {name: cb, count: 4, client: c, server: b, reliability: reliable_reception,
     transfers: [{operation: send, data: {random: 64KiB}, direction: server_to_client}]}
)");
}

TEST(PartedRun, class_2_gives_the_same_capture) {
  expect_same(ring("", ", class: 2, end_to_end_credit: 4") + every_way);
}

TEST(PartedRun, several_paths_give_the_same_capture) {
  for (const char* multipath : {"exchange", "frame"})
    expect_same(ring(std::string("  multipath: ") + multipath + "\n") + every_way);
}

// Many senders at two switches fill the queue and the credit to one receiver.
TEST(PartedRun, congestion_gives_the_same_capture) {
  expect_same(R"(name: t
topology:
  line_rate: 8GFC
  latency: 300ns
  bb_credit: 4
  directory_delay: 2us
  switches: [{name: s, count: 4}]
  isls: [{pattern: mesh, latency: 2us, bb_credit: 3}]
ports:
  - {name: client, count: 9, switch: s}
  - {name: server, switch: s-4}
workloads:
  - {name: w, count: 9, client: client, server: server,
     transfers: [{operation: rdma_write, data: {random: 200KiB}, message_bytes: 64KiB}]}
)");
}

// Latencies and pace: one side knows when a message was due, the other when it was there.
TEST(PartedRun, paced_workloads_give_the_same_results) {
  expect_same(ring() + R"(workloads:
  - {name: open, count: 4, client: a, server: b,
     transfers: [{operation: send, data: {random: 40KiB}, message_bytes: 1KiB, rate: 100000/s, arrivals: poisson}],
     expect: {latency: {p99: {max: 1ms}}}}
  - {name: asked, count: 4, client: b, server: c,
     transfers: [{operation: send, data: {random: 20KiB}, message_bytes: 1KiB, reply: 100, think_time: 3us}],
     expect: {latency: {p50: {max: 1ms}}}}
)");
}

// Nobody waits at that discriminator, the request times out, and one server refuses.
TEST(PartedRun, failed_set_ups_give_the_same_results) {
  expect_same(ring() + R"(workloads:
  - {name: refused, client: a-1, server: b-1, answer: reject}
  - {name: late, client: a-2, server: c-1, server_start: 50ms}
)");
}

// A program never ends: all parts stop at the limit, at the same event.
TEST(PartedRun, a_time_limit_gives_the_same_results) {
  expect_same(ring() + "time_limit: 300us\n" + R"(workloads:
  - {name: w, client: a-1, server: c-1, transfers: [{operation: rdma_write, data: {random: 10MiB}}]}
)");
}

// Ports that are as far as their links tell, 1 ms: RSCNs go out while others log in.
TEST(PartedRun, logins_that_take_long_give_the_same_capture) {
  expect_same(R"(name: t
topology:
  latency: 3ms
  bb_credit: 4
  directory_delay: 10us
  switches: [{name: one}, {name: other}]
  isls: [{between: [one, other], latency: 20us}]
ports:
  - {name: a, count: 3, switch: one}
  - {name: b, count: 3, switch: other, latency: 1ms}
workloads:
  - {name: w, count: 3, client: a, server: b, start: 30ms}
)");
}

// --- faults: at one port, or of each frame alone

constexpr const char* steady = R"(workloads:
  - {name: ab, count: 4, client: a, server: b, connect_timeout: 30s,
     transfers: [{operation: send, data: {random: 40KiB}, message_bytes: 4KiB, interval: 10us}],
     expect: {gives_up: any, client_states: [PendingConnect, Connected, Error, Idle]}}
  - {name: bc, count: 4, client: b, server: c, reliability: reliable_reception, connect_timeout: 30s,
     transfers: [{operation: rdma_write, data: {random: 90KiB}, repeat: 2}],
     expect: {gives_up: any, server_states: [PendingConnect, Connected, Error, Idle]}}
  - {name: ca, count: 4, client: c, server: a, reliability: unreliable_delivery,
     transfers: [{operation: send, data: {random: 50KiB}, message_bytes: 2KiB, interval: 5us}], expect: {gives_up: any}}
)";

TEST(PartedRun, faults_of_frames_on_one_port_give_the_same_capture) {
  expect_same(ring() + steady + R"(linger: 11s
faults:
  - {action: drop, message: FCVI_SEND_RQST, port: a-1, nth: 5}
  - {action: duplicate, copies: 2, by: 1us, message: FCVI_SEND_RQST, port: a-2, every: 7, limit: 3}
  - {action: delay, by: 30us, message: FCVI_WRITE_RQST, port: b-2, probability: 0.05}
  - {action: corrupt, bit: 300, message: FCVI_SEND_RQST, port: c-3, direction: both, probability: 0.1, times: {min: 2}}
  - {action: reorder, frames: 2, message: FCVI_SEND_RQST, port: b-4, direction: received, nth: [3, 9], times: {max: 2}}
  - {action: truncate, bytes: 60, workload: ca-2, port: a-2, direction: received, nth: 4}
  - {action: drop, message: FCVI_CONNECT_RESP1, port: c-1, nth: 1, times: 1}
  - {action: drop, message: FCVI_READ_RQST, port: c-1, nth: 7}
  - {action: silence, port: c-4, from: 100us, until: 200us}
)");
}

TEST(PartedRun, faults_of_each_frame_alone_give_the_same_capture) {
  expect_same(ring() + steady + R"(linger: 11s
faults:
  - {action: delay, by: 700ns, message: FCVI_SEND_RQST, fields: {seq_cnt: 1}}
  - {action: drop, workload: bc-3, message: FCVI_WRITE_RQST, fields: {seq_cnt: 9}}
  - {action: rewrite, set: {fcvi_flags: 0}, message: FCVI_DISCONNECT_RESP, from: 50us, times: {max: 99}}
  - {action: drop, message: FCVI_READ_RESP}
)");
}

TEST(PartedRun, events_of_ports_give_the_same_capture) {
  expect_same(ring() + steady + R"(linger: 11s
faults:
  - {action: link_down, port: a-1, at: 50us, for: 2ms}
  - {action: cut, port: b-2, at: 60us, for: 1ms}
  - {action: nos, port: c-2, at: 70us}
  - {action: link_reset, port: c-3, at: 75us}
  - {action: replug, port: c-4, at: 100us}
  - {action: link_down, port: a-3, message: FCVI_SEND_RQST, nth: 12}
  - {action: log_out, port: a-4, peer: a-2, at: 80us}
  - {action: ols, port: b-3, at: 90us}
)");
}

// How long a fault was felt, by messages whose due times another part knows.
TEST(PartedRun, recovery_from_a_fault_gives_the_same_results) {
  expect_same(ring() + R"(workloads:
  - {name: ab, count: 4, client: a, server: b,
     transfers: [{operation: send, data: {random: 40KiB}, message_bytes: 1KiB, interval: 10us}],
     expect: {recovery: {max: 1ms}}, expect_group: {recovery: {max: 1ms}}}
faults:
  - {action: cut, port: b-2, at: 60us, for: 100us}
  - {action: link_reset, port: a-3, at: 200us}
)");
}

// --- what happens to the fabric

constexpr const char* through_changes = R"(workloads:
  - {name: ab, count: 4, client: a, server: b, connect_timeout: 30s,
     transfers: [{operation: send, data: {random: 200KiB}, message_bytes: 4KiB, interval: 500us}],
     expect: {gives_up: any}}
  - {name: bc, count: 4, client: b, server: c, connect_timeout: 30s,
     transfers: [{operation: rdma_write, data: {random: 90KiB}, repeat: 4, think_time: 8ms}], expect: {gives_up: any}}
  - {name: ca, count: 4, client: c, server: a, reliability: unreliable_delivery,
     transfers: [{operation: send, data: {random: 100KiB}, message_bytes: 2KiB, interval: 1ms}],
     expect: {gives_up: any, lost: {max: 99}}}
linger: 11s
)";

// Each link draws numbers of its own, and each part knows the ports of the others as switches do.
TEST(PartedRun, faults_by_chance_and_by_the_other_port_give_the_same_capture) {
  expect_same(ring() + through_changes + R"(faults:
  - {action: delay, by: 3us, message: FCVI_SEND_RQST, probability: 0.2}
  - {action: drop, message: FCVI_WRITE_RQST, peer: c-1, probability: 0.1, times: {min: 1}}
  - {action: drop, message: FCVI_SEND_RQST, port: a-1, peer: b-1, nth: 3, times: 1}
  - {action: partition, ports: [c-2], from: 100us, until: 300us}
  - {action: log_out, port: a-3, peer: b-3, at: 80us}
  - {action: log_out, port: b-4, peer: c-4, at: 90us, implicit: true}
)");
}

// Frames and R_RDYs are under way when it breaks; it comes back twice, once while the fabric is configured.
TEST(PartedRun, isls_that_go_down_give_the_same_capture) {
  expect_same(ring() + through_changes + R"(faults:
  - {action: isl_down, isl: left-middle, at: 3ms, for: 2ms}
  - {action: isl_down, isl: left-right, at: 12ms, for: 400ns}
  - {action: isl_down, isl: middle-right, at: 12ms, for: 15ms}
  - {action: isl_down, isl: left-middle, at: 22ms, for: 1us}
)");
}

// The fabric falls apart, and grows together at the end of all programs: it was down for good.
TEST(PartedRun, a_fabric_that_falls_apart_gives_the_same_capture) {
  for (const char* domain_conflict : {"reassign", "isolate"})
    expect_same(ring(std::string("  domain_conflict: ") + domain_conflict + "\n") + through_changes + R"(faults:
  - {action: isl_down, isl: left-middle, at: 4ms}
  - {action: isl_down, isl: left-right, at: 5ms}
)");
}

TEST(PartedRun, switches_that_go_down_give_the_same_capture) {
  expect_same(ring() + through_changes + R"(faults:
  - {action: switch_down, switch: middle, at: 3ms, for: 20ms}
  - {action: switch_down, switch: right, at: 40ms, for: 3ms}
  - {action: switch_down, switch: left, at: 41ms, for: 30ms}
)");
}

// Without time between the end of the programs and the logouts.
TEST(PartedRun, what_is_down_at_the_end_of_the_programs_comes_back_at_one_time) {
  expect_same(ring() + every_way + R"(faults:
  - {action: isl_down, isl: left-middle, at: 700us}
  - {action: cut, port: a-1, at: 800us}
  - {action: switch_down, switch: right, at: 2ms}
time_limit: 20s
)");
}

// --- traffic of other FC-4s

TEST(PartedRun, background_traffic_gives_the_same_capture) {
  expect_same(ring() + every_way + R"(background:
  - {name: video, from: a-1, to: c-1, type: fcp, frame_bytes: 2112, rate: 90MB/s}
  - {name: same way, from: a-2, to: c-1, type: fcp, frame_bytes: 2112, rate: 90MB/s}
  - {name: beats, from: c-2, to: b-3, type: nvme, frame_bytes: 64, rate: 200000/s, arrivals: poisson}
  - {name: near, from: b-1, to: b-2, type: fcp, frame_bytes: 100, rate: 90000/s, burst: 3}
)");
}

// It ends at the limit, with programs that do not.
TEST(PartedRun, background_traffic_to_the_limit_gives_the_same_capture) {
  expect_same(ring() + "time_limit: 2ms\n" + R"(workloads:
  - {name: w, client: a-1, server: c-1, transfers: [{operation: rdma_write, data: {random: 9MiB}}]}
background:
  - {name: beats, from: c-2, to: b-3, type: nvme, frame_bytes: 64, rate: 200000/s, arrivals: poisson}
)");
}

// What is on the wire: lost and rewritten at the receiver's link, which is in another part than the sender's.
TEST(PartedRun, what_is_on_the_wire_is_the_same) {
  const std::string text = ring() + every_way + R"(faults:
  - {action: drop, message: FCVI_SEND_RQST, direction: received, port: b-2, nth: [2, 4]}
  - {action: rewrite, message: FCVI_READ_RQST, direction: received, port: a-1, nth: 1, set: {fcvi_msg_id: 9}}
expectations: {wire: []}
)";
  expect_same(text);
  const std::string seen = lines_of(read(text), run_parts(read(text), 3).result.wire);
  EXPECT_NE(seen.find(", lost"), std::string::npos);
  EXPECT_EQ(std::ranges::count(seen, '\n'),
            static_cast<std::ptrdiff_t>(run_whole(read(text), false).result.wire.size()));
}

TEST(PartedRun, each_frame_on_the_wire_is_the_same) {
  expect_same(ring() + every_way + "expectations: {wire: [], wire_frames: true, wire_from: 30us, wire_messages: " +
              "[FCVI_SEND_RQST, FCVI_READ_RESP, PLOGI, LOGO]}\n");
}

// Of two transfers at once each has its own times.
TEST(PartedRun, concurrent_transfers_give_the_same_results) {
  const std::string text = ring() + R"(workloads:
  - {name: ab, count: 4, client: a, server: b, transfers: [
     {operation: rdma_write, data: {random: 64KiB}},
     {operation: rdma_write, data: {random: 8KiB}, direction: server_to_client, concurrent: true},
     {operation: rdma_read, data: {random: 20KiB}, direction: server_to_client},
     {operation: rdma_write, data: {random: 90KiB}, concurrent: true}]}
)";
  expect_same(text);
  const Scenario scenario = read(text);
  const RunResult whole = run_whole(scenario, false).result, parted = run_parts(scenario, 3).result;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(parted.workloads[0].transfers[i].duration, whole.workloads[0].transfers[i].duration) << i;
    EXPECT_GT(whole.workloads[0].transfers[i].duration, 0) << i;
  }
}

// Rows, states, queues (of ISLs between parts, too), credit, frames that a fault befell.
TEST(PartedRun, reports_are_the_same) {
  const std::string text =
      ring() + every_way + "faults: [{action: drop, message: FCVI_SEND_RQST, port: b-2, nth: [2, 4]}]\n";
  expect_same(text, true);
  const std::string record = run_parts(read(text), 3, true).record;
  for (const char* what : {"Switch queues left to middle ", "Switch queues middle to left ",
                           "Switch queues right to c-4 ", "Buffer-to-buffer credit left b-1 ", "Connected", "\n0 0\n"})
    EXPECT_NE(record.find(what), std::string::npos) << what;
  const std::size_t isl = record.find("Switch queues left to middle ");
  EXPECT_GT(std::ranges::count(record.substr(isl, record.find('\n', isl) - isl), '='), 20);
}

// Both ends of such a connection have one name at one port: the changes of the one are not those of the other.
TEST(PartedRun, a_port_connected_to_itself_changes_its_states_once) {
  const std::string text = ring() +
                           "workloads: [{name: own, client: a-1, server: a-1, transfers: [{operation: send, data: "
                           "{random: 9KiB}}]}]\n";
  expect_same(text, true);
  const std::string record = run_whole(read(text), true).record;
  std::size_t connected = 0;
  for (std::size_t at = record.find(" Connected\n"); at != std::string::npos; at = record.find(" Connected\n", at + 1))
    ++connected;
  EXPECT_EQ(connected, 2U);
}

TEST(PartedRun, reports_of_a_fabric_that_falls_apart_are_the_same) {
  expect_same(ring() + every_way + "faults: [{action: isl_down, isl: left-middle, at: 40us, for: 3ms}]\n", true);
}

TEST(PartedRun, no_workload_gives_the_same_capture) { expect_same(ring()); }

// --- switches that one part must have

// Which frame is the n-th depends on all links that the rule stands at.
TEST(PartedRun, faults_that_count_on_links_of_several_switches_give_the_same_capture) {
  const std::string two = R"(linger: 11s
faults:
  - {action: drop, message: FCVI_SEND_RQST, workload: ab-1, nth: 7, times: 1}
  - {action: delay, by: 2us, message: FCVI_WRITE_RQST, workload: [bc-1, bc-2, bc-3], every: 3, limit: 4, times: 4}
)";
  expect_same(ring() + steady + two);
  expect_same(ring() + steady + two +
                  R"(  - {action: duplicate, copies: 1, by: 1us, message: FCVI_SEND_RQST, every: 5, limit: 9, times: 9}
  - {action: drop, message: FCVI_READ_RESP, nth: [2, 11], times: 2}
)",
              true);
}

TEST(PartedRun, what_goes_down_when_a_frame_passes_gives_the_same_capture) {
  expect_same(ring() + through_changes + R"(faults:
  - {action: isl_down, isl: left-middle, for: 2ms, message: FCVI_SEND_RQST, port: a-1, nth: 9}
  - {action: switch_down, switch: right, for: 20ms, message: FCVI_WRITE_RQST, nth: 40}
)");
}

TEST(PartedRun, switches_that_count_together_are_in_one_part) {
  const std::string free = ring() + every_way + "faults: [{action: drop, message: FCVI_SEND_RQST, ";
  const auto parts = [&](const std::string& keys, std::size_t count) {
    return parts_of_switches(read(free + keys + "}]\n"), count);
  };
  using Parts = std::vector<std::size_t>;
  for (const char* keys : {"nth: 3", "every: 2", "limit: 1", "peer: c-1, nth: 1"})
    EXPECT_EQ(parts(keys, 3), (Parts{0, 0, 0})) << keys;
  EXPECT_EQ(parts("workload: ca, nth: 3", 3), (Parts{0, 1, 0}));
  EXPECT_EQ(parts("workload: ab, nth: 3", 2), (Parts{0, 0, 1}));
  EXPECT_EQ(parts("workload: bc, nth: 3", 2), (Parts{0, 1, 1}));
  EXPECT_EQ(parts("port: b-1, nth: 3", 3), (Parts{0, 1, 2}));
  EXPECT_EQ(parts("probability: 0.1", 3), (Parts{0, 1, 2}));
  const std::string met = ring() + every_way + "faults: [{message: FCVI_SEND_RQST, nth: 1, port: a-1, ";
  EXPECT_EQ(parts_of_switches(read(met + "action: isl_down, isl: left-middle}]\n"), 3), (Parts{0, 0, 0}));
}

TEST(PartedRun, why_switches_are_together_is_told) {
  const std::string free = ring() + every_way + "faults:\n  - {message: FCVI_SEND_RQST, nth: 1, ";
  const std::string at = "s.yaml:" + std::to_string(std::ranges::count(free, '\n') + 1);
  const auto reasons = [&](const std::string& keys) { return why_together(read(free + keys + "}\n")); };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(reasons("action: drop"), Lines{at + ": counts frames of all switches: one part simulates them together"});
  EXPECT_EQ(reasons("action: drop, workload: ab"),
            Lines{at + ": counts frames of 2 switches: one part simulates them together"});
  EXPECT_EQ(reasons("action: switch_down, switch: right"),
            Lines{at + ": waits for frames of all switches: one part simulates them together"});
  EXPECT_EQ(reasons("action: drop, port: a-1"), Lines{});
}

// --- loops -------------------------------------------------------------------------------------------------------

// Two loops and fabric ports; ports of a loop talk with each other and across, and a loop is initialized again.
TEST(PartedRun, loops_give_the_same_capture) {
  const std::string text = R"(name: t
topology:
  line_rate: 16GFC
  latency: 100ns
  bb_credit: 16
  directory_delay: 5us
  switches: [{name: left}, {name: middle}, {name: right}]
  isls: [{pattern: ring, latency: 5us, bb_credit: 64}]
  loops:
    - {name: one, switch: middle, latency: 50ns}
    - {name: two, switch: right, latency: 80ns}
ports:
  - {name: a, count: 4, switch: left}
  - {name: b, count: 4, loop: one}
  - {name: c, count: 4, loop: two}
)";
  expect_same(text + every_way, true);
  expect_same(text + through_changes + R"(faults:
  - {action: lip, port: b-1, at: 3ms}
  - {action: link_down, port: c-2, at: 4ms, for: 2ms}
  - {action: drop, message: FCVI_SEND_RQST, port: b-2, nth: 3}
  - {action: isl_down, isl: left-middle, at: 8ms, for: 2ms}
)");
}

// --- what is refused

std::string why_not(const std::string& text, std::size_t parts) { return why_not_in_parts(read(text), parts); }

TEST(PartedRun, what_no_part_can_know_in_time_is_refused) {
  EXPECT_EQ(why_not("name: t\nports: [{name: a}]\n", 2), "topology: 1 switches cannot be shared by 2 parts");
  std::string at_once = ring() + every_way;
  at_once.replace(at_once.find("5us"), 3, "0us");
  EXPECT_EQ(why_not(at_once, 2),
            "topology: directory_delay is needed for a run in parts: until then no switch knows what another one does");
}

std::string error_of(const std::string& text) {
  const auto scenario = read_scenario(text, "s.yaml", "", {});
  return scenario ? "" : scenario.error().message;
}

TEST(PartedRun, isls_without_latency_or_credit_are_refused_with_directory_delay) {
  std::string no_latency = ring();
  no_latency.replace(no_latency.find("latency: 5us"), 12, "latency: 0us");
  EXPECT_EQ(error_of(no_latency),
            "s.yaml:6: directory_delay: the ISL \"left-middle\" has no latency: with it every ISL needs a latency and "
            "bb_credit");
  std::string no_credit = ring();
  no_credit.replace(no_credit.find("bb_credit: 64"), 13, "bb_credit: 0");
  EXPECT_EQ(
      error_of(no_credit),
      "s.yaml:6: directory_delay: the ISL \"left-middle\" has no bb_credit: with it every ISL needs a latency and "
      "bb_credit");
}

TEST(PartedRun, switches_in_their_order_have_as_many_ports_in_each_part) {
  Scenario scenario = read(ring());
  EXPECT_EQ(parts_of_switches(scenario, 1), (std::vector<std::size_t>{0, 0, 0}));
  EXPECT_EQ(parts_of_switches(scenario, 3), (std::vector<std::size_t>{0, 1, 2}));
  const std::vector<std::size_t> two = parts_of_switches(scenario, 2);
  EXPECT_EQ(two.front(), 0U);
  EXPECT_EQ(two.back(), 1U);
  EXPECT_EQ(look_ahead(scenario, two), 5 * runtime::microsecond);
}

// A part that fails ends the run with its reason; no other waits for it.
TEST(MeetingPlace, a_part_that_fails_ends_the_wait_of_the_others) {
  MeetingPlace place(2);
  place.fail("part 1: out of memory");
  try {
    place.exchange_of(0)->meet({}, std::vector<ByteString>(2));
    FAIL() << "it went on";
  } catch (const PartLost& lost) {
    EXPECT_STREQ(lost.what(), "part 1: out of memory");
  }
}

}  // namespace
}  // namespace sim
