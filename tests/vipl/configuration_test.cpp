// The NIC configuration file: what it may say, and what is said about every mistake.
#include "vipl/configuration/configuration.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "settings/file.hpp"
#include "tests/support/source_dir.hpp"

namespace vipl {
namespace {

Configuration good(const std::string& text) {
  const auto parsed = parse_configuration(text, "/etc/fcvi/nics.yaml");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : built_in_configuration();
}

std::string error_of(const std::string& text) {
  const auto parsed = parse_configuration(text, "n.yaml");
  return parsed ? "no error" : parsed.error().message;
}

/// `lines` of the only NIC, after its name on line 2.
std::string nic_error(const std::string& lines) { return error_of("nics:\n- name: a\n" + lines); }

TEST(Configuration, built_in) {
  const Configuration configuration = built_in_configuration();
  ASSERT_EQ(configuration.nics.size(), 3u);
  EXPECT_EQ(configuration.find("VITCP0"), &configuration.nics[2]);
  EXPECT_NE(configuration.nics[2].tcp(), nullptr);
  EXPECT_EQ(configuration.find("VILO"), &configuration.nics[1]);
  EXPECT_TRUE(configuration.nics[1].is_loopback());
  const NicConfiguration& nic = configuration.nics[0];
  EXPECT_EQ(nic.name, "VINIC");
  EXPECT_EQ(transport_name(nic), "local");
  for (const char* name :
       {"VINIC", "VINIC0", "/dev/clanvi0", "/dev/via_eth0", "/dev/via_lo", "/etc/via_lo", "nic0", "clan0"})
    EXPECT_EQ(configuration.find(name), &nic) << name;
  for (const char* name : {"", "vinic", "VINIC1", "nic1", "VINIC "})
    EXPECT_EQ(configuration.find(name), nullptr) << name;
}

TEST(Configuration, nothing_at_all_is_the_built_in_one) {
  for (const char* text : {"", "# only a comment\n", "---\n", "fabric_idle_time: 30s"}) {
    const Configuration configuration = good(text);
    ASSERT_EQ(configuration.nics.size(), 3u) << text;
    EXPECT_NE(configuration.find("nic0"), nullptr) << text;
    EXPECT_EQ(configuration.fabric_idle_time, 30 * runtime::second);
    EXPECT_EQ(configuration.wait_spin, 50 * runtime::microsecond);
    EXPECT_EQ(configuration.connect_spin, 30 * runtime::microsecond);
    EXPECT_EQ(configuration.poll_spin, 50 * runtime::microsecond);
  }
}

TEST(Configuration, everything) {
  const Configuration configuration = good(R"(
fabric_idle_time: 2.5s
wait_spin: 0
connect_spin: 1ms
poll_spin: 1ms
hosts: all-hosts
nics:
  - name: san0
    aliases: [nic0, /dev/via_lo]
    transport: in_process
    node_name: Node1.example.org
    addresses: [10.1.0.1, "fd00::1"]
    port_name: 30:00:00:00:00:00:00:01
    node_wwn: 30:00:00:00:00:00:00:02
    strict_tags: true
    reorder_pool: 7MiB
    hosts: /srv/hosts
    limits: {max_vis: 10, max_descriptors_per_queue: 11, max_segments_per_descriptor: 12, max_completion_queues: 13,
             max_completion_queue_entries: 14, max_transfer_size: 1MiB, max_regions: 15, max_region_bytes: 2GiB,
             max_registered_bytes: 3GiB, max_ptags: 16}
    timeouts: {open: 1s, ulp: 2s, farp: 3ms, name_service: 4s, name_appears: 0}
  - name: VINIC
)");
  EXPECT_EQ(configuration.source, "/etc/fcvi/nics.yaml");
  EXPECT_EQ(configuration.fabric_idle_time, 2500 * runtime::millisecond);
  EXPECT_EQ(configuration.wait_spin, 0);
  EXPECT_EQ(configuration.connect_spin, runtime::millisecond);
  EXPECT_EQ(configuration.poll_spin, runtime::millisecond);
  ASSERT_EQ(configuration.nics.size(), 4u);
  const NicConfiguration& nic = configuration.nics[0];
  EXPECT_EQ(nic.name, "san0");
  EXPECT_EQ(transport_name(nic), "in_process");
  ASSERT_NE(nic.fibre_channel(), nullptr);
  const FcChoices& fc = *nic.fibre_channel();
  EXPECT_EQ(nic.node_name, "Node1.example.org");
  EXPECT_EQ(nic.addresses, (std::vector{wire::IpAddress::v4(10, 1, 0, 1), *wire::IpAddress::from_string("fd00::1")}));
  EXPECT_EQ(fc.port_name.value, 0x3000000000000001u);
  EXPECT_EQ(fc.node_wwn.value, 0x3000000000000002u);
  EXPECT_TRUE(nic.limits.strict_tags);
  EXPECT_EQ(fc.reorder_pool_bytes, 7u << 20);
  EXPECT_EQ(nic.hosts_file, "/srv/hosts");
  EXPECT_EQ(nic.limits.max_vis, 10u);
  EXPECT_EQ(nic.limits.max_descriptors_per_queue, 11u);
  EXPECT_EQ(nic.limits.max_segments_per_descriptor, 12u);
  EXPECT_EQ(nic.limits.max_completion_queues, 13u);
  EXPECT_EQ(nic.limits.max_completion_queue_entries, 14u);
  EXPECT_EQ(nic.limits.max_transfer_size_bytes, 1u << 20);
  EXPECT_EQ(nic.limits.memory.max_regions, 15u);
  EXPECT_EQ(nic.limits.memory.max_region_bytes, 2ull << 30);
  EXPECT_EQ(nic.max_registered_bytes, 3ull << 30);
  EXPECT_EQ(nic.limits.memory.max_ptags, 16u);
  EXPECT_EQ(nic.open_timeout, runtime::second);
  EXPECT_EQ(fc.timeouts.ulp, 2 * runtime::second);
  EXPECT_EQ(fc.timeouts.farp, 3 * runtime::millisecond);
  EXPECT_EQ(fc.timeouts.name_service, 4 * runtime::second);
  EXPECT_EQ(fc.timeouts.name_appears, 0);
  EXPECT_EQ(configuration.nics[1].hosts_file, "/etc/fcvi/all-hosts");  // beside the configuration
  EXPECT_EQ(configuration.nics[2].name, "VILO");                       // there by themselves
  EXPECT_EQ(configuration.nics[3].name, "VITCP0");
}

// Ruling 86: built-in names mean the NIC that the file gives them to, the others VINIC, or else the first.
TEST(Configuration, built_in_names_that_nobody_has) {
  const Configuration with_vinic = good("nics:\n- name: san0\n  aliases: [nic0]\n- name: VINIC\n");
  EXPECT_EQ(with_vinic.find("nic0")->name, "san0");
  EXPECT_EQ(with_vinic.find("VINIC")->name, "VINIC");
  EXPECT_EQ(with_vinic.find("/dev/via_lo")->name, "VINIC");
  const Configuration without = good("nics:\n- name: san0\n- name: san1\n  aliases: [nic0]\n");
  EXPECT_EQ(without.find("VINIC")->name, "san0");
  EXPECT_EQ(without.find("nic0")->name, "san1");
  EXPECT_EQ(without.find("san2"), nullptr);
}

TEST(Configuration, errors_of_the_file) {
  EXPECT_EQ(error_of("nisc: []"), "n.yaml:1:1: unknown key \"nisc\" in the configuration; did you mean \"nics\"?");
  EXPECT_EQ(error_of("- a"), "n.yaml:1:1: the configuration: expected a mapping, got a list");
  EXPECT_EQ(error_of("nics: []"), "n.yaml:1:1: nics: expected 1 to 64 NICs, each with a name, got a list");
  EXPECT_EQ(error_of("nics: x"), "n.yaml:1:1: nics: expected a list, got \"x\"");
  EXPECT_EQ(error_of("nics: ~"), "n.yaml:1:1: nics: expected a list, got nothing");
  EXPECT_EQ(error_of("nics:\n  - transport: local"), "n.yaml:2:5: nics[0] needs the key \"name\"");
  EXPECT_EQ(error_of("nics:\n  - x"), "n.yaml:2:5: nics[0]: expected a mapping, got \"x\"");
  EXPECT_EQ(error_of("hosts: [a]"), "n.yaml:1:1: hosts: expected text, got a list");
  EXPECT_EQ(
      error_of("\nfabric_idle_time: 5"),
      "n.yaml:2:1: fabric_idle_time: expected a time such as 500ns, 10us, 2.5ms, 1s, from 1.000 s to 86400.000 s, "
      "got \"5\"");
  EXPECT_EQ(error_of("hosts: a\nhosts: b"), "n.yaml:2:1: key \"hosts\" stands here twice");
  EXPECT_EQ(error_of("nics: {"), "n.yaml:1:1: not YAML: end of map flow not found");
  EXPECT_EQ(error_of("nics: &a [*a]"), "n.yaml:1:7: more than 64 levels, one in another");
  std::string many = "nics:\n";
  for (int i = 0; i < 65; ++i) many += "- name: n" + std::to_string(i) + "\n";
  EXPECT_EQ(error_of(many), "n.yaml:1:1: nics: expected 1 to 64 NICs, each with a name, got a list");
}

TEST(Configuration, errors_of_a_nic) {
  EXPECT_EQ(nic_error("  nodename: x"), "n.yaml:3:3: unknown key \"nodename\" in nics[0]; did you mean \"node_name\"?");
  EXPECT_EQ(nic_error("  transport: locl"),
            "n.yaml:3:3: transport: expected one of local, in_process, fcoe, loopback, tcp, got \"locl\"; did you mean "
            "\"local\"?");
  EXPECT_EQ(nic_error("  transport: [local]"),
            "n.yaml:3:3: transport: expected one of local, in_process, fcoe, loopback, tcp, got a list");
  EXPECT_EQ(nic_error("  node_name: a b"),
            "n.yaml:3:3: node_name: expected a host name (letters, digits, '.', '-', '_', ':'), got \"a b\"");
  EXPECT_EQ(nic_error("  addresses: 10.0.0.1"), "n.yaml:3:3: addresses: expected a list, got \"10.0.0.1\"");
  EXPECT_EQ(nic_error("  addresses: []"), "n.yaml:3:3: addresses: expected 1 to 16 addresses, got a list");
  EXPECT_EQ(nic_error("  addresses: [10.0.0.300]"),
            "n.yaml:3:15: addresses: expected an IPv4 or IPv6 address, got \"10.0.0.300\"");
  for (const char* address : {"224.0.0.1", "255.255.255.255", "127.0.0.1", "\"ff02::1\"", "\"::1\""})
    EXPECT_NE(nic_error(std::string("  addresses: [") + address + "]").find("expected an address that one host has"),
              std::string::npos)
        << address;
  EXPECT_EQ(nic_error("  port_name: 30:00"),
            "n.yaml:3:3: port_name: expected a name such as 20:00:02:fc:f0:00:00:01, got \"30:00\"");
  EXPECT_EQ(nic_error("  node_wwn: 00:00:00:00:00:00:00:00"),
            "n.yaml:3:3: node_wwn: expected a name such as 20:00:02:fc:f0:00:00:01, got \"00:00:00:00:00:00:00:00\"");
  EXPECT_EQ(nic_error("  reorder_pool: 1KiB"),
            "n.yaml:3:3: reorder_pool: expected a number of bytes such as 2048, 64KiB, 16MiB, from 65,536 to "
            "68,719,476,736, got \"1KiB\"");
  EXPECT_EQ(nic_error("  strict_tags: yes"), "n.yaml:3:3: strict_tags: expected true or false, got \"yes\"");
  EXPECT_EQ(nic_error("  hosts:"), "n.yaml:3:3: hosts: expected text, got nothing");
  EXPECT_EQ(error_of("nics:\n- name: " + std::string(64, 'x')),
            "n.yaml:2:3: name: expected a name of 1 to 63 visible characters, got \"" + std::string(64, 'x') + "\"");
  EXPECT_EQ(error_of("nics:\n- name: \"a\\tb\""),
            "n.yaml:2:3: name: expected a name of 1 to 63 visible characters, got \"a\tb\"");
}

TEST(Configuration, errors_of_limits_and_timeouts) {
  EXPECT_EQ(nic_error("  limits: {max_vi: 3}"),
            "n.yaml:3:12: unknown key \"max_vi\" in limits; did you mean \"max_vis\"?");
  EXPECT_EQ(nic_error("  limits:\n    max_vis: 0"),
            "n.yaml:4:5: max_vis: expected a whole number, 1 to 1048576, got \"0\"");
  EXPECT_EQ(nic_error("  limits:\n    max_vis: 1048577"),
            "n.yaml:4:5: max_vis: expected a whole number, 1 to 1048576, got \"1048577\"");
  EXPECT_EQ(nic_error("  limits:\n    max_ptags: many"),
            "n.yaml:4:5: max_ptags: expected a whole number, 1 to 524288, got \"many\"");
  EXPECT_EQ(
      nic_error("  limits:\n    max_transfer_size: 4GiB"),
      "n.yaml:4:5: max_transfer_size: expected a number of bytes such as 2048, 64KiB, 16MiB, from 1 to 4,294,967,295, "
      "got \"4GiB\"");
  EXPECT_EQ(nic_error("  limits: 3"), "n.yaml:3:3: limits: expected a mapping, got \"3\"");
  EXPECT_EQ(
      nic_error("  timeouts: {mtu: 1s}"),
      "n.yaml:3:14: unknown key \"mtu\" in timeouts; known: open, ulp, farp, name_service, name_appears, request, "
      "close, segment");
  EXPECT_EQ(nic_error("  timeouts:\n    open: 0"),
            "n.yaml:4:5: open: expected a time such as 500ns, 10us, 2.5ms, 1s, from 1.000 ms to 3600.000 s, got \"0\"");
}

// Ethernet: an interface by its name or a cable of UDP datagrams, with or without a fabric.
TEST(Configuration, fcoe) {
  const Configuration configuration = good(R"(
nics:
- {name: a, transport: fcoe, interface: eth1}
- {name: b, interface: "udp:4001:4002", transport: fcoe, mode: vn2vn, mtu: 1500, vlan: 4094, mac: "02:00:00:00:00:01"}
- {name: c, transport: fcoe, interface: udp:10.0.0.1:4001:10.0.0.2:4002, mode: fabric, fcf: 10:00:00:00:00:00:00:01}
)");
  ASSERT_EQ(configuration.nics.size(), 5u);
  const auto fcoe = [&](std::size_t nic) {
    return std::get<FcoeChoices>(configuration.nics[nic].fibre_channel()->link);
  };
  const FcoeChoices a = fcoe(0);
  EXPECT_EQ(transport_name(configuration.nics[0]), "fcoe");
  EXPECT_EQ(a.interface, "eth1");
  EXPECT_EQ(a.mode, FcoeMode::Fabric);
  EXPECT_EQ(a.mtu, 0);
  EXPECT_EQ(a.vlan, 0);
  EXPECT_FALSE(a.mac);
  EXPECT_EQ(a.fcf, wire::Wwn{});
  const FcoeChoices b = fcoe(1);
  EXPECT_EQ(b.interface, "udp:4001:4002");
  EXPECT_EQ(b.mode, FcoeMode::Vn2vn);
  EXPECT_EQ(b.mtu, 1500);
  EXPECT_EQ(b.vlan, 4094);
  EXPECT_EQ(b.mac, wire::MacAddress::from_string("02:00:00:00:00:01"));
  const FcoeChoices c = fcoe(2);
  EXPECT_EQ(c.interface, "udp:10.0.0.1:4001:10.0.0.2:4002");
  EXPECT_EQ(c.fcf, wire::Wwn{0x1000'0000'0000'0001});
}

TEST(Configuration, mistakes_of_fcoe) {
  const auto error = [](const std::string& lines) { return nic_error("  transport: fcoe\n" + lines); };
  const std::string interface = "  interface: eth0\n";
  EXPECT_EQ(error(""), "n.yaml:2:3: nics[0] needs the key \"interface\"");
  for (const char* name : {"an_interface_of_16", "a/b", "\"udp:\"", "udp:1:2:3", "udp:0:1", "udp:1:65536", "udp:1:x",
                           "udp:10.0.0.256:1:10.0.0.1:2", "\"udp:::1:1:::1:2\""})
    EXPECT_TRUE(
        error("  interface: " + std::string(name)).starts_with("n.yaml:4:3: interface: expected an interface's name"))
        << error("  interface: " + std::string(name));
  EXPECT_EQ(error(interface + "  mode: vn2n"),
            "n.yaml:5:3: mode: expected one of fabric, vn2vn, got \"vn2n\"; did you mean \"vn2vn\"?");
  EXPECT_EQ(error(interface + "  mtu: 1499"), "n.yaml:5:3: mtu: expected a whole number, 1500 to 9216, got \"1499\"");
  EXPECT_EQ(error(interface + "  vlan: 0"), "n.yaml:5:3: vlan: expected a whole number, 1 to 4094, got \"0\"");
  EXPECT_EQ(error(interface + "  vlan: 4095"), "n.yaml:5:3: vlan: expected a whole number, 1 to 4094, got \"4095\"");
  EXPECT_EQ(error(interface + "  mtu: 9217"), "n.yaml:5:3: mtu: expected a whole number, 1500 to 9216, got \"9217\"");
  for (const char* mac : {"eth0", "01:00:00:00:00:01", "00:00:00:00:00:00"})
    EXPECT_EQ(error(interface + "  mac: " + mac),
              "n.yaml:5:3: mac: expected a MAC address of one station, as 02:00:00:00:00:01, got \"" +
                  std::string(mac) + "\"");
  EXPECT_EQ(error(interface + "  mode: vn2vn\n  fcf: 10:00:00:00:00:00:00:01"),
            "n.yaml:6:3: fcf: with mode: vn2vn there is none");
  EXPECT_EQ(nic_error("  mtu: 1500"), "n.yaml:3:3: mtu is for transport: fcoe, this NIC's is local");
  EXPECT_EQ(nic_error("  transport: in_process\n  interface: eth0"),
            "n.yaml:4:3: interface is for transport: fcoe, this NIC's is in_process");
}

// The loop-back NIC: what only Fibre Channel has is a mistake there. VILO is there unless its name is another's.
TEST(Configuration, loopback) {
  const Configuration configuration = good(R"(
nics:
- {name: a, transport: loopback, node_name: other, addresses: [10.0.0.1], timeouts: {open: 1s}}
- {name: b, aliases: [VILO]}
)");
  ASSERT_EQ(configuration.nics.size(), 3u);
  EXPECT_TRUE(configuration.nics[0].is_loopback());
  EXPECT_EQ(transport_name(configuration.nics[0]), "loopback");
  EXPECT_EQ(configuration.find("VILO"), &configuration.nics[1]);
  EXPECT_FALSE(configuration.nics[1].is_loopback());
  const auto error = [](const std::string& lines) { return nic_error("  transport: loopback\n" + lines); };
  EXPECT_EQ(error("  mtu: 1500"), "n.yaml:4:3: mtu is for transport: fcoe, this NIC's is loopback");
  EXPECT_EQ(error("  port_name: 30:00:00:00:00:00:00:01"),
            "n.yaml:4:3: port_name is for transports of Fibre Channel, this NIC's is loopback");
  EXPECT_EQ(error("  timeouts: {ulp: 1s}"),
            "n.yaml:4:14: ulp is for transports of Fibre Channel, this NIC's is loopback");
  const auto simulated = simulated_nic("VILO");
  ASSERT_TRUE(simulated);
  EXPECT_TRUE(simulated->is_loopback());
  EXPECT_EQ(simulated->addresses, std::vector{wire::IpAddress::v4(10, 0, 1, 1)});
}

// VI over TCP: its own address may be a loopback one. VITCP0 is there unless its name is another's.
TEST(Configuration, tcp) {
  const Configuration configuration = good(R"(
nics:
- {name: a, transport: tcp}
- name: b
  aliases: [VITCP0]
  transport: tcp
  addresses: [127.0.0.2, "::1"]
  port: 4711
  listen: own
  listen_at: "::"
  crc: ask
  urgent_marks: false
  descriptor_flow_control: false
  rdma_read_window: 0
  segment_bytes: 1KiB
  timeouts: {open: 1s, request: 2s, close: 3s, segment: 4s}
- {name: c, transport: tcp, crc: refuse, listen: none}
)");
  ASSERT_EQ(configuration.nics.size(), 4u);  // and VILO
  EXPECT_EQ(configuration.find("VITCP0"), &configuration.nics[1]);
  const TcpChoices a = *configuration.nics[0].tcp(), b = *configuration.nics[1].tcp(), c = *configuration.nics[2].tcp();
  EXPECT_EQ(transport_name(configuration.nics[0]), "tcp");
  EXPECT_EQ(a.provider.port, wire::vitcp::default_port);
  EXPECT_EQ(a.listen, Listening::Shared);
  EXPECT_FALSE(a.listen_at);
  EXPECT_TRUE(!a.provider.ask_for_crc && a.provider.grant_crc);
  EXPECT_EQ(configuration.nics[1].addresses,
            (std::vector{wire::IpAddress::v4(127, 0, 0, 2), *wire::IpAddress::from_string("::1")}));
  EXPECT_EQ(b.provider.port, 4711);
  EXPECT_EQ(b.listen, Listening::Own);
  EXPECT_EQ(b.listen_at, wire::IpAddress{});
  EXPECT_TRUE(b.provider.ask_for_crc && b.provider.grant_crc);
  EXPECT_FALSE(b.provider.take_urgent_marks || b.provider.descriptor_flow_control);
  EXPECT_EQ(b.provider.rdma_read_window, 0);
  EXPECT_EQ(b.provider.segment_bytes, 1024u);
  EXPECT_EQ(configuration.nics[1].open_timeout, runtime::second);
  EXPECT_EQ(b.provider.request_timeout, 2 * runtime::second);
  EXPECT_EQ(b.provider.close_timeout, 3 * runtime::second);
  EXPECT_EQ(b.provider.segment_timeout, 4 * runtime::second);
  EXPECT_FALSE(c.provider.ask_for_crc || c.provider.grant_crc);
  EXPECT_EQ(c.listen, Listening::None);
}

TEST(Configuration, mistakes_of_tcp) {
  const auto error = [](const std::string& lines) { return nic_error("  transport: tcp\n" + lines); };
  EXPECT_EQ(error("  port: 0"), "n.yaml:4:3: port: expected a whole number, 1 to 65535, got \"0\"");
  EXPECT_EQ(error("  listen: share"),
            "n.yaml:4:3: listen: expected one of shared, own, none, got \"share\"; did you mean \"shared\"?");
  EXPECT_EQ(error("  crc: on"), "n.yaml:4:3: crc: expected one of ask, grant, refuse, got \"on\"");
  EXPECT_EQ(error("  segment_byts: 1KiB"),
            "n.yaml:4:3: unknown key \"segment_byts\" in nics[0]; did you mean \"segment_bytes\"?");
  EXPECT_TRUE(error("  segment_bytes: 255").starts_with("n.yaml:4:3: segment_bytes: expected"));
  EXPECT_TRUE(error("  segment_bytes: 65536").starts_with("n.yaml:4:3: segment_bytes: expected"));
  EXPECT_TRUE(error("  rdma_read_window: 65536").starts_with("n.yaml:4:3: rdma_read_window: expected"));
  EXPECT_TRUE(error("  listen_at: 224.0.0.1").starts_with("n.yaml:4:3: listen_at: expected an address of this host"));
  EXPECT_EQ(error("  listen: none\n  listen_at: 127.0.0.1"), "n.yaml:5:3: listen_at: with listen: none there is none");
  EXPECT_TRUE(error("  addresses: [224.0.0.1]").starts_with("n.yaml:4:15: addresses: expected"));
  EXPECT_EQ(error("  mtu: 1500"), "n.yaml:4:3: mtu is for transport: fcoe, this NIC's is tcp");
  EXPECT_EQ(error("  reorder_pool: 1MiB"),
            "n.yaml:4:3: reorder_pool is for transports of Fibre Channel, this NIC's is tcp");
  EXPECT_EQ(error("  timeouts: {ulp: 1s}"), "n.yaml:4:14: ulp is for transports of Fibre Channel, this NIC's is tcp");
  EXPECT_EQ(nic_error("  crc: ask"), "n.yaml:3:3: crc is for transport: tcp, this NIC's is local");
  EXPECT_EQ(nic_error("  timeouts: {close: 1s}"), "n.yaml:3:14: close is for transport: tcp, this NIC's is local");
  EXPECT_TRUE(nic_error("  addresses: [127.0.0.1]").starts_with("n.yaml:3:15: addresses: expected"));
}

// An address is another one on another network, and at another port.
TEST(Configuration, tcp_addresses_of_several_nics) {
  EXPECT_TRUE(good("nics:\n- {name: a, addresses: [10.0.0.1]}\n- {name: b, transport: tcp, addresses: [10.0.0.1]}\n"
                   "- {name: c, transport: tcp, port: 1, addresses: [10.0.0.1]}\n")
                  .find("c"));
  EXPECT_EQ(error_of("nics:\n- {name: b, transport: tcp, addresses: [10.0.0.1]}\n"
                     "- {name: c, transport: tcp, addresses: [10.0.0.1]}\n"),
            "n.yaml:3:41: address 10.0.0.1 belongs to NIC b already");
}

// Who has it already is told.
TEST(Configuration, errors_of_what_stands_twice) {
  EXPECT_EQ(error_of("nics:\n- name: a\n- name: a\n"), "n.yaml:3:3: name a stands here twice");
  EXPECT_EQ(error_of("nics:\n- name: a\n  aliases: [b]\n- name: b\n"), "n.yaml:4:3: name b belongs to NIC a already");
  EXPECT_EQ(error_of("nics:\n- name: a\n- name: b\n  aliases: [c, a]\n"),
            "n.yaml:4:16: alias a belongs to NIC a already");
  EXPECT_EQ(nic_error("  aliases: [b, b]"), "n.yaml:3:16: alias b stands here twice");
  EXPECT_EQ(nic_error("  addresses: [10.0.0.1, \"::ffff:10.0.0.1\"]"),
            "n.yaml:3:25: address 10.0.0.1 stands here twice");
  EXPECT_EQ(error_of("nics:\n- name: a\n  addresses: [10.0.0.1]\n- name: b\n  addresses: [10.0.0.1]\n"),
            "n.yaml:5:15: address 10.0.0.1 belongs to NIC a already");
  EXPECT_EQ(
      error_of(
          "nics:\n- name: a\n  port_name: 30:00:00:00:00:00:00:01\n- name: b\n  port_name: 30:00:00:00:00:00:00:01\n"),
      "n.yaml:5:3: port_name 30:00:00:00:00:00:00:01 belongs to NIC a already");
}

/// The example file; `all`: with the comment signs before its NICs taken away.
std::string example(bool all) {
  const auto text = settings::read_file(support::source_dir() + "/vipl/vipl.example.yaml", 1u << 20);
  EXPECT_TRUE(text);
  std::string lines;
  bool nics = false;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = text->find('\n', begin);
    std::string line = text->substr(begin, end - begin);
    nics = nics || line.starts_with("# nics:");
    if (all && nics && line.starts_with("#")) line.erase(0, std::min<std::size_t>(2, line.size()));
    lines += line + "\n";
    begin = end + 1;
  }
  return lines;
}

// The example is a configuration with all its lines, and so every key of it is known.
TEST(Configuration, example_file_with_all_its_lines_is_good) {
  EXPECT_TRUE(parse_configuration(example(false), "example"));
  const auto parsed = parse_configuration(example(true), "example");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const NicConfiguration &nic = parsed->nics.at(0), defaults = built_in_configuration().nics.at(0);
  EXPECT_EQ(nic.node_name, "node1");
  EXPECT_EQ(nic.aliases, defaults.aliases);  // the defaults that it shows are the defaults
  EXPECT_EQ(nic.limits.max_vis, defaults.limits.max_vis);
  EXPECT_EQ(nic.limits.max_descriptors_per_queue, defaults.limits.max_descriptors_per_queue);
  EXPECT_EQ(nic.limits.max_segments_per_descriptor, defaults.limits.max_segments_per_descriptor);
  EXPECT_EQ(nic.limits.max_completion_queues, defaults.limits.max_completion_queues);
  EXPECT_EQ(nic.limits.max_completion_queue_entries, defaults.limits.max_completion_queue_entries);
  EXPECT_EQ(nic.limits.max_transfer_size_bytes, defaults.limits.max_transfer_size_bytes);
  EXPECT_EQ(nic.limits.memory.max_regions, defaults.limits.memory.max_regions);
  EXPECT_EQ(nic.limits.memory.max_region_bytes, defaults.limits.memory.max_region_bytes);
  EXPECT_EQ(nic.limits.memory.max_ptags, defaults.limits.memory.max_ptags);
  EXPECT_EQ(nic.max_registered_bytes, defaults.max_registered_bytes);
  EXPECT_EQ(nic.open_timeout, defaults.open_timeout);
  EXPECT_EQ(nic.fibre_channel()->timeouts.name_service, defaults.fibre_channel()->timeouts.name_service);
  EXPECT_EQ(nic.fibre_channel()->timeouts.name_appears, defaults.fibre_channel()->timeouts.name_appears);
  const NicConfiguration& ethernet = parsed->nics.at(1);
  EXPECT_EQ(transport_name(ethernet), "fcoe");
  EXPECT_EQ(std::get<FcoeChoices>(ethernet.fibre_channel()->link).mode, FcoeChoices().mode);
  const NicConfiguration* const tcp = parsed->find("VITCP0");
  ASSERT_TRUE(tcp != nullptr && tcp->tcp() != nullptr);
  const TcpChoices &shown = *tcp->tcp(), usual = {};
  EXPECT_EQ(shown.listen, usual.listen);
  EXPECT_EQ(shown.provider.port, usual.provider.port);
  EXPECT_EQ(shown.provider.grant_crc, usual.provider.grant_crc);
  EXPECT_EQ(shown.provider.ask_for_crc, usual.provider.ask_for_crc);
  EXPECT_EQ(shown.provider.take_urgent_marks, usual.provider.take_urgent_marks);
  EXPECT_EQ(shown.provider.descriptor_flow_control, usual.provider.descriptor_flow_control);
  EXPECT_EQ(shown.provider.rdma_read_window, usual.provider.rdma_read_window);
  EXPECT_EQ(shown.provider.segment_bytes, usual.provider.segment_bytes);
  EXPECT_EQ(shown.provider.request_timeout, usual.provider.request_timeout);
  EXPECT_EQ(shown.provider.close_timeout, usual.provider.close_timeout);
  EXPECT_EQ(shown.provider.segment_timeout, usual.provider.segment_timeout);
}

// Whatever stands in the file: it is good, or there is a message that names the file.
TEST(Configuration, damaged_files_are_told_or_good) {
  const std::string whole = example(true);
  std::mt19937 random(1);
  int good_ones = 0;
  constexpr int files = 3000;
  constexpr std::string_view signs("-:[]{}&*#!|>'\"%@`,?\n \t0x~\0\xFF", 28);
  for (int i = 0; i < files; ++i) {
    std::string text = whole;
    for (unsigned change = random() % 4 + 1; change > 0; --change) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0)
        text[at] = signs[random() % signs.size()];
      else
        text.erase(at, random() % 40);
    }
    const auto parsed = parse_configuration(text, "damaged");
    if (parsed)
      ++good_ones;
    else
      EXPECT_TRUE(parsed.error().message.starts_with("damaged:")) << parsed.error().message;
  }
  EXPECT_GT(good_ones, 0);
  EXPECT_LT(good_ones, files);
}

// --- where it is looked for --------------------------------------------------------------------------------------

class ConfigurationFiles : public testing::Test {
 protected:
  ConfigurationFiles() : folder_(testing::TempDir() + "/fcvi_configuration_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~ConfigurationFiles() override {
    std::filesystem::remove_all(folder_);
    for (const char* name : {"FCVI_CONFIG", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"}) unsetenv(name);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
    return path(name);
  }

 private:
  const std::string folder_;
};

TEST_F(ConfigurationFiles, first_usual_place_counts) {
  const std::string second = write("second", "nics:\n- name: b\n"), third = write("third", "nics: bad\n");
  const auto loaded = load_configuration({"", {path("first"), second, third}});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->source, second);
  EXPECT_EQ(loaded->nics[0].name, "b");
  EXPECT_EQ(load_configuration({"", {path("first")}})->source, "");
}

TEST_F(ConfigurationFiles, a_named_file_must_be_there) {
  const auto loaded = load_configuration({path("none"), {write("usual", "")}});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, path("none") + ": cannot read: No such file or directory");
  EXPECT_FALSE(load_configuration({path(""), {}}));  // a folder
}

TEST_F(ConfigurationFiles, environment_says_where) {
  setenv("XDG_CONFIG_HOME", path("home").c_str(), 1);
  setenv("XDG_CONFIG_DIRS", (path("a") + ":relative::" + path("b")).c_str(), 1);
  EXPECT_EQ(configuration_places().usual, (std::vector{path("home/fcvi/nics.yaml"), path("a/fcvi/nics.yaml"),
                                                       path("b/fcvi/nics.yaml"), std::string("/etc/fcvi/nics.yaml")}));
  EXPECT_EQ(configuration_places().named, "");
  setenv("FCVI_CONFIG", "x.yaml", 1);
  EXPECT_EQ(configuration_places().named, "x.yaml");
}

// Bad: said once for each message. Good at last: kept.
TEST_F(ConfigurationFiles, process_configuration) {
  setenv("FCVI_CONFIG", write("nics.yaml", "nics: 1").c_str(), 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(process_configuration(), nullptr);
  EXPECT_EQ(process_configuration(), nullptr);
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string message = "nics.yaml:1:1: nics: expected a list, got \"1\"";
  ASSERT_NE(said.find(message), std::string::npos) << said;
  EXPECT_EQ(said.find(message, said.find(message) + 1), std::string::npos) << said;
  write("nics.yaml", "nics:\n- name: late\n");
  const Configuration* configuration = process_configuration();
  ASSERT_NE(configuration, nullptr);
  EXPECT_EQ(configuration->nics[0].name, "late");
  write("nics.yaml", "nics: 1");
  EXPECT_EQ(process_configuration(), configuration);
}

TEST(Configuration, simulated_nics) {
  const auto nic = simulated_nic("VINIC7");
  ASSERT_TRUE(nic);
  EXPECT_EQ(nic->name, "VINIC7");
  EXPECT_EQ(nic->node_name, "host7");
  EXPECT_EQ(transport_name(*nic), "in_process");
  EXPECT_EQ(nic->addresses, std::vector{wire::IpAddress::v4(10, 0, 0, 8)});
  EXPECT_EQ(simulated_nic("nic0")->name, "VINIC0");
  EXPECT_EQ(simulated_nic("VINIC249")->addresses, std::vector{wire::IpAddress::v4(10, 0, 0, 250)});
  for (const char* name : {"", "vinic", "VINIC250", "VINIC01", "VINIC-1", "VINIC1x", "VINIC99999999999", "/dev/null"})
    EXPECT_FALSE(simulated_nic(name)) << name;
}

}  // namespace
}  // namespace vipl
