// How addresses are found by FARP (FC-VI 7.5).
#include "fc2_fabric/switch/name_server.hpp"
#include "tests/farp/resolver_fixture.hpp"
#include "wire/els/farp.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/rscn.hpp"

namespace farp_test {
namespace {

using support::LoggedFrame;
using wire::els::Command;
// FC-VI 7.5 items 1 to 10: the FARP-REQ, field by field, as a broadcast that ends its exchange.
TEST_F(FarpTest, unresolved_farp_request_is_as_the_standard_says) {
  bring_up(2, farp_only);
  tap(0);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  const LoggedFrame* frame = log.find(Command::farp_req);
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame->header.d_id, wire::well_known::broadcast);
  EXPECT_EQ(frame->header.f_ctl, wire::f_ctl::first_sequence | wire::f_ctl::last_sequence | wire::f_ctl::end_sequence);
  const auto request = wire::els::FarpRequest::parse(frame->data);
  ASSERT_TRUE(request);
  EXPECT_EQ(*request, request_for(1));
  EXPECT_EQ(request->match_code_points, 0x04);         // item 1
  EXPECT_EQ(request->responder_action, 0x02);          // item 2
  EXPECT_EQ(request->responding_n_port_id.value, 0U);  // item 4
  EXPECT_EQ(request->responding_port_name.value, 0U);  // item 6
  EXPECT_EQ(request->responding_node_name.value, 0U);  // item 8
}

// FC-VI 7.5 items 14 to 23, ruling 11: the FARP-REPLY, field by field, as a request to the originator.
TEST_F(FarpTest, ready_farp_reply_is_as_the_standard_says) {
  bring_up(2, farp_only);
  tap(1);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  const LoggedFrame* frame = log.find(Command::farp_reply);
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame->header.d_id, id(0));
  EXPECT_EQ(frame->header.r_ctl, wire::RCtl::els_request);
  const auto reply = wire::els::FarpReply::parse(frame->data);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->match_code_points, 0x04);                                  // item 14
  EXPECT_EQ(reply->requesting_n_port_id, id(0));                              // item 15
  EXPECT_EQ(reply->responder_action, 0x02);                                   // item 16
  EXPECT_EQ(reply->responding_n_port_id, id(1));                              // item 17
  EXPECT_EQ(reply->requesting_port_name, fabric.port(0).config().port_name);  // item 18
  EXPECT_EQ(reply->responding_port_name, fabric.port(1).config().port_name);  // item 19, ruling 11
  EXPECT_EQ(reply->requesting_node_name, fabric.port(0).config().node_name);  // item 20
  EXPECT_EQ(reply->responding_node_name, fabric.port(1).config().node_name);  // item 21
  EXPECT_EQ(reply->requesting_ip, ip(0));                                     // item 22
  EXPECT_EQ(reply->responding_ip, ip(1));                                     // item 23
  EXPECT_EQ(log.size(), 2U);
  EXPECT_EQ(fabric.port(0).open_exchanges() + fabric.port(1).open_exchanges(), 0U);
}

// FC-VI 7.5 items 11 to 13: another address, no match on IP, another action: no action at all.
TEST_F(FarpTest, ready_farp_request_that_fails_a_test_is_ignored) {
  bring_up(2, farp_only);
  fabric.run_for(runtime::second);
  tap(1);
  auto other_address = request_for(1), other_match = request_for(1), other_action = request_for(1);
  other_address.responding_ip = nobody;
  other_match.match_code_points = wire::els::farp_match::port_name;
  other_action.responder_action = wire::els::farp_action::login;
  for (const auto& request : {other_address, other_match, other_action})
    deliver(1, id(0), wire::well_known::broadcast, request);
  EXPECT_EQ(log.size(), 0U);
  auto several = request_for(1);
  several.match_code_points = 0x07;
  deliver(1, id(0), wire::well_known::broadcast, several);
  EXPECT_EQ(log.sent(Command::farp_reply), 1U);
  EXPECT_EQ(fabric.port(1).open_exchanges(), 0U);
}

