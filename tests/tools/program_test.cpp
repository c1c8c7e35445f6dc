// The simulator as a library: every operation at every level and size through the programs, and programs of
// the test's own where the moment of a completion matters.
#include <gtest/gtest.h>

#include "tools/fcvi_sim/host/endpoint.hpp"
#include "tools/fcvi_sim/run/expectations.hpp"
#include "tools/fcvi_sim/run/simulation.hpp"
#include "tools/fcvi_sim/scenario/loader.hpp"
#include "wire/line_rate.hpp"

namespace sim {
namespace {
using Level = vi::ReliabilityLevel;

Scenario two_ports(runtime::TimeNs latency = 500) {
  Scenario scenario;
  scenario.name = "test";
  const fc2::LinkConfig link{.latency_ns = latency, .bytes_per_second = wire::line_rate_bytes_per_second("16GFC")};
  scenario.ports = {{.name = "client",
                     .port_name = {0x2000000000000001},
                     .node_name = {0x1000000000000001},
                     .addresses = {wire::IpAddress::v4(10, 0, 0, 1)},
                     .link = link},
                    {.name = "server",
                     .port_name = {0x2000000000000002},
                     .node_name = {0x1000000000000002},
                     .addresses = {wire::IpAddress::v4(10, 0, 0, 2)},
                     .link = link}};
  return scenario;
}

WorkloadSpec workload(Level level) {
  WorkloadSpec spec{.name = "w", .client = 0, .server = 1};
  spec.client_address = wire::IpAddress::v4(10, 0, 0, 1);
  spec.server_address = wire::IpAddress::v4(10, 0, 0, 2);
  spec.discriminator = "w";
  spec.attributes = {.reliability = level,
                     .max_transfer_size_bytes = 0xFFFFFFFF,
                     .ptag = {},
                     .enable_rdma_write = true,
                     .enable_rdma_read = true};
  return spec;
}

/// Runs it and returns what failed.
std::vector<std::string> failures_of(const Scenario& scenario, RunResult* result = nullptr) {
  ContentStore contents(scenario.seed);
  Simulation simulation(scenario, contents, {});
  const RunResult& got = simulation.run();
  if (result != nullptr) *result = got;
  return check_expectations(scenario, got).failures;
}
using Lines = std::vector<std::string>;

// Frames that go on with a message are counted without a second look; a run that must look at each counts the same.
// Three connections' messages lie between one another on one pair of ports, both ways, and one of them is set up again.
TEST(Simulation, frames_that_only_count_are_counted_as_all_others) {
  Scenario scenario = two_ports();
  const TransferSpec send{.operation = Operation::Send, .data = {"", 60'000}, .message_bytes = 7'000};
  for (const char* name : {"a", "b", "c"}) {
    WorkloadSpec spec = workload(Level::ReliableReception);
    spec.name = spec.discriminator = name;
    spec.transfers = {send, send};
    spec.transfers[1].initiator = Side::Server;
    scenario.workloads.push_back(spec);
  }
  WorkloadSpec again = scenario.workloads[0];
  again.name = again.discriminator = "again";
  again.start = 30 * runtime::millisecond;
  scenario.workloads.push_back(again);
  ContentStore contents(scenario.seed);
  Ladder ladder(scenario);
  Simulation counting(scenario, contents, {}), looking(scenario, contents, {.ladder = &ladder});
  const RunResult &counted = counting.run(), &seen = looking.run();
  EXPECT_EQ(check_expectations(scenario, counted).failures, Lines{});
  EXPECT_EQ(counted.frame_count, seen.frame_count);
  EXPECT_EQ(counted.byte_count, seen.byte_count);
  EXPECT_EQ(counted.iu_count, seen.iu_count);
  EXPECT_EQ(counted.ius, seen.ius);
  for (std::size_t i = 0; i < scenario.workloads.size(); ++i) {
    EXPECT_EQ(counted.workloads[i].traffic.frames, seen.workloads[i].traffic.frames);
    EXPECT_EQ(counted.workloads[i].traffic.ius, seen.workloads[i].traffic.ius);
    EXPECT_GT(counted.workloads[i].traffic.frames, 60u);
  }
}

// An owner that contradicts itself for a moment fails a run that is checked, and no other; a sound run does not fail.
TEST(Simulation, owner_contradicts_itself_fails_a_checked_run) {
  Scenario scenario = two_ports();
  scenario.workloads = {workload(Level::ReliableDelivery)};
  ContentStore contents(scenario.seed);
  const auto failures = [&](bool check, bool break_it) {
    Simulation simulation(scenario, contents, {.check = check});
    const auto breaker = [](Simulation& broken) -> Task<> {
      vi::Vi* made = nullptr;
      EXPECT_EQ(broken.node(1).nic().create_vi({}, nullptr, nullptr, made), vi::Return::Success);
      made->endpoint_event(machines::vi_endpoint::ConnectRequested{});
      made->receive_early();
      made->endpoint_event(machines::vi_endpoint::SetupRefused{});  // Idle, and receives
      co_return;
    };
    std::vector<Task<>> programs;
    if (break_it) programs.push_back(breaker(simulation));
    return check_expectations(scenario, simulation.run(std::move(programs))).failures;
  };
  EXPECT_EQ(failures(true, false), Lines{});
  EXPECT_EQ(failures(false, true), Lines{});
  EXPECT_EQ(failures(true, true), Lines{"owners: expected consistent after each event, got not so at port server"});
}

// --- the matrix -----------------------------------------------------------------------------------------------------

enum class Kind { Send, RdmaWrite, RdmaWriteImmediate, RdmaRead };
using Parameters = std::tuple<Level, Kind, std::uint64_t>;

TransferSpec transfer_of(Kind kind, std::uint64_t size) {
  TransferSpec transfer{.operation = Operation::Send,
                        .data = {"", size},
                        .message_bytes = std::max<std::uint64_t>(size, 1),
                        .segments = 7};
  if (kind == Kind::RdmaWrite || kind == Kind::RdmaWriteImmediate) transfer.operation = Operation::RdmaWrite;
  if (kind == Kind::RdmaWriteImmediate) transfer.immediate = 0xC0FFEE;
  if (kind == Kind::RdmaRead) transfer.operation = Operation::RdmaRead;
  return transfer;
}

class Matrix : public testing::TestWithParam<Parameters> {};

TEST_P(Matrix, connected_message_arrives_intact) {
  // In both directions over the same connection, gathered and scattered over seven or eight odd segments.
  const auto& [level, kind, size] = GetParam();
  Scenario scenario = two_ports();
  WorkloadSpec spec = workload(level);
  for (const Side side : {Side::Client, Side::Server}) {
    TransferSpec transfer = transfer_of(kind, size);
    transfer.initiator = side;
    // VI-ARCH 2.5.1: no RDMA Read on Unreliable Delivery; the connection persists.
    if (kind == Kind::RdmaRead && level == Level::UnreliableDelivery)
      transfer.expected_status = vi::status::format_error;
    spec.transfers.push_back(transfer);
  }
  scenario.workloads = {spec};
  RunResult result;
  EXPECT_EQ(failures_of(scenario, &result), Lines{});
  EXPECT_EQ(result.workloads[0].transfers[0].ended, 1u);
  EXPECT_EQ(result.workloads[0].transfers[1].ended, 1u);
  if (kind == Kind::RdmaRead) {
    EXPECT_EQ(result.ius.contains("FCVI_READ_RQST"), level != Level::UnreliableDelivery);
  }
  EXPECT_EQ(result.ius.contains("FCVI_SEND_RESP"), level == Level::ReliableReception);
}

std::string name_of(const testing::TestParamInfo<Parameters>& info) {
  const auto& [level, kind, size] = info.param;
  constexpr std::array kinds{"Send", "RdmaWrite", "RdmaWriteImmediate", "RdmaRead"};
  const char* name = level == Level::UnreliableDelivery ? "unreliable_delivery"
                     : level == Level::ReliableDelivery ? "reliable_delivery"
                                                        : "reliable_reception";
  return std::string(name) + "_" + kinds[static_cast<std::size_t>(kind)] + "_" + std::to_string(size);
}

INSTANTIATE_TEST_SUITE_P(
    all, Matrix,
    testing::Combine(testing::Values(Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception),
                     testing::Values(Kind::Send, Kind::RdmaWrite, Kind::RdmaWriteImmediate, Kind::RdmaRead),
                     testing::Values(0u, 1u, 2047u, 2048u, 2049u, 65536u, (16u << 20) + 3)),
    name_of);

// --- workloads ------------------------------------------------------------------------------------------------------

TEST(Workload, more_messages_than_the_window_need_credit) {
  Scenario scenario = two_ports();
  for (const Level level : {Level::UnreliableDelivery, Level::ReliableReception}) {
    WorkloadSpec spec = workload(level);
    spec.queue_depth = 3;
    spec.transfers = {transfer_of(Kind::Send, 10'001), transfer_of(Kind::RdmaWriteImmediate, 10'001),
                      transfer_of(Kind::RdmaRead, 10'001)};
    if (level == Level::UnreliableDelivery) spec.transfers.pop_back();
    for (TransferSpec& transfer : spec.transfers) {
      transfer.message_bytes = 100;
      transfer.repeat = 2;
    }
    scenario.workloads = {spec};
    EXPECT_EQ(failures_of(scenario), Lines{});
  }
}

TEST(Workload, few_buffers_serve_all_messages) {
  // Each is filled anew and compared before the next one comes in its place.
  Scenario scenario = two_ports();
  for (const Level level : {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception})
    for (const std::uint32_t buffers : {2u, 3u, 8u}) {
      WorkloadSpec spec = workload(level);
      spec.queue_depth = 8;
      spec.transfers = {transfer_of(Kind::Send, 10'001), transfer_of(Kind::Send, 5'000), transfer_of(Kind::Send, 1)};
      spec.transfers[1].initiator = Side::Server;
      for (TransferSpec& transfer : spec.transfers) {
        transfer.message_bytes = 100;
        transfer.repeat = 2;
        transfer.buffers = buffers;
      }
      spec.transfers[0].immediate = 7;
      scenario.workloads = {spec};
      RunResult result;
      EXPECT_EQ(failures_of(scenario, &result), Lines{}) << buffers;
      EXPECT_EQ(result.workloads[0].transfers[0].messages, 202u);
    }
}

TEST(Workload, a_damaged_message_is_noticed_in_any_buffer) {
  // A bit of one is inverted, with a good CRC, so that nobody but the receiving program can see it; 21 messages, six
  // buffers, compared by threes and at the end.
  for (const char* buffers : {"", ", buffers: 6"})
    for (const int message : {1, 3, 4, 6, 7, 12, 20, 21}) {
      const std::string text =
          R"(name: x
ports: [{name: a}, {name: b}]
workloads:
  - name: w
    client: a
    server: b
    transfers: [{operation: send, data: {random: 5200}, message_bytes: 256)" +
          std::string(buffers) +
          "}]\nfaults: [{action: corrupt, port: a, message: FCVI_SEND_RQST, bit: 800, crc: good, nth: " +
          std::to_string(message) + "}]\n";
      const auto scenario = read_scenario(text, "s.yaml", "", {});
      ASSERT_TRUE(scenario) << scenario.error().message;
      EXPECT_EQ(
          failures_of(*scenario),
          Lines{"workload w, transfer 0 (Send): SHA-256 and length: expected equal at both sides, got 2 different"})
          << buffers << message;
    }
}

TEST(Workload, many_connections_at_once_in_both_directions) {
  Scenario scenario = two_ports();
  for (int i = 0; i < 10; ++i) {
    WorkloadSpec spec = workload(i % 2 == 0 ? Level::ReliableDelivery : Level::ReliableReception);
    spec.name = spec.discriminator = "w" + std::to_string(i);
    if (i % 3 == 0) {
      std::swap(spec.client, spec.server);
      std::swap(spec.client_address, spec.server_address);
      spec.start = runtime::millisecond;  // not while the first PLOGI is under way: two that cross are another test
    }
    spec.disconnect_by = i % 4 == 0 ? Side::Server : Side::Client;
    spec.transfers = {transfer_of(Kind::Send, 50'000), transfer_of(Kind::RdmaRead, 30'000)};
    scenario.workloads.push_back(spec);
  }
  RunResult result;
  EXPECT_EQ(failures_of(scenario, &result), Lines{});
  for (const WorkloadResult& each : result.workloads) EXPECT_GT(each.transfers[0].traffic.frames, 25u);
}

TEST(Workload, rejected_connection) {
  Scenario scenario = two_ports();
  WorkloadSpec spec = workload(Level::ReliableDelivery);
  spec.reject = true;
  spec.expect.connect = vi::Return::Reject;
  scenario.workloads = {spec};
  EXPECT_EQ(failures_of(scenario), Lines{});
}

TEST(Workload, rdma_write_that_the_peer_does_not_permit_moves_nothing) {
  Scenario scenario = two_ports();
  WorkloadSpec spec = workload(Level::ReliableReception);
  spec.attributes.enable_rdma_write = false;
  spec.transfers = {transfer_of(Kind::RdmaWrite, 1000)};
  spec.transfers[0].expected_status = vi::status::rdma_protection_error;
  scenario.workloads = {spec};
  scenario.expectations.discards = {1, 1};  // the frame that was refused
  EXPECT_EQ(failures_of(scenario), Lines{});
}

TEST(Workload, failure_that_was_not_expected_fails_the_run) {
  Scenario scenario = two_ports();
  WorkloadSpec spec = workload(Level::UnreliableDelivery);
  spec.transfers = {transfer_of(Kind::RdmaRead, 1000)};
  scenario.workloads = {spec};
  const Lines failures = failures_of(scenario);
  ASSERT_FALSE(failures.empty());
  EXPECT_EQ(failures[0], "workload w, transfer 0 (RDMA Read): descriptor status: expected success, got format_error");
}

TEST(Workload, time_limit_in_the_middle_is_reported_and_leaves_nothing_behind) {
  Scenario scenario = two_ports();
  scenario.time_limit = 100 * runtime::microsecond;
  WorkloadSpec spec = workload(Level::ReliableReception);
  spec.transfers = {transfer_of(Kind::Send, 16u << 20)};
  scenario.workloads = {spec};
  const Lines failures = failures_of(scenario);
  ASSERT_FALSE(failures.empty());
  EXPECT_EQ(failures[0], "the run: expected an end within 100.000 us, got programs that still wait");
}

TEST(Workload, time_limit_before_any_login_names_the_port) {
  Scenario scenario = two_ports(runtime::millisecond);
  scenario.time_limit = runtime::microsecond;
  EXPECT_EQ(failures_of(scenario)[0], "port client: expected logged in and registered within 1.000 us, got no end");
}

// --- the moment of completion ---------------------------------------------------------------------------------------

constexpr runtime::TimeNs latency = runtime::millisecond, one_way = 2 * latency;  // two links

struct Moments {
  runtime::TimeNs posted = 0, completed = 0, received = 0;
  std::uint32_t status = 0;
};

Task<> receiving_server(Simulation& simulation, Level level, Moments& moments) {
  Endpoint endpoint(simulation.node(1), workload(level).attributes, 4, 1);
  const Region region = endpoint.allocate(4096);
  const Piece piece{0, 4096};
  endpoint.post_receive({.pieces = {&piece, 1}, .base = region.address(), .handle = region.handle()});
  Call<vi::ConnectWaitOperation> wait(simulation.driver());
  const std::vector<std::uint8_t> door{'d'};
  simulation.node(1).transport().connect_wait(vi::NetAddress::make(simulation.node(1).host_transport().address(), door),
                                              runtime::second, wait);
  co_await wait.finished;
  co_await endpoint.accept(wait.token);
  const Completion completion = co_await endpoint.next_receive();
  moments.received = simulation.driver().now();
  EXPECT_EQ(completion.error(), 0u);
  co_await endpoint.lost();
  co_await endpoint.disconnect();
}

Task<> sending_client(Simulation& simulation, Level level, Moments& moments) {
  Endpoint endpoint(simulation.node(0), workload(level).attributes, 4, 1);
  const Region region = endpoint.allocate(4096);
  const std::vector<std::uint8_t> door{'d'};
  const vi::Return connected = co_await endpoint.connect(
      vi::NetAddress::make(simulation.node(0).host_transport().address(), door),
      vi::NetAddress::make(simulation.node(1).host_transport().address(), door), runtime::second);
  EXPECT_EQ(connected, vi::Return::Success);
  co_await simulation.driver().sleep(10 * one_way);  // the set-up is over on both sides
  const Piece piece{0, 4096};
  moments.posted = simulation.driver().now();
  endpoint.post_send({.pieces = {&piece, 1}, .base = region.address(), .handle = region.handle()});
  const Completion completion = co_await endpoint.next_send();
  moments.completed = simulation.driver().now();
  moments.status = completion.error();
  co_await simulation.driver().sleep(10 * one_way);
  co_await endpoint.disconnect();
}

Moments send_once(Level level) {
  const Scenario scenario = two_ports(latency);
  const ContentStore contents(1);
  Simulation simulation(scenario, contents, {});
  Moments moments;
  std::vector<Task<>> programs;
  programs.push_back(receiving_server(simulation, level, moments));
  programs.push_back(sending_client(simulation, level, moments));
  EXPECT_EQ(simulation.run(std::move(programs)).outcome, Driver::Outcome::Finished);
  return moments;
}

TEST(Completion, reliable_reception_waits_for_the_response) {
  // VI-ARCH 2.5.3: done when the data is in the memory of the other side, which only its response can tell.
  const Moments moments = send_once(Level::ReliableReception);
  EXPECT_EQ(moments.status, 0u);
  EXPECT_GE(moments.received, moments.posted + one_way);
  EXPECT_GE(moments.completed, moments.received + one_way);
}

TEST(Completion, the_other_levels_do_not_wait) {
  for (const Level level : {Level::UnreliableDelivery, Level::ReliableDelivery}) {
    const Moments moments = send_once(level);
    EXPECT_EQ(moments.status, 0u);
    EXPECT_LT(moments.completed, moments.posted + one_way);
    EXPECT_LT(moments.completed, moments.received);
  }
}

// --- repetition -----------------------------------------------------------------------------------------------------

class Bytes final : public fc2::ByteSink {
 public:
  void write(std::span<const std::uint8_t> bytes) override { all.insert(all.end(), bytes.begin(), bytes.end()); }
  std::vector<std::uint8_t> all;
};

std::pair<std::vector<std::uint8_t>, std::string> outputs_of(std::uint64_t seed) {
  Scenario scenario = two_ports();
  scenario.seed = seed;
  scenario.workloads = {workload(Level::ReliableReception)};
  scenario.workloads[0].transfers = {transfer_of(Kind::Send, 9999), transfer_of(Kind::RdmaRead, 9999)};
  const ContentStore contents(seed);
  Bytes bytes;
  fc2::Capture capture(bytes);
  Ladder ladder(scenario);
  Simulation simulation(scenario, contents, {&capture, &ladder});
  simulation.run();
  return {std::move(bytes.all), to_svg(ladder, "t", simulation.start())};
}

TEST(Simulation, same_seed_same_bytes_another_seed_others) {
  const auto first = outputs_of(1), again = outputs_of(1), other = outputs_of(2);
  EXPECT_GT(first.first.size(), 30'000u);
  EXPECT_EQ(first.first, again.first);
  EXPECT_EQ(first.second, again.second);
  EXPECT_NE(first.first, other.first);
  EXPECT_NE(first.second, other.second);
}

}  // namespace
}  // namespace sim
