// Soaks: what is drawn, that nothing depends on the number of processes, that what dies is reported, that failures
// shrink.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tools/fcvi_sim/explore/invariants.hpp"
#include "tools/fcvi_sim/explore/world.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"
#include "tools/fcvi_sim/soak/campaign.hpp"
#include "tools/fcvi_sim/soak/child.hpp"
#include "tools/fcvi_sim/soak/drawn_scenario.hpp"
#include "tools/fcvi_sim/soak/failure_files.hpp"
#include "tools/fcvi_sim/soak/progress.hpp"
#include "tools/fcvi_sim/soak/shrinker.hpp"
#include "tools/fcvi_sim/soak/state.hpp"
#include "tools/fcvi_sim/soak/trial.hpp"
#include "tools/fcvi_sim/soak/yaml_text.hpp"

namespace sim::soak {
namespace {
using testing::HasSubstr;

Outcome judged(const std::string& text) {
  fc2::FramePool pool;
  return soak::judged(text, pool);
}

// --- what is drawn -----------------------------------------------------------------------------------------------

// Every number is a scenario that `run` takes and a judge can judge.
TEST(DrawnScenario, every_seed_can_be_read) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const std::string text = drawn_scenario(seed);
    const auto scenario = read_scenario(text, "drawn", "", {});
    ASSERT_TRUE(scenario) << scenario.error().message << "\n" << text;
    ASSERT_EQ(unsuitable(*scenario), "") << text;
  }
}

TEST(DrawnScenario, the_same_seed_is_the_same_text) {
  EXPECT_EQ(drawn_scenario(7), drawn_scenario(7));
  EXPECT_NE(drawn_scenario(7), drawn_scenario(8));
}

constexpr const char* drawn_words[] = {"kind: point_to_point",
                                       "kind: private_loop",
                                       "loops:",
                                       "multipath: frame",
                                       "in_order: false",
                                       "class: 2",
                                       "ack_0: true",
                                       "end_to_end_credit: 1,",
                                       "bb_credit: 1,",
                                       "pipeline_depth: 0",
                                       "receive_data_field: 256",
                                       "resolve: farp",
                                       "2001:db8",
                                       "model: peer_to_peer",
                                       "answer: reject",
                                       "unreliable_delivery",
                                       "reliable_reception",
                                       "rdma_read",
                                       "queue_depth: 2",
                                       "rdma_write: false",
                                       "rdma_read: false",
                                       "interval:",
                                       "rate:",
                                       "think_time:",
                                       "arrivals: poisson",
                                       "burst:",
                                       "message: FLOGI",
                                       "message: SCR",
                                       "reply:",
                                       "clean_up: true",
                                       "background:",
                                       "type: nvme",
                                       "frame_bytes:",
                                       "rdma_write",
                                       "immediate:",
                                       "segments:",
                                       "action: drop",
                                       "action: duplicate",
                                       "action: delay",
                                       "action: reorder",
                                       "action: corrupt",
                                       "action: truncate",
                                       "action: link_down",
                                       "action: cut",
                                       "action: nos",
                                       "action: ols",
                                       "action: link_reset",
                                       "action: lip",
                                       "action: replug",
                                       "action: log_out",
                                       "action: isl_down",
                                       "action: switch_down",
                                       "action: silence",
                                       "action: partition",
                                       "kind: tcp",
                                       "tcp_segment: 1,",
                                       "tcp_segments: drawn",
                                       "receive_buffer: 1,",
                                       "vi_segment: 256",
                                       "crc: ask",
                                       "crc: refuse",
                                       "descriptor_flow_control: false",
                                       "urgent: send",
                                       "rdma_read_window: 1",
                                       "close_timeout: 500ms",
                                       "action: reset",
                                       "action: close",
                                       "action: stall",
                                       "action: bad_crc",
                                       "message: RdmaReadResponse",
                                       "octets: "};

// Whatever the language has for it, and no fault that no fabric may do.
TEST(DrawnScenario, every_kind_is_drawn) {
  std::string all;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) all += drawn_scenario(seed);
  for (const char* word : drawn_words) EXPECT_THAT(all.find(word), testing::Ne(std::string::npos)) << word;
  // Of ports while they log in: a rule without a time.
  for (const char* fault : {"{action: nos, port: p1, message: FLOGI, direction: both, nth: ",
                            "{action: link_down, port: p2, message: PLOGI, direction: both, nth: "})
    EXPECT_THAT(all.find(fault), testing::Ne(std::string::npos)) << fault;
  EXPECT_EQ(all.find("crc: good"), std::string::npos);
  EXPECT_EQ(all.find("action: rewrite"), std::string::npos);
}

