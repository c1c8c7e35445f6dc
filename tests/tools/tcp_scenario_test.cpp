// Scenarios of hosts on TCP: programs, options, segmentation, faults, expectations, captures.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "tools/fcvi_sim/capture/draw.hpp"
#include "tools/fcvi_sim/capture/printer.hpp"
#include "tools/fcvi_sim/run/expectations.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim {
namespace {
using Lines = std::vector<std::string>;

constexpr const char* hosts = "name: t\ntopology: {kind: tcp}\nports: [{name: a}, {name: b}]\n";

struct Bytes final : fc2::ByteSink {
  std::vector<std::uint8_t> all;
  void write(std::span<const std::uint8_t> bytes) override { all.insert(all.end(), bytes.begin(), bytes.end()); }
};

struct Outcome {
  Lines failures;
  RunResult result;
  std::string ladder;
  std::vector<std::uint8_t> capture;
};
Outcome run(const std::string& text) {
  const auto scenario = read_scenario(text, "s.yaml", "", {});
  EXPECT_TRUE(scenario) << scenario.error().message;
  if (!scenario) return {};
  const ContentStore contents(scenario->seed);
  Ladder ladder(*scenario);
  Bytes bytes;
  fc2::Capture capture(bytes);
  Simulation simulation(*scenario, contents, {.capture = &capture, .ladder = &ladder, .check = true});
  const RunResult& result = simulation.run();
  return {check_expectations(*scenario, result).failures, result, to_svg(ladder, "t", simulation.start()), bytes.all};
}
std::string error_of(const std::string& text) {
  const auto scenario = read_scenario(text, "s.yaml", "", {});
  return scenario ? "no error" : scenario.error().message;
}
bool is_in(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string all_messages(const std::string& level, const std::string& topology) {
  return "name: t\ntopology: {kind: tcp, " + topology + "}\nports: [{name: a}, {name: b}]\n" + R"(workloads:
  - name: w
    client: a
    server: b
    reliability: )" +
         level + R"(
    transfers:
      - {operation: send, data: {random: 0}}
      - {operation: send, data: {random: 9000}, message_bytes: 3000, segments: 3}
      - {operation: send, data: {random: 100}, immediate: 5, direction: server_to_client}
      - {operation: rdma_write, data: {random: 4000}, message_bytes: 1500, immediate: 1}
)" +
         (level == "unreliable_delivery"
              ? ""
              : "      - {operation: rdma_read, data: {random: 4000}, message_bytes: 1500}\n") +
         "expectations: {wire: []}\n";
}
/// What was sent, but for the NOPs and the fields that tell when: acknowledgments and receives.
std::vector<std::vector<std::uint8_t>> contents_of(const RunResult& result) {
  std::vector<std::vector<std::uint8_t>> all;
  for (const SeenSegment& segment : result.segments) {
    if (segment.name == "NOP") continue;
    std::vector<std::uint8_t> octets = segment.octets;
    std::fill(octets.begin() + 16, octets.begin() + 22, std::uint8_t{0});
    octets.push_back(static_cast<std::uint8_t>(segment.from));
    all.push_back(std::move(octets));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& one, const auto& other) { return one.back() < other.back(); });
  return all;
}

// VI-TCP 2.2.2.2.3: whatever TCP makes of the octets, the same messages arrive, in the same segments.
TEST(TcpScenario, segmentation_changes_nothing) {
  for (const char* level : {"unreliable_delivery", "reliable_delivery", "reliable_reception"}) {
    const Outcome usual = run(all_messages(level, "vi_segment: 1000"));
    EXPECT_EQ(usual.failures.size(), 1U) << usual.failures.back();  // the list of `wire` is empty
    EXPECT_GT(usual.result.segments.size(), 20U);
    for (const char* tcp : {"tcp_segment: 1", "tcp_segment: 300, tcp_segments: drawn", "receive_buffer: 100"}) {
      const Outcome cut = run(all_messages(level, std::string("vi_segment: 1000, ") + tcp));
      EXPECT_EQ(cut.failures.size(), 1U) << tcp << " " << cut.failures.front();
      EXPECT_EQ(contents_of(cut.result), contents_of(usual.result)) << level << " " << tcp;
    }
  }
}

