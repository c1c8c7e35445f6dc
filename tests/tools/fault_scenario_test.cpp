// What faults of scenarios do to a run, and what its expectations say of it.
#include <gtest/gtest.h>

#include "tests/tools/two_port_scenario.hpp"
#include "tools/fcvi_sim/run/expectations.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"

namespace sim {
namespace {
using Lines = std::vector<std::string>;
using test::connection, test::error_of, test::read, test::two_ports;

struct Outcome {
  std::vector<std::string> failures;
  RunResult result;
  std::string ladder;
};
Outcome run(const std::string& text) {
  const auto scenario = read(text);
  EXPECT_TRUE(scenario) << scenario.error().message;
  if (!scenario) return {};
  ContentStore contents(scenario->seed);
  Ladder ladder(*scenario);
  Simulation simulation(*scenario, contents, {nullptr, &ladder});
  const RunResult& result = simulation.run();
  return {check_expectations(*scenario, result).failures, result, to_svg(ladder, "t", simulation.start())};
}
std::string faults(const std::string& list) { return std::string(two_ports) + connection + "faults: [" + list + "]\n"; }

// A lost request: T3 passes, the one retry makes the connection (FC-VI 8.5.4, C.3 rule 3); the diagram crosses it out.
TEST(FaultScenario, drop_is_retried_and_shown) {
  const Outcome outcome = run(faults("{action: drop, message: FCVI_CONNECT_RQST, nth: 1}") + R"(expectations:
  wire_messages: [FCVI_CONNECT_RQST, FCVI_CONNECT_RESP1]
  wire:
    - {message: FCVI_CONNECT_RQST, from: a, to: b, lost: true, flags: [CONN_INFO, CLIENT_SERVER], exchange: 1, connection: 1}
    - {message: FCVI_CONNECT_RQST, from: a, lost: false, flags: [CONN_INFO, CLIENT_SERVER, RETRY], exchange: 2, connection: 2,
       at: {min: 10ms, max: 11ms}}
    - {message: FCVI_CONNECT_RESP1, from: b, flags: [RETRY], exchange: 2, connection: 2, gives_initiative: true, ends_exchange: false}
)");
  EXPECT_EQ(outcome.failures, Lines{});
  EXPECT_EQ(outcome.result.faults, std::vector<std::uint64_t>{1});
  EXPECT_NE(outcome.ladder.find("class=\"lost\""), std::string::npos);
  EXPECT_NE(outcome.ladder.find(">lost<"), std::string::npos);
  EXPECT_NE(outcome.ladder.find(">ABTS of FCVI_CONNECT_RQST id "), std::string::npos);
}

// FC-VI 5.3.3: RESP2 and RESP3 of a set-up that was refused confirm no connection.
TEST(FaultScenario, refused_setup_is_shown) {
  const auto ladder = [](const std::string& answer) {
    return run(std::string(two_ports) + "workloads:\n  - {name: w, client: a, server: b, answer: " + answer + "}\n")
        .ladder;
  };
  const auto count = [](const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(ladder("reject"), ", no connection<"), 2);
  EXPECT_EQ(count(ladder("accept"), ", acknowledged<"), 2);
  EXPECT_EQ(count(ladder("accept"), ", accepted<"), 1);
}

// What the wire expectation says of the first difference.
TEST(FaultScenario, wire_difference_is_told) {
  const Outcome outcome = run(faults("") + R"(expectations:
  wire_messages: [FCVI_CONNECT_RQST, FCVI_CONNECT_RESP1]
  wire:
    - {message: FCVI_CONNECT_RQST}
    - {message: FCVI_CONNECT_RESP1, from: a}
)");
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].substr(0, 51), "wire, IU 2 (s.yaml:13): sender: expected a, got b i");
  EXPECT_NE(outcome.failures[0].find("b -> a FCVI_CONNECT_RESP1"), std::string::npos);
  EXPECT_EQ(run(faults("") + "expectations: {wire_messages: [FCVI_CONNECT_RQST], wire: []}\n").failures.size(), 1U);
}