// --- one run -----------------------------------------------------------------------------------------------------

TEST(Trial, sound_code_passes_and_the_same_text_takes_the_same_course) {
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Outcome first = judged(drawn_scenario(seed)), second = judged(drawn_scenario(seed));
    EXPECT_EQ(first.kind, "") << "seed " << seed << "\n" << first.what;
    EXPECT_EQ(first.digest, second.digest) << "seed " << seed;
    EXPECT_EQ(first.frames, second.frames);
    digests.insert(first.digest);
  }
  EXPECT_GT(digests.size(), 50u);
}

// A run leaves nothing behind that another one would notice.
TEST(Trial, earlier_runs_of_the_process_change_nothing) {
  fc2::FramePool shared;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(soak::judged(drawn_scenario(seed), shared).digest, judged(drawn_scenario(seed)).digest) << seed;
}

// Bytes change where no CRC guards them: nobody on the way can know, the judge must.
const std::string damaged =
    "name: damaged\nseed: 3\ntopology: {latency: 10us}\nports: [{name: a}, {name: b, pipeline_depth: 3}, {name: c}]\n"
    "workloads:\n"
    "  - {name: other, client: c, server: a, connect_timeout: 60s, hold: 1s}\n"
    "  - {name: w, client: a, server: b, connect_timeout: 60s, hold: 1s, transfers: [{operation: send, data: {random: "
    "200}, repeat: 3}, {operation: rdma_write, data: {random: 3000}}]}\n"
    "faults:\n"
    "  - {action: delay, by: 10us, message: FCVI_CONNECT_RQST, nth: 1}\n"
    "  - {action: corrupt, bit: 600, crc: good, message: FCVI_SEND_RQST, workload: w, probability: 0.9, limit: 5}\n";

TEST(Trial, a_wrong_byte_at_the_far_side_is_a_failure) {
  const Outcome outcome = judged(damaged);
  EXPECT_EQ(outcome.kind, "delivery");
  EXPECT_THAT(outcome.what, HasSubstr("is not message"));
  ASSERT_EQ(outcome.turns.size(), 2u);
  EXPECT_EQ(outcome.turns[0], (std::vector<std::uint64_t>{1}));
  EXPECT_FALSE(outcome.turns[1].empty());
}

// What no implementation could pass is refused, and so never what a failure shrinks to.
TEST(Trial, what_nobody_can_pass_is_unsuitable) {
  const auto why = [](const std::string& text) { return unsuitable(*read_scenario("name: n\n" + text, "t", "", {})); };
  const std::string two = "ports: [{name: a}, {name: b}]\nworkloads: [{name: w, client: a, server: b";
  EXPECT_EQ(why(two + "}]\n"), "");
  EXPECT_THAT(why(two + ", server_start: 1ms}]\n"), HasSubstr("no server_start"));
  EXPECT_EQ(why(two + ", server_start: 1ms, model: peer_to_peer}]\n"), "");
  const std::string many = ", transfers: [{operation: send, data: {random: 600}, message_bytes: 1, reply: ";
  EXPECT_THAT(why(two + many + "10}]}]\n"), HasSubstr("1,000 messages"));
  EXPECT_THAT(why(two + ", transfers: [{operation: send, data: {random: 10}, reply: 10, repeat: 200000}]}]\n"),
              HasSubstr("at most 1 MiB"));
  const std::string ten = ", transfers: [{operation: send, data: {random: 10}, message_bytes: 1, ";
  EXPECT_EQ(why(two + ten + "think_time: 500ms}]}]\n"), "");
  EXPECT_THAT(why(two + ten + "interval: 2s}]}]\n"), HasSubstr("within 10 s"));
  EXPECT_THAT(why(two + ", connect_timeout: 4s}]\n"), HasSubstr("connect_timeout"));
  EXPECT_THAT(why(two + "}]\ntopology: {switches: [{name: s}, {name: t}]}\n"), HasSubstr("no ISL joins"));
  EXPECT_THAT(why("topology: {kind: point_to_point}\nports: [{name: a}, {name: b}]\n"
                  "workloads: [{name: w, client: a, server: a}]\n"),
              HasSubstr("nobody sends back"));
  EXPECT_THAT(why("ports: [{name: a, ulp_timeout: 1s}]\nworkloads: [{name: w, client: a, server: a}]\n"),
              HasSubstr("ulp_timeout"));
}

