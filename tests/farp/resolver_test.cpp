// How addresses are registered and found by the Name Server, and how long they hold (FC-VI 7.6, 7.7).
#include "fc2_fabric/switch/name_server.hpp"
#include "tests/farp/resolver_fixture.hpp"
#include "wire/els/farp.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/rscn.hpp"

namespace farp_test {
namespace {

using wire::els::Command;
// --- registration ------------------------------------------------------------------------------------------------

// FC-VI 7.6: after the fabric login: PLOGI, RIPP_ID for each address, RFT_ID with TYPE 58h; then SCR.
TEST_F(FarpTest, offline_link_up_registers) {
  build(1, [](farp::ResolverConfig& config, std::size_t) { config.own_addresses = {ip(0), ip(7)}; });
  fabric.attach(0);
  tap(0);
  fabric.run_for(runtime::second);
  EXPECT_EQ(ready[0].count, 1);
  const auto& database = fabric.fabric.name_server().database();
  ASSERT_NE(database.find(id(0)), nullptr);
  EXPECT_EQ(database.find(id(0))->addresses, (std::vector{ip(0), ip(7)}));
  EXPECT_TRUE(database.find(id(0))->types.has(wire::Type::fc_vi));
  EXPECT_EQ(log.sent(Command::flogi), 1U);
  EXPECT_EQ(log.sent(Command::plogi), 1U);
  EXPECT_EQ(log.count(wire::RCtl::unsolicited_control), 3U);
  EXPECT_EQ(log.sent(Command::scr), 1U);
  EXPECT_EQ(log.size(), 2U * 6U);  // each answered, and nothing else
}

// FC-GS: RFT_ID names the FC-4s that the port has, each of them and no other.
TEST_F(FarpTest, offline_link_up_registers_the_types_of_its_fc4s) {
  build(3);
  fabric.port(1).set_user(fc2::Fc4{.type = wire::Type::fcp}, fc4_user);
  fabric.port(2).remove_user(wire::Type::fc_vi);
  for (std::size_t i = 0; i < 3; ++i) fabric.attach(i);
  fabric.run_for(runtime::second);
  const auto& database = fabric.fabric.name_server().database();
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(resolvers[i]->ready()) << i;
    ASSERT_NE(database.find(id(i)), nullptr) << i;
    EXPECT_EQ(database.find(id(i))->types.has(wire::Type::fc_vi), i != 2) << i;
    EXPECT_EQ(database.find(id(i))->types.has(wire::Type::fcp), i == 1) << i;
  }
}

// The link goes and comes: not ready in between, registered anew after.
TEST_F(FarpTest, ready_link_bounces_registers_again) {
  bring_up(2);
  fabric.detach(0);
  EXPECT_FALSE(resolvers[0]->ready());
  EXPECT_EQ(ask(1, ip(0)).refusals, 1);
  fabric.attach(0);
  fabric.run_for(runtime::second);
  EXPECT_TRUE(resolvers[0]->ready());
  EXPECT_EQ(ready[0].count, 2);
  EXPECT_EQ(ask(1, ip(0)).ids, ids({0}));
}

// The Name Server refuses the login: ready all the same, found by FARP.
TEST_F(FarpTest, name_server_silent_ready_by_farp) {
  build(2);
  fabric.fabric.service_port(wire::well_known::name_server).link_down();
  fabric.bring_up();
  EXPECT_FALSE(resolvers[0]->ready());
  fabric.run_for(200 * runtime::second);
  EXPECT_TRUE(resolvers[0]->ready());
  EXPECT_EQ(ready[0].count, 1);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
}

// The Name Server logs the port out: the port logs in and registers again.
TEST_F(FarpTest, ready_name_server_logs_out_registers_again) {
  bring_up(1);
  fabric.fabric.service_port(wire::well_known::name_server).remote_port(id(0)).log_out();
  fabric.run_for(runtime::second);
  EXPECT_TRUE(resolvers[0]->ready());
  EXPECT_EQ(ready[0].count, 2);
}

// A registration that the server rejects does not keep the port from being ready.
TEST_F(FarpTest, registration_rejected_ready_all_the_same) {
  bring_up(1, [](farp::ResolverConfig& config, std::size_t) {
    for (std::uint8_t i = 0; i < 20; ++i) config.own_addresses.push_back(wire::IpAddress::v4(10, 1, 0, i));
  });
  EXPECT_TRUE(resolvers[0]->ready());
  EXPECT_EQ(fabric.fabric.name_server().database().find(id(0))->addresses.size(), fc2::NameDatabase::max_addresses);
}

// --- by Name Server: FC-VI 7.6 -----------------------------------------------------------------------------------

// FC-VI 7.6: two ports log in, register their addresses, and find each other by GID_IPP; no FARP goes out.
TEST_F(FarpTest, unresolved_registered_address_is_found) {
  bring_up(2);
  tap(0);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  EXPECT_EQ(ask(1, ip(0)).ids, ids({0}));
  EXPECT_EQ(log.sent(Command::farp_req), 0U);
  EXPECT_EQ(log.size(), 2U);
}

// FC-VI 7.6: several ports with one address: all of them.
TEST_F(FarpTest, unresolved_shared_address_gives_all_ports) {
  bring_up(4, [](farp::ResolverConfig& config, std::size_t index) {
    if (index > 0) config.own_addresses = {ip(1)};
  });
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1, 2, 3}));
}