// Frames of a message one by one, and the payload of each; without wire_frames that of the whole IU.
TEST(FaultScenario, frames_of_the_wire) {
  const std::string about = "  wire_messages: [{message: FCVI_SEND_RQST, fields: {fcvi_tot_len: 2048}}]\n";
  const auto wire = [&](const std::string& frames, const std::string& items) {
    const std::string text =
        std::string(two_ports) +
        "workloads:\n  - {name: w, client: a, server: b, transfers: [{operation: send, data: {random: 2KiB}}]}\n";
    return run(text + "expectations:\n  wire_frames: " + frames + "\n" + about + "  wire: [" + items + "]\n").failures;
  };
  const std::string first =
      "{message: FCVI_SEND_RQST, exchange: 1, ends_exchange: true, payload: 2048, fields: {seq_cnt: 0}}";
  EXPECT_EQ(wire("false", first), Lines{});
  EXPECT_EQ(wire("true", first), Lines{});
  EXPECT_EQ(wire("false", "{message: FCVI_SEND_RQST, payload: 2047}")[0].substr(0, 72),
            "wire, IU 1 (s.yaml:11): bytes of payload: expected 2,047, got 2,048 in 1");
  const std::string small =
      std::string(two_ports).replace(std::string(two_ports).find("{name: a"), 8, "{name: a, receive_data_field: 1040") +
      "workloads:\n  - {name: w, client: b, server: a, transfers: [{operation: send, data: {random: 2KiB}}]}\n";
  const std::string two =
      "{message: FCVI_SEND_RQST, exchange: 1, ends_exchange: false, payload: 1008, fields: {seq_cnt: 0}}, "
      "{message: FCVI_SEND_RQST, exchange: 1, ends_exchange: false, payload: 1008, fields: {seq_cnt: 1, parameter: "
      "1008}}, "
      "{message: FCVI_SEND_RQST, exchange: 1, ends_exchange: true, payload: 32, fields: {seq_cnt: 2, parameter: 2016}}";
  const auto one_fault = [&](const std::string& faults) {
    return run(small + faults + "expectations:\n  wire_frames: true\n  discards: {min: 0}\n" + about + "  wire: [" +
               two + "]\n")
        .failures;
  };
  EXPECT_EQ(one_fault(""), Lines{});
}

// Every completion of a queue in its order, with its time: the first that is another is told.
TEST(FaultScenario, completions_are_compared) {
  const auto failures = [](const std::string& expect) {
    return run(std::string(two_ports) +
               "workloads:\n  - name: w\n    client: a\n    server: b\n    transfers: [{operation: send, data: "
               "{random: 6KiB}, "
               "message_bytes: 2KiB}]\n    expect:\n      " +
               expect + "\n")
        .failures;
  };
  EXPECT_EQ(failures("server_receives: [{count: 4, at: {max: 1ms}}]"), Lines{});  // three messages, and what they were
  EXPECT_EQ(failures("client_sends: [{count: 4, at: {max: 1ms}}]"), Lines{});
  const auto told = [&](const std::string& expect) { return failures(expect).at(0).substr(0, 78); };
  EXPECT_EQ(told("server_receives: [{count: 5}]"),
            "workload w: server's receives, completion 5 (s.yaml:12): expected success, got");
  EXPECT_EQ(told("server_receives: [{count: 3}]"),
            "workload w: server's receives, after 3 completions: expected no more, got succ");
  EXPECT_EQ(told("client_sends: [{count: 3}, {status: flushed}]"),
            "workload w: client's sends, completion 4 (s.yaml:12): expected flushed, got su");
  EXPECT_EQ(told("client_sends: [{}, {count: 3, at: {min: 1s}}]"),
            "workload w: client's sends, completion 2 (s.yaml:12): expected success, at lea");
  EXPECT_EQ(told("client_receives: []"),
            "workload w: client's receives, after 0 completions: expected no more, got succ");
  EXPECT_NE(failures("server_sends: [{status: [partial_error, transport_error]}]")
                .at(0)
                .find("expected partial_error and transport_error, got success"),
            std::string::npos);
}