// Frames that end, and not many.
TEST(Trial, background_without_an_end_is_unsuitable) {
  const auto why = [](const std::string& keys) {
    return unsuitable(
        *read_scenario("name: n\nports: [{name: a}, {name: b}]\nworkloads: [{name: w, client: a, server: b}]\n"
                       "background: [{name: x, from: a, to: b, " +
                           keys + "}]\n",
                       "t", "", {}));
  };
  EXPECT_EQ(why("interval: 1ms, until: 999ms"), "");
  EXPECT_EQ(why("interval: 1ms, start: 29s, until: 30s, burst: 1, arrivals: poisson"),
            "background x: expected no more than 1,000 frames");
  EXPECT_EQ(why("interval: 1s, start: 30s, until: 1s, burst: 1000"), "");
  EXPECT_EQ(why("interval: 1s"), "background x: expected until: 30 s at most");
  EXPECT_EQ(why("interval: 1s, until: 31s"), "background x: expected until: 30 s at most");
  EXPECT_EQ(why("interval: 1ns, until: 30s"), "background x: expected no more than 1,000 frames");
  EXPECT_EQ(why("interval: 1s, until: 1ms, burst: 1001"), "background x: expected no more than 1,000 frames");
}

// Programs would give up meanwhile: 13 ms there and back for each frame, where there is one buffer.
TEST(Trial, background_that_links_cannot_take_is_unsuitable) {
  const auto why = [](const std::string& topology, const std::string& until) {
    return unsuitable(
        *read_scenario("name: n\ntopology: " + topology +
                           "\nports: [{name: a}, {name: b}]\nworkloads: [{name: w, client: a, server: b}]\n"
                           "background: [{name: x, from: a, to: b, interval: 1us, until: " +
                           until + "}]\n",
                       "t", "", {}));
  };
  const std::string expected = "background x: expected frames that the slowest link takes within 3 s";
  EXPECT_EQ(why("{latency: 13ms, bb_credit: 1}", "200us"), expected);
  EXPECT_EQ(why("{latency: 13ms, bb_credit: 1}", "100us"), "");
  EXPECT_EQ(why("{latency: 13ms, bb_credit: 2}", "200us"), "");
  EXPECT_EQ(why("{latency: 13ms}", "900us"), "");
  EXPECT_EQ(why("{processing_time: 10ms}", "400us"), expected);
  EXPECT_EQ(why("{line_rate: 500000}", "900us"), expected);
  EXPECT_EQ(why("{kind: private_loop, latency: 10ms, bb_credit: 1}", "100us"), expected);
  EXPECT_EQ(why("{switches: [{name: s}, {name: t}], isls: [{between: [s, t], latency: 13ms, bb_credit: 1}]}", "200us"),
            expected);
}

// Beside the programs, and no longer than they run.
TEST(Trial, background_frames_are_sent_and_do_no_harm) {
  const std::string text =
      "name: n\nports: [{name: a}, {name: b}, {name: c}]\nworkloads: [{name: w, client: a, server: b, hold: 100us}]\n";
  const Outcome without = judged(text);
  const Outcome with =
      judged(text + "background: [{name: x, from: c, to: b, interval: 1us, start: 30us, until: 60us}]\n");
  EXPECT_EQ(with.kind, "") << with.what;
  EXPECT_GT(with.frames, without.frames + 20);  // the first ones are due before the login that they need
  EXPECT_LE(with.frames, without.frames + 30 + 2);
  const Outcome cut =
      judged(text + "background: [{name: x, from: c, to: b, interval: 100ms, start: 20s, until: 30s}]\n");
  EXPECT_EQ(cut.frames, without.frames);
}