// A broadcast that nobody answers is repeated, then the address is not resolved; asking again begins anew.
TEST_F(FarpTest, await_reply_silence_retries_then_fails) {
  bring_up(2, farp_only);
  tap(0);
  const runtime::TimeNs start = fabric.scheduler.now();
  EXPECT_EQ(ask(0, nobody).refusals, 1);
  EXPECT_EQ(log.sent(Command::farp_req), 3U);
  EXPECT_EQ(fabric.scheduler.now() - start, 3 * fabric.port(0).e_d_tov());
  EXPECT_EQ(ask(0, nobody).refusals, 1);
  EXPECT_EQ(log.sent(Command::farp_req), 6U);
}

// FC-VI 7.6: several ports answer: the first resolves the address, the others are there for who asks again.
TEST_F(FarpTest, await_reply_several_replies_are_collected) {
  bring_up(4, [](farp::ResolverConfig& config, std::size_t index) {
    config.use_name_server = false;
    if (index > 0) config.own_addresses = {ip(1)};
  });
  EXPECT_EQ(ask(0, ip(1)).ids.size(), 1U);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1, 2, 3}));
}

/// FC-IP, say, behind the same port.
struct OtherUlp final : fc2::ElsUser {
  bool els_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t> payload) override {
    seen.push_back(static_cast<Command>(payload[0]));
    return false;
  }
  std::vector<Command> seen;
};
// FC-VI 7.5 NOTE: what the FC-VI provider does not act on, other ULPs behind the port may.
TEST_F(FarpTest, ready_farp_request_that_fails_a_test_is_passed_on) {
  bring_up(2, farp_only);
  OtherUlp other;
  fabric.port(1).add_els_user(other);
  wire::els::FarpRequest foreign = request_for(1), by_name = request_for(1), asks_login = request_for(1);
  foreign.responding_ip = nobody;
  by_name.match_code_points = wire::els::farp_match::node_name;
  asks_login.responder_action = wire::els::farp_action::login;
  for (const auto& request : {foreign, by_name, asks_login}) deliver(1, id(0), wire::well_known::broadcast, request);
  deliver(1, id(0), id(1), foreign);
  EXPECT_EQ(other.seen, std::vector(4, Command::farp_req));
  deliver(1, id(0), wire::well_known::broadcast, request_for(1));
  EXPECT_EQ(other.seen.size(), 4U) << "this one was ours";
  wire::els::FarpReply reply;
  reply.requesting_n_port_id = id(1);
  reply.responding_n_port_id = id(0);
  reply.responding_ip = nobody;
  deliver(1, id(0), id(1), reply);
  EXPECT_EQ(other.seen.size(), 5U);
  EXPECT_EQ(fabric.port(1).open_exchanges(), 0U);
  fabric.port(1).remove_els_user(other);
}

// Without a Name Server an own address is known at once, though the broadcast does not come back.
TEST_F(FarpTest, unresolved_own_address_by_farp) {
  bring_up(1, farp_only);
  Asker asker;
  resolvers[0]->resolve(ip(0), asker);
  EXPECT_EQ(asker.ids, ids({0}));
}

// A reply that nobody asked for, one for another port and one without an address change nothing.
TEST_F(FarpTest, unresolved_unasked_reply_is_counted) {
  bring_up(2, farp_only);
  wire::els::FarpReply reply;
  reply.requesting_n_port_id = id(0);
  reply.responding_n_port_id = id(1);
  reply.responding_ip = ip(1);
  deliver(0, id(1), id(0), reply);
  reply.requesting_n_port_id = id(1);
  deliver(0, id(1), id(0), reply);
  EXPECT_EQ(fabric.port(0).counters().discarded(fc2::Discard::UnexpectedIu), 2U);
  reply.responding_n_port_id = {};
  deliver(0, id(1), id(0), reply);
  EXPECT_EQ(fabric.port(0).counters().discarded(fc2::Discard::BadPayload), 1U);
}

}  // namespace
}  // namespace farp_test