// What a port discarded, and why: exactly that.
TEST(FaultScenario, discards_are_compared) {
  const auto failures = [](const std::string& list) {
    return run(faults("{action: duplicate, message: FCVI_CONNECT_RESP1}") + "expectations: {discards: [" + list +
               "]}\n")
        .failures;
  };
  EXPECT_EQ(failures("{port: a, reason: wrong sequence, times: 1}"), Lines{});
  EXPECT_EQ(failures("").at(0), "discarded frames: expected none, got a: wrong sequence 1");
  EXPECT_EQ(failures("{port: b, reason: wrong sequence, times: 1}").at(0),
            "discarded frames: expected b: wrong sequence 1, got a: wrong sequence 1");
  EXPECT_EQ(failures("{port: a, reason: wrong sequence, times: 2}").at(0),
            "discarded frames: expected a: wrong sequence 2, got a: wrong sequence 1");
}

// A fault that never came to its turn is a mistake in the scenario.
TEST(FaultScenario, fault_that_never_happened_fails) {
  EXPECT_EQ(run(faults("{action: drop, message: FCVI_CONNECT_RQST, nth: 9}")).failures,
            Lines{"fault 0 (lost): expected at least 1, got 0 (s.yaml:8: 1 frame matched, not at its turn)"});
}

// Duplicates, delays and reordering of connection IUs change nothing for the programs.
TEST(FaultScenario, harmless_faults_of_the_setup) {
  for (const char* iu : {"FCVI_CONNECT_RQST", "FCVI_CONNECT_RESP1", "FCVI_CONNECT_RESP2", "FCVI_CONNECT_RESP3"}) {
    const std::string message = std::string("message: ") + iu;
    EXPECT_EQ(run(faults("{action: duplicate, " + message + "}") + "expectations: {discards: {min: 0}}\n").failures,
              Lines{})
        << iu;
    EXPECT_EQ(
        run(faults("{action: delay, by: 1ms, " + message + "}") + "expectations: {discards: {min: 0}}\n").failures,
        Lines{})
        << iu;
  }
}

// Noted in the diagram with what was done.
TEST(FaultScenario, delay_is_shown) {
  const Outcome outcome = run(faults("{action: delay, by: 1ms, message: FCVI_CONNECT_RESP1}"));
  EXPECT_EQ(outcome.failures, Lines{});
  EXPECT_NE(outcome.ladder.find("delayed by 1.000 ms"), std::string::npos);
  EXPECT_GT(outcome.result.workloads[0].setup_duration, runtime::millisecond);
}

// The CRC tells the switch; the frame is as good as lost, and counted.
TEST(FaultScenario, corrupt_is_counted) {
  const Outcome outcome =
      run(faults("{action: corrupt, bit: 300, message: FCVI_CONNECT_RQST, nth: 1}") + "expectations: {discards: 1}\n");
  EXPECT_EQ(outcome.failures, Lines{});
  EXPECT_EQ(outcome.result.discard_reasons, Lines{"switch: bad CRC 1"});
}

// A link that goes down ends the connection at both ends, and comes back before the end.
TEST(FaultScenario, link_down_loses_the_connection) {
  const Outcome outcome = run(std::string(two_ports) + R"(workloads:
  - {name: w, client: a, server: b, hold: 1s, disconnect_by: server, clean_up: true,
     expect: {disconnect: Success, client_states: [PendingConnect, Connected, Error, Idle]}}
faults:
  - {action: link_down, port: a, at: 5ms, for: 1ms}
expectations: {asynchronous_errors: {min: 1}, discards: {min: 0}}
)");
  EXPECT_EQ(outcome.failures, Lines{});
  EXPECT_EQ(outcome.result.faults, std::vector<std::uint64_t>{1});
  EXPECT_EQ(outcome.result.ius.at("FLOGI"), 3U);
}

// An explicit logout frees everything at both ends (FC-VI 8.4.2 g).
TEST(FaultScenario, log_out_loses_the_connection) {
  const Outcome outcome = run(std::string(two_ports) + R"(workloads:
  - {name: w, client: a, server: b, hold: 1s, clean_up: true, disconnect_by: server}
faults:
  - {action: log_out, port: a, peer: b, at: 5ms}
expectations:
  asynchronous_errors: [{port: a, error: Connection Lost, at: {min: 5ms, max: 6ms}}, {port: b, error: Connection Lost, at: {min: 5ms, max: 6ms}}]
  discards: {min: 0}
)");
  EXPECT_EQ(outcome.failures, Lines{});
}