explore::End client_of_nobody(const std::string& clean_up) {
  fc2::FramePool pool;
  const Scenario scenario = *read_scenario(
      "name: n\nports: [{name: a}, {name: b}]\n"
      "workloads: [{name: w, client: a, server: b, connect_timeout: 60s, clean_up: " +
          clean_up +
          "}]\n"
          "faults: [{action: drop, message: FCVI_CONNECT_RESP1, nth: [1, 2]}]\n",
      "t", "", {});
  EXPECT_EQ(unsuitable(scenario), "");
  explore::World world(scenario, pool, nullptr);
  const explore::Record& record = world.run();
  EXPECT_THAT(explore::check_invariants(record), testing::IsEmpty());
  return record.connections.front().ends[0];
}

// A program that does not clean up leaves its VI in Error; at the end of the run it is disconnected all the same, for
// only an Idle one can be destroyed.
TEST(Trial, clean_up_is_a_disconnect_where_no_connection_was_made) {
  const explore::End left = client_of_nobody("false"), cleaned = client_of_nobody("true");
  for (const explore::End* end : {&left, &cleaned}) {
    ASSERT_EQ(end->calls.size(), 2u);
    EXPECT_EQ(end->calls[0].result, vi::Return::NotReachable);
    EXPECT_EQ(end->calls[1].name, "VipDisconnect");
    EXPECT_EQ(end->states.back().state, vi::State::Idle);
    EXPECT_TRUE(end->vi_destroyed);
  }
  EXPECT_EQ(cleaned.calls[1].issued, cleaned.calls[0].returned);
  EXPECT_GT(left.calls[1].issued, left.calls[0].returned + 10 * runtime::second);
}

// Faults as those that are drawn: they end. Else sound code fails, too.
TEST(Trial, faults_without_an_end_are_unsuitable) {
  const auto why = [](const std::string& fault) {
    return unsuitable(
        *read_scenario("name: n\nports: [{name: a}, {name: b}]\nworkloads: [{name: w, client: a, server: b}]\n"
                       "faults: [" +
                           fault + "]\n",
                       "t", "", {}));
  };
  for (const char* fault : {"{action: drop}", "{action: drop, every: 2}", "{action: corrupt}",
                            "{action: silence, port: a}", "{action: delay, by: 30s, nth: 1}",
                            "{action: drop, message: FCVI_DISCONNECT_RESP}", "{action: drop, limit: 20}",
                            "{action: drop, limit: 21, until: 1s}", "{action: rewrite, set: {ox_id: 1}, nth: 1}",
                            "{action: link_down, port: a, message: FLOGI}", "{action: cut, port: a, message: PLOGI}"})
    EXPECT_NE(why(fault), "") << fault;
  for (const char* fault :
       {"{action: drop, nth: 3}", "{action: drop, limit: 20, until: 30s}", "{action: silence, port: a, until: 25s}",
        "{action: delay, by: 9s, nth: [1, 2]}", "{action: nos, port: a, message: PLOGI}",
        "{action: link_down, port: a, at: 1ms}", "{action: link_down, port: a, message: FLOGI, for: 30s}",
        "{action: cut, port: a, message: PLOGI, from: 0}"})
    EXPECT_EQ(why(fault), "") << fault;
}

// Without numbers and names, with the side and the words.
TEST(Trial, the_same_failure_has_the_same_signature) {
  const auto of = [](const char* what) { return signature({.kind = "ends", .what = what}); };
  EXPECT_EQ(of("ends: w1, client: X returns after 12.345 us\nmore\n"), of("ends: w2, client: X returns after 3 s\n"));
  EXPECT_NE(of("ends: w1, client: X returns\n"), of("ends: w1, server: X returns\n"));
  EXPECT_NE(of("ends: w1, client: X returns\n"), of("ends: w1, client: Y returns\n"));
}

TEST(Trial, what_cannot_be_read_is_a_bad_scenario) {
  EXPECT_EQ(judged("name: n\nports: []\n").kind, "bad scenario");
  EXPECT_THAT(judged("name: n\nports: [{name: a}]\n").what, HasSubstr("no workload"));
}

