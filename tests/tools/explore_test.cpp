// Explorations: what is tried, what is found, and that each invariant can be broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fc2_fabric/frame/frame_header.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "fc2_fabric/link/link.hpp"
#include "tools/fcvi_sim/explore/explore.hpp"
#include "tools/fcvi_sim/explore/report.hpp"
#include "tools/fcvi_sim/network/fc_network.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"

namespace sim::explore {
namespace {
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Scenario scenario_of(const std::string& level, const std::string& transfers) {
  const std::string text =
      "name: t\nports: [{name: alice}, {name: bob}]\nworkloads:\n  - name: w\n    client: alice\n"
      "    server: bob\n    connect_timeout: 60s\n    reliability: " +
      level + "\n    transfers: " + transfers + "\n";
  auto scenario = read_scenario(text, "t.yaml", "", {});
  if (!scenario) throw std::runtime_error(scenario.error().message);
  return *scenario;
}
Scenario one_send(const std::string& level = "reliable_delivery") {
  return scenario_of(level, "[{operation: send, data: {random: 100}}]");
}

/// Names of the invariants that one run breaks.
std::set<std::string> broken(const Scenario& scenario, const Sabotage& sabotage, const FaultList& faults = {}) {
  fc2::FramePool pool;
  World world(scenario, faults, pool, sabotage);
  std::set<std::string> names;
  for (const Violation& violation : check_invariants(world.run())) names.emplace(violation.invariant);
  return names;
}
using Names = std::set<std::string>;

// --- the programs ------------------------------------------------------------------------------------------------

/// One run of a scenario without faults: all it says of the connection's client.
End client_of(const std::string& more, const std::string& transfer, const FaultList& faults = {}) {
  fc2::FramePool pool;
  Scenario scenario = scenario_of("reliable_reception\n    " + more, "[{" + transfer + "}]");
  World world(scenario, faults, pool, {});
  const Record& record = world.run();
  EXPECT_TRUE(check_invariants(record).empty());
  return record.connections.front().ends[0];
}
constexpr const char* six_sends = "operation: send, data: {random: 600}, message_bytes: 100";

// As many descriptors are posted as the queues have, and one more when one has completed.
TEST(Programs, queue_depth_bounds_what_is_posted) {
  const End all = client_of("queue_depth: 2", six_sends);
  ASSERT_EQ(all.sends.size(), 6u);
  for (const Descriptor& send : all.sends) EXPECT_EQ(send.status & vi::status::error_mask, 0u);
  const auto posted_when_the_first_is_lost = [](const char* depth) {
    fc2::FramePool pool;
    Scenario scenario =
        scenario_of(std::string("reliable_reception\n    queue_depth: ") + depth, std::string("[{") + six_sends + "}]");
    std::size_t requests = 0;
    World world(scenario, FaultList{}, pool, {.frame = [&](fc2::Frame& frame) {
                  const bool first = fc2::header_of(frame).r_ctl == wire::RCtl::solicited_data && requests++ == 0;
                  if (first) frame.bytes[0] = 0xFF;  // no R_CTL that anybody knows
                }});
    return world.run().connections.front().ends[0].sends.size();
  };
  EXPECT_EQ(posted_when_the_first_is_lost("2"), 2u);
  EXPECT_EQ(posted_when_the_first_is_lost("64"), 6u);
}

// Open loop: each message goes when it is due; closed loop: a time after the answer to the one before.
TEST(Programs, messages_go_at_their_pace) {
  constexpr runtime::TimeNs nearly = runtime::millisecond - runtime::microsecond;  // the first one waits for RESP3
  for (const char* pace : {"interval: 1ms", "think_time: 1ms"}) {
    const End end = client_of("queue_depth: 64", std::string(six_sends) + ", " + pace);
    ASSERT_EQ(end.sends.size(), 6u) << pace;
    for (std::size_t i = 1; i < 6; ++i) EXPECT_GE(end.sends[i].completed - end.sends[i - 1].completed, nearly) << pace;
  }
  const End bursts = client_of("queue_depth: 64", std::string(six_sends) + ", interval: 1ms, burst: 3");
  EXPECT_LT(bursts.sends[2].completed - bursts.sends[0].completed, nearly);
  EXPECT_GE(bursts.sends[3].completed - bursts.sends[0].completed, nearly);
}

// VI-ARCH 3.2.1: RDMA Write to memory that does not permit it fails, and nothing is written.
// Each message is answered, and a closed loop waits for the answer.
TEST(Programs, replies_answer_each_message) {
  const End end = client_of("hold: 0", "operation: send, data: {random: 300}, message_bytes: 100, reply: 50");
  ASSERT_EQ(end.sends.size(), 3u);
  ASSERT_EQ(end.receives.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(end.receives[i].length_bytes, 50u);
    EXPECT_GT(end.receives[i].completed, end.sends[i].completed);
    if (i > 0) {
      EXPECT_GT(end.sends[i].completed, end.receives[i - 1].completed);
    }
  }
  const End bursts = client_of("hold: 0", std::string(six_sends) + ", reply: 9000, think_time: 1ms, burst: 3");
  ASSERT_EQ(bursts.receives.size(), 6u);
  EXPECT_LT(bursts.sends[2].completed, bursts.receives[0].completed);
  EXPECT_GT(bursts.sends[3].completed, bursts.receives[2].completed + runtime::millisecond);
}

// Of the server's as well; its own messages keep their place among the answers.
TEST(Programs, replies_of_both_sides_keep_the_order_of_the_transfers) {
  const End end = client_of("hold: 0",
                            "operation: rdma_write, data: {random: 200}, message_bytes: 100, immediate: 7, reply: 10}, "
                            "{operation: send, data: {random: 20}, direction: server_to_client, reply: 30}, "
                            "{operation: send, data: {random: 40}, direction: server_to_client");
  ASSERT_EQ(end.sends.size(), 3u);
  ASSERT_EQ(end.receives.size(), 4u);
  const std::uint32_t lengths[] = {10, 10, 20, 40};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(end.receives[i].length_bytes, lengths[i]) << i;
  EXPECT_EQ(end.messages[2].content.size(), 30u);
  EXPECT_GT(end.sends[2].completed, end.receives[2].completed);
}

// A message that never came is not answered: both programs give up in their time, and what was not sent is no error.
TEST(Programs, reply_to_what_was_lost_is_not_sent) {
  fc2::FramePool pool;
  const Scenario scenario = scenario_of("unreliable_delivery", "[{" + std::string(six_sends) + ", reply: 50}]");
  World all(scenario, FaultList{}, pool, {});
  const std::uint32_t frames = all.run().frames;
  bool gave_up = false;
  for (std::uint32_t frame = 1; frame <= frames; ++frame) {
    World world(scenario, {{Fault::Kind::Lose, frame}}, pool, {});
    const Record& record = world.run();
    EXPECT_TRUE(check_invariants(record).empty()) << frame;
    gave_up = gave_up || record.connections.front().ends[1].sends.size() == 2;
  }
  EXPECT_TRUE(gave_up);
}

TEST(Programs, memory_permits_what_the_workload_says) {
  const End refused = client_of("rdma_write: false", "operation: rdma_write, data: {random: 100}");
  ASSERT_EQ(refused.sends.size(), 1u);
  EXPECT_NE(refused.sends[0].status & vi::status::error_mask, 0u);
  const End permitted = client_of("rdma_read: false", "operation: rdma_write, data: {random: 100}");
  EXPECT_EQ(permitted.sends[0].status & vi::status::error_mask, 0u);
}

// --- what is tried -----------------------------------------------------------------------------------------------

TEST(Explore, one_fault_tries_every_kind_at_every_frame) {
  const Scenario scenario = one_send();
  const Findings findings = explore(scenario, {.faults = 1});
  EXPECT_GE(findings.frames, 13u);  // GID_IPP, PLOGI, four of the set-up, a Send, two disconnects, and answers
  EXPECT_EQ(findings.runs, 1 + findings.frames * faults_of_frame(scenario).size());
  EXPECT_EQ(findings.runs_by_depth, (std::vector<std::uint64_t>{1, findings.runs - 1}));
  EXPECT_GT(findings.most_frames, findings.frames);  // a retry
  EXPECT_TRUE(findings.failures.empty());
  EXPECT_TRUE(findings.complete);
}

TEST(Explore, faults_of_a_frame_pass_each_timer) {
  // E_D_TOV; FCVI_ULP_TIMEOUT, which is R_A_TOV here: T3 (FC-VI C.5.2); twice that: T2; the programs' T0 and T1.
  Names delays;
  for (const Fault& fault : faults_of_frame(one_send()))
    if (fault.kind == Fault::Kind::Delay) delays.insert(to_string(fault));
  EXPECT_EQ(delays, (Names{"delay:0+2001ms", "delay:0+10001ms", "delay:0+20001ms", "delay:0+60001ms"}));
}

TEST(Explore, second_fault_hits_frames_that_the_first_one_made) {
  // A retry's frames are beyond those of the run without a fault.
  const Findings findings = explore(one_send(), {.faults = 2});
  EXPECT_GE(findings.runs, 10'000u);
  EXPECT_GT(findings.runs_by_depth[2], findings.runs_by_depth[1] * (findings.runs_by_depth[1] / 2 - 20));
  EXPECT_TRUE(findings.failures.empty());
}

TEST(Explore, positions_are_the_ends_and_even_between) {
  using All = std::vector<std::uint32_t>;
  EXPECT_EQ(positions_among(5, 0), (All{1, 2, 3, 4, 5}));
  EXPECT_EQ(positions_among(3, 12), (All{1, 2, 3}));
  EXPECT_EQ(positions_among(101, 3), (All{1, 51, 101}));
  EXPECT_EQ(positions_among(500, 1), (All{1}));
  EXPECT_EQ(positions_among(0, 4), All{});
}

TEST(Explore, disorder_is_within_r_a_tov_and_bounded) {
  const Scenario scenario = one_send();
  const Findings one = explore(scenario, {.faults = 1, .disorder = true, .positions = 4});
  EXPECT_EQ(one.runs, 1 + 4 * disorder_of_frames().size());
  EXPECT_TRUE(one.failures.empty());
  EXPECT_EQ(one.judged_for_order, 0u);  // an in-order fabric may end what it delivers out of order
  const Findings two = explore(scenario, {.faults = 2, .disorder = true, .positions = 3});
  EXPECT_GT(two.runs_by_depth[2], 0u);
  EXPECT_LE(two.runs, 1 + 30 + 30 * 30 / 2);
  for (const Fault& fault : disorder_of_frames())
    EXPECT_LT((fault.count == 1 ? 1 : 2) * fault.delay, 10 * runtime::second) << to_string(fault);
}

// A loss, and what is late by seconds in a set-up or a login, is nothing that "order" speaks of; all else of it is.
TEST(Explore, disorder_out_of_order_is_judged) {
  Scenario scenario = one_send();
  scenario.in_order = false;
  const Findings findings = explore(scenario, {.faults = 1, .disorder = true, .positions = 4});
  EXPECT_TRUE(findings.failures.empty());
  EXPECT_GE(findings.judged_for_order, findings.runs / 3);
  EXPECT_LT(findings.judged_for_order, findings.runs - 4);
  const Findings losses = explore(scenario, {.faults = 0, .disorder = true});
  EXPECT_EQ(losses.judged_for_order, 0u);  // there is no fault to judge
}

// Of a block, only what it makes late is hit.
TEST(Explore, alternate_hits_every_other_frame) {
  Scenario scenario = one_send();
  fc2::FramePool pool;
  World world(scenario, {{.kind = Fault::Kind::Alternate, .frame = 5, .delay = runtime::millisecond, .count = 4}}, pool,
              {});
  const Record& record = world.run();
  EXPECT_EQ(record.faults_applied, 1u);
  EXPECT_EQ(record.hits.size(), 2u);
}

TEST(Explore, processes_find_the_same) {
  const Findings one = explore(one_send(), {.faults = 1}),
                 three = explore(one_send(), {.faults = 1}, {.team = {.jobs = 3}});
  EXPECT_EQ(one.runs, three.runs);
  EXPECT_EQ(one.runs_by_depth, three.runs_by_depth);
  EXPECT_EQ(one.distinct_courses, three.distinct_courses);
  EXPECT_EQ(one.most_frames, three.most_frames);
}

// A run that kills its process is a finding with its faults; the lists with another first fault are explored.
TEST(Explore, a_run_that_kills_its_process_is_found) {
  Options options{.faults = 1};
  options.sabotage.record = [](Record& record) {
    if (to_string(record.faults) == "lose:5") std::abort();
  };
  const Findings sound = explore(one_send(), {.faults = 1}), findings = explore(one_send(), options);
  ASSERT_EQ(findings.deaths.size(), 1u);
  EXPECT_EQ(findings.deaths[0].faults, " --fault lose:5");
  EXPECT_EQ(findings.deaths[0].how, "died of Aborted");
  EXPECT_FALSE(findings.all_held());
  EXPECT_EQ(findings.runs, sound.runs - 1);
  EXPECT_THAT(
      report(one_send(), "s.yaml", findings),
      HasSubstr("FAILED: the process died of Aborted with --fault lose:5; what else began with that first fault "
                "is not known\nagain: fcvi-sim explore s.yaml --fault lose:5\n"));
}

// The same runs with any number of processes: the first ones.
TEST(Explore, max_runs_with_processes_finds_the_same) {
  const Options options{.faults = 2, .max_runs = 333};
  const Findings one = explore(one_send(), options), three = explore(one_send(), options, {.team = {.jobs = 3}});
  EXPECT_EQ(one.runs, 333u);
  EXPECT_EQ(three.runs, 333u);
  EXPECT_EQ(one.runs_by_depth, three.runs_by_depth);
  EXPECT_EQ(one.distinct_courses, three.distinct_courses);
  EXPECT_EQ(one.judged_for_order, three.judged_for_order);
}

TEST(Explore, max_runs_ends_it_and_says_so) {
  const Findings findings = explore(one_send(), {.faults = 2, .max_runs = 50});
  EXPECT_EQ(findings.runs, 50u);
  EXPECT_FALSE(findings.complete);
}

TEST(Explore, the_same_faults_give_the_same_run) {
  fc2::FramePool pool;
  const Scenario scenario = one_send();
  const FaultList faults{{.kind = Fault::Kind::Lose, .frame = 5}};
  const Sabotage none;
  World first(scenario, faults, pool, none), second(scenario, faults, pool, none), other(scenario, {}, pool, none);
  const std::uint64_t digest = first.run().digest;
  EXPECT_EQ(second.run().digest, digest);
  EXPECT_NE(other.run().digest, digest);
}

// --- each invariant can be broken --------------------------------------------------------------------------------

TEST(Invariants, hold_without_sabotage) {
  for (const char* level : {"unreliable_delivery", "reliable_delivery", "reliable_reception"})
    EXPECT_EQ(broken(one_send(level), {}), Names{}) << level;
}

TEST(Invariants, consistency_sees_an_owner_that_contradicts_itself) {
  const Sabotage told{.record = [](Record& record) { record.inconsistent = "port client"; }};
  EXPECT_EQ(broken(one_send(), told), Names{"consistency"});
}
// A VI that does not know its connection, while it is connected.
TEST(Invariants, consistency_sees_a_lost_connection) {
  const Sabotage cut{.frame = [](fc2::Frame&) {},
                     .before_new_connection =
                         [](World& world) {
                           vi::Vi* made = nullptr;
                           ASSERT_EQ(world.node(0).nic().create_vi({}, nullptr, nullptr, made), vi::Return::Success);
                           made->endpoint_event(machines::vi_endpoint::ConnectRequested{});
                           made->receive_early();
                           made->endpoint_event(machines::vi_endpoint::SetupRefused{});  // and is Idle, and receives
                         }};
  EXPECT_THAT(broken(one_send(), cut), Contains("consistency"));
  // Also in the runs that ask at their end alone.
  const Findings findings = explore(one_send(), {.faults = 1, .owners_every = 1'000'000, .sabotage = cut});
  EXPECT_EQ(findings.failed_runs.at("consistency"), findings.runs);
}

// A link that takes frames while it is cut: its ends are asked as well.
TEST(Invariants, consistency_sees_a_link) {
  const auto cut = [](bool takes_frames) {
    return Sabotage{.before_new_connection = [takes_frames](World& world) {
      fc2::Link& link = *dynamic_cast<FcNetwork&>(world.network()).link_of(0);
      link.cut();
      if (takes_frames) link.a.output().resume(fc2::FrameOutput::Pause::Link);
    }};
  };
  EXPECT_THAT(broken(one_send(), cut(false)), ::testing::Not(Contains("consistency")));
  EXPECT_THAT(broken(one_send(), cut(true)), Contains("consistency"));
}

/// Changes the last byte of the first message data that passes, behind the CRC.
void corrupt_data(fc2::Frame& frame) {
  const wire::FcHeader header = wire::FcHeader::read(std::span(frame.bytes).first<24>());
  if (header.type == wire::Type::fc_vi && header.r_ctl == wire::RCtl::solicited_data) frame.bytes[24 + 32] ^= 1;
  if (header.type == wire::Type::fc_vi && header.r_ctl == wire::RCtl::unsolicited_data) frame.bytes[24 + 32] ^= 1;
}

TEST(Invariants, delivery_sees_a_changed_byte) {
  for (const char* level : {"unreliable_delivery", "reliable_delivery", "reliable_reception"})
    EXPECT_THAT(broken(one_send(level), {.frame = corrupt_data}), Contains("delivery")) << level;
}
TEST(Invariants, delivery_sees_a_changed_byte_of_rdma) {
  for (const char* operation : {"rdma_write", "rdma_read"}) {
    const Scenario scenario =
        scenario_of("reliable_reception", std::string("[{operation: ") + operation + ", data: {random: 100}}]");
    EXPECT_THAT(broken(scenario, {.frame = corrupt_data}), Contains("delivery")) << operation;
  }
}

/// What a run without faults leaves, changed by `change`, breaks what?
template <class Change>
Names broken_by(Change change, const Scenario& scenario = one_send()) {
  return broken(scenario, {.record = change});
}
End& client(Record& record) { return record.connections[0].ends[0]; }
End& server(Record& record) { return record.connections[0].ends[1]; }

TEST(Invariants, delivery_sees_order_loss_and_what_was_never_sent) {
  const Scenario two = scenario_of("reliable_delivery", "[{operation: send, data: {random: 100}, message_bytes: 50}]");
  EXPECT_EQ(broken(two, {}), Names{});
  EXPECT_EQ(broken_by([](Record& r) { std::swap(server(r).receives[0], server(r).receives[1]); }, two),
            Names{"delivery"});
  EXPECT_EQ(broken_by([](Record& r) { server(r).receives[0].status |= vi::status::flushed; }, two),
            (Names{"cost", "delivery"}));
  EXPECT_EQ(broken_by([](Record& r) { server(r).receives[1] = server(r).receives[0]; }, two), Names{"delivery"});
  EXPECT_EQ(broken_by([](Record& r) { server(r).receives[1].content_at_end[3] ^= 1; }, two), Names{"delivery"});
  EXPECT_EQ(broken_by([](Record& r) { server(r).receives[1].length_bytes = 49; }, two), Names{"delivery"});
  EXPECT_EQ(broken_by([](Record& r) { server(r).stray_bytes = 1; }, two), Names{"delivery"});
}

TEST(Invariants, at_most_once_sees_a_second_delivery_at_unreliable_delivery) {
  const Scenario two =
      scenario_of("unreliable_delivery", "[{operation: send, data: {random: 100}, message_bytes: 50}]");
  EXPECT_EQ(broken_by([](Record& r) { server(r).receives[1] = server(r).receives[0]; }, two), Names{"at most once"});
  EXPECT_EQ(broken_by([](Record& r) { server(r).receives[1].status |= vi::status::flushed; }, two),
            Names{"cost"});  // lost: fine only by a fault
}

TEST(Invariants, delivery_sees_promises_of_success_broken) {
  const Scenario reception = one_send("reliable_reception");
  EXPECT_EQ(broken_by([](Record& r) { client(r).sends[0].in_place = false; }, reception), Names{"delivery"});
  EXPECT_EQ(broken_by([](Record& r) { server(r).receives[0].in_place = false; }, reception), Names{"delivery"});
  EXPECT_EQ(broken_by([](Record& r) { client(r).sends[0].in_place = false; }),
            Names{});  // Reliable Delivery promises less
}

// FC-VI 8.4.1 d): late by less than R_A_TOV, on an out-of-order fabric, in order or lost: what may cost a message.
TEST(Invariants, order_sees_what_a_late_frame_costs) {
  Scenario scenario = scenario_of("reliable_delivery", "[{operation: send, data: {random: 100}, message_bytes: 50}]");
  scenario.workloads[0].hold = 15 * runtime::second;
  const Sabotage flushed{.record = [](Record& r) {
    server(r).receives[1].status |= vi::status::flushed;
    r.faults = {r.faults[0]};
  }};
  const FaultList late{{.kind = Fault::Kind::Delay, .frame = 9, .delay = 9 * runtime::second}};
  const FaultList twice{{.kind = Fault::Kind::Delay, .frame = 9, .delay = 5 * runtime::second, .count = 2}};
  const FaultList lost{{.kind = Fault::Kind::Lose, .frame = 9}};
  EXPECT_EQ(broken(scenario, flushed, late).contains("order"), false);
  scenario.in_order = false;
  EXPECT_EQ(broken(scenario, {}, late), Names{});
  EXPECT_EQ(broken(scenario, flushed, late).contains("order"), true);
  EXPECT_EQ(broken(scenario, flushed, twice).contains("order"), false);
  EXPECT_EQ(broken(scenario, flushed, lost).contains("order"), false);
}

TEST(Invariants, calls_return_once_and_in_time) {
  EXPECT_EQ(broken_by([](Record& r) { client(r).calls[0].returns = 0; }), Names{"calls return"});
  EXPECT_EQ(broken_by([](Record& r) { client(r).calls[1].returns = 2; }), Names{"calls return"});
  EXPECT_EQ(broken_by([](Record& r) { client(r).calls[0].returned += client(r).calls[0].limit; }),
            Names{"calls return"});
}

TEST(Invariants, descriptors_complete_exactly_once) {
  EXPECT_EQ(broken_by([](Record& r) { ++client(r).sends[0].completions; }), (Names{"completions", "cost"}));
  EXPECT_EQ(broken_by([](Record& r) { ++client(r).signals; }), Names{"completions"});
  EXPECT_EQ(broken_by([](Record& r) { ++server(r).strange_completions; }), Names{"completions"});
  EXPECT_THAT(broken_by([](Record& r) { server(r).receives[0].completions = 0; }), Contains("completions"));
}

TEST(Invariants, agreement_sees_who_stays_connected) {
  // The client is told nothing for longer than any timer.
  const auto late = [](Record& r) {
    for (StateChange& change : client(r).states)
      if (change.state != vi::State::ConnectPending && change.state != vi::State::Connected)
        change.at += 60 * runtime::second;
    client(r).states.front().at = 0;
  };
  EXPECT_EQ(broken_by(late), Names{"agreement"});
  EXPECT_EQ(broken_by([](Record& r) {
              client(r).states.push_back({90 * runtime::second, vi::State::Connected});
            }),
            Names{"agreement"});
}

/// What is excused, and for how long: a record made by hand.
class Excuses : public testing::Test {
 public:
  Excuses() {
    record.ulp_timeout = record.r_a_tov = 10 * runtime::second;
    record.faults = {{.kind = Fault::Kind::Lose, .frame = 1}, {.kind = Fault::Kind::Lose, .frame = 2}};
    connection.name = "c";
    for (End& end : connection.ends) {
      end.began = end.ended = true;
      end.states = {{0, vi::State::Idle}};
    }
    connection.ends[0].port = "p", connection.ends[1].port = "q";
  }
  void call(int side, std::string_view name, vi::Return result, runtime::TimeNs returned = 1) {
    connection.ends[side].calls.push_back(
        {.name = name, .issued = returned - 1, .returned = returned, .returns = 1, .result = result, .limit = 10});
  }
  /// That side alone, from the first second on.
  void connected(int side, runtime::TimeNs until) {
    connection.ends[side].states = {
        {0, vi::State::Idle}, {runtime::second, vi::State::Connected}, {until, vi::State::Idle}};
  }
  Names broken_invariants() {
    Names names;
    for (const Violation& violation : check_invariants(record)) names.emplace(violation.invariant);
    return names;
  }
  Record record;
  ConnectionRecord& connection = record.connections.emplace_back();
};
// A set-up that failed excuses nobody's being Connected: its T3 and T2 end that.
TEST_F(Excuses, agreement_sees_a_server_connected_with_a_client_that_never_was) {
  call(0, "VipConnectRequest", vi::Return::NotReachable);
  connected(1, 50 * runtime::second);
  EXPECT_EQ(broken_invariants(), Names{"agreement"});
}
// FC-VI 8.6.3 a): an unanswered VipDisconnect excuses until the next one.
TEST_F(Excuses, agreement_excuses_an_unanswered_disconnect) {
  call(0, "VipDisconnect", vi::Return::NotReachable, 30 * runtime::second);
  connected(1, 60 * runtime::second);
  EXPECT_EQ(broken_invariants(), Names{});
  connected(1, 3600 * runtime::second);
  EXPECT_EQ(broken_invariants(), Names{"agreement"});
}
// FC-VI 7.7.1: a logout excuses, but not that of anybody, nor for ever.
TEST_F(Excuses, agreement_excuses_a_logout_of_that_port) {
  connected(0, 60 * runtime::second);
  record.logouts.push_back({2 * runtime::second, "q", "p"});
  EXPECT_EQ(broken_invariants(), Names{});
  record.logouts = {{2 * runtime::second, "q", "another"}};
  EXPECT_EQ(broken_invariants(), Names{"agreement"});
  record.logouts = {{2 * runtime::second, "q", "p"}};
  connected(0, 3600 * runtime::second);
  EXPECT_EQ(broken_invariants(), Names{"agreement"});
}
// VI-DG 3.3.3: who is rejected is not connected.
TEST_F(Excuses, rejected_sees_a_success) {
  connection.rejected = true;
  call(0, "VipConnectRequest", vi::Return::Timeout);
  EXPECT_EQ(broken_invariants(), Names{});
  connection.ends[0].calls[0].result = vi::Return::Success;
  EXPECT_EQ(broken_invariants(), Names{"no surprise"});
  record.faults.clear();
  connection.ends[0].calls[0].result = vi::Return::Reject;
  EXPECT_EQ(broken_invariants(), Names{});
  connection.ends[0].calls[0].result = vi::Return::NotReachable;
  EXPECT_EQ(broken_invariants(), Names{"new connection"});
}
// FC-VI 8.5.4, D.1: the retry makes one fault good, but not that of a program without the time for it, nor a
// login that ends.
TEST_F(Excuses, cost_sees_who_is_unreachable_after_one_fault) {
  call(0, "VipDisconnect", vi::Return::NotReachable);
  EXPECT_EQ(broken_invariants(), Names{});
  record.faults.pop_back();
  EXPECT_EQ(broken_invariants(), Names{"cost"});
  record.logouts.push_back({2 * runtime::second, "q", "p"});
  EXPECT_EQ(broken_invariants(), Names{});
}
TEST_F(Excuses, cost_sees_a_lost_request_that_is_not_retried) {
  record.faults.pop_back();
  for (const auto opcode :
       {wire::fcvi::Opcode::connect_rqst, wire::fcvi::Opcode::connect_resp1, wire::fcvi::Opcode::connect_resp2}) {
    record.hits = {{Fault::Kind::Lose, true, opcode}};
    connection.ends[0].calls.clear();
    call(0, "VipConnectRequest", vi::Return::Timeout);
    EXPECT_EQ(broken_invariants(), Names{}) << "it has no time";
    connection.ends[0].calls[0].limit = 31 * runtime::second;
    EXPECT_EQ(broken_invariants(), opcode == wire::fcvi::Opcode::connect_resp2 ? Names{} : Names{"cost"});
  }
}
// FC-VI 8.4.2: one lost frame harms one connection.
TEST_F(Excuses, cost_sees_a_bystander_harmed) {
  record.faults.pop_back();
  record.hits = {{Fault::Kind::Lose, true, wire::fcvi::Opcode::connect_resp2}};
  connection.ends[0].broken_off = true;
  EXPECT_EQ(broken_invariants(), Names{});
  record.connections.push_back(connection);
  EXPECT_EQ(broken_invariants(), Names{"cost"});
  record.hits[0].fc_vi = false;
  EXPECT_EQ(broken_invariants(), Names{}) << "a login is everybody's";
}
// VI-ARCH 2.5.1: one lost frame is one lost message.
TEST_F(Excuses, cost_sees_two_messages_lost_by_one_frame) {
  record.faults.pop_back();
  record.hits = {{Fault::Kind::Lose, true, wire::fcvi::Opcode::send_rqst}};
  connection.reliability = vi::ReliabilityLevel::UnreliableDelivery;
  Descriptor lost{.completions = 1, .status = vi::status::done | vi::status::flushed};
  connection.ends[0].messages.resize(2), connection.ends[1].receives = {lost};
  connection.ends[1].signals = 1;
  EXPECT_EQ(broken_invariants(), Names{});
  connection.ends[1].receives = {lost, lost};
  connection.ends[1].signals = 2;
  EXPECT_EQ(broken_invariants(), Names{"cost"});
  record.in_order = false;  // then a Disconnect may have overtaken the other one
  call(0, "VipDisconnect", vi::Return::Success, runtime::second);
  EXPECT_EQ(broken_invariants(), Names{"cost"});
  for (Descriptor& receive : connection.ends[1].receives) receive.completed = 2 * runtime::second;
  EXPECT_EQ(broken_invariants(), Names{});
  record.in_order = true;
  connection.ends[1].receives.pop_back();
  connection.ends[1].signals = 1;
  connection.ends[0].broken_off = true;
  EXPECT_EQ(broken_invariants(), Names{"cost"});
}
// Without a fault everything succeeds.
TEST_F(Excuses, no_fault_sees_that_nothing_succeeds) {
  call(0, "VipConnectRequest", vi::Return::NotReachable);
  call(1, "VipConnectWait", vi::Return::Timeout);
  EXPECT_EQ(broken_invariants(), Names{});
  record.faults.clear();
  EXPECT_EQ(broken_invariants(), Names{"new connection"});
}
// FC-VI 8.1, C.5.9.2: where the fabric keeps no order, a DISCONNECT_RQST overtakes what was sent before it.
TEST_F(Excuses, no_fault_excuses_what_a_disconnect_may_overtake) {
  record.faults.clear();
  call(0, "VipDisconnect", vi::Return::Success, 30 * runtime::second);
  call(1, "VipConnectPeerRequest", vi::Return::NotReachable, 31 * runtime::second);
  EXPECT_EQ(broken_invariants(), Names{"new connection"});
  record.in_order = false;
  EXPECT_EQ(broken_invariants(), Names{});
  connection.ends[1].calls[0].returned = 29 * runtime::second;
  EXPECT_EQ(broken_invariants(), (Names{"new connection", "order"}));
}
// VI-ARCH 3.2.1: RDMA that the memory does not permit fails by itself, and harms nobody else.
TEST_F(Excuses, no_fault_excuses_what_is_not_permitted) {
  record.faults.clear();
  connection.ends[0].messages.push_back({Operation::RdmaWrite, {1}, {}});
  connection.ends[0].broken_off = true;
  EXPECT_EQ(broken_invariants(), Names{"new connection"});
  connection.permits_write = false;
  EXPECT_EQ(broken_invariants(), Names{});
  connection.ends[1].targets = {{0, {untouched}}};
  EXPECT_EQ(broken_invariants(), Names{});
  connection.ends[1].targets = {{0, {1}}};
  EXPECT_EQ(broken_invariants(), Names{"delivery"});
}
TEST_F(Excuses, no_fault_sees_a_connection_that_is_lost) {
  record.faults.clear();
  connection.ends[0].broken_off = true;
  EXPECT_EQ(broken_invariants(), Names{"new connection"});
}
// FC-VI 5.9.10, C.2: ids are given back, and rest no longer than their failures.
TEST_F(Excuses, returned_sees_connection_ids) {
  for (const char* ids : {"FCVI_CONNECTION_IDs of set-ups", "FCVI_CONNECTION_IDs that rest"}) {
    record.holdings = {{"p", {{ids, 0}}}};
    EXPECT_EQ(broken_invariants(), Names{});
    record.holdings = {{"p", {{ids, 1}}}};
    EXPECT_EQ(broken_invariants(), Names{"returned"});
  }
}

TEST(Invariants, ends_sees_a_program_that_waits) {
  EXPECT_EQ(broken_by([](Record& r) { server(r).ended = false; }), Names{"ends"});
  EXPECT_EQ(broken_by([](Record& r) { r.came_to_an_end = false; }), Names{"ends"});
}

// FC-VI 8.1: overtaking is what an out-of-order fabric does, losing is not.
TEST(Invariants, order_sees_harm_done_by_overtaking_alone) {
  Scenario scenario = one_send();
  const Sabotage late_accept{
      .record = [](Record& record) { record.connections[0].ends[1].calls[1].result = vi::Return::Timeout; }};
  const FaultList overtaken{{.kind = Fault::Kind::Reorder, .frame = 5, .overtaken = 1}},
      lost{{.kind = Fault::Kind::Lose, .frame = 5}};
  EXPECT_EQ(broken(scenario, late_accept, overtaken), Names{});
  scenario.in_order = false;
  EXPECT_EQ(broken(scenario, late_accept, overtaken), Names{"order"});
  EXPECT_EQ(broken(scenario, late_accept, lost), Names{});
  const Sabotage late_receive{.record = [](Record& record) {
    Descriptor& receive = record.connections[0].ends[1].receives[0];
    receive.status |= vi::status::transport_error;
  }};
  EXPECT_EQ(broken(scenario, late_receive, overtaken), Names{"order"});
}

TEST(Invariants, no_surprise_sees_an_event_without_a_row) {
  EXPECT_EQ(broken_by([](Record& r) { r.unexpected_events = 1; }), Names{"no surprise"});
}

// --- worlds that leak, or do not recover -------------------------------------------------------------------------

struct Silent final : fc2::ExchangeUser {
  void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
};

fc2::NPort& port_of(World& world, std::size_t host) { return dynamic_cast<FcHost&>(world.network().host(host)).port(); }

TEST(Invariants, returned_sees_an_exchange_that_stays_open) {
  Silent user;
  const auto leak = [&](World& world) {
    port_of(world, 0).originate(port_of(world, 1).n_port_id(), wire::Type::fc_vi, user);
  };
  EXPECT_EQ(broken(one_send(), {.before_rest = leak}), Names{"returned"});
}
TEST(Invariants, returned_sees_a_frame_that_is_kept) {
  fc2::FramePool pool;
  fc2::FramePtr kept;
  const Scenario scenario = one_send();
  const Sabotage sabotage{.before_rest = [&](World&) { kept = pool.take(); }};
  World world(scenario, {}, pool, sabotage);
  const auto violations = check_invariants(world.run());
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].what, "1 frame buffers are not given back");
}
// What a host is asked for when all is over: what FC-VI gives back, and what the NIC does.
TEST(Invariants, returned_looks_at_all_that_a_host_holds) {
  fc2::FramePool pool;
  const Scenario scenario = one_send();
  World world(scenario, {}, pool, {});
  const Record& record = world.run();
  ASSERT_EQ(record.holdings.size(), 2u);
  Names names;
  for (const HostTransport::Held& held : record.holdings[0].held) names.insert(std::string(held.what));
  EXPECT_EQ(names, (Names{"FCVI_HANDLEs", "Connection Setups", "exchanges", "FCVI_CONNECTION_IDs of set-ups",
                          "FCVI_CONNECTION_IDs that rest", "VIs", "memory regions", "protection tags"}));
}
TEST(Invariants, returned_sees_memory_and_tags) {
  const auto leak = [](World& world) {
    vi::Ptag tag;
    world.node(1).nic().memory().create_ptag(tag);
  };
  EXPECT_EQ(broken(one_send(), {.before_rest = leak}), Names{"returned"});
}
TEST(Invariants, returned_sees_a_timer_that_runs_on) {
  struct Forever final : runtime::Event {
    explicit Forever(runtime::Scheduler*& its) : scheduler(its) {}
    void fire(runtime::TimeNs) override { scheduler->schedule_after(*this, 5 * runtime::second); }
    runtime::Scheduler*& scheduler;
  };
  runtime::Scheduler* scheduler = nullptr;
  const Scenario scenario = one_send();
  fc2::FramePool pool;
  std::unique_ptr<Forever> forever;
  const Sabotage sabotage{.before_rest = [&](World& world) {
    scheduler = &world.driver().scheduler();
    forever = std::make_unique<Forever>(scheduler);
    forever->fire(0);
  }};
  World world(scenario, {}, pool, sabotage);
  const auto violations = check_invariants(world.run());
  forever.reset();
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].what, "1 timers still run");
}
TEST(Invariants, new_connection_sees_a_port_that_is_gone) {
  const auto log_out = [](World& world) { port_of(world, 1).log_out_of_fabric(); };
  EXPECT_THAT(broken(one_send(), {.before_new_connection = log_out}), Contains("new connection"));
}

