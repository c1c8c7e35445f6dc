// FC-4 frames of ports that have no login here: who is told so by LOGO, who is not, and what waits for a login that is
// under way (FC-FS, FC-VI 5.6, 7.7.1, 8.1).
#include "tests/support/fc4.hpp"
#include "tests/support/peers_by_hand.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_acc.hpp"

namespace fc2 {
namespace {
using support::bytes_of;
using support::LoggedFrame;
using wire::els::Command;
using wire::els::RejectReason;
using Bytes = std::vector<std::uint8_t>;

/// The FC-4 whose ports have to log in.
struct Fc4 final : DataFrameUser {
  void data_frame_received(const ReceivedFrame&) override {}
  bool abort_received(wire::FcId, wire::OxId) override { return false; }
  void sequence_received(Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t>) override {
    from.push_back(first.s_id);
    exchange.port().release(exchange);
  }
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  std::vector<wire::FcId> from;
};

struct DenialsTest : support::PeersByHand {
  explicit DenialsTest(const Adjust& adjust = {}) : PeersByHand(adjust) {
    port.set_data_user(support::fc4, fc4);
    link_up();
    mark();
  }
  /// FCVI_CONNECT_RQST, say.
  void first_frame(wire::FcId from) {
    receive(support::request_header(wire::RCtl::unsolicited_control, wire::Type::fc_vi, own, from, {next_++}),
            Bytes(32));
    run_for(microsecond);
  }
  [[nodiscard]] std::size_t told(wire::FcId id) const {
    return times([&](const LoggedFrame& frame) { return frame.is_els(Command::logo) && frame.header.d_id == id; })
        .size();
  }
  Fc4 fc4;
  std::uint16_t next_ = 1;
};
struct DenialsOutOfOrder : DenialsTest {
  explicit DenialsOutOfOrder() : DenialsTest(out_of_order) {}
};

// FC-FS: the stranger is told by LOGO, which names this port; its answer is the end of that, and nothing is counted
// but the frame.
TEST_F(DenialsTest, stranger_is_told_by_logo) {
  first_frame(stranger);
  expect_discarded(Discard::NotLoggedIn, 1);
  EXPECT_TRUE(fc4.from.empty());
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(last().header.r_ctl, wire::RCtl::els_request);
  EXPECT_EQ(last().header.type, wire::Type::els);
  EXPECT_EQ(last().header.s_id, own);
  EXPECT_EQ(last().header.d_id, stranger);
  EXPECT_EQ(last().data, bytes_of(wire::els::Logo{.n_port_id = own, .port_name = own_name}));
  answer(last(), bytes_of(wire::els::LsAcc{}));
  run_for(microsecond);
  EXPECT_EQ(port.open_exchanges(), 0U);
  EXPECT_EQ(sent.size(), 1U);
  expect_discarded(Discard::NotLoggedIn, 1);
}

// FC-LS: the answer may take 2 x R_A_TOV; then the exchange ends by ABTS.
TEST_F(DenialsTest, stranger_that_does_not_answer_hears_abts) {
  first_frame(stranger);
  run_for(200 * second);
  ASSERT_FALSE(times(wire::RCtl::abts).empty());
  EXPECT_EQ(times(wire::RCtl::abts)[0], 20 * second);
}

// RemotePort::may_be_denied: once in E_D_TOV, not before.
TEST_F(DenialsTest, stranger_is_told_once_in_e_d_tov) {
  port.deny(stranger);
  port.deny(stranger);
  run_until(2 * second - 1);
  port.deny(stranger);
  run_for(0);
  EXPECT_EQ(told(stranger), 1U);
  run_until(2 * second);
  port.deny(stranger);
  run_for(0);
  EXPECT_EQ(told(stranger), 2U);
}

// Who is logged in is told nothing.
TEST_F(DenialsTest, logged_in_port_is_not_told) {
  log_in();
  port.deny(peer);
  run_for(second);
  EXPECT_EQ(sent.size(), 0U);
  EXPECT_TRUE(remote().logged_in());
}

// Without a link nobody can be told, and nothing is opened for it.
TEST_F(DenialsTest, offline_nobody_is_told) {
  port.link_down();
  port.deny(stranger);
  EXPECT_EQ(port.open_exchanges(), 0U);
  link_up();
  run_for(microsecond);
  EXPECT_EQ(sent.size(), 0U);
  port.deny(stranger);
  run_for(microsecond);
  EXPECT_EQ(told(stranger), 1U);
}

// Our PLOGI was put off, and the peer sends as one that is logged in: on an in-order link it believes in a login that
// ended, and is told so; where frames overtake each other the frame may be older than the PLOGI.
TEST_F(DenialsTest, retry_pending_peer_is_told) {
  remote().log_in();
  run_for(microsecond);
  reject(last(), RejectReason::logical_busy);
  first_frame(peer);
  EXPECT_EQ(told(peer), 1U);
  expect_discarded(Discard::NotLoggedIn, 1);
}
TEST_F(DenialsOutOfOrder, retry_pending_peer_is_not_told) {
  remote().log_in();
  run_for(microsecond);
  reject(last(), RejectReason::logical_busy);
  first_frame(peer);
  EXPECT_EQ(told(peer), 0U);
}
TEST_F(DenialsOutOfOrder, stranger_is_told) {
  first_frame(stranger);
  remote(peer);  // known, no more
  first_frame(peer);
  EXPECT_EQ(told(stranger), 1U);
  EXPECT_EQ(told(peer), 1U);
  expect_discarded(Discard::NotLoggedIn, 2);
}

// In order the frame shows that our PLOGI was accepted and its LS_ACC lost: it is lost, and PLOGI goes again at once.
TEST_F(DenialsTest, login_pending_frame_repeats_plogi) {
  remote().log_in();
  run_for(millisecond);
  first_frame(peer);
  EXPECT_EQ(times(Command::plogi), (Times{0, millisecond}));
  EXPECT_EQ(told(peer), 0U);
  EXPECT_EQ(times(wire::RCtl::abts).size(), 1U);
  accept_login(last());
  run_for(microsecond);
  EXPECT_TRUE(remote().logged_in());
  EXPECT_TRUE(fc4.from.empty());
  expect_discarded(Discard::NotLoggedIn, 1);
}

// Out of order the frame may have overtaken LS_ACC: it waits for it, and is received then.
TEST_F(DenialsOutOfOrder, login_pending_frame_waits_for_ls_acc) {
  remote().log_in();
  run_for(microsecond);
  const LoggedFrame plogi = last();
  first_frame(peer);
  EXPECT_EQ(port.counters().discarded(), 0U);
  EXPECT_TRUE(fc4.from.empty());
  accept_login(plogi);
  run_for(microsecond);
  EXPECT_EQ(fc4.from, std::vector{peer});
  EXPECT_EQ(sent.size(), 1U);
  EXPECT_EQ(port.counters().discarded(), 0U);
}

// ... E_D_TOV at most: then PLOGI goes again, and a frame from then on may be one of the login that the
// second PLOGI ends.
TEST_F(DenialsOutOfOrder, login_pending_ls_acc_overdue_is_asked_again) {
  remote().log_in();
  run_until(second);
  first_frame(peer);
  run_until(10 * second);
  EXPECT_EQ(times(Command::plogi), (Times{0, 3 * second}));
  EXPECT_EQ(port.counters().discarded(), 0U);
  first_frame(peer);
  expect_discarded(Discard::NotLoggedIn, 1);
  EXPECT_EQ(told(peer), 0U);
  accept_login(
      *sent.find([](const LoggedFrame& frame) { return frame.is_els(Command::plogi) && frame.at > 2 * second; }));
  run_for(microsecond);
  EXPECT_TRUE(remote().logged_in());
  EXPECT_TRUE(fc4.from.empty());
}

// ... where the peer's own PLOGI wins the frame was sent under the login before: it is dropped.
TEST_F(DenialsOutOfOrder, login_pending_plogi_of_the_peer_drops_what_waits) {
  remote().log_in();
  run_for(microsecond);
  first_frame(peer);
  auto login = login_of(peer);
  login.port_name = high_name(peer);
  ask(peer, bytes_of(login));
  run_for(millisecond);
  EXPECT_TRUE(remote().logged_in());
  EXPECT_TRUE(fc4.from.empty());
  first_frame(peer);
  EXPECT_EQ(fc4.from, std::vector{peer});
}

// --- limits ------------------------------------------------------------------------------------------------------

struct FewPorts : DenialsTest {
  FewPorts() : DenialsTest([](NPortConfig& config) { config.max_remote_ports = 1; }) {}
};

// All known ports are in use: one more is not told, and that is counted.
TEST_F(FewPorts, one_more_is_counted) {
  const PortUse use(remote());
  port.deny(stranger);
  run_for(second);
  expect_discarded(Discard::NoResources, 1);
  EXPECT_EQ(sent.size(), 0U);
}

// ... and its PLOGI is rejected for that.
TEST_F(FewPorts, one_more_login_is_rejected) {
  const PortUse use(remote());
  EXPECT_EQ(ask(stranger, bytes_of(login_of(stranger))),
            support::ls_rjt(RejectReason::unable_to_perform, wire::els::RejectExplanation::insufficient_resources));
  expect_discarded(Discard::NoResources, 1);
}

/// Four exchanges of ours: one of them for strangers.
struct FewDenials : DenialsTest {
  explicit FewDenials(std::uint16_t exchanges = 4)
      : DenialsTest([=](NPortConfig& config) { config.max_exchanges = exchanges; }) {}
  Exchange* ask_peer() {
    return port.request(peer, wire::RCtl::els_request, wire::Type::els, Bytes{0x0E, 0, 0, 0}, user, 100 * second);
  }
};
struct FewestDenials : FewDenials {
  FewestDenials() : FewDenials(2) {}
};

// The next one's LOGO takes the place of the one before.
TEST_F(FewDenials, next_stranger_takes_the_exchange) {
  for (std::uint32_t id = 3; id < 10; ++id) {
    port.deny({id});
    run_for(microsecond);
    EXPECT_EQ(told({id}), 1U);
    EXPECT_EQ(port.open_exchanges(), 1U);
  }
}
// A quarter of two is none: one all the same.
TEST_F(FewestDenials, stranger_is_told) {
  for (std::uint32_t id = 3; id < 10; ++id) {
    port.deny({id});
    run_for(microsecond);
    EXPECT_EQ(told({id}), 1U);
    EXPECT_EQ(port.open_exchanges(), 1U);
  }
}
// All are in use otherwise: nobody is told, now.
TEST_F(FewDenials, all_in_use_nobody_is_told) {
  for (int i = 0; i < 4; ++i) ASSERT_NE(ask_peer(), nullptr);
  port.deny(stranger);
  run_for(microsecond);
  EXPECT_EQ(told(stranger), 0U);
  EXPECT_EQ(port.open_exchanges(), 4U);
}
// A stranger's exchange ended long ago and is another's now: that goes on.
TEST_F(FewDenials, exchange_of_the_stranger_is_used_anew) {
  port.deny(stranger);
  run_for(microsecond);
  const wire::OxId ox_id = last().header.ox_id;
  answer(last(), bytes_of(wire::els::LsAcc{}));
  Exchange* exchange = nullptr;
  for (int i = 0; i < 200 && (exchange == nullptr || exchange->ox_id() != ox_id); ++i) {
    if (exchange != nullptr) answer(last(), bytes_of(wire::els::LsAcc{}));
    exchange = ask_peer();
    run_for(microsecond);
  }
  ASSERT_EQ(exchange->ox_id(), ox_id);
  const LoggedFrame asked = last();
  user.ius.clear();
  port.deny({0x000009});
  run_for(microsecond);
  EXPECT_EQ(told({0x000009}), 1U);
  EXPECT_EQ(port.open_exchanges(), 2U);
  answer(asked, bytes_of(wire::els::LsAcc{}));
  EXPECT_EQ(user.ius.size(), 1U);
}

}  // namespace
}  // namespace fc2
