#include "tools/fcvi_sim/scenario/loader.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <tuple>

#include "vi/descriptor.hpp"
#include "tests/support/source_dir.hpp"

namespace sim {
namespace {

constexpr const char* minimal = R"(name: minimal
ports:
  - name: a
  - name: b
workloads:
  - name: w
    client: a
    server: b
    transfers:
      - operation: send
        data: {random: 1KiB}
)";

Result<Scenario> read(const std::string& text, std::vector<std::string> assignments = {}) {
  return read_scenario(text, "s.yaml", "", {.seed = {}, .file = "", .assignments = std::move(assignments)});
}

std::string error_of(const std::string& text, std::vector<std::string> assignments = {}) {
  const auto scenario = read(text, std::move(assignments));
  return scenario ? "no error" : scenario.error().message;
}

constexpr const char* grouped = R"(name: grouped
topology:
  switches: [{name: s, count: 4}, {name: t}]
  isls: [{pattern: ring, latency: 5us}]
ports:
  - {name: single}
  - {name: client, count: 6, switch: s, address: 10.1.0.255}
  - {name: server, count: 3, switch: t}
workloads:
  - {name: alone, client: client-2, server: single}
  - {name: pair, count: 6, client: client, server: server, transfers: [{operation: send, data: {random: 1KiB}}]}
  - {name: star, count: 2, client: client, server: single}
)";

// `count`: NAME-1 to NAME-N; members of a group that is named are taken in turn, from the first again after the last.
TEST(Loader, groups_are_made_and_taken_in_turn) {
  const auto scenario = read(grouped);
  ASSERT_TRUE(scenario) << scenario.error().message;
  ASSERT_EQ(scenario->switches.size(), 5U);
  EXPECT_EQ(scenario->switches[3].name, "s-4");
  ASSERT_EQ(scenario->ports.size(), 10U);
  EXPECT_EQ(scenario->ports[1].name, "client-1");
  EXPECT_EQ(scenario->ports[6].name, "client-6");
  EXPECT_EQ(scenario->ports[4].at_switch, 3U);
  EXPECT_EQ(scenario->ports[5].at_switch, 0U);
  EXPECT_EQ(scenario->ports[9].at_switch, 4U);
  EXPECT_EQ(to_string(scenario->ports[2].addresses.front()), "10.1.1.0");
  EXPECT_EQ(to_string(scenario->ports[9].addresses.front()), "10.0.0.10");
  EXPECT_EQ(scenario->ports[9].port_name.value, scenario->ports[0].port_name.value + 9);
  ASSERT_EQ(scenario->workloads.size(), 9U);
  EXPECT_EQ(scenario->workloads[0].client, 2U);
  EXPECT_EQ(scenario->workloads[0].group, "");
  for (std::size_t i = 0; i < 6; ++i) {
    const WorkloadSpec& pair = scenario->workloads[1 + i];
    EXPECT_EQ(pair.name, "pair-" + std::to_string(i + 1));
    EXPECT_EQ(pair.discriminator, pair.name);
    EXPECT_EQ(pair.group, "pair");
    EXPECT_EQ(pair.client, 1 + i);
    EXPECT_EQ(pair.server, 7 + i % 3);
    EXPECT_EQ(pair.transfers.size(), 1U);
  }
  EXPECT_EQ(scenario->workloads[8].client, 2U);
  EXPECT_EQ(scenario->workloads[8].server, 0U);
}

TEST(Loader, patterns_join_all_switches) {
  const auto links = [](const std::string& pattern, int switches) {
    const auto scenario = read("name: x\ntopology: {switches: [{name: s, count: " + std::to_string(switches) +
                               "}], isls: [{pattern: " + pattern + "}]}\nports: [{name: a}]\n");
    return scenario ? scenario->switch_links.size() : 0;
  };
  EXPECT_EQ(links("ring", 2), 1U);
  EXPECT_EQ(links("ring", 3), 3U);
  EXPECT_EQ(links("ring", 64), 64U);
  EXPECT_EQ(links("mesh", 10), 45U);
  EXPECT_EQ(links("hypercube", 64), 192U);
}

