// VI-DG 3.9 without a NIC: the order of the sources, and each source.
#include "vipl/names/name_service.hpp"
#include "vipl/names/reachable_names.hpp"

#include <gtest/gtest.h>

#include <map>

#include "vipl/names/fabric_names.hpp"
#include "vipl/configuration/node_identity.hpp"
#include "vipl/names/system_names.hpp"

namespace vipl {
namespace {

using Answer = NameSource::Answer;
using Addresses = std::vector<wire::IpAddress>;

wire::IpAddress ip(const char* text) { return *wire::IpAddress::from_string(text); }
const wire::IpAddress own = ip("fdfc:7669::1"), own_too = ip("10.9.0.1");

/// What a test tells it to know, and what it was asked.
struct Knowledge {
  std::map<std::string, Addresses> names;
  std::map<wire::IpAddress, std::string> addresses;
  bool available = true;
  int questions = 0;
};
class FakeSource final : public NameSource {
 public:
  explicit FakeSource(Knowledge& knowledge) : knowledge_(knowledge) {}
  Answer addresses_of(const std::string& name, Addresses& found) const override {
    ++knowledge_.questions;
    if (!knowledge_.available) return Answer::Unavailable;
    if (!knowledge_.names.contains(name)) return Answer::Unknown;
    found = knowledge_.names[name];
    return Answer::Found;
  }
  Answer name_of(const wire::IpAddress& address, std::string& found) const override {
    ++knowledge_.questions;
    if (!knowledge_.available) return Answer::Unavailable;
    if (!knowledge_.addresses.contains(address)) return Answer::Unknown;
    found = knowledge_.addresses[address];
    return Answer::Found;
  }

 private:
  Knowledge& knowledge_;
};

class NameServiceTest : public testing::Test {
 protected:
  NameServiceTest() : service_("Here.example.org", {own, own_too}, sources()) {}
  /// All addresses that NameIndex enumerates; `last` is the answer that ended it.
  Addresses all(const std::string& name) {
    Addresses list;
    for (std::size_t index = 0; index < 100; ++index) {
      wire::IpAddress address;
      last = service_.find_address(name, index, address);
      if (last != Answer::Found) return list;
      list.push_back(address);
    }
    return list;
  }
  std::string name_of(const wire::IpAddress& address) {
    std::string name;
    last = service_.find_name(address, name);
    return last == Answer::Found ? name : "";
  }
  [[nodiscard]] int questions() const { return first.questions + second.questions; }

  Knowledge first, second;
  Answer last{};