// VI-TCP 2.2.2.2.2, ruling V-17: a disconnect takes as long as the end of the stream, there and back, also where the
// other program disconnects as soon as it hears of it.
TEST(TcpScenario, disconnect_takes_one_round_trip) {
  const Outcome outcome = run(std::string(hosts) + R"(workloads:
  - {name: w, client: a, server: b, transfers: [{operation: send, data: {random: 100}}]}
)");
  EXPECT_EQ(outcome.failures, Lines{});
  EXPECT_LT(outcome.result.duration, runtime::millisecond);
}

// Same seed, same bytes; another seed, others.
TEST(TcpScenario, same_seed_same_capture) {
  const std::string text = all_messages("reliable_reception", "crc: ask, tcp_segments: drawn");
  const Outcome one = run(text), other = run(text), third = run(text + "seed: 2\n");
  EXPECT_GT(one.capture.size(), 10'000U);
  EXPECT_EQ(one.capture, other.capture);
  EXPECT_EQ(one.ladder, other.ladder);
  EXPECT_NE(one.capture, third.capture);
}

// Options of the set-up (VI-TCP 3.3): the CRC where both want it.
TEST(TcpScenario, crc_is_there_where_both_want_it) {
  const auto octets = [](const std::string& alice, const std::string& bob) {
    return run("name: t\ntopology: {kind: tcp}\nports: [{name: a, crc: " + alice + "}, {name: b, crc: " + bob + R"(}]
workloads: [{name: w, client: a, server: b, transfers: [{operation: send, data: {random: 100}}]}]
)")
        .result.byte_count;
  };
  EXPECT_EQ(octets("ask", "refuse") - octets("grant", "grant"), 4U + 2U + 4U);  // option, End of Option List, trailer
  EXPECT_GT(octets("ask", "grant"), octets("ask", "refuse") + 10);
}

/// A connection at Reliable Reception with four Sends.
std::string with_fault(const std::string& fault, const std::string& more = "", const std::string& topology = "",
                       const std::string& expect = "") {
  return "name: t\ntopology: {kind: tcp" + topology + "}\nports: [{name: a}, {name: b}]\n" + R"(workloads:
  - {name: w, client: a, server: b, reliability: reliable_reception, )" +
         expect + R"( transfers: [{operation: send, data: {random: 4KiB}, message_bytes: 1KiB}]}
)" + "faults: [" +
         fault + "]\n" + more;
}
/// The same; the program gives up.
std::string with_failure(const std::string& fault, const std::string& more = "", const std::string& topology = "") {
  return with_fault(fault, more, topology, "expect: {gives_up: any},");
}

// What each action does to the connection, and how often it says that it happened.
TEST(TcpFaults, reset_in_a_message_ends_the_connection) {
  const Outcome outcome = run(with_failure("{action: reset, octets: 30, message: Send, nth: 2}"));
  EXPECT_EQ(outcome.failures, Lines{});
  EXPECT_EQ(outcome.result.faults, std::vector<std::uint64_t>{1});
  EXPECT_NE(outcome.result.workloads[0].broken, "");
  EXPECT_TRUE(is_in(outcome.ladder, "connection reset, octet 30"));
  EXPECT_TRUE(is_in(outcome.ladder, ">RST<"));
}

TEST(TcpFaults, close_in_a_message_is_an_end_within_a_segment) {
  const Outcome outcome =
      run(with_failure("{action: close, octets: 30, message: Send, nth: 2}",
                       "expectations: {discards: [{port: b, reason: end_in_segment, times: 1}]}\n"));
  EXPECT_EQ(outcome.failures, Lines{});
  EXPECT_NE(outcome.result.workloads[0].broken, "");
}

TEST(TcpFaults, reset_of_a_request_is_set_up_again) {
  const Outcome outcome =
      run(with_fault("{action: reset, octets: 7, message: ConnectRequest, nth: [1, 2]}",
                     "expectations: {segments: {ConnectRequest: 3, ConnectAccept: 1}, wire: "
                     "[{message: ConnectRequest, connection: 1}, {message: ConnectRequest, connection: "
                     "2}, {message: ConnectRequest, connection: 3}], wire_messages: [ConnectRequest], discards: "
                     "[{port: b, reason: end_in_segment, times: 2}]}\n"));
  EXPECT_EQ(outcome.failures, Lines{});
  EXPECT_EQ(outcome.result.workloads[0].broken, "");
  EXPECT_EQ(outcome.result.stream_count, 3U);
}

TEST(TcpFaults, stall_and_delay_cost_time_only) {
  for (const char* fault :
       {"{action: stall, octets: 30, for: 1s, message: Send, nth: 2}", "{action: delay, by: 1s, message: Send, nth: 2}",
        "{action: link_down, port: b, message: Send, nth: 2, for: 1s}"}) {
    const Outcome outcome = run(with_fault(fault));
    EXPECT_EQ(outcome.failures, Lines{}) << fault;
    EXPECT_EQ(outcome.result.workloads[0].broken, "") << fault;
    EXPECT_GT(outcome.result.duration, runtime::second);
    EXPECT_LT(outcome.result.duration, 2 * runtime::second);
    EXPECT_EQ(outcome.result.faults, std::vector<std::uint64_t>{1});
  }
}

// VI-TCP 3.6, 3.2.
TEST(TcpFaults, wrong_crc_ends_a_reliable_connection) {
  const Outcome outcome =
      run(with_failure("{action: bad_crc, message: Send, nth: 2}",
                       "expectations: {discards: [{port: b, reason: crc, times: 1}]}\n", ", crc: ask"));
  EXPECT_EQ(outcome.failures, Lines{});
  EXPECT_NE(outcome.result.workloads[0].broken, "");
}

TEST(TcpFaults, rewritten_field_is_refused_for_itself) {
  for (const char* crc : {"", ", crc: ask"}) {
    const Outcome outcome =
        run(with_failure("{action: rewrite, set: {data_offset: 5}, message: Send, nth: 2}",
                         "expectations: {discards: [{port: b, reason: segment_order, times: 1}]}\n", crc));
    EXPECT_EQ(outcome.failures, Lines{}) << crc;
  }
}

TEST(TcpFaults, corrupted_bit_is_found_by_the_crc) {
  const Outcome outcome =
      run(with_failure("{action: corrupt, bit: 300, message: Send, every: 2, limit: 1}",
                       "expectations: {discards: [{port: b, reason: crc, times: 1}]}\n", ", crc: ask"));
  EXPECT_EQ(outcome.failures, Lines{});
}

// By type, field, port, peer, direction, time and count; and why it did not happen.
TEST(TcpFaults, matches_by_what_it_names) {
  const auto times = [](const std::string& fault) {
    return run(with_fault("{action: delay, by: 1us, times: {min: 0}, " + fault + "}")).result.faults.at(0);
  };
  EXPECT_EQ(times("message: Send, port: a"), times("message: Send, port: b, direction: received"));
  EXPECT_EQ(times("message: Send, port: a, peer: b"), times("message: Send, port: a"));
  EXPECT_EQ(times("message: Send, port: a, peer: a"), 0U);
  EXPECT_EQ(times("message: ConnectAccept, port: b"), 1U);
  EXPECT_EQ(times("message: ConnectAccept, port: a"), 0U);
  EXPECT_EQ(times("fields: {type: 5}"), 1U);
  EXPECT_EQ(times("fields: {rdma_length: {min: 0}}"), 0U);
  EXPECT_EQ(times("message: Send, until: 1ns"), 0U);
  EXPECT_GT(times("workload: w"), 4U);
  EXPECT_EQ(times("workload: w, limit: 2"), 2U);
  const Outcome missed = run(with_fault("{action: reset, message: RdmaWrite}"));
  ASSERT_EQ(missed.failures.size(), 1U);
  EXPECT_TRUE(is_in(missed.failures[0], "no segment matched")) << missed.failures[0];
}

// What nobody lets go during the run goes on at its end, and a run that is given up leaves no call behind.
TEST(TcpFaults, stalled_for_good_ends_with_the_run) {
  const Outcome outcome = run(with_fault("{action: stall, message: ConnectRequest}", "time_limit: 20s\n"));
  EXPECT_TRUE(outcome.result.workloads[0].connect == vi::Return::Timeout);
  const Outcome stuck = run(with_fault("{action: stall, message: Send, octets: 5}", "time_limit: 1s\n"));
  EXPECT_NE(stuck.result.outcome, Driver::Outcome::Finished);
}

// --- the language ------------------------------------------------------------------------------------------------

TEST(TcpLanguage, keys_of_fibre_channel_are_refused) {
  const std::string head = "name: t\ntopology: {kind: tcp";
  for (const char* key : {"bb_credit: 1", "in_order: true", "switches: [{name: s}]", "multipath: frame"})
    EXPECT_TRUE(is_in(error_of(head + ", " + key + "}\nports: [{name: a}]\n"), "is of Fibre Channel")) << key;
  for (const char* key : {"switch: s", "class: 2", "ulp_timeout: 1s", "first_handle: 1", "resolve: farp"})
    EXPECT_TRUE(is_in(error_of(head + "}\nports: [{name: a, " + key + "}]\n"), "is of Fibre Channel")) << key;
  const std::string two = head + "}\nports: [{name: a}, {name: b}]\n";
  EXPECT_TRUE(is_in(error_of(two + "background: [{name: n, from: a, to: b, rate: 1/s}]\n"), "background: is of Fibre"));
  EXPECT_TRUE(is_in(error_of(two + "expectations: {ius: {FLOGI: 1}}\n"), "ius: is of Fibre Channel"));
  EXPECT_TRUE(is_in(error_of(two + "faults: [{action: delay, by: 1s, flags: [X]}]\n"), "flags: is of Fibre Channel"));
  EXPECT_TRUE(is_in(error_of(two + "faults: [{action: drop}]\n"), "action: expected one of"));
  EXPECT_TRUE(is_in(error_of(two + "faults: [{action: delay, by: 1s, message: Sned}]\n"), "Send"));
  EXPECT_TRUE(is_in(error_of(two + "faults: [{action: rewrite, set: {typ: 1}}]\n"), "did you mean \"type\"?"));
  EXPECT_TRUE(is_in(error_of(two + "faults: [{action: rewrite, set: {type: 32}}]\n"), "0 to 31"));
}

TEST(TcpLanguage, keys_of_tcp_are_refused_elsewhere) {
  EXPECT_TRUE(
      is_in(error_of("name: t\ntopology: {crc: ask}\nports: [{name: a}]\n"), "expected with topology.kind tcp"));
  EXPECT_TRUE(is_in(error_of("name: t\nports: [{name: a, vi_segment: 1KiB}]\n"), "expected with topology.kind tcp"));
  EXPECT_TRUE(is_in(error_of("name: t\nports: [{name: a}]\nfaults: [{action: reset}]\n"), "action: expected "));
}

TEST(TcpLanguage, discriminators_are_short) {
  EXPECT_TRUE(
      is_in(error_of(std::string(hosts) + "workloads: [{name: " + std::string(65, 'x') + ", client: a, server: b}]\n"),
            "more than 64 bytes"));
}

// --- captures, read again ------------------------------------------------------------------------------------------

/// Of a run: its capture in a file of its own, and what its own ladder says.
class CaptureOf {
 public:
  explicit CaptureOf(const std::string& text) {
    const auto scenario = read_scenario(text, "s.yaml", "", {});
    EXPECT_TRUE(scenario) << scenario.error().message;
    const ContentStore contents(scenario->seed);
    Ladder ladder(*scenario);
    Bytes bytes;
    fc2::Capture capture(bytes);
    Simulation simulation(*scenario, contents, {.capture = &capture, .ladder = &ladder});
    simulation.run();
    for (const LadderRow& row : ladder.rows())
      if (row.shape == LadderRow::Shape::Arrow) arrows.push_back(row.text + (row.note.empty() ? "" : "; " + row.note));
    path = testing::TempDir() + "/tcp_capture_" + std::to_string(::getpid()) + ".pcapng";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.all.data()), static_cast<std::streamsize>(bytes.all.size()));
  }
  ~CaptureOf() { std::remove(path.c_str()); }
  CaptureOf(const CaptureOf&) = delete;
  CaptureOf& operator=(const CaptureOf&) = delete;

  [[nodiscard]] std::string drawn(capture::DrawOptions options = {}) const {
    options.path = path;
    options.as_text = true;
    options.columns = 1000;
    const capture::DrawResult result = capture::draw(options);
    EXPECT_EQ(result.error, "");
    return result.picture;
  }
  /// The packets whose tree has those words.
  [[nodiscard]] std::size_t trees_with(const std::string& words) const {
    capture::Reading reading;
    EXPECT_EQ(reading.open(path), "");
    std::size_t count = 0;
    for (capture::Seen seen; reading.next(seen);)
      if (is_in(capture::tree_of(seen, reading.interfaces()), words)) ++count;
    return count;
  }

  std::string path;
  Lines arrows;
};

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// `ladder` draws of a capture what `run --ladder` draws of the run: the same segments and ends of streams, in the words
// of that one, and what faults did.
TEST(TcpCapture, is_drawn_as_the_run_itself) {
  const CaptureOf capture(all_messages("reliable_reception", "vi_segment: 1000, crc: ask") +
                          "faults: [{action: delay, by: 5ms, message: Send, nth: 2}]\n");
  const std::string picture = capture.drawn();
  ASSERT_GT(capture.arrows.size(), 20U);
  for (const std::string& arrow : capture.arrows) {
    const std::size_t note = arrow.find("; ");
    EXPECT_TRUE(is_in(picture, arrow.substr(0, note))) << arrow << "\n" << picture;
    EXPECT_TRUE(note == std::string::npos || is_in(picture, arrow.substr(note + 2))) << arrow << "\n" << picture;
  }
  for (const char* lane : {"10.0.0.1", "10.0.0.2", "8474"}) EXPECT_TRUE(is_in(picture, lane)) << lane;
}