// VI-ARCH 4.1: an own address resolves to the port itself.
TEST_F(FarpTest, unresolved_own_address_is_found) {
  bring_up(1);
  EXPECT_EQ(ask(0, ip(0)).ids, ids({0}));
}

// A right-justified IPv4 address is the same as the IPv4-mapped one.
TEST_F(FarpTest, unresolved_right_justified_address_is_found) {
  bring_up(2);
  wire::IpAddress address;
  address.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2};
  EXPECT_EQ(ask(0, address).ids, ids({1}));
}

// Several askers share one query; a later one is served from the cache, at once.
TEST_F(FarpTest, querying_asked_again_shares_the_query) {
  bring_up(2);
  tap(0);
  Asker first, second, third;
  resolvers[0]->resolve(ip(1), first);
  resolvers[0]->resolve(ip(1), second);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(first.answers, 1);
  EXPECT_EQ(second.answers, 1);
  resolvers[0]->resolve(ip(1), third);
  EXPECT_EQ(third.ids, ids({1}));
  EXPECT_EQ(log.count(wire::RCtl::unsolicited_control), 1U);
}

// An asker that went away hears nothing; the others do.
TEST_F(FarpTest, querying_forgotten_asker_hears_nothing) {
  bring_up(2);
  Asker first, second;
  resolvers[0]->resolve(ip(1), first);
  resolvers[0]->resolve(ip(1), second);
  resolvers[0]->forget(first);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(first.answers + first.refusals, 0);
  EXPECT_EQ(second.answers, 1);
}

// A listener may ask again, or forget another one, from inside its call.
TEST_F(FarpTest, querying_listener_calls_back) {
  bring_up(3);
  struct Caller final : farp::ResolveListener {
    void resolved(const wire::IpAddress&, std::span<const wire::FcId>) override {
      if (++calls > 1) return;
      resolver->forget(*other);
      resolver->invalidate(ip(1));
      resolver->resolve(ip(1), *this);
    }
    void not_resolved(const wire::IpAddress&) override { ++calls; }
    farp::Resolver* resolver = nullptr;
    farp::ResolveListener* other = nullptr;
    int calls = 0;
  } caller;
  Asker other;
  caller.resolver = resolvers[0].get();
  caller.other = &other;
  resolvers[0]->resolve(ip(1), caller);
  resolvers[0]->resolve(ip(1), other);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(caller.calls, 2);
  EXPECT_EQ(other.answers + other.refusals, 0);
}

// The server does not know the address: FARP, as often as configured, then "not resolved".
TEST_F(FarpTest, querying_unknown_address_fails_after_farp) {
  bring_up(2);
  tap(0);
  const auto asker = ask(0, nobody);
  EXPECT_EQ(asker.refusals, 1);
  EXPECT_EQ(log.count(wire::RCtl::unsolicited_control), 1U);
  EXPECT_EQ(log.sent(Command::farp_req), 3U);
  EXPECT_EQ(fabric.port(0).open_exchanges(), 0U);
}