 private:
  std::vector<std::unique_ptr<const NameSource>> sources() {
    std::vector<std::unique_ptr<const NameSource>> list;
    list.push_back(std::make_unique<FakeSource>(first));
    list.push_back(std::make_unique<FakeSource>(second));
    return list;
  }
  NameService service_;
};

// The own name in any form, localhost and loopback addresses: the NIC, and nobody is asked.
TEST_F(NameServiceTest, own_host) {
  first.names["here"] = {ip("10.0.0.1")};
  for (const char* name : {"here", "HERE", "here.example.org", "Here.Example.ORG.", "localhost", "LocalHost",
                           "localhost.localdomain", "127.0.0.1", "127.0.1.1", "::1"}) {
    EXPECT_EQ(all(name), (Addresses{own, own_too})) << name;
    EXPECT_EQ(last, Answer::Unknown);
  }
  EXPECT_EQ(name_of(own), "Here.example.org");
  EXPECT_EQ(name_of(own_too), "Here.example.org");
  EXPECT_EQ(questions(), 0);
}

TEST_F(NameServiceTest, first_source_that_knows_answers) {
  first.names["a"] = {ip("10.0.0.1"), ip("10.0.0.2")};
  second.names["a"] = {ip("10.0.0.3")};
  second.names["b"] = {ip("10.0.0.4")};
  EXPECT_EQ(all("a"), (Addresses{ip("10.0.0.1"), ip("10.0.0.2")}));
  EXPECT_EQ(second.questions, 0);
  EXPECT_EQ(all("b"), Addresses{ip("10.0.0.4")});
  EXPECT_EQ(all("c"), Addresses{});
  EXPECT_EQ(last, Answer::Unknown);
}

TEST_F(NameServiceTest, reverse_in_the_same_order) {
  first.addresses[ip("10.0.0.1")] = "a";
  second.addresses[ip("10.0.0.1")] = "other";
  second.addresses[ip("10.0.0.2")] = "b";
  EXPECT_EQ(name_of(ip("10.0.0.1")), "a");
  EXPECT_EQ(second.questions, 0);
  EXPECT_EQ(name_of(ip("10.0.0.2")), "b");
  EXPECT_EQ(name_of(ip("10.0.0.3")), "");
  EXPECT_EQ(last, Answer::Unknown);
}

TEST_F(NameServiceTest, each_address_once) {
  first.names["a"] = {ip("10.0.0.1"), ip("10.0.0.2"), ip("10.0.0.1")};
  EXPECT_EQ(all("a"), (Addresses{ip("10.0.0.1"), ip("10.0.0.2")}));
}

// What no NIC can have is left out; a source that has nothing else is as if it did not know.
TEST_F(NameServiceTest, loopback_and_multicast_are_no_hosts) {
  first.names["a"] = {ip("127.0.1.1"), ip("10.0.0.1"), ip("ff02::1"), ip("::1"), ip("224.0.0.1"), ip("0.0.0.0")};
  first.names["b"] = {ip("127.0.1.1")};
  second.names["b"] = {ip("10.0.0.2")};
  EXPECT_EQ(all("a"), Addresses{ip("10.0.0.1")});
  EXPECT_EQ(all("b"), Addresses{ip("10.0.0.2")});
  first.addresses[ip("127.0.0.1")] = "b";
  EXPECT_EQ(name_of(ip("127.0.0.1")), "");
  EXPECT_EQ(name_of({}), "");
}

// To a NIC whose own address is a loopback address others of that kind are other hosts.
TEST(LoopbackNames, among_loopback_addresses) {
  Knowledge known;
  known.names["a"] = {ip("127.0.0.2"), ip("::1"), ip("224.0.0.1")};
  known.names["127.0.0.3"] = {ip("127.0.0.3")};
  known.addresses[ip("127.0.0.2")] = "a";
  std::vector<std::unique_ptr<const NameSource>> sources;
  sources.push_back(std::make_unique<FakeSource>(known));
  const NameService service("here", {ip("127.0.0.1")}, std::move(sources));
  const auto found = [&](const char* name) {
    wire::IpAddress address;
    return service.find_address(name, 0, address) == Answer::Found ? to_string(address) : "";
  };
  EXPECT_EQ(found("a"), "127.0.0.2");
  EXPECT_EQ(found("127.0.0.3"), "127.0.0.3");
  EXPECT_EQ(found("localhost"), "127.0.0.1");
  EXPECT_EQ(found("here"), "127.0.0.1");
  std::string name;
  EXPECT_EQ(service.find_name(ip("127.0.0.2"), name), Answer::Found);
  EXPECT_EQ(name, "a");
}

// Only families that the NIC has, that of its first address first; the order within stays.
TEST(ReachableNames, by_family) {
  Knowledge known;
  known.names["a"] = {ip("fd00::2"), ip("10.0.0.2"), ip("fd00::1"), ip("10.0.0.1")};
  known.names["six"] = {ip("fd00::2")};
  known.addresses[ip("fd00::2")] = "a";
  const auto found = [&](const char* name, Addresses own_addresses) {
    Addresses addresses;
    const ReachableNames names(std::make_unique<FakeSource>(known), std::move(own_addresses));
    const Answer answer = names.addresses_of(name, addresses);
    EXPECT_EQ(answer == Answer::Found, !addresses.empty());
    return addresses;
  };
  EXPECT_EQ(found("a", {ip("10.0.0.9")}), (Addresses{ip("10.0.0.2"), ip("10.0.0.1")}));
  EXPECT_EQ(found("a", {ip("fd00::9"), ip("10.0.0.9")}),
            (Addresses{ip("fd00::2"), ip("fd00::1"), ip("10.0.0.2"), ip("10.0.0.1")}));
  EXPECT_EQ(found("six", {ip("10.0.0.9")}), Addresses{});
  EXPECT_EQ(found("nobody", {ip("10.0.0.9")}), Addresses{});
  std::string name;
  EXPECT_EQ(ReachableNames(std::make_unique<FakeSource>(known), {ip("10.0.0.9")}).name_of(ip("fd00::2"), name),
            Answer::Found);
  EXPECT_EQ(name, "a");
}

// Who cannot be asked is passed over; only if nobody else knows, that is the answer.
TEST_F(NameServiceTest, unavailable_source) {
  first.available = false;
  second.names["a"] = {ip("10.0.0.1")};
  second.addresses[ip("10.0.0.1")] = "a";
  EXPECT_EQ(all("a"), Addresses{ip("10.0.0.1")});
  EXPECT_EQ(all("b"), Addresses{});
  EXPECT_EQ(last, Answer::Unavailable);
  EXPECT_EQ(name_of(ip("10.0.0.1")), "a");
  EXPECT_EQ(name_of(ip("10.0.0.2")), "");
  EXPECT_EQ(last, Answer::Unavailable);
}

// What gethostname() says means the own host too; where it stands among the sources decides whether others come first.
TEST(HostNameSource, own_host_in_the_words_of_the_system) {
  const HostNameSource source("Box.example.org", {own, own_too});
  Addresses found;
  EXPECT_EQ(source.addresses_of("box", found), Answer::Found);
  EXPECT_EQ(found, (Addresses{own, own_too}));
  EXPECT_EQ(source.addresses_of("other", found), Answer::Unknown);
  EXPECT_EQ(HostNameSource("", {own}).addresses_of("box", found), Answer::Unknown);
  std::string name;
  EXPECT_EQ(source.name_of(own, name), Answer::Unknown);
}

// --- the fabric ----------------------------------------------------------------------------------------------------

NodeEntry node(const char* name, Addresses addresses, unsigned long depth = 1) {
  return {name, std::move(addresses), depth};
}

struct FakeFabric final : FabricAccess {
  std::optional<std::vector<NodeEntry>> nodes(const std::string& named) override {
    ++listings;
    asked_for.push_back(named);
    return available ? std::optional(list) : std::nullopt;
  }
  bool rest(runtime::TimeNs duration) override {
    rested += duration;
    if (rested >= appears_at) list.push_back(node("late", {ip("10.0.0.9")}));
    return !closed;
  }
  std::vector<NodeEntry> list;
  bool available = true, closed = false;
  int listings = 0;
  std::vector<std::string> asked_for;
  runtime::TimeNs rested = 0, appears_at = runtime::never;
};

class FabricNamesTest : public testing::Test {
 protected:
  FabricNamesTest() : names(std::shared_ptr<FabricAccess>(fabric = new FakeFabric), runtime::second) {
    fabric->list = {node("one.example.org", {ip("10.0.0.1"), ip("fd00::1")}), node("two", {ip("10.0.0.2")}),
                    node("one.example.org", {ip("10.0.0.1")}), node("", {ip("10.0.0.4")}), node("bare", {})};
  }
  Addresses addresses_of(const std::string& name) {
    Addresses found;
    last = names.addresses_of(name, found);
    return found;
  }
  FakeFabric* fabric;  // belongs to names
  FabricNames names;
  Answer last{};
};

TEST_F(FabricNamesTest, names_of_nodes) {
  EXPECT_EQ(addresses_of("ONE"), (Addresses{ip("10.0.0.1"), ip("fd00::1"), ip("10.0.0.1")}));
  EXPECT_EQ(last, Answer::Found);
  EXPECT_EQ(addresses_of("two.example.org"), Addresses{ip("10.0.0.2")});
  EXPECT_EQ(fabric->listings, 2);
  EXPECT_EQ(fabric->rested, 0);
}

TEST_F(FabricNamesTest, whole_name_before_short_ones) {
  fabric->list.push_back(node("one", {ip("10.0.0.6")}));
  EXPECT_EQ(addresses_of("one"), Addresses{ip("10.0.0.6")});
  EXPECT_EQ(addresses_of("one.example.org"), (Addresses{ip("10.0.0.1"), ip("fd00::1"), ip("10.0.0.1")}));
  EXPECT_EQ(fabric->asked_for, (std::vector<std::string>{"one", "one.example.org"}));
}

TEST_F(FabricNamesTest, unknown_name_is_waited_for) {
  EXPECT_EQ(addresses_of("nobody"), Addresses{});
  EXPECT_EQ(last, Answer::Unknown);
  EXPECT_EQ(fabric->rested, runtime::second);
  EXPECT_LE(fabric->listings, 8);  // at growing intervals
}

TEST_F(FabricNamesTest, name_appears_meanwhile) {
  fabric->appears_at = 300 * runtime::millisecond;
  EXPECT_EQ(addresses_of("late"), Addresses{ip("10.0.0.9")});
  EXPECT_LT(fabric->rested, runtime::second);
}

// What nobody can be called is not waited for, nor is an address: the system knows those.
TEST_F(FabricNamesTest, address_text_is_not_waited_for) {
  for (const char* name : {"10.0.0.77", "fd00::77", "not a name"}) {
    EXPECT_EQ(addresses_of(name), Addresses{}) << name;
    EXPECT_EQ(last, Answer::Unknown);
  }
  EXPECT_EQ(fabric->rested, 0);
}

TEST_F(FabricNamesTest, unavailable) {
  fabric->closed = true;
  addresses_of("nobody");
  EXPECT_EQ(last, Answer::Unavailable);
  fabric->available = false;
  addresses_of("one");
  EXPECT_EQ(last, Answer::Unavailable);
  std::string name;
  EXPECT_EQ(names.name_of(ip("10.0.0.1"), name), Answer::Unavailable);
}

TEST_F(FabricNamesTest, reverse) {
  std::string name;
  EXPECT_EQ(names.name_of(ip("fd00::1"), name), Answer::Found);
  EXPECT_EQ(name, "one.example.org");
  EXPECT_EQ(names.name_of(ip("10.0.0.4"), name), Answer::Unknown);  // has no name
  EXPECT_EQ(names.name_of(ip("10.0.0.99"), name), Answer::Unknown);
  EXPECT_EQ(fabric->rested, 0);
}

// --- hosts that the system knows ------------------------------------------------------------------------------------

class KnownHostsTest : public testing::Test {
 protected:
  struct System final : NameSource {
    Answer addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const override {
      if (name != "cluster7" && name != "10.0.0.7") return Answer::Unknown;
      found = {ip("10.0.0.7"), ip("fd00::7")};
      return Answer::Found;
    }
    Answer name_of(const wire::IpAddress& address, std::string& found) const override {
      if (address != ip("10.0.0.7")) return Answer::Unknown;
      found = "cluster7";
      return Answer::Found;
    }
  };
  Addresses addresses_of(const std::string& name) {
    Addresses found;
    last = hosts.addresses_of(name, found);
    return found;
  }
  std::shared_ptr<FakeFabric> fabric = std::make_shared<FakeFabric>();
  KnownHosts hosts{fabric, std::make_unique<System>()};
  Answer last{};
};

// Its processes may start later: they will have the address that derives from the name. It is said at
// once (ruling 255).
TEST_F(KnownHostsTest, nobody_there_yet) {
  EXPECT_EQ(addresses_of("cluster7"), (Addresses{default_address("cluster7"), ip("10.0.0.7"), ip("fd00::7")}));
  EXPECT_EQ(last, Answer::Found);
  EXPECT_EQ(fabric->rested, 0);
}

// A NIC is configured with one of the system's addresses.
TEST_F(KnownHostsTest, nic_has_the_hosts_address) {
  fabric->list = {node("another-name", {ip("fd00::7")})};
  EXPECT_EQ(addresses_of("cluster7"), (Addresses{ip("10.0.0.7"), ip("fd00::7")}));
}

TEST_F(KnownHostsTest, unknown_and_address_text) {
  EXPECT_EQ(addresses_of("nobody"), Addresses{});
  EXPECT_EQ(last, Answer::Unknown);
  EXPECT_EQ(addresses_of("10.0.0.7"), (Addresses{ip("10.0.0.7"), ip("fd00::7")}));
  fabric->available = false;
  EXPECT_EQ(addresses_of("cluster7").front(), default_address("cluster7"));
  std::string name;
  EXPECT_EQ(hosts.name_of(ip("10.0.0.7"), name), Answer::Found);
  EXPECT_EQ(name, "cluster7");
}

// Depth 1: the same switch; 2: all others.
TEST(Discovery, by_depth) {
  const std::vector<NodeEntry> nodes{node("here", {own, own_too}),
                                     node("here", {own}),
                                     node("a", {ip("10.0.0.1"), ip("10.0.0.2")}),
                                     node("a", {ip("10.0.0.2")}),
                                     node("far", {ip("10.0.0.3")}, 2),
                                     node("silent", {})};
  const Addresses near{ip("10.0.0.1"), ip("10.0.0.2")}, everywhere{ip("10.0.0.1"), ip("10.0.0.2"), ip("10.0.0.3")};
  EXPECT_EQ(discover(nodes, {own, own_too}, 0), Addresses{});
  EXPECT_EQ(discover(nodes, {own, own_too}, 1), near);
  EXPECT_EQ(discover(nodes, {own, own_too}, 2), everywhere);
  EXPECT_EQ(discover(nodes, {own, own_too}, ~0UL), everywhere);
}

// --- the system's resolver: only what needs no network --------------------------------------------------------------

TEST(SystemNames, address_texts) {
  const SystemNames names;
  Addresses found;
  EXPECT_EQ(names.addresses_of("10.1.2.3", found), Answer::Found);
  EXPECT_EQ(found, Addresses{ip("10.1.2.3")});
  found.clear();
  EXPECT_EQ(names.addresses_of("fd00::5", found), Answer::Found);
  EXPECT_EQ(found, Addresses{ip("fd00::5")});
}

// It says nothing without its interface, for which the API has no place.
TEST(SystemNames, link_local_isLeftOut) {
  Addresses found;
  EXPECT_EQ(SystemNames().addresses_of("fe80::1", found), Answer::Unknown);
  EXPECT_EQ(found, Addresses{});
}

TEST(SystemNames, unknown) {
  const SystemNames names;
  Addresses found;
  EXPECT_EQ(names.addresses_of("no-such-host.invalid", found), Answer::Unknown);  // RFC 2606: never exists
  EXPECT_EQ(names.addresses_of(std::string(5000, 'x'), found), Answer::Unknown);
  std::string name;
  EXPECT_EQ(names.name_of(default_address("node1"), name), Answer::Unknown);
  EXPECT_EQ(found, Addresses{});
}

}  // namespace
}  // namespace vipl
