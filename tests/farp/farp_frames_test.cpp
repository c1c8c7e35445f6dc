// FARP-REQ and FARP-REPLY: which are taken, what is answered, and how many ports one address may have (FC-VI 7.5, 7.6).
#include "tests/farp/resolver_fixture.hpp"
#include "wire/els/rscn.hpp"

namespace farp_test {
namespace {
using fc2::Discard;
using wire::els::Command;

class FarpFrames : public ResolverTest {
 protected:
  ~FarpFrames() override { EXPECT_EQ(unexpected_events(), 0U); }
  void begin(std::size_t count, std::size_t max_ports_of_address = 64) {
    bring_up(count, [=](farp::ResolverConfig& config, std::size_t) {
      config.use_name_server = false;
      config.max_ports_of_address = max_ports_of_address;
    });
    fabric.fabric.tap(fabric.port(0), &log);
  }
  std::vector<wire::FcId> known(std::size_t index) { return ask(0, ip(index)).ids; }
  void reply(std::size_t index, wire::FcId responder) { deliver(0, id(1), id(0), reply_for(index, responder)); }
  static constexpr wire::FcId stranger{0x020202};
  support::FrameLog log;
};

// The same as the IPv4-mapped address, of which there is one form alone (RFC 4291 2.5.5.2).
wire::IpAddress right_justified(std::size_t index) {
  wire::IpAddress address = ip(index);
  address.bytes[10] = address.bytes[11] = 0;
  return address;
}

// --- replies -----------------------------------------------------------------------------------------------------

// FC-VI 7.6: a port that says again that it has the address is one port still. Its reply is taken, and nobody else's.
TEST_F(FarpFrames, resolved_reply_comes_again_adds_nothing) {
  begin(2);
  EXPECT_EQ(known(1), ids({1}));
  reply(1, id(1));
  EXPECT_EQ(known(1), ids({1}));
  EXPECT_EQ(discarded(0, Discard::UnexpectedIu), 0U);
}

// FC-VI 7.5 items 15, 17: a reply to somebody else, one that names no port, and one that is cut say nothing to us.
TEST_F(FarpFrames, resolved_reply_that_says_nothing_is_left) {
  begin(2);
  EXPECT_EQ(known(1), ids({1}));
  auto to_other = reply_for(1, stranger);
  to_other.requesting_n_port_id = id(1);
  deliver(0, id(1), id(0), to_other);
  EXPECT_EQ(discarded(0, Discard::UnexpectedIu), 1U);
  reply(1, {});
  EXPECT_EQ(discarded(0, Discard::BadPayload), 1U);
  auto cut = support::bytes_of(reply_for(1, stranger));
  cut.pop_back();
  deliver_bytes(0, id(1), id(0), cut);
  EXPECT_EQ(discarded(0, Discard::BadPayload), 2U);
  EXPECT_EQ(discarded(0, Discard::UnexpectedIu), 1U);
  EXPECT_EQ(known(1), ids({1}));
  EXPECT_EQ(fabric.port(0).open_exchanges(), 0U);
}

// An address has so many ports at most, here one. Another reply displaces it if that is a port with which there is no
// login, nor will be.
class OnePortOfAnAddress : public FarpFrames {
 protected:
  void SetUp() override { begin(2, 1); }
  void expect_stays(std::size_t index) {
    reply(index, stranger);
    EXPECT_EQ(known(index), ids({index}));
    EXPECT_EQ(discarded(0, Discard::NoResources), 1U);
    EXPECT_EQ(fabric.port(0).counters().addresses_evicted, 0U);
  }
  void expect_displaced(std::size_t index) {
    reply(index, stranger);
    EXPECT_EQ(known(index), std::vector{stranger});
    EXPECT_EQ(discarded(0, Discard::NoResources), 0U);
    EXPECT_EQ(fabric.port(0).counters().addresses_evicted, 1U);
  }
};

TEST_F(OnePortOfAnAddress, full_of_ourselves_keeps_us) {
  EXPECT_EQ(known(0), ids({0}));
  expect_stays(0);
}

TEST_F(OnePortOfAnAddress, full_of_a_stranger_displaces_it) {
  EXPECT_EQ(known(1), ids({1}));
  ASSERT_EQ(fabric.port(0).find_remote_port(id(1)), nullptr);
  expect_displaced(1);
}

TEST_F(OnePortOfAnAddress, full_of_a_known_port_without_login_displaces_it) {
  EXPECT_EQ(known(1), ids({1}));
  ASSERT_FALSE(fabric.port(0).remote_port(id(1)).logged_in());
  expect_displaced(1);
}

TEST_F(OnePortOfAnAddress, full_of_a_port_that_is_logged_in_keeps_it) {
  EXPECT_EQ(known(1), ids({1}));
  ASSERT_TRUE(fabric.log_in(0, 1));
  expect_stays(1);
}

TEST_F(OnePortOfAnAddress, full_of_a_port_that_logs_in_keeps_it) {
  EXPECT_EQ(known(1), ids({1}));
  fabric.silence(1);
  fabric.port(0).remote_port(id(1)).log_in();
  ASSERT_TRUE(fabric.port(0).remote_port(id(1)).logging_in());
  expect_stays(1);
}

// Who came first stays: of the later half the oldest makes room.
TEST_F(FarpFrames, resolved_full_the_oldest_of_the_later_half_makes_room) {
  begin(2, 4);
  EXPECT_EQ(known(1), ids({1}));
  for (std::uint32_t i = 2; i <= 5; ++i) reply(1, {i});
  EXPECT_EQ(known(1), (std::vector<wire::FcId>{id(1), {2}, {4}, {5}}));
  EXPECT_EQ(fabric.port(0).counters().addresses_evicted, 1U);
}

// --- requests ----------------------------------------------------------------------------------------------------

// FC-VI 7.5 item 14: the reply repeats the Match Address Code Points, whatever else they ask for.
TEST_F(FarpFrames, ready_request_with_several_code_points_repeats_them) {
  begin(2);
  auto several = request_for(0);
  several.match_code_points = 0x07;
  several.requesting_n_port_id = id(1);
  deliver(0, id(1), wire::well_known::broadcast, several);
  const support::LoggedFrame* frame = log.find(Command::farp_reply);
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(wire::els::FarpReply::parse(frame->data)->match_code_points, 0x07);
}

// FC-FS: a request that leaves its exchange open is answered like any other, and its exchange is over with that.
TEST_F(FarpFrames, ready_request_leaves_its_exchange_open_ends_it) {
  begin(2);
  auto request = request_for(0);
  request.requesting_n_port_id = id(1);
  deliver_bytes(0, id(1), id(0), support::bytes_of(request), wire::f_ctl::single_frame_request);
  EXPECT_EQ(log.sent(Command::farp_reply), 1U);
  EXPECT_EQ(fabric.port(0).open_exchanges(), 0U);
}

// A request that is cut is counted, and not answered.
TEST_F(FarpFrames, ready_request_that_is_cut_is_counted) {
  begin(2);
  auto cut = support::bytes_of(request_for(0));
  cut.pop_back();
  deliver_bytes(0, id(1), wire::well_known::broadcast, cut);
  EXPECT_EQ(discarded(0, Discard::BadPayload), 1U);
  EXPECT_EQ(log.sent(Command::farp_reply), 0U);
}

// FC-VI 7.5 item 11: an own address is the same in either form, here and in the request.
TEST_F(FarpFrames, own_address_right_justified_is_found) {
  bring_up(2, [](farp::ResolverConfig& config, std::size_t index) {
    config.use_name_server = false;
    config.own_addresses = {right_justified(index)};
  });
  EXPECT_EQ(known(1), ids({1}));
  auto request = request_for(0);
  request.requesting_n_port_id = id(1);
  request.responding_ip = right_justified(0);
  fabric.fabric.tap(fabric.port(0), &log);
  deliver(0, id(1), wire::well_known::broadcast, request);
  const support::LoggedFrame* frame = log.find(Command::farp_reply);
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(wire::els::FarpReply::parse(frame->data)->responding_ip, right_justified(0))
      << "item 23, as it was asked for";
}

// Ourselves are found where we are a port, not before: without a link we have no N_Port_ID.
TEST_F(FarpFrames, offline_own_address_is_not_found) {
  build(1, farp_alone);
  EXPECT_EQ(ask(0, ip(0)).refusals, 1);
  fabric.bring_up();
  EXPECT_EQ(known(0), ids({0}));
}

// --- state changes -----------------------------------------------------------------------------------------------

// FC-VI 7.7.5: an RSCN that is cut is counted; nothing is known of what changed.
TEST_F(FarpFrames, resolved_rscn_that_is_cut_is_counted) {
  begin(2);
  EXPECT_EQ(known(1), ids({1}));
  auto cut = support::bytes_of(wire::els::Rscn{.pages = {{.format = wire::els::AddressFormat::fabric}}});
  cut.pop_back();
  log.clear();
  deliver_bytes(0, wire::well_known::fabric_controller, id(0), cut, wire::f_ctl::single_frame_request);
  EXPECT_EQ(discarded(0, Discard::BadPayload), 1U);
  EXPECT_EQ(known(1), ids({1}));
  EXPECT_EQ(log.sent(Command::farp_req), 0U);
}

}  // namespace
}  // namespace farp_test