// The server does not answer: the query is repeated, then FARP finds the port.
TEST_F(FarpTest, querying_silent_server_falls_back_to_farp) {
  bring_up(2);
  fabric.fabric.service_port(wire::well_known::name_server).transmitter().attach(nullptr);
  tap(0);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  EXPECT_EQ(log.count(wire::RCtl::unsolicited_control), 3U);
  EXPECT_EQ(log.sent(Command::farp_req), 1U);
}

// The link goes during a query: the asker hears that the address was not found.
TEST_F(FarpTest, querying_link_down_fails) {
  bring_up(2);
  Asker asker;
  resolvers[0]->resolve(ip(1), asker);
  fabric.detach(0);
  fabric.run_for(100 * runtime::second);
  EXPECT_EQ(asker.refusals, 1);
}

// The cache is full, and every address in it is being resolved: a new one is refused at once.
TEST_F(FarpTest, cache_full_of_questions_refuses) {
  bring_up(3, [](farp::ResolverConfig& config, std::size_t) { config.max_entries = 1; });
  Asker first, refused;
  resolvers[0]->resolve(ip(1), first);
  resolvers[0]->resolve(ip(2), refused);
  EXPECT_EQ(refused.refusals, 1);
  fabric.run_for(runtime::second);
  EXPECT_EQ(first.answers, 1);
  EXPECT_EQ(fabric.port(0).counters().addresses_evicted, 0U);
}

// The cache is full of addresses that nobody asks for any more, most of which nobody has: any number of them
// shuts out none.
TEST_F(FarpTest, cache_full_forgets_the_oldest) {
  bring_up(3, [](farp::ResolverConfig& config, std::size_t) { config.max_entries = 8; });
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  for (std::size_t i = 100; i < 150; ++i) EXPECT_EQ(ask(0, ip(i)).refusals, 1);
  EXPECT_EQ(ask(0, ip(2)).ids, ids({2}));
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  EXPECT_EQ(fabric.port(0).counters().addresses_evicted, 45U);
}

// A listener asks for the next address from inside its answer, again and again, in a cache that is full.
TEST_F(FarpTest, cache_full_asks_from_inside_an_answer) {
  struct Chain final : farp::ResolveListener {
    void resolved(const wire::IpAddress&, std::span<const wire::FcId>) override { go_on(); }
    void not_resolved(const wire::IpAddress&) override { go_on(); }
    void go_on() {
      if (++told < 40) resolver->resolve(ip(told), *this);
    }
    farp::Resolver* resolver = nullptr;
    std::size_t told = 0;
  } chain;
  bring_up(40, [](farp::ResolverConfig& config, std::size_t) { config.max_entries = 2; });
  chain.resolver = resolvers[0].get();
  resolvers[0]->resolve(ip(0), chain);
  EXPECT_TRUE(fabric.run_until([&] { return chain.told == 40; }));
  EXPECT_EQ(ask(0, ip(5)).ids, ids({5}));
}

// --- validity: FC-VI 7.7 -----------------------------------------------------------------------------------------

// FC-VI 7.7.1: an invalidated address is asked for again.
TEST_F(FarpTest, resolved_invalidated_asks_again) {
  bring_up(2);
  ask(0, ip(1));
  tap(0);
  resolvers[0]->invalidate(ip(1));
  EXPECT_EQ(ask(0, ip(1)).answers, 1);
  resolvers[0]->invalidate_all();
  EXPECT_EQ(ask(0, ip(1)).answers, 1);
  EXPECT_EQ(log.count(wire::RCtl::unsolicited_control), 2U);
}

// FC-VI 7.7.5: RSCN of a port that vanished: its address is asked for again, and not found.
TEST_F(FarpTest, resolved_port_vanishes_is_invalidated) {
  bring_up(3);
  ask(0, ip(1));
  ask(0, ip(2));
  fabric.detach(1);
  fabric.run_for(runtime::second);
  tap(0);
  EXPECT_EQ(ask(0, ip(1)).refusals, 1);
  EXPECT_EQ(ask(0, ip(2)).ids, ids({2}));
  EXPECT_EQ(log.count(wire::RCtl::unsolicited_control), 1U);
}