TEST(Trial, a_process_that_dies_is_an_outcome) {
  EXPECT_EQ(in_child([]() -> Outcome { std::abort(); }).kind, "died of Aborted");
  EXPECT_EQ(in_child([]() -> Outcome { return std::raise(SIGUSR1), Outcome{}; }).kind, "died of User defined signal 1");
  EXPECT_EQ(in_child([]() -> Outcome { return std::raise(SIGPROF), Outcome{}; }).kind,
            "needed more than 60 s of processor time");
  const Outcome whole{.frames = 3, .digest = 1ull << 63, .kind = "ends", .what = "a\nb\n", .turns = {{1, 4}, {}, {2}}};
  const Outcome same = in_child([&] { return whole; });
  EXPECT_EQ(same.frames, whole.frames);
  EXPECT_EQ(same.digest, whole.digest);
  EXPECT_EQ(same.kind, whole.kind);
  EXPECT_EQ(same.what, whole.what);
  EXPECT_EQ(same.turns, whole.turns);
}

// --- many seeds --------------------------------------------------------------------------------------------------

volatile std::sig_atomic_t nobody_stops = 0;

Totals campaign(Plan plan, const RunSeed& run, std::size_t jobs = 1, Totals done = {}) {
  Campaign campaign(plan, std::move(done), run, {.jobs = jobs});
  return campaign.carry_out([](const Totals&) {}, nobody_stops);
}

Outcome fails_at_sevens(std::uint64_t seed) {
  Outcome outcome{.frames = seed, .digest = seed * seed};
  if (seed % 7 == 0) outcome.kind = "seven", outcome.what = "seed " + std::to_string(seed) + "\n";
  return outcome;
}

TEST(Campaign, the_number_of_processes_changes_nothing) {
  const Plan plan{.last = 500, .most_failures = 1000};
  const Totals one = campaign(plan, fails_at_sevens);
  EXPECT_EQ(one.runs, 500u);
  EXPECT_EQ(one.frames, 500u * 501 / 2);
  EXPECT_EQ(one.failures.size(), 71u);
  EXPECT_EQ(one.failures.front(), (Failure{7, "seven", "seed 7\n"}));
  for (const std::size_t jobs : {2u, 5u}) EXPECT_EQ(campaign(plan, fails_at_sevens, jobs), one);
}

TEST(Campaign, real_scenarios_are_the_same_with_any_number_of_processes) {
  const auto run = [](std::uint64_t seed) { return judged(drawn_scenario(seed)); };
  EXPECT_EQ(campaign({.last = 60}, run, 1), campaign({.last = 60}, run, 3));
}

// The first of them in the order of seeds, also where another process was quicker.
TEST(Campaign, enough_failures_end_it) {
  const Totals totals = campaign({.last = Plan::no_end, .most_failures = 3}, fails_at_sevens, 4);
  EXPECT_EQ(totals.next, 22u);
  EXPECT_EQ(totals.runs, 21u);
  EXPECT_EQ(totals.failures.size(), 3u);
}

// The seed that kills its process is named; the others are run all the same.
TEST(Campaign, a_process_that_dies_costs_its_seed) {
  const auto run = [](std::uint64_t seed) -> Outcome {
    if (seed == 5 || seed == 6) std::abort();
    return {.frames = 1};
  };
  const Totals totals = campaign({.last = 40, .most_failures = 10}, run, 2);
  EXPECT_EQ(totals.runs, 40u);
  EXPECT_EQ(totals.frames, 38u);
  ASSERT_EQ(totals.failures.size(), 2u);
  EXPECT_EQ(totals.failures[0], (Failure{5, "died of Aborted", "died of Aborted\n"}));
  EXPECT_EQ(totals.failures[1].seed, 6u);
}

TEST(Campaign, one_that_was_stopped_goes_on_where_it_was) {
  const Plan plan{.last = 300, .most_failures = 1000};
  volatile std::sig_atomic_t stop = 0;
  Campaign first(plan, {}, fails_at_sevens, {.jobs = 1});  // of two, one may do all before the other one has begun
  const Totals half = first.carry_out([&](const Totals& totals) { stop = totals.runs > 50 ? 1 : 0; }, stop);
  ASSERT_FALSE(first.is_complete());
  EXPECT_LT(half.runs, 300u);
  const auto kept = read_state(state_text({plan.last, half}), "state");
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->totals, half);
  EXPECT_EQ(kept->last, 300u);
  EXPECT_EQ(campaign(plan, fails_at_sevens, 2, kept->totals), campaign(plan, fails_at_sevens, 2));
}

TEST(Campaign, a_state_that_was_damaged_is_refused) {
  EXPECT_THAT(
      read_state("build: 1\nlast: 3\nnext: x\nruns: 1\nframes: 2\ndigest: 0\nfailures: []\n", "s").error().message,
      HasSubstr("s:3: next: expected"));
  EXPECT_FALSE(read_state("last: 3\n", "s"));
}