// Whatever TCP makes of the octets, the same segments are drawn.
TEST(TcpCapture, is_drawn_the_same_octet_by_octet) {
  const CaptureOf whole(all_messages("reliable_delivery", "vi_segment: 1000"));
  const CaptureOf cut(all_messages("reliable_delivery", "vi_segment: 1000, tcp_segment: 7"));
  for (const char* name : {"ConnectRequest ", "ConnectAccept ", "RdmaReadRequest ", "SYN ACK", "FIN"})
    EXPECT_EQ(times(cut.drawn(), name), times(whole.drawn(), name)) << name;
}

TEST(TcpCapture, a_host_that_talks_to_itself_has_two_lanes) {
  const CaptureOf capture(
      "name: t\ntopology: {kind: tcp}\nports: [{name: a}]\nworkloads: [{name: w, client: a, server: a, transfers: "
      "[{operation: send, data: {random: 10}}]}]\n");
  const std::string picture = capture.drawn();
  const std::string lanes = picture.substr(0, picture.find("SYN"));
  EXPECT_EQ(times(lanes, "10.0.0.1"), 2U) << picture;
  EXPECT_EQ(times(lanes, "8474"), 1U) << picture;
}

TEST(TcpCapture, without_logins_has_no_syn) {
  const CaptureOf capture(all_messages("reliable_delivery", "vi_segment: 1000"));
  const std::string picture = capture.drawn({.without_login = true});
  EXPECT_FALSE(is_in(picture, "SYN")) << picture;
  EXPECT_TRUE(is_in(picture, "ConnectRequest")) << picture;
}

// `decode -v` and `--json` have the fields of each VI segment, as of an IU.
TEST(TcpCapture, trees_have_the_fields_of_segments) {
  const CaptureOf capture(all_messages("reliable_delivery", "vi_segment: 1000"));
  EXPECT_EQ(capture.trees_with("\n    type: ConnectRequest\n"), 1U);
  EXPECT_EQ(capture.trees_with("\n      mtu: "), 2U);
  EXPECT_GT(capture.trees_with("\n    rx_posted: "), 10U);
  EXPECT_EQ(capture.trees_with("Trouble"), 0U);
  EXPECT_EQ(capture.trees_with("flags: SYN\n"), 2U);
}

}  // namespace
}  // namespace sim