// FC-VI 7.7.1: the addresses of two ports change places at a link event: both are found where they are now.
TEST_F(FarpTest, resolved_ports_swap_addresses_is_invalidated) {
  bring_up(3);
  const wire::FcId old = ask(0, ip(1)).ids.at(0);
  fabric.detach(2);
  fabric.detach(1);
  fabric.attach(1);
  fabric.attach(2);
  fabric.run_for(runtime::second);
  EXPECT_NE(id(1), old);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
}

// FC-VI 7.7.1: logout of the remote port invalidates its mapping.
TEST_F(FarpTest, resolved_remote_logout_is_invalidated) {
  bring_up(2);
  ask(0, ip(1));
  ASSERT_TRUE(fabric.log_in(0, 1));
  fabric.port(1).remote_port(id(0)).log_out();
  fabric.run_for(runtime::millisecond);
  tap(0);
  EXPECT_EQ(ask(0, ip(1)).answers, 1);
  EXPECT_EQ(log.count(wire::RCtl::unsolicited_control), 1U);
}

// An RSCN that does not come from the Fabric Controller invalidates nothing.
TEST_F(FarpTest, resolved_forged_rscn_is_ignored) {
  bring_up(2);
  ask(0, ip(1));
  wire::els::Rscn rscn;
  rscn.pages.push_back({.format = wire::els::AddressFormat::fabric});
  deliver(0, id(1), id(0), rscn);
  Asker asker;
  resolvers[0]->resolve(ip(1), asker);
  EXPECT_EQ(asker.answers, 1);
}

// A resolver may go before its port: later frames find nobody.
TEST_F(FarpTest, ready_destroyed_leaves_the_port) {
  bring_up(2);
  Asker asker;
  resolvers[0]->resolve(nobody, asker);
  resolvers[0].reset();
  deliver(0, id(1), wire::well_known::broadcast, request_for(0));
  fabric.detach(0);
  fabric.run_for(100 * runtime::second);
  EXPECT_EQ(asker.answers + asker.refusals, 0);
}

// Replies without end, each with another port: one address has only so many.
TEST_F(FarpTest, resolved_flood_of_replies_is_bounded) {
  bring_up(2, farp_only);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  wire::els::FarpReply reply;
  reply.requesting_n_port_id = id(0);
  reply.responding_ip = ip(1);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    reply.responding_n_port_id = {0x020000 + i};
    deliver(0, id(1), id(0), reply);
  }
  EXPECT_EQ(ask(0, ip(1)).ids.size(), farp::ResolverConfig{}.max_ports_of_address);
  EXPECT_EQ(ask(0, ip(1)).ids.front(), id(1));
}

// They come before the reply of a port that has the address too: it is taken all the same, and kept once it
// is logged in.
TEST_F(FarpTest, resolved_flood_of_replies_shuts_nobody_out) {
  bring_up(3, farp_only);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  wire::els::FarpReply reply;
  reply.requesting_n_port_id = id(0);
  reply.responding_ip = ip(1);
  const auto flood = [&](std::uint32_t first) {
    for (std::uint32_t i = 0; i < 500; ++i) {
      reply.responding_n_port_id = {first + i};
      deliver(0, id(1), id(0), reply);
    }
  };
  flood(0x020000);
  reply.responding_n_port_id = id(2);
  deliver(0, id(2), id(0), reply);
  EXPECT_EQ(ask(0, ip(1)).ids.back(), id(2));
  ASSERT_TRUE(fabric.log_in(0, 2));
  flood(0x030000);
  const auto known = ask(0, ip(1)).ids;
  EXPECT_EQ(known.front(), id(1));
  EXPECT_NE(std::find(known.begin(), known.end(), id(2)), known.end());
  EXPECT_GT(fabric.port(0).counters().addresses_evicted, 900U);
}

}  // namespace
}  // namespace farp_test