TEST(Progress, a_line_says_how_far_it_is) {
  const Totals totals{.next = 51, .runs = 50, .frames = 1234, .failures = {{3, "ends", ""}}};
  EXPECT_EQ(progress_line(totals, 100, 0.5, 25, 2.0),
            "[##########..........] 50 of 100 runs, 1,234 frames, 1 failure, 25 runs/s, 2 s left");
  EXPECT_EQ(progress_line(totals, std::nullopt, 0, 25, 3700.0),
            "[....................] 50 runs, 1,234 frames, 1 failure, 25 runs/s, 1 h 1 min left");
}

// --- shrinking ---------------------------------------------------------------------------------------------------

std::string shrunk(const std::string& text, const Shrinker::Fails& fails) {
  Shrinker shrinker(*settings::parse_yaml(text, "t"), fails);
  shrinker.shrink();
  EXPECT_TRUE(fails(shrinker.text()));
  return shrinker.text();
}

bool can_be_read(const std::string& text) {
  const auto scenario = read_scenario(text, "t", "", {});
  return scenario && unsuitable(*scenario).empty();
}

// Fails where a workload of reliable reception meets a lost frame at its third turn: nothing else is left.
TEST(Shrinker, what_does_not_matter_goes) {
  const std::string text =
      "name: t\nseed: 9\ntopology: {latency: 3us, bb_credit: 2}\n"
      "ports: [{name: a, pipeline_depth: 2}, {name: b}, {name: c, class: 2}]\n"
      "workloads:\n"
      "  - {name: one, client: a, server: b}\n"
      "  - {name: two, client: c, server: b, reliability: reliable_reception, transfers: [{operation: send, data: "
      "{random: 900}, repeat: 4}]}\n"
      "faults:\n"
      "  - {action: delay, by: 1us, nth: 2}\n"
      "  - {action: drop, message: FCVI_SEND_RQST, nth: [1, 2, 3, 4], from: 0}\n";
  const auto fails = [](const std::string& candidate) {
    if (!can_be_read(candidate)) return false;
    const Scenario scenario = *read_scenario(candidate, "t", "", {});
    const bool reception = std::any_of(scenario.workloads.begin(), scenario.workloads.end(), [](const auto& workload) {
      return workload.attributes.reliability == vi::ReliabilityLevel::ReliableReception;
    });
    return reception && std::any_of(scenario.faults.begin(), scenario.faults.end(), [](const FaultSpec& fault) {
             const auto& turns = fault.rule.turns;
             return std::find(turns.begin(), turns.end(), 3) != turns.end();
           });
  };
  EXPECT_EQ(shrunk(text, fails),
            "name: t\nports: [{name: b}]\n"
            "workloads: [{name: two, client: b, server: b, reliability: reliable_reception}]\n"
            "faults: [{action: drop, nth: [3]}]\n");
}

TEST(Shrinker, numbers_become_as_small_as_they_can) {
  const auto fails = [](const std::string& text) {
    const auto tree = settings::parse_yaml(text, "t");
    const settings::Tree* size = tree->find("size");
    return size != nullptr && std::stoull(size->scalar) >= 37 && size->scalar.ends_with("us");
  };
  EXPECT_EQ(shrunk("name: t\nsize: 999us\nother: 5\n", fails), "size: 37us\n");
}

TEST(Shrinker, it_ends_where_nothing_may_go_and_after_the_most_trials) {
  std::size_t trials = 0;
  const std::string text = "name: t\nsize: 999\nlist: [{a: 1}, {b: 2}]\n";
  EXPECT_EQ(shrunk(text, [&](const std::string& candidate) { return ++trials, candidate == text; }), text);
  EXPECT_GT(trials, 5u);
  EXPECT_LT(trials, 60u);
  trials = 0;
  Shrinker few(
      *settings::parse_yaml(text, "t"), [&](const std::string&) { return ++trials, false; }, 4);
  few.shrink();
  EXPECT_LE(trials, 4u);
}

