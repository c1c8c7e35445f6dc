// Node names, and the addresses and names that come of them (vipl-in-the-wild ruling 2).
#include "vipl/configuration/host_addresses.hpp"
#include "vipl/configuration/node_identity.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "vipl/devices/fc_names.hpp"

namespace vipl {
namespace {

ProcessFacts facts(const std::string& node_name, std::uint32_t pid = 100, std::uint64_t start_time = 5) {
  return {node_name, "box", "vicp", pid, start_time};
}
NicConfiguration nic(const std::string& name = "VINIC") {
  NicConfiguration configuration;
  configuration.name = name;
  return configuration;
}
FcNames names_of(const NicConfiguration& configuration, const ProcessFacts& process) {
  return fc_names(*configuration.fibre_channel(), derive(configuration, process));
}

// Addresses must never change between versions: processes of two versions share a fabric. By FNV-1a 64 of "node1\0".
TEST(NodeIdentity, default_address_is_stable) {
  EXPECT_EQ(to_string(default_address("node1")), "fdfc:7669::e6f5:e3c2:20c8:fefc");
  EXPECT_EQ(names_of(nic(), facts("node1")).node_name.value, 0x36f5e3c220c8fefcu);
}

TEST(NodeIdentity, one_short_name_is_one_host) {
  const NodeIdentity a = derive(nic(), facts("node1")), b = derive(nic(), facts("NODE1.example.org", 101));
  EXPECT_EQ(a.addresses, b.addresses);
  EXPECT_EQ(a.node_hash, b.node_hash);
  EXPECT_EQ(b.node_name, "NODE1.example.org");  // as given
  EXPECT_EQ(b.host_name, "box");
  EXPECT_NE(a.nic_hash, b.nic_hash);  // two N_Ports of one node
}

TEST(NodeIdentity, two_names_are_two_hosts) {
  const NodeIdentity a = derive(nic(), facts("node1")), b = derive(nic(), facts("node2"));
  EXPECT_NE(a.addresses, b.addresses);
  EXPECT_NE(a.node_hash, b.node_hash);
  EXPECT_NE(default_address("10.0.0.1"), default_address("10.0.0.2"));  // an address text has no short name
}

TEST(NodeIdentity, names_are_locally_assigned) {
  const NodeIdentity identity = derive(nic(), facts("node1"));
  const FcNames names = fc_names({}, identity);
  EXPECT_EQ(names.node_name.value >> 60, 3u);
  EXPECT_EQ(names.port_name.value >> 60, 3u);
  EXPECT_NE(names.node_name, names.port_name);
  EXPECT_EQ(identity.nic_of_process, "vicp[100] VINIC");
  ASSERT_EQ(identity.addresses.size(), 1u);
  EXPECT_TRUE(is_default_address(identity.addresses[0]));
}

TEST(NodeIdentity, port_name_is_of_process_and_nic) {
  std::set<wire::Wwn> names;
  for (const std::string name : {"VINIC", "VINIC1"})
    for (std::uint32_t pid = 1; pid < 1000; ++pid)
      for (std::uint64_t start : {1u, 2u, 1000000u})
        names.insert(names_of(nic(name), facts("node1", pid, start)).port_name);
  EXPECT_EQ(names.size(), 2u * 999u * 3u);
  EXPECT_EQ(names_of(nic(), facts("node1")).port_name, names_of(nic(), facts("node1")).port_name);
}

TEST(NodeIdentity, node_names_of_a_cluster_do_not_collide) {
  std::set<wire::IpAddress> addresses;
  for (int i = 0; i < 100'000; ++i) addresses.insert(default_address("node" + std::to_string(i)));
  EXPECT_EQ(addresses.size(), 100'000u);
}

TEST(NodeIdentity, configuration_wins) {
  NicConfiguration configuration = nic();
  configuration.node_name = "other";
  configuration.addresses = {wire::IpAddress::v4(10, 1, 0, 1)};
  configuration.transport = FcChoices{.link = {}, .port_name = {1}, .node_wwn = {2}};
  const NodeIdentity identity = derive(configuration, facts("node1"));
  EXPECT_EQ(identity.node_name, "other");
  EXPECT_EQ(identity.addresses, configuration.addresses);
  EXPECT_EQ(names_of(configuration, facts("node1")).port_name, wire::Wwn{1});
  EXPECT_EQ(names_of(configuration, facts("node1")).node_name, wire::Wwn{2});
  EXPECT_FALSE(is_default_address(identity.addresses[0]));
}

TEST(NodeIdentity, short_names) {
  EXPECT_EQ(short_name("Node1.Example.org"), "node1");
  EXPECT_EQ(short_name("node1"), "node1");
  EXPECT_EQ(short_name("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(short_name("FD00::1"), "fd00::1");
  EXPECT_EQ(short_name(""), "");
}

TEST(NodeIdentity, what_is_a_node_name) {
  for (const char* name : {"a", "node-1.example.org", "10.0.0.1", "my_node", "fd00::1"})
    EXPECT_TRUE(is_node_name(name)) << name;
  for (const std::string& name :
       {std::string(), std::string(".a"), std::string("a b"), std::string("a#"), std::string("a\n"),
        std::string("n\xC3\xB6"), std::string("a\0b", 3), std::string(256, 'a')})
    EXPECT_FALSE(is_node_name(name)) << name;
  EXPECT_TRUE(is_node_name(std::string(255, 'a')));
}

TEST(NodeIdentity, names_that_mean_one_host) {
  EXPECT_EQ(match("Node1", "nODE1"), NameMatch::Exact);
  EXPECT_EQ(match("node1.a.org.", "node1.A.org"), NameMatch::Exact);
  EXPECT_EQ(match("node1", "node1.a.org"), NameMatch::Short);
  EXPECT_EQ(match("node1.a.org", "node1"), NameMatch::Short);
  EXPECT_EQ(match("node1.a.org", "node1.b.org"), NameMatch::None);
  EXPECT_EQ(match("node1", "node11"), NameMatch::None);
  EXPECT_EQ(match("10", "10.0.0.1"), NameMatch::None);
  EXPECT_EQ(match("", ""), NameMatch::Exact);
  EXPECT_EQ(match("", "a"), NameMatch::None);
}

TEST(NodeIdentity, addresses_that_hosts_have) {
  for (const char* text : {"10.0.0.1", "1.0.0.0", "223.255.255.255", "fd00::1", "fe80::1", "::2"})
    EXPECT_TRUE(is_host_address(*wire::IpAddress::from_string(text))) << text;
  for (const char* text :
       {"::", "::1", "0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.0.1", "224.0.0.1", "255.255.255.255", "ff02::1"})
    EXPECT_FALSE(is_host_address(*wire::IpAddress::from_string(text))) << text;
}

// A NIC of VI over TCP has the host's addresses, unless it is configured with others.
TEST(NodeIdentity, addresses_over_tcp_are_the_hosts) {
  NicConfiguration configuration = nic();
  configuration.transport = TcpChoices{};
  ProcessFacts process = facts("node1");
  process.host_addresses = {wire::IpAddress::v4(10, 1, 0, 1), *wire::IpAddress::from_string("fd00::1")};
  EXPECT_EQ(derive(configuration, process).addresses, process.host_addresses);
  configuration.addresses = {wire::IpAddress::v4(127, 0, 0, 9)};
  EXPECT_EQ(derive(configuration, process).addresses, configuration.addresses);
  EXPECT_TRUE(is_default_address(derive(nic(), process).addresses[0]));
}

// IPv4 first, each once; loopback addresses only without others; never those that mean nothing without an interface.
TEST(NodeIdentity, which_addresses_of_the_host) {
  const auto chosen = [](std::initializer_list<const char*> texts) {
    std::vector<wire::IpAddress> all;
    for (const char* text : texts) all.push_back(*wire::IpAddress::from_string(text));
    std::string list;
    for (const wire::IpAddress& address : usable_addresses(all)) list += to_string(address) + " ";
    return list;
  };
  EXPECT_EQ(chosen({"127.0.0.1", "fe80::1", "fd00::1", "10.0.0.1", "::1", "10.0.0.2", "10.0.0.1"}),
            "10.0.0.1 10.0.0.2 fd00::1 ");
  EXPECT_EQ(chosen({"::1", "127.0.0.1", "fe80::1"}), "127.0.0.1 ::1 ");
  EXPECT_EQ(chosen({}), "127.0.0.1 ");
  std::vector<wire::IpAddress> many;
  for (std::uint8_t i = 1; i <= 20; ++i) many.push_back(wire::IpAddress::v4(10, 0, 0, i));
  EXPECT_EQ(usable_addresses(many).size(), 16u);
  EXPECT_FALSE(host_addresses().empty());
  EXPECT_EQ(read_process_facts()->host_addresses, host_addresses());
}

TEST(NodeIdentity, facts_of_this_process) {
  unsetenv("FCVI_NODE");
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  const auto read = read_process_facts();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->node_name, host);
  EXPECT_EQ(read->host_name, host);
  EXPECT_EQ(read->pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_GT(read->start_time, 0u);
  EXPECT_EQ(read->program, program_invocation_short_name);
  EXPECT_EQ(read_process_facts()->start_time, read->start_time);
}

TEST(NodeIdentity, environment_names_the_node) {
  setenv("FCVI_NODE", "left", 1);
  EXPECT_EQ(read_process_facts()->node_name, "left");
  EXPECT_NE(read_process_facts()->host_name, "left");
  setenv("FCVI_NODE", "not a name", 1);
  const auto read = read_process_facts();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "FCVI_NODE: expected a host name, got \"not a name\"");
  unsetenv("FCVI_NODE");
}

}  // namespace
}  // namespace vipl