TEST(Loader, bad_groups_are_told_with_their_line) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = grouped;
    return error_of(text.replace(text.find(from), from.size(), to));
  };
  EXPECT_EQ(with("client: client-2", "client: client"),
            "s.yaml:10: client: expected one of that group, such as client-1, where there is no count, got \"client\"");
  EXPECT_EQ(with("client: client-2", "client: client-7"),
            "s.yaml:10: client: expected a known name, got \"client-7\"; did you mean \"client-1\"?");
  EXPECT_EQ(with("count: 3", "count: 0"), "s.yaml:8: count: expected a whole number, 1 to 1000000, got \"0\"");
  EXPECT_EQ(with("count: 3", "count: 999996"), "s.yaml:8: more than 1,000,000 ports");
  EXPECT_EQ(with("count: 2, client", "count: 9996, client"), "s.yaml:12: more than 10,000 workloads");
  EXPECT_EQ(with("{name: s, count: 4}", "{name: s, count: 240}"), "s.yaml:3: more than 239 switches");
  EXPECT_EQ(with("{name: s, count: 4}", "{name: s, count: 4, domain: 7}"),
            "s.yaml:3: domain: expected none with count, got \"7\"");
  EXPECT_EQ(
      with("{pattern: ring,", "{pattern: hypercube,"),
      "s.yaml:4: pattern: expected a number of switches that is a power of two for a hypercube, got \"hypercube\"");
  EXPECT_EQ(with("{pattern: ring,", "{pattern: star,"),
            "s.yaml:4: pattern: expected one of ring, mesh, hypercube, got \"star\"");
  EXPECT_EQ(with("address: 10.1.0.255", "address: 10.1.255.252"),
            "s.yaml:7: address: expected one that 4 more come behind, got \"10.1.255.252\"");
  EXPECT_EQ(with("address: 10.1.0.255", "addresses: [10.1.0.1]"),
            "s.yaml:7: addresses: expected none with count, got a list");
  EXPECT_EQ(with("{name: single}", "{name: client-3}"), "s.yaml:7: two ports have the name \"client-3\"");
  EXPECT_EQ(with("{name: client, count", "{count"), "s.yaml:7: ports[1] needs the key \"name\"");
}

TEST(Loader, defaults_are_filled_in) {
  // What the README promises for keys that are absent.
  const auto scenario = read(minimal);
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->seed, 1u);
  EXPECT_EQ(scenario->time_limit, 60 * runtime::second);
  const PortSpec& port = scenario->ports[1];
  EXPECT_EQ(port.port_name.value, 0x200002FCF0000002u);
  EXPECT_EQ(port.node_name.value, 0x100002FCF0000002u);
  EXPECT_EQ(port.addresses, std::vector{wire::IpAddress::v4(10, 0, 0, 2)});
  EXPECT_EQ(port.link.bytes_per_second, 1'700'000'000u);
  EXPECT_EQ(port.link.latency_ns, 500);
  EXPECT_EQ(port.receive_data_field_bytes, 2112);
  EXPECT_TRUE(port.use_name_server && scenario->in_order);
  EXPECT_FALSE(port.class_2 || port.ack_0);
  EXPECT_EQ(port.end_to_end_credit, 0);
  EXPECT_TRUE(port.capture);
  const WorkloadSpec& workload = scenario->workloads[0];
  EXPECT_EQ(workload.discriminator, "w");
  EXPECT_EQ(workload.attributes.reliability, vi::ReliabilityLevel::ReliableDelivery);
  EXPECT_EQ(workload.attributes.max_transfer_size_bytes, 0xFFFFFFFFu);
  EXPECT_EQ(workload.queue_depth, 64u);
  EXPECT_EQ(workload.transfers[0].data.size_bytes, 1024u);
  EXPECT_EQ(workload.transfers[0].message_bytes, 65536u);
  EXPECT_EQ(workload.transfers[0].repeat, 1u);
  EXPECT_EQ(scenario->expectations.discards.max, 0u);
}