// Chance becomes a list of frames, of which single ones can go.
TEST(Shrinker, a_real_failure_becomes_a_few_lines) {
  const auto fails = [](const std::string& text) { return can_be_read(text) && judged(text).kind == "delivery"; };
  const auto scenario = read_scenario(damaged, "t", "", {});
  Shrinker shrinker(*settings::parse_yaml(damaged, "t"), fails);
  shrinker.name_turns(*scenario, judged(damaged));
  EXPECT_THAT(shrinker.text(), HasSubstr("nth: ["));
  EXPECT_EQ(shrinker.text().find("probability"), std::string::npos);
  shrinker.shrink();
  const std::string text = shrinker.text();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 10) << text;
  EXPECT_EQ(text.find("rdma_write"), std::string::npos);
  EXPECT_EQ(text.find("other"), std::string::npos);
  EXPECT_TRUE(fails(text));
}

// What was written is read as it was.
TEST(YamlText, a_tree_is_the_same_after_writing_and_reading) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = drawn_scenario(seed);
    const std::string once = yaml_text(*settings::parse_yaml(text, "t"));
    EXPECT_EQ(yaml_text(*settings::parse_yaml(once, "t")), once);
    EXPECT_EQ(judged(once).digest, judged(text).digest) << text;
  }
  const std::string odd = "name: \"a: b \\\"c\\\" #1\"\nlist: [\"\", \"12\", 12, \"- x\"]\n";
  EXPECT_EQ(yaml_text(*settings::parse_yaml(odd, "t")), odd);
}

// Whatever shrinking asks of sound code passes: a failure would become one that is none.
TEST(Shrinker, sound_code_passes_what_is_tried) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::size_t asked = 0;
    const auto passes = [&](const std::string& text) {
      if (!can_be_read(text)) return false;
      const Outcome outcome = judged(text);
      EXPECT_EQ(outcome.kind, "") << text << outcome.what;
      return std::hash<std::string>()(text) % 3 != 0 && ++asked < 30;
    };
    const std::string text = drawn_scenario(seed);
    Shrinker shrinker(*settings::parse_yaml(text, "t"), passes, 60);
    shrinker.name_turns(*read_scenario(text, "t", "", {}), judged(text));
    shrinker.shrink();
  }
}

// A text that failed to fail is not taken later: here one is 2, then 1, and 2 again is no way back.
TEST(Shrinker, a_verdict_is_remembered) {
  std::set<std::string> asked;
  const auto fails = [&](const std::string& text) {
    EXPECT_TRUE(asked.insert(text).second) << text;
    return text.find("size") != std::string::npos;
  };
  Shrinker shrinker(*settings::parse_yaml("name: t\nsize: 9\nother: [1, 2]\n", "t"), fails);
  shrinker.shrink();
  EXPECT_FALSE(shrinker.is_cut_short());
  EXPECT_EQ(shrinker.text(), "size: 0\n");
}

// Of a process that was killed from outside nothing is left to shrink: what was said of it stays.
TEST(FailureFiles, what_does_not_fail_again_is_not_shrunk) {
  const std::string folder = testing::TempDir() + "soak_again_" + std::to_string(::getpid());
  const Found found{
      drawn_scenario(3), {.kind = "died of Killed", .what = "died of Killed\n"}, "fcvi-sim soak --seed 3"};
  const Left left = shrink_and_leave(found, folder, nobody_stops, [](std::size_t) {});
  EXPECT_FALSE(left.again);
  EXPECT_EQ(left.error, "");
  EXPECT_EQ(left.text, found.text);
  EXPECT_EQ(left.files, "scenario.yaml, failure.txt");
  std::stringstream said;
  said << std::ifstream(folder + "/failure.txt").rdbuf();
  EXPECT_EQ(said.str(), "died of Killed\nIt did not fail again.\n\nfcvi-sim soak --seed 3\n");
  std::filesystem::remove_all(folder);
}

TEST(Campaign, the_last_numbers_of_all_are_run_once) {
  Totals done;
  done.next = Plan::no_end - 5;
  const auto passes = [](std::uint64_t) { return Outcome{}; };
  EXPECT_EQ(campaign({.last = Plan::no_end, .most_failures = 9}, passes, 2, done).runs, 5u);
  done.next = 0;
  const auto fails = [](std::uint64_t) { return Outcome{.kind = "x"}; };
  EXPECT_EQ(campaign({.last = Plan::no_end, .most_failures = 3}, fails, 1, done).runs, 3u);
}

}  // namespace
}  // namespace sim::soak
