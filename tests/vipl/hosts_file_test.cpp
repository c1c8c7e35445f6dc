// The hosts file of the name service: its format, and what is said about every mistake.
#include "vipl/names/hosts_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace vipl {
namespace {

using Answer = NameSource::Answer;
using Addresses = std::vector<wire::IpAddress>;

wire::IpAddress ip(const char* text) { return *wire::IpAddress::from_string(text); }

HostsFile good(std::string_view text) {
  auto hosts = HostsFile::parse(text, "hosts");
  EXPECT_TRUE(hosts) << (hosts ? "" : hosts.error().message);
  return hosts ? *std::move(hosts) : HostsFile{};
}
std::string error_of(std::string_view text) {
  const auto hosts = HostsFile::parse(text, "hosts");
  return hosts ? "no error" : hosts.error().message;
}
Addresses addresses_of(const HostsFile& hosts, const std::string& name) {
  Addresses found;
  const Answer answer = hosts.addresses_of(name, found);
  EXPECT_EQ(answer == Answer::Found, !found.empty()) << name;
  return found;
}
std::string name_of(const HostsFile& hosts, const char* address) {
  std::string found;
  const Answer answer = hosts.name_of(ip(address), found);
  EXPECT_EQ(answer == Answer::Found, !found.empty()) << address;
  return found;
}

TEST(HostsFile, lines) {
  const HostsFile hosts = good(
      "# a comment\n"
      "\n"
      "10.1.0.1\tnode1.example.org   node1 # and why\r\n"
      "  fd00::2 node2\n"
      "   \t \n"
      "10.1.0.3 node3");  // no newline at the end
  EXPECT_EQ(addresses_of(hosts, "node1"), Addresses{ip("10.1.0.1")});
  EXPECT_EQ(addresses_of(hosts, "node1.example.org"), Addresses{ip("10.1.0.1")});
  EXPECT_EQ(addresses_of(hosts, "node2"), Addresses{ip("fd00::2")});
  EXPECT_EQ(addresses_of(hosts, "node3"), Addresses{ip("10.1.0.3")});
  EXPECT_EQ(addresses_of(hosts, "node4"), Addresses{});
  EXPECT_EQ(addresses_of(hosts, ""), Addresses{});
  EXPECT_EQ(name_of(hosts, "10.1.0.1"), "node1.example.org");
  EXPECT_EQ(name_of(hosts, "10.1.0.9"), "");
}

TEST(HostsFile, any_letter_case) {
  const HostsFile hosts = good("10.1.0.1 Node1.Example.ORG");
  for (const char* name : {"node1", "NODE1", "node1.example.org", "Node1.EXAMPLE.org", "node1.example.org."})
    EXPECT_EQ(addresses_of(hosts, name), Addresses{ip("10.1.0.1")}) << name;
  EXPECT_EQ(name_of(hosts, "10.1.0.1"), "Node1.Example.ORG");
}

// A name of several lines has all their addresses in the file's order; an address has the name of its first line.
TEST(HostsFile, several_addresses_and_several_names) {
  const HostsFile hosts = good("10.1.0.2 two\n10.1.0.1 one two\n10.1.0.2 again\nfd00::1 two\n");
  EXPECT_EQ(addresses_of(hosts, "two"), (Addresses{ip("10.1.0.2"), ip("10.1.0.1"), ip("fd00::1")}));
  EXPECT_EQ(addresses_of(hosts, "again"), Addresses{ip("10.1.0.2")});
  EXPECT_EQ(name_of(hosts, "10.1.0.2"), "two");
  EXPECT_EQ(name_of(hosts, "10.1.0.1"), "one");
}

// A whole name comes before short ones; a domain that is asked for is not another one.
TEST(HostsFile, short_names) {
  const HostsFile hosts =
      good("10.1.0.1 node.a.org\n10.1.0.2 node.b.org\n10.1.0.3 plain\n10.1.0.4 both.a.org\n10.1.0.5 both\n");
  EXPECT_EQ(addresses_of(hosts, "node"), (Addresses{ip("10.1.0.1"), ip("10.1.0.2")}));
  EXPECT_EQ(addresses_of(hosts, "node.b.org"), Addresses{ip("10.1.0.2")});
  EXPECT_EQ(addresses_of(hosts, "node.c.org"), Addresses{});
  EXPECT_EQ(addresses_of(hosts, "plain.example.org"), Addresses{ip("10.1.0.3")});
  EXPECT_EQ(addresses_of(hosts, "both"), Addresses{ip("10.1.0.5")});
  EXPECT_EQ(addresses_of(hosts, "nod"), Addresses{});
}

TEST(HostsFile, a_name_that_is_an_address_has_no_short_form) {
  const HostsFile hosts = good("10.1.0.1 10.0.0.1\n10.1.0.2 10.0.0.2\n");
  EXPECT_EQ(addresses_of(hosts, "10.0.0.2"), Addresses{ip("10.1.0.2")});
  EXPECT_EQ(addresses_of(hosts, "10"), Addresses{});
}

TEST(HostsFile, errors) {
  EXPECT_EQ(error_of("10.1.0.1 a\nnode1 10.1.0.1\n"), "hosts:2:1: expected an IPv4 or IPv6 address, got \"node1\"");
  EXPECT_EQ(error_of("  10.1.0.300 a"), "hosts:1:3: expected an IPv4 or IPv6 address, got \"10.1.0.300\"");
  EXPECT_EQ(error_of("\n\n10.1.0.1 # a"), "hosts:3:10: expected a name after the address, got \"the end of the line\"");
  EXPECT_EQ(error_of("10.1.0.1 a b/c"),
            "hosts:1:12: expected a host name (letters, digits, '.', '-', '_', ':'), got \"b/c\"");
  EXPECT_EQ(error_of(std::string_view("10.1.0.1 a\0b", 12)).substr(0, 30), "hosts:1:10: expected a host na");
  EXPECT_LT(error_of("10.1.0.1 " + std::string(10'000, 'x')).size(), 400U);
}

// /etc/hosts itself is such a file.
TEST(HostsFile, usual_lines_of_etc_hosts) {
  const HostsFile hosts = good(
      "127.0.0.1\tlocalhost\n127.0.1.1\tbox.example.org\tbox\n\n"
      "::1     localhost ip6-localhost ip6-loopback\nff02::1 ip6-allnodes\nff02::2 ip6-allrouters\n");
  EXPECT_EQ(addresses_of(hosts, "box"), Addresses{ip("127.0.1.1")});
}

TEST(HostsFile, large_file) {
  std::string text;
  for (int i = 0; i < 65536; ++i)
    text += "10.2." + std::to_string(i / 256) + "." + std::to_string(i % 256) + " n" + std::to_string(i) +
            ".example.org n" + std::to_string(i) + "\n";
  const HostsFile hosts = good(text);
  EXPECT_EQ(addresses_of(hosts, "n65535"), Addresses{ip("10.2.255.255")});
  EXPECT_EQ(name_of(hosts, "10.2.1.0"), "n256.example.org");
}

class HostsFiles : public testing::Test {
 protected:
  ~HostsFiles() override { std::remove(path().c_str()); }
  [[nodiscard]] static std::string path() { return testing::TempDir() + "/fcvi_hosts_" + std::to_string(getpid()); }
};

TEST_F(HostsFiles, load) {
  EXPECT_EQ(HostsFile::load(path()).error().message, path() + ": cannot read: No such file or directory");
  std::ofstream(path()) << "10.1.0.1 node1\n";
  EXPECT_EQ(addresses_of(*HostsFile::load(path()), "node1"), Addresses{ip("10.1.0.1")});
  std::ofstream(path()) << "node1\n";
  EXPECT_EQ(HostsFile::load(path()).error().message, path() + ":1:1: expected an IPv4 or IPv6 address, got \"node1\"");
}

TEST_F(HostsFiles, load_first) {
  EXPECT_EQ(addresses_of(*HostsFile::load_first({path() + "none"}), "node1"), Addresses{});
  std::ofstream(path()) << "10.1.0.1 node1\n";
  EXPECT_EQ(addresses_of(*HostsFile::load_first({path() + "none", path()}), "node1"), Addresses{ip("10.1.0.1")});
  std::ofstream(path()) << "node1\n";
  EXPECT_FALSE(HostsFile::load_first({path() + "none", path()}));
}

}  // namespace
}  // namespace vipl