constexpr const char* every_key = R"(name: all
seed: 0x10
time_limit: 5s
file: /bin/sh
topology: {line_rate: 8GFC, latency: 1us}
ports:
  - {name: a, port_name: "20:00:00:00:00:00:00:0a", node_name: "10:00:00:00:00:00:00:0a", address: 1.2.3.4,
     resolve: farp, line_rate: 400MB/s, latency: 2us, receive_data_field: 1KiB, first_ox_id: 3, first_handle: 4,
     first_connection_id: 5, max_iu_bytes: 64KiB, pipeline_depth: 6, reorder_pool: 3MiB, preference: true, ulp_timeout: 7ms, capture: false}
  - {name: b, addresses: [fe80::1, 10.9.9.9]}
workloads:
  - name: w
    client: b
    server: a
    client_address: 10.9.9.9
    server_address: 1.2.3.4
    discriminator: door
    reliability: unreliable_delivery
    max_transfer_size: 4KiB
    rdma_write: false
    rdma_read: false
    answer: reject
    start: 1ms
    server_start: 3ms
    connect_timeout: 2s
    disconnect_by: server
    queue_depth: 8
    transfers:
      - {operation: rdma_write, data: {random: 3}, message_bytes: 2, segments: 9, immediate: 0xFF,
         direction: server_to_client, repeat: 2, status: rdma_protection_error}
    expect: {connect: Reject, disconnect: Success, client_state: Idle, server_state: Error}
expectations:
  ius: {FLOGI: 2, FCVI_SEND_RQST: {min: 1, max: 3}}
  discards: {max: 4}
  kept: [{port: a, min: 1KiB, max: 2KiB}]
  asynchronous_errors: 1
  duration: 6ms
)";

TEST(Loader, every_key_is_read) {
  const auto scenario = read(every_key);
  ASSERT_TRUE(scenario) << scenario.error().message;
  ASSERT_EQ(scenario->expectations.kept.size(), 1u);
  EXPECT_EQ(scenario->expectations.kept[0].port, 0u);
  EXPECT_EQ(scenario->expectations.kept[0].bytes.min, 1024u);
  EXPECT_EQ(scenario->expectations.kept[0].bytes.max, 2048u);
  EXPECT_EQ(std::tie(scenario->seed, scenario->file), std::tuple(16u, "/bin/sh"));
  const PortSpec& port = scenario->ports[0];
  EXPECT_EQ(port.port_name.value, 0x200000000000000Au);
  EXPECT_FALSE(port.use_name_server);
  EXPECT_EQ(port.link.bytes_per_second, 400'000'000u);
  EXPECT_EQ(port.link.latency_ns, 2000);
  EXPECT_EQ(port.receive_data_field_bytes, 1024);
  EXPECT_EQ(port.first_ox_id, 3);
  EXPECT_EQ(port.first_handle, 4u);
  EXPECT_EQ(port.first_connection_id, 5u);
  EXPECT_EQ(port.max_iu_bytes, 65536u);
  EXPECT_EQ(port.pipeline_depth, 6u);
  EXPECT_EQ(port.reorder_pool_bytes, 3u << 20);
  EXPECT_TRUE(port.preference);
  EXPECT_EQ(port.ulp_timeout, 7 * runtime::millisecond);
  ASSERT_EQ(scenario->warnings.size(), 1U);  // FC-VI 8.3
  EXPECT_NE(scenario->warnings[0].find(": ulp_timeout is 7.000 ms; FC-VI 8.3 asks for R_A_TOV, 10.000 s"),
            std::string::npos)
      << scenario->warnings[0];
  EXPECT_FALSE(port.capture);
  EXPECT_EQ(scenario->ports[1].addresses.size(), 2u);
  EXPECT_EQ(scenario->ports[1].link.latency_ns, 1000);
  const WorkloadSpec& workload = scenario->workloads[0];
  EXPECT_EQ(workload.client, 1u);
  EXPECT_EQ(workload.server, 0u);
  EXPECT_EQ(to_string(workload.client_address) + " " + to_string(workload.server_address), "10.9.9.9 1.2.3.4");
  EXPECT_TRUE(workload.reject);
  EXPECT_EQ(workload.server_start, 3 * runtime::millisecond);
  EXPECT_FALSE(workload.attributes.enable_rdma_write);
  EXPECT_EQ(workload.disconnect_by, Side::Server);
  EXPECT_EQ(workload.expect.server_state, vi::State::Error);
  const TransferSpec& transfer = workload.transfers[0];
  EXPECT_EQ(transfer.message_count(), 2u);
  EXPECT_EQ(transfer.immediate, 0xFFu);
  EXPECT_EQ(transfer.initiator, Side::Server);
  EXPECT_EQ(transfer.expected_status, vi::status::rdma_protection_error);
  EXPECT_EQ(scenario->expectations.ius.at("FCVI_SEND_RQST").max, 3u);
  EXPECT_EQ(scenario->expectations.max_duration, 6 * runtime::millisecond);
}