// Silence from t1 to t2: what was sent meanwhile is lost, also what others sent; afterwards all is well.
TEST(FaultScenario, silence_loses_both_directions) {
  const Outcome outcome = run(std::string(two_ports) + R"(workloads:
  - {name: early, client: b, server: a, connect_timeout: 100ms, expect: {connect: Timeout}}
  - {name: late, client: b, server: a, start: 1s, connect_timeout: 50s}    # a lost PLOGI takes its time
faults:
  - {action: silence, port: b, from: 0, until: 200ms}
expectations: {discards: {min: 0}}
)");
  EXPECT_EQ(outcome.failures, Lines{});
  EXPECT_GT(outcome.result.faults[0], 0U);
}

// Frames between the groups are lost, services are heard: the name server tells an address that nobody can reach.
TEST(FaultScenario, partition_loses_what_crosses_it) {
  const Outcome outcome = run(std::string(two_ports) + R"(workloads:
  - {name: w, client: a, server: b, connect_timeout: 1s, expect: {connect: Timeout}}
faults:
  - {action: partition, ports: [a], until: 10s}
expectations: {ius: {GID_IPP: {min: 1}, FCVI_CONNECT_RQST: 0}, discards: {min: 0}}
)");
  EXPECT_EQ(outcome.failures, Lines{});
  EXPECT_GT(outcome.result.faults[0], 0U);
}

// The same seed has the same chance.
TEST(FaultScenario, probability_repeats) {
  const std::string text =
      faults("{action: delay, by: 5us, probability: 0.3}") + "expectations: {discards: {min: 0}}\n";
  const Outcome first = run(text), second = run(text);
  EXPECT_EQ(first.result.faults, second.result.faults);
  EXPECT_EQ(first.ladder, second.ladder);
  EXPECT_GT(first.result.faults[0], 0U);
}

// A fault of a workload befalls all of that connection's IUs, both ways, and of no other.
TEST(FaultScenario, workload_is_told_from_others) {
  const std::string text = std::string(two_ports) + R"(workloads:
  - {name: w, client: a, server: b, transfers: [{operation: send, data: {random: 6KiB}, message_bytes: 2KiB}]}
  - {name: v, client: a, server: b, transfers: [{operation: send, data: {random: 6KiB}, message_bytes: 2KiB}]}
)";
  const auto times = [&](const std::string& fault) {
    return run(text + "faults: [{action: delay, by: 1ns, direction: sent, times: {min: 0}, " + fault + "}]\n")
        .result.faults.at(0);
  };
  for (const std::string message : {"FCVI_CONNECT_RQST", "FCVI_CONNECT_RESP1", "FCVI_CONNECT_RESP3",
                                    "FCVI_DISCONNECT_RQST", "FCVI_DISCONNECT_RESP"}) {
    const std::uint64_t all = times("message: " + message);
    EXPECT_EQ(times("message: " + message + ", workload: w") * 2, all) << message;
    EXPECT_EQ(times("message: " + message + ", workload: [w, v]"), all) << message;
    EXPECT_NE(all, 0U) << message;
  }
  const std::uint64_t sends = times("message: FCVI_SEND_RQST, workload: v");
  EXPECT_GE(sends, 3U);
  EXPECT_EQ(times("message: FCVI_SEND_RQST, workload: v, every: 2"), sends / 2);
  EXPECT_EQ(times("message: FCVI_SEND_RQST, workload: v, limit: 2"), 2U);
}

