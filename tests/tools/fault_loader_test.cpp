// What faults and expectations of scenarios read, and what they refuse.
#include <gtest/gtest.h>

#include "tests/tools/two_port_scenario.hpp"
#include "vi/descriptor.hpp"

namespace sim {
namespace {
using Lines = std::vector<std::string>;
using test::error_of, test::read, test::two_ports;

std::string expectation_error(const std::string& text) {
  const auto scenario = read(std::string(two_ports) + "expectations:\n  " + text + "\n");
  return scenario ? "no error" : scenario.error().message;
}

TEST(FaultLoader, workloads_are_named_alone_by_group_and_in_lists) {
  const auto text = [](const std::string& workload) {
    return std::string(two_ports) + R"(workloads:
  - {name: w, client: a, server: b}
  - {name: g, count: 2, client: a, server: b}
faults: [{action: drop, message: FCVI_SEND_RQST, workload: )" +
           workload + "}]\n";
  };
  const auto connections = [&](const std::string& workload) {
    const auto scenario = read(text(workload));
    return scenario ? scenario->faults[0].rule.match.connections : std::vector<std::size_t>{99};
  };
  EXPECT_EQ(connections("w"), std::vector<std::size_t>{0});
  EXPECT_EQ(connections("g"), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(connections("[g-2, w]"), (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(read(text("gg")).error().message,
            "s.yaml:9: workload: expected one of w, g-1, g-2, g, got \"gg\"; did you mean \"g\"?");
}

TEST(FaultLoader, every_key_is_read) {
  const auto scenario = read(std::string(two_ports) + R"(faults:
  - {action: delay, by: 5ms, message: FCVI_CONNECT_RESP1, port: b, peer: a, direction: both, flags: [RETRY],
     flags_clear: [CONN_STS], reason: Connect Timeout, fields: {seq_cnt: 3, fcvi_msg_id: {min: 5}}, from: 1ms, until: 2ms,
     nth: [2, 3], probability: 0.5, times: {max: 7}}
  - {action: duplicate, copies: 2, by: 1us}
  - {action: reorder, frames: 3, longest_hold: 1s}
  - {action: corrupt, bit: 77, crc: good}
  - {action: truncate, bytes: 30}
  - {action: rewrite, set: {fcvi_flags: 1, s_id: 0x010203}}
  - {action: silence, port: a}
  - {action: partition, ports: [a]}
  - {action: link_down, port: a, at: 1ms, for: 2ms}
  - {action: log_out, port: a, peer: b, message: FCVI_CONNECT_RQST, implicit: true}
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  ASSERT_EQ(scenario->faults.size(), 11U);  // a partition is two
  const FaultSpec& delay = scenario->faults[0];
  const faults::Match& match = delay.rule.match;
  EXPECT_EQ(match.message, "FCVI_CONNECT_RESP1");
  EXPECT_EQ(match.links, std::vector<std::size_t>{1});
  EXPECT_EQ(match.peers, std::vector<std::size_t>{0});
  EXPECT_TRUE(match.sent && match.received);
  EXPECT_EQ(match.flags, Lines{"RETRY"});
  EXPECT_EQ(match.flags_clear, Lines{"CONN_STS"});
  EXPECT_EQ(match.reason, wire::fcvi::Reason::connect_timeout);
  EXPECT_EQ(match.fields.size(), 2U);
  EXPECT_EQ(match.fields[1].min, 5U);
  EXPECT_EQ(match.from, runtime::millisecond);
  EXPECT_EQ(match.until, 2 * runtime::millisecond);
  EXPECT_EQ(delay.rule.turns, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(delay.rule.probability, 0.5);
  EXPECT_EQ(delay.times.max, 7U);
  EXPECT_EQ(delay.rule.action->delay, 5 * runtime::millisecond);
  EXPECT_EQ(scenario->faults[1].rule.action->frames, 2U);
  EXPECT_EQ(scenario->faults[2].rule.action->longest_hold, runtime::second);
  EXPECT_EQ(scenario->faults[3].rule.action->bit, 77U);
  EXPECT_FALSE(scenario->faults[3].rule.action->crc_error);
  EXPECT_EQ(scenario->faults[4].rule.action->size_bytes, 30);
  EXPECT_EQ(scenario->faults[5].rule.action->patches[1].value, 0x010203U);
  EXPECT_TRUE(scenario->faults[6].rule.match.received);
  EXPECT_EQ(scenario->faults[7].rule.match.peers, std::vector<std::size_t>{1});
  EXPECT_EQ(scenario->faults[8].rule.match.peers, std::vector<std::size_t>{0});
  EXPECT_EQ(scenario->faults[9].event->duration, 2 * runtime::millisecond);
  EXPECT_EQ(scenario->faults[10].event->apply, port_event::implicit_log_out);
}

TEST(FaultLoader, refuses_with_the_place) {
  EXPECT_EQ(error_of("{action: dorp}"),
            "s.yaml:7: action: expected a known name, got \"dorp\"; did you mean \"drop\"?");
  EXPECT_EQ(error_of("{message: PLOGI}"), "s.yaml:7: faults[0]: action is missing");
  for (const char* fault : {"drop",
                            "{action: drop, by: 1ms}",
                            "{action: delay}",
                            "{action: drop, message: FCVI_CONECT_RQST}",
                            "{action: drop, port: c}",
                            "{action: drop, nth: 0}",
                            "{action: drop, probability: 1.5}",
                            "{action: drop, probability: x}",
                            "{action: drop, fields: {seq_count: 1}}",
                            "{action: drop, fields: {seq_cnt: 65536}}",
                            "{action: drop, flags: [RETRY]}",
                            "{action: drop, message: FCVI_SEND_RQST, flags: [RETRY]}",
                            "{action: drop, from: 2ms, until: 1ms}",
                            "{action: drop, reason: Because}",
                            "{action: rewrite}",
                            "{action: rewrite, set: {seq_cnt: 0x10000}}",
                            "{action: truncate}",
                            "{action: truncate, bytes: 3000}",
                            "{action: silence}",
                            "{action: partition, ports: [a, b]}",
                            "{action: partition, ports: []}",
                            "{action: link_down, port: a}",
                            "{action: link_down, port: a, at: 1ms, message: PLOGI}",
                            "{action: log_out, port: a, at: 1ms}",
                            "{action: log_out, port: a, peer: a, at: 1ms}"})
    EXPECT_EQ(error_of(fault).substr(0, 9), "s.yaml:7:") << fault << ": " << error_of(fault);
}

TEST(FaultLoader, refuses_expectations_with_the_place) {
  for (const char* text :
       {"wire: [{from: a}]", "wire: [{message: NOTHING}]", "wire: [{message: ABTS, flags: [RETRY]}]",
        "wire: [{message: FCVI_CONNECT_RESP1, at: {min: 2s, max: 1s}}]", "wire_messages: [X]",
        "asynchronous_errors: [{port: a, error: Lost}]", "asynchronous_errors: [{error: Connection Lost}]",
        "wire: [{message: ABTS, payload: -1}]", "wire_frames: 2", "wire_messages: [{message: X}]",
        "wire_messages: [{fields: {seq_cnt: 1}}]", "wire_messages: [{message: ABTS, fields: {sequence: 1}}]",
        "discards: [{port: a, reason: because, times: 1}]", "discards: [{port: c, reason: bad CRC, times: 1}]",
        "discards: [{port: a, reason: bad CRC}]", "discards: [{port: a, reason: bad CRC, times: 0}]"})
    EXPECT_EQ(expectation_error(text).substr(0, 9), "s.yaml:7:") << text << ": " << expectation_error(text);
}

TEST(FaultLoader, refuses_completions_with_the_place) {
  const auto error = [](const std::string& list) {
    const auto scenario =
        read(std::string(two_ports) + "workloads:\n  - name: w\n    client: a\n    server: b\n    expect:\n      " +
             list + "\n");
    return scenario ? "no error" : scenario.error().message;
  };
  EXPECT_EQ(error("client_sends: [{status: transprot_error}]"),
            "s.yaml:11: status: expected a known name, got \"transprot_error\"; did you mean \"transport_error\"?");
  EXPECT_EQ(error("client_sends: [{count: 2}, {}]"), "no error");
  for (const char* list : {"client_sends: {count: 1}", "server_sends: [{count: 0}]", "client_receives: [{count: many}]",
                           "server_receives: [{state: success}]", "server_receives: [{status: [flushed, lost]}]",
                           "client_sends: [{at: {min: 2s, max: 1s}}]"})
    EXPECT_EQ(error(list).substr(0, 10), "s.yaml:11:") << list << ": " << error(list);
}

TEST(FaultLoader, every_expectation_is_read) {
  const auto scenario = read(std::string(two_ports) + R"(linger: 3s
workloads:
  - name: w
    client: a
    server: b
    hold: 4ms
    clean_up: true
    transfers:
      - {operation: rdma_read, data: {random: 1KiB}}
      - {operation: rdma_write, data: {random: 1KiB}, direction: server_to_client, concurrent: true}
    expect: {connect: Timeout, accept: Reject, disconnect: NotReachable, server_disconnect: Success, client_states: [PendingConnect, Idle],
             server_states: [], connect_time: 2s, accept_time: {min: 1s, max: 3s}, gives_up: tired,
             client_sends: [], client_receives: [{count: 3}], server_sends: [{status: flushed, at: {min: 1s}}],
             server_receives: [{status: [partial_error, transport_error]}, {status: success}]}
expectations:
  wire_from: 5ms
  wire_messages: [ABTS, {message: ACK_1, fields: {seq_cnt: 7}}]
  wire_frames: true
  discards: [{port: b, reason: bad CRC, times: 3}]
  asynchronous_errors: [{port: b, error: Connection Lost, at: {max: 9s}}]
  wire:
    - {message: FCVI_CONNECT_RESP1, from: b, to: a, flags: [CONN_STS, RETRY], reason: Connect Reject, exchange: 1, connection: 2,
       ends_exchange: true, gives_initiative: false, lost: false, payload: 1KiB, fields: {fcvi_msg_id: 0}, at: {min: 1s, max: 2s}}
)");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->linger, 3 * runtime::second);
  const WorkloadSpec& workload = scenario->workloads[0];
  EXPECT_EQ(workload.hold, 4 * runtime::millisecond);
  EXPECT_TRUE(workload.clean_up && workload.transfers[1].concurrent);
  const WorkloadExpectation& expect = workload.expect;
  EXPECT_EQ(expect.accept, vi::Return::Reject);
  EXPECT_EQ(expect.disconnect, vi::Return::NotReachable);
  EXPECT_EQ(expect.server_disconnect, vi::Return::Success);
  EXPECT_EQ(expect.client_states, (Lines{"PendingConnect", "Idle"}));
  EXPECT_EQ(expect.server_states, Lines{});
  EXPECT_TRUE(expect.connect_time->holds(2 * runtime::second) && !expect.connect_time->holds(2 * runtime::second + 1));
  EXPECT_TRUE(expect.accept_time->holds(runtime::second) && !expect.accept_time->holds(runtime::second - 1));
  EXPECT_EQ(expect.gives_up, "tired");
  EXPECT_EQ(scenario->expectations.wire_from, 5 * runtime::millisecond);
  EXPECT_EQ(scenario->expectations.wire_messages[0].message, "ABTS");
  EXPECT_EQ(scenario->expectations.wire_messages[1].fields[0].min, 7U);
  EXPECT_TRUE(scenario->expectations.wire_frames);
  EXPECT_EQ(scenario->expectations.discard_list->at(0).reason, "bad CRC");
  EXPECT_EQ(scenario->expectations.discard_list->at(0).times, 3U);
  EXPECT_TRUE(expect.client_sends->empty());
  EXPECT_EQ(expect.client_receives->at(0).count, 3U);
  EXPECT_EQ(expect.server_sends->at(0).error_bits, vi::status::flushed);
  EXPECT_EQ(expect.server_sends->at(0).at.min, runtime::second);
  EXPECT_EQ(expect.server_receives->at(0).error_bits, vi::status::partial_error | vi::status::transport_error);
  EXPECT_EQ(expect.server_receives->at(1).error_bits, 0U);
  EXPECT_EQ(scenario->expectations.errors->at(0).error, vi::ErrorCode::ConnLost);
  const WireExpectation& iu = scenario->expectations.wire->at(0);
  EXPECT_EQ(iu.from, 1U);
  EXPECT_EQ(iu.to, 0U);
  EXPECT_EQ(iu.flags, (Lines{"CONN_STS", "RETRY"}));
  EXPECT_EQ(iu.reason, wire::fcvi::Reason::connect_reject);
  EXPECT_EQ(iu.exchange, 1U);
  EXPECT_EQ(iu.connection, 2U);
  EXPECT_EQ(iu.ends_exchange, true);
  EXPECT_EQ(iu.gives_initiative, false);
  EXPECT_EQ(iu.lost, false);
  EXPECT_EQ(iu.payload_bytes, 1024U);
  EXPECT_EQ(iu.fields.size(), 1U);
  EXPECT_EQ(iu.at.max, 2 * runtime::second);
}

// Two transfers at a time must go opposite ways, and leave the receive queues to the programs' own messages.
TEST(FaultLoader, concurrent_refused) {
  const auto error = [](const std::string& first, const std::string& second) {
    const auto scenario = read(
        std::string(two_ports) + "workloads:\n  - name: w\n    client: a\n    server: b\n    transfers:\n      - {" +
        first + "data: {random: 1}}\n      - {" + second + "data: {random: 1}, concurrent: true}\n");
    return scenario ? "no error" : scenario.error().message.substr(0, 24);
  };
  const std::string write = "operation: rdma_write, ", back = "direction: server_to_client, ";
  EXPECT_EQ(error(write, write + back), "no error");
  EXPECT_EQ(error(write, write), "s.yaml:12: concurrent: e");
  EXPECT_EQ(error("operation: send, ", write + back), "s.yaml:12: concurrent: e");
  EXPECT_EQ(error(write, write + back + "immediate: 1, "), "s.yaml:12: concurrent: e");
  EXPECT_EQ(error(write + "repeat: 2, ", write + back), "s.yaml:12: concurrent: e");
}

}  // namespace
}  // namespace sim