TEST(Loader, keys_of_class_and_order_are_read) {
  const auto scenario = read(minimal, {"topology.in_order=false", "ports.a.class=2", "ports.b.class=2",
                                       "ports.b.end_to_end_credit=3", "ports.b.ack_0=true"});
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_FALSE(scenario->in_order);
  EXPECT_TRUE(scenario->ports[0].class_2 && !scenario->ports[0].ack_0);
  EXPECT_TRUE(scenario->ports[1].class_2 && scenario->ports[1].ack_0);
  EXPECT_EQ(scenario->ports[0].end_to_end_credit, 16);
  EXPECT_EQ(scenario->ports[1].end_to_end_credit, 3);
}

/// `line` replaces or follows the line of `minimal` with this number; the message must be exactly this.
struct Bad {
  int line;
  const char* text;
  const char* message;
};

class BadScenario : public testing::TestWithParam<Bad> {};

TEST_P(BadScenario, names_file_line_and_what_was_expected) {
  std::string text;
  int number = 0;
  std::istringstream lines(minimal);
  for (std::string line; std::getline(lines, line);)
    text += (++number == GetParam().line ? GetParam().text : line) + "\n";
  EXPECT_EQ(error_of(text), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    table, BadScenario,
    testing::Values(
        Bad{1, "nmae: x", "s.yaml:1: unknown key \"nmae\" in the scenario; did you mean \"name\"?"},
        Bad{1, "seed: 1", "s.yaml:1: the scenario needs the key \"name\""},
        Bad{1, "name: [x]", "s.yaml:1: name: expected text, got a list"},
        Bad{1, "name: x\nname: y", "s.yaml:2: key \"name\" stands here twice"},
        Bad{1, "name: x\nseed: many", "s.yaml:2: seed: expected a whole number, at least 0, got \"many\""},
        Bad{1, "name: x\nseed: -1", "s.yaml:2: seed: expected a whole number, at least 0, got \"-1\""},
        Bad{1, "name: x\ntime_limit: 5",
            "s.yaml:2: time_limit: expected a time such as 500ns, 10us, 2.5ms, 1s, from "
            "1.000 us to 100000.000 s, got \"5\""},
        Bad{1, "name: x\ntopology: {latncy: 1us}",
            "s.yaml:2: unknown key \"latncy\" in topology; did you mean \"latency\"?"},
        Bad{1, "name: x\ntopology: {zzz: 1us}",
            "s.yaml:2: unknown key \"zzz\" in topology; known: kind, line_rate, latency, bb_credit, processing_time, "
            "in_order, switches, isls, loops, "
            "multipath, domain_conflict, reconfiguration_delay, directory_delay, tcp_segment, tcp_segments, "
            "send_buffer, "
            "receive_buffer, tcp_port, vi_segment, crc, descriptor_flow_control, urgent, rdma_read_window, "
            "request_timeout, close_timeout"},
        Bad{1, "name: x\ntopology: {latency: 5 parsecs}",
            "s.yaml:2: latency: expected a time such as 500ns, 10us, 2.5ms, 1s, from 0 ns to 10.000 s, got "
            "\"5 parsecs\""},
        Bad{1, "name: x\ntopology: {line_rate: 3GFC}",
            "s.yaml:2: line_rate: expected a line rate: 1GFC, 2GFC, 4GFC, 8GFC, 16GFC, 32GFC, 64GFC, 128GFC, "
            "bytes per second "
            "such as 400MB/s, or unlimited, got \"3GFC\""},
        Bad{1, "name: x\ntopology: {in_order: mostly}", "s.yaml:2: in_order: expected true or false, got \"mostly\""},
        Bad{1, "name: x\ntopology: fast", "s.yaml:2: topology: expected a mapping, got \"fast\""},
        Bad{1, "name: {x", "s.yaml:1: not YAML: end of map flow not found"},
        Bad{1, "name: x\nfile: /no/such/file", "s.yaml:2: file: expected a file that exists, got \"/no/such/file\""},
        Bad{2, "portz:", "s.yaml:2: unknown key \"portz\" in the scenario; did you mean \"ports\"?"},
        Bad{4, "  - name: a", "s.yaml:4: two ports have the name \"a\""},
        Bad{4, "  - name: b\n    adress: 1.2.3.4",
            "s.yaml:5: unknown key \"adress\" in ports[1]; did you mean \"address\"?"},
        Bad{4, "  - name: b\n    address: 1.2.3", "s.yaml:5: address: expected an IPv4 or IPv6 address, got \"1.2.3\""},
        Bad{4, "  - name: b\n    address: 10.0.0.1", "s.yaml:4: ports a and b have the same address 10.0.0.1"},
        Bad{4, "  - name: b\n    port_name: 20:00:02:fc:f0:00:00:01",
            "s.yaml:4: ports a and b have the same port_name"},
        Bad{4, "  - name: b\n    port_name: 12",
            "s.yaml:5: port_name: expected a name such as 20:00:02:fc:f0:00:00:01, got \"12\""},
        Bad{4, "  - name: b\n    receive_data_field: 2113",
            "s.yaml:5: receive_data_field: expected a number of bytes such as 2048, 64KiB, 16MiB, from 256 "
            "to 2,112, got \"2113\""},
        Bad{4, "  - name: b\n    receive_data_field: 2110",
            "s.yaml:5: receive_data_field: expected a multiple of 4, got \"2110\""},
        Bad{4, "  - name: b\n    resolve: fapr",
            "s.yaml:5: resolve: expected one of name_server, farp, got \"fapr\"; did you mean \"farp\"?"},
        Bad{4, "  - name: b\n    capture: maybe", "s.yaml:5: capture: expected true or false, got \"maybe\""},
        Bad{4, "  - name: b\n    pipeline_depth: 256",
            "s.yaml:5: pipeline_depth: expected a whole number, 0 to 255, got \"256\""},
        Bad{4, "  - name: b\n    class: 1", "s.yaml:5: class: expected one of 2, 3, got \"1\"; did you mean \"2\"?"},
        Bad{4, "  - name: b\n    class: [2]", "s.yaml:5: class: expected one of 2, 3, got a list"},
        Bad{4, "  - name: b\n    end_to_end_credit: 32768",
            "s.yaml:5: end_to_end_credit: expected a whole number, 0 to 32767, got \"32768\""},
        Bad{4, "  - name: b\n    class: 2\n    end_to_end_credit: 0",
            "s.yaml:6: end_to_end_credit: expected at least 1 with class 2, got \"0\""},
        Bad{4, "  - name: b\n    ack_0: yep", "s.yaml:5: ack_0: expected true or false, got \"yep\""},
        Bad{4, "  - name: b\n    ack_0: true",
            "s.yaml:5: ack_0: expected false without end_to_end_credit, got \"true\""},
        Bad{7, "    client: bb", "s.yaml:7: client: expected one of a, b, got \"bb\"; did you mean \"b\"?"},
        Bad{8, "    serer: b", "s.yaml:8: unknown key \"serer\" in workloads[0]; did you mean \"server\"?"},
        Bad{8, "    server: b\n    reliability: reliable",
            "s.yaml:9: reliability: expected one of unreliable_delivery, reliable_delivery, "
            "reliable_reception, got \"reliable\"; did you mean \"reliable_delivery\"?"},
        Bad{8, "    server: b\n    max_transfer_size: 10",
            "s.yaml:9: max_transfer_size: expected a number of bytes such as 2048, 64KiB, 16MiB, from 128 to "
            "4,294,967,295, "
            "got \"10\""},
        Bad{8, "    server: b\n    expect: {connect: Sucess}",
            "s.yaml:9: connect: expected a known name, got \"Sucess\"; did you mean \"Success\"?"},
        Bad{10, "      - operation: sned",
            "s.yaml:10: operation: expected one of send, rdma_write, rdma_read, got \"sned\"; did you mean "
            "\"send\"?"},
        Bad{10, "      - repeat: 1", "s.yaml:10: workloads[0].transfers[0] needs the key \"operation\""},
        Bad{11, "        data: /no/such/file", "s.yaml:11: data: no such file: /no/such/file"},
        Bad{11, "        data: {rnadom: 1}", "s.yaml:11: unknown key \"rnadom\" in data; did you mean \"random\"?"},
        Bad{11, "        data: [1]", "s.yaml:11: data: expected a file's path or {random: SIZE}, got a list"},
        Bad{11, "        data: {random: 1}\n        segments: 0",
            "s.yaml:12: segments: expected a whole number, 1 to 250, got \"0\""},
        Bad{11, "        data: {random: 1}\n        immediate: 4294967296",
            "s.yaml:12: immediate: expected a whole number, 0 to 4294967295, got \"4294967296\""},
        Bad{11, "        data: {random: 1}\nexpectations: {ius: {FLOGIN: 1}}",
            "s.yaml:12: unknown key \"FLOGIN\" in ius; did you mean \"FLOGI\"?"},
        Bad{11, "        data: {random: 1}\nexpectations: {discards: {min: 2, max: 1}}",
            "s.yaml:12: discards: expected min not above max, got a mapping"}));

TEST(Loader, immediate_data_with_an_rdma_read_is_refused) {
  EXPECT_EQ(error_of(minimal, {"workloads.0.transfers.0.operation=rdma_read", "workloads.0.transfers.0.immediate=1"}),
            "--set workloads.0.transfers.0.immediate=1: immediate: expected none with rdma_read, got \"1\"");
}

TEST(Loader, buffers_are_of_sends_as_fast_as_they_go) {
  const std::string buffers = "workloads.0.transfers.0.buffers=";
  EXPECT_EQ(error_of(minimal, {buffers + "1"}),
            "--set " + buffers + "1: buffers: expected a whole number, 2 to 1024, got \"1\"");
  EXPECT_EQ(error_of(minimal, {"workloads.0.queue_depth=8", buffers + "9"}),
            "--set " + buffers + "9: buffers: expected at most queue_depth, 8, got \"9\"");
  for (const char* other : {"operation=rdma_write", "rate=1MB/s", "reply=10", "think_time=1us"})
    EXPECT_EQ(error_of(minimal, {std::string("workloads.0.transfers.0.") + other, buffers + "4"}),
              "--set " + buffers + "4: buffers: expected operation send, without a pace and reply, got \"4\"");
  const auto scenario = read(minimal, {buffers + "4"});
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->workloads[0].transfers[0].window(64), 4u);
}