// A set-up is told by its Exchange, also where its first frame is cut, its server waits by the same name as another, or
// refuses.
TEST(FaultScenario, workload_is_told_from_the_request_on) {
  const auto counts = [](const std::string& ports, const std::string& workloads, const std::string& message) {
    const auto times = [&](const std::string& workload) {
      return run("name: t\nports: [" + ports + "]\nworkloads:\n" + workloads +
                 "faults: [{action: delay, by: 1ns, times: {min: 0}, message: " + message + workload + "}]\n")
          .result.faults.at(0);
    };
    return std::vector<std::uint64_t>{times(""), times(", workload: one"), times(", workload: two")};
  };
  const std::string transfers = ", transfers: [{operation: send, data: {random: 1KiB}}]}\n";
  const std::string small = "{name: a, receive_data_field: 256}, {name: b, receive_data_field: 256}";
  const std::string pair =
      "  - {name: one, client: a, server: b" + transfers + "  - {name: two, client: b, server: a" + transfers;
  EXPECT_EQ(counts(small, pair, "FCVI_CONNECT_RQST"), (std::vector<std::uint64_t>{6, 3, 3}));
  const auto sends = counts(small, pair, "FCVI_SEND_RQST");
  EXPECT_EQ(sends[1] + sends[2], sends[0]);
  EXPECT_EQ(sends[1], sends[2]);
  const std::string same = "  - {name: one, client: a, server: b, discriminator: X" + transfers +
                           "  - {name: two, client: a, server: c, discriminator: X" + transfers;
  const auto named = counts("{name: a}, {name: b}, {name: c}", same, "FCVI_SEND_RQST");
  EXPECT_EQ(named[1], named[2]);
  EXPECT_EQ(named[1] + named[2], named[0]);
  const std::string refused =
      "  - {name: one, client: a, server: b, answer: reject}\n  - {name: two, client: a, server: b}\n";
  for (const std::string message : {"FCVI_CONNECT_RESP1", "FCVI_CONNECT_RESP2", "FCVI_CONNECT_RESP3"}) {
    const auto told = counts("{name: a}, {name: b}", refused, message);
    EXPECT_EQ(told[1], told[2]) << message;
    EXPECT_EQ(told[1] + told[2], told[0]) << message;
    EXPECT_EQ(told[0], 2U) << message;
  }
}

// `every` and `limit` count what befalls a port, too; where a time says when, there is nothing to count.
TEST(FaultScenario, counts_that_contradict_are_refused) {
  EXPECT_EQ(error_of("{action: drop, message: FCVI_SEND_RQST, nth: 3, every: 2}"),
            "s.yaml:7: every: expected without nth, which counts the same frames");
  EXPECT_EQ(error_of("{action: drop, message: FCVI_SEND_RQST, limit: 2, times: 5}"),
            "s.yaml:7: times: expected no more than limit, which is 2, got \"5\"");
  EXPECT_EQ(error_of("{action: link_down, port: a, at: 1s, for: 1ms, nth: 3}"),
            "s.yaml:7: nth: expected with a message, and not with at");
  EXPECT_EQ(
      run(faults("{action: link_reset, port: a, message: FCVI_SEND_RQST, limit: 2, every: 2, times: 2}")).failures,
      Lines{});
}

// Where it does not matter why a program gives up, it must do so all the same.
TEST(FaultScenario, any_reason_to_give_up_will_do) {
  const std::string gives_up = std::string(two_ports) + R"(workloads:
  - name: w
    client: a
    server: b
    reliability: reliable_reception
    transfers: [{operation: send, data: {random: 6KiB}}]
    expect: {gives_up: any}
expectations: {discards: {max: 9}}
)";
  EXPECT_EQ(run(gives_up + "faults: [{action: corrupt, message: FCVI_SEND_RQST, fields: {seq_cnt: 1}}]\n").failures,
            Lines{});
  EXPECT_EQ(run(gives_up).failures, (Lines{"workload w: programs: expected a program that gives up, got no error"}));
}

// What nothing matched says where it stands, and how near it came.
TEST(FaultScenario, fault_that_matched_nothing_says_why) {
  EXPECT_EQ(run(faults("{action: drop, message: FCVI_READ_RQST}")).failures.back(),
            "fault 0 (lost): expected at least 1, got 0 (s.yaml:8: no frame matched; 27 came nearest, and failed at "
            "message)");
}

}  // namespace
}  // namespace sim