// --- what is reported --------------------------------------------------------------------------------------------

TEST(Report, a_failure_comes_with_its_shortest_faults_its_diagram_and_its_command) {
  // A world that breaks when the Send is lost: the invariant is broken by one fault, and no second is tried on top.
  Options options{.faults = 2};
  options.sabotage.record = [](Record& record) {
    if (record.connections[0].ends[1].receives[0].status & vi::status::error_mask) record.unexpected_events = 1;
  };
  const Scenario scenario = one_send();
  const Findings findings = explore(scenario, options);
  ASSERT_EQ(findings.failures.size(), 1u);
  ASSERT_EQ(findings.failures[0].faults.size(), 1u);
  EXPECT_GT(findings.not_extended, 0u);
  EXPECT_GT(findings.failed_runs.at("no surprise"), 1u);
  const std::string text = report(scenario, "my scenario.yaml", findings);
  const std::string fault = to_string(findings.failures[0].faults);
  EXPECT_THAT(text, HasSubstr("FAILED with " + fault + "\n"));
  EXPECT_THAT(text, HasSubstr("no surprise: 1 events without a row"));
  EXPECT_THAT(text, HasSubstr("alice      --> bob      FCVI_CONNECT_RQST"));
  EXPECT_THAT(text, HasSubstr("* fault: frame "));
  EXPECT_THAT(text, HasSubstr("again: fcvi-sim explore 'my scenario.yaml' --fault " + fault + "\n"));
  EXPECT_THAT(text, HasSubstr("no surprise     BROKEN in "));
  EXPECT_THAT(text, HasSubstr("delivery        held: "));
}

TEST(Report, a_run_that_was_told_its_faults_shows_what_happened) {
  fc2::FramePool pool;
  const Scenario scenario = one_send();
  const FaultList faults{{.kind = Fault::Kind::Lose, .frame = 5}, {.kind = Fault::Kind::Lose, .frame = 900}};
  const Sabotage none;
  Ladder ladder(scenario);
  World world(scenario, faults, pool, none);
  const Record& record = world.run(&ladder);
  const std::string text = report_run(record, check_invariants(record), ladder, runtime::second);
  EXPECT_THAT(text, HasSubstr("* fault: frame 5 → lose:5\n"));
  EXPECT_THAT(text, HasSubstr("RETRY"));
  EXPECT_THAT(text, HasSubstr("1 faults name a frame that was not sent"));
  EXPECT_THAT(text, Not(HasSubstr("all invariants held")));
}

}  // namespace
}  // namespace sim::explore