TEST(Loader, message_above_the_transfer_size_is_refused) {
  EXPECT_EQ(error_of(minimal, {"workloads.w.max_transfer_size=1KiB", "workloads.w.transfers.0.message_bytes=2KiB"}),
            "--set workloads.w.transfers.0.message_bytes=2KiB: message_bytes: expected a number of bytes such as "
            "2048, 64KiB, "
            "16MiB, from 1 to 1,024, got \"2KiB\"");
}

TEST(Set, changes_present_and_absent_keys_by_position_and_by_name) {
  const auto scenario = read(minimal, {"topology.latency=1ms", "ports.b.capture=false", "ports.0.name=c",
                                       "workloads.0.client=c", "seed=9", "workloads.w.transfers.0.data.random=7"});
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->ports[0].link.latency_ns, runtime::millisecond);
  EXPECT_FALSE(scenario->ports[1].capture);
  EXPECT_EQ(scenario->ports[0].name, "c");
  EXPECT_EQ(scenario->seed, 9u);
  EXPECT_EQ(scenario->workloads[0].transfers[0].data.size_bytes, 7u);
}

TEST(Set, is_checked_like_the_file) {
  EXPECT_EQ(error_of(minimal, {"topology.latncy=1ms"}),
            "--set topology.latncy=1ms: unknown key \"latncy\" in topology; did you mean \"latency\"?");
  EXPECT_EQ(error_of(minimal, {"seed=x"}), "--set seed=x: seed: expected a whole number, at least 0, got \"x\"");
  EXPECT_EQ(error_of(minimal, {"seed"}), "--set seed: expected KEY=VALUE");
  EXPECT_EQ(error_of(minimal, {"=1"}), "--set =1: expected KEY=VALUE");
  EXPECT_EQ(error_of(minimal, {"ports.2.name=x"}), "--set ports.2.name=x: there is no \"2\" to go to");
  EXPECT_EQ(error_of(minimal, {"ports.z.name=x"}), "--set ports.z.name=x: there is no \"z\" to go to");
  EXPECT_EQ(error_of(minimal, {"ports=1"}), "--set ports=1: this is a list; only single values can be set");
  EXPECT_EQ(error_of(minimal, {"name.x=1"}), "--set name.x=1: there is no \"x\" to go to");
}

TEST(Loader, command_line_seed_wins) {
  const auto scenario = read_scenario(minimal, "s.yaml", "", {.seed = 77, .file = "", .assignments = {"seed=5"}});
  ASSERT_TRUE(scenario);
  EXPECT_EQ(scenario->seed, 77u);
}

TEST(Loader, missing_file_of_the_command_line) {
  const auto scenario = read_scenario(minimal, "s.yaml", "", {.seed = {}, .file = "/no/such", .assignments = {}});
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error().message, "--file /no/such: no such file");
}

TEST(Loader, missing_and_strange_scenario_files) {
  EXPECT_EQ(load_scenario("/no/such.yaml", {}).error().message,
            "/no/such.yaml: cannot read: No such file or directory");
  EXPECT_EQ(load_scenario("/tmp", {}).error().message, "/tmp: is a folder, expected a file");
  EXPECT_EQ(error_of(""), "s.yaml: is empty, expected a scenario");
  EXPECT_EQ(error_of("- 1"), "s.yaml:1: the scenario: expected a mapping, got a list");
  EXPECT_EQ(error_of("? {a: 1}\n: 2"), "s.yaml:1: a key must be plain text");
}

TEST(Loader, aliases_that_multiply_are_bounded) {
  // A small file that stands for billions of values.
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int j = 1; j < 10; ++j) text += ", " + last;
    text += "]\n";
  }
  EXPECT_NE(error_of(text).find("more than 200,000 values"), std::string::npos);
}

TEST(Loader, both_may_disconnect) {
  for (const bool both : {false, true}) {
    const std::string text =
        std::string(
            "name: x\nports: [{name: a}, {name: b}]\nworkloads:\n  - {name: w, client: a, server: b, disconnect_by: ") +
        (both ? "both" : "client") + "}\n";
    const auto scenario = read_scenario(text, "s.yaml", "", {});
    ASSERT_TRUE(scenario);
    EXPECT_EQ(scenario->workloads[0].disconnect_by_both, both);
  }
}

TEST(Loader, scenarios_of_the_project_are_valid) {
  const std::filesystem::path folder = support::source_dir() + "/tools/scenarios";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    const auto file = ScenarioFile::load(entry.path().string(), {});
    ASSERT_TRUE(file) << file.error().message;
    for (std::size_t i = 0; i < file->size(); ++i) {
      const auto scenario = file->scenario(i);
      EXPECT_TRUE(scenario) << scenario.error().message;
    }
  }
  EXPECT_GE(count, 2);
}

}  // namespace
}  // namespace sim
