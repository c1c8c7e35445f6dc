// Class 2: what a login grants, and end-to-end credit (FC-FS; FC-VI 8.1, B.2.6.1 rule 8).
#include <gtest/gtest.h>

#include "tests/support/class_2_pair.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/test_fabric.hpp"

namespace fc2 {
namespace {
using support::Interposer;
using support::LoggedFrame;
using support::PortPair;
using wire::RCtl;
namespace f_ctl = wire::f_ctl;

class Class2Credit : public support::Class2Pair {
 public:
  explicit Class2Credit(const std::function<void(NPortConfig&)>& adjust = {}) : Class2Pair(adjust) {}
  [[nodiscard]] RemotePort& b() { return pair.a.remote_port(b_id); }
  /// PLOGI of b that says something else of class 2; b itself knows nothing of it, and hears nothing.
  void log_in_with(std::uint16_t granted, std::uint16_t open_sequences) {
    pair.to_b.on_frame = [](const LoggedFrame&) { return Interposer::Action::Drop; };
    wire::els::Login login = pair.b.login_parameters(wire::els::Command::plogi);
    login.class_2.end_to_end_credit = granted;
    login.class_2.open_sequences_per_exchange = open_sequences;
    inject(pair.a, support::els_request_header(a_id, b_id, {0x7001}), wire::Sof::i3, support::bytes_of(login));
    ASSERT_TRUE(b().logged_in());
  }
};

struct Class2SingleCredit : Class2Credit {
  Class2SingleCredit() : Class2Credit([](NPortConfig& config) { config.end_to_end_credit = 1; }) {}
};

// FC-FS, FC-VI 8.1: class 2 goes between two ports that both offer it, and with credit alone.
TEST(Class2Login, logged_in_class_2_is_what_both_offer) {
  constexpr wire::FcId peer{0x010900};
  for (const bool own : {true, false})
    for (const bool valid : {true, false})
      for (const bool granted : {true, false}) {
        support::TestFabric fabric(1, {},
                                   [own](NPortConfig& config, std::size_t) { config.end_to_end_credit = own ? 2 : 0; });
        fabric.bring_up();
        NPort& port = fabric.port(0);
        EXPECT_FALSE(port.remote_port(peer).supports_class_2()) << "no login";
        wire::els::Login login = port.login_parameters(wire::els::Command::plogi);
        login.port_name.value += 1;
        login.class_2 = login.class_3;
        if (!valid) login.class_2.service_options = 0;
        login.class_2.end_to_end_credit = granted ? 2 : 0;
        port.receive(support::made_frame(fabric.pool, support::els_request_header(port.n_port_id(), peer, {1}),
                                         support::bytes_of(login)));
        ASSERT_TRUE(port.remote_port(peer).logged_in());
        EXPECT_EQ(port.remote_port(peer).supports_class_2(), own && valid && granted) << own << valid << granted;
      }
}

// FC-FS, FC-LS 6.6.5: ACK_0 is asked for where the sender knows it and the recipient sends it; otherwise each frame
// gets its ACK_1.
TEST(Class2Login, logged_in_ack_0_is_what_both_know) {
  for (const bool own : {true, false})
    for (const bool peers : {true, false}) {
      support::RecordingUser user;
      PortPair pair([&](NPortConfig& config) {
        config.end_to_end_credit = 2;
        config.ack_0 = config.name == "a" ? own : peers;
      });
      ASSERT_TRUE(pair.log_in());
      Exchange* exchange = pair.a.originate(PortPair::b_id, wire::Type::ct, user);
      exchange->use_class_2();
      pair.a.send(*exchange, RCtl::unsolicited_control, {}, std::array<std::uint8_t, 5000>{},
                  {.transfer_initiative = true});
      pair.run_for(millisecond);
      const bool both = own && peers;
      EXPECT_EQ(pair.to_a.log.count(RCtl::ack_0), both ? 1u : 0u) << own << peers;
      EXPECT_EQ(pair.to_a.log.count(RCtl::ack_1), both ? 0u : 3u) << own << peers;
    }
}

// FC-FS: credit is what was granted less what is not acknowledged. To log in where a login stands (as a second set-up
// does) neither adds to it nor loses the frames that wait for it.
TEST_F(Class2Credit, waiting_log_in_again_grants_nothing_more) {
  log_in(), lose_acks();
  send(originate(), 3);
  EXPECT_EQ(sent(), credit);
  b().log_in();
  send(originate());
  EXPECT_EQ(sent(), credit);
  answer(sent_frame(0).header, RCtl::ack_1, 1);
  EXPECT_EQ(sent(), credit + 1u);
  EXPECT_EQ(sent_frame(credit).header.seq_cnt.value, 2) << "the one that waited first";
}

// FC-FS: a frame of before the login took no credit: its ACK gives none back.
TEST_F(Class2Credit, logged_in_ack_of_a_frame_before_the_login) {
  pair.to_a.on_frame = [](const LoggedFrame&) { return Interposer::Action::Drop; };
  send(originate(wire::Type::els), 2);
  const wire::FcHeader echo = sent_frame(0, RCtl::els_request).header;
  pair.to_a.on_frame = {};
  log_in(), lose_acks();
  answer(echo, RCtl::ack_1, 1);
  send(originate(), 5);
  EXPECT_EQ(sent(), credit);
}

// FC-FS: the least credit is credit: one frame after the other.
TEST_F(Class2SingleCredit, waiting_each_ack_lets_one_frame_go) {
  log_in(), lose_acks();
  send(originate(), 3);
  for (std::size_t count = 1; count <= 3; ++count) {
    EXPECT_EQ(sent(), count);
    answer(sent_frame(count - 1).header, RCtl::ack_1, 1);
  }
}

// FC-FS: end-to-end credit is what the peer grants, whatever it says of open sequences; who grants none counts none.
TEST_F(Class2Credit, logged_in_credit_is_what_the_peer_grants) {
  struct Case {
    std::uint16_t granted, open_sequences;
    std::size_t frames_sent;
  };
  for (const Case& one : {Case{2, 0, 2}, {3, 1, 3}, {0, 1, 5}, {0, 0, 5}}) {
    log_in_with(one.granted, one.open_sequences);
    pair.to_b.log.clear();
    send(originate(), 5);
    EXPECT_EQ(sent(), one.frames_sent) << one.granted << one.open_sequences;
  }
}

// FC-LS: a new login grants no credit: a link service that waited for that of the one before goes without.
TEST_F(Class2Credit, waiting_logged_in_without_credit_link_service_is_sent) {
  log_in(), lose_acks();
  send(originate(), 2), send(originate(wire::Type::els));
  EXPECT_EQ(sent(RCtl::els_request), 0u);
  log_in_with(0, 1);
  EXPECT_EQ(sent(RCtl::els_request), 1u);
}

// FC-LS, FC-FS: link services to a port that logged out go without credit, and their ACKs give none back.
TEST_F(Class2Credit, logged_out_link_service_takes_no_credit) {
  log_in();
  pair.b.remote_port(a_id).log_out();
  run();
  ASSERT_FALSE(b().logged_in());
  pair.to_b.log.clear(), lose_acks();
  send(originate(wire::Type::els), 5);
  ASSERT_EQ(sent(RCtl::els_request), 5u);
  for (std::size_t i = 0; i < 5; ++i) answer(sent_frame(i, RCtl::els_request).header, RCtl::ack_1, 1);
  pair.to_a.on_frame = {};
  log_in(), lose_acks();
  send(originate(), 5);
  EXPECT_EQ(sent(), credit);
}

// FC-VI B.2.6.1 rule 8e, FC-FS: no ACK: the sequence is aborted. What of it waits for credit does not go with the
// credit that comes back.
TEST_F(Class2Credit, waiting_aborted_the_rest_is_not_sent) {
  log_in(), lose_acks();
  send(originate(), 5);
  pair.run_for(pair.a.e_d_tov() + millisecond);
  EXPECT_EQ(user.failures, std::vector{ExchangeFailure::NotAcknowledged});
  EXPECT_EQ(sent(RCtl::abts), 1u);
  EXPECT_EQ(sent(), credit);
}

// FC-VI 7.7.1, FC-FS: a logout ends all exchanges: what one of them gives back lets no frame of another go.
TEST_F(Class2Credit, waiting_logged_out_nothing_more_is_sent) {
  log_in(), lose_acks();
  send(originate(), 3), send(originate(), 3);
  pair.b.remote_port(a_id).log_out();
  run();
  EXPECT_EQ(user.failures, (std::vector{ExchangeFailure::PortLoggedOut, ExchangeFailure::PortLoggedOut}));
  EXPECT_EQ(sent(), credit);
  log_in();
  run();
  EXPECT_EQ(sent(), 0u);
}

// FC-LS: link services need no login: one that waits for credit when the login ends goes then.
TEST_F(Class2Credit, waiting_logged_out_link_service_is_sent) {
  log_in(), lose_acks();
  send(originate(), 2), send(originate(wire::Type::els));
  EXPECT_EQ(sent(RCtl::els_request), 0u);
  pair.b.remote_port(a_id).log_out();
  run();
  EXPECT_EQ(pair.to_b.log.count([](const LoggedFrame& frame) { return frame.is_els(wire::els::Command::echo); }), 1u);
}

// FC-VI 5.5, FC-FS: what still waits for credit was never sent: an answer to it is none.
TEST_F(Class2Credit, waiting_answer_to_what_never_went_is_ignored) {
  log_in(), lose_acks();
  send(originate(), 2);
  Exchange& waits = originate();
  send(waits);
  wire::FcHeader never = sent_frame(0).header;
  never.ox_id = waits.ox_id();
  for (unsigned seq_id = 0; seq_id < 256; ++seq_id) {
    never.seq_id = {static_cast<std::uint8_t>(seq_id)};
    answer(never, RCtl::ack_1, 1), reject(never);
  }
  EXPECT_TRUE(waits.awaits_acknowledgement());
  EXPECT_TRUE(user.failures.empty());
}

// FC-VI 7.7.3: nothing but link services goes to a port that is suspended: an ACK that comes meanwhile lets no other
// frame go. With the port come back, they go, in their order and not beyond the credit.
TEST_F(Class2Credit, suspended_only_link_services_take_credit) {
  log_in(), lose_acks();
  send(originate(), 5), send(originate(wire::Type::els));
  b().suspend();
  answer(sent_frame(0).header, RCtl::ack_1, 1);
  EXPECT_EQ(sent(), credit);
  EXPECT_EQ(sent(RCtl::els_request), 1u) << "acknowledged by its answer";
  b().resume();
  run();
  ASSERT_EQ(sent(), credit + 1u);
  EXPECT_EQ(sent_frame(credit).header.seq_cnt.value, 2);
}

// FC-VI 7.7.3, 8.4.2: what waits for a port that is suspended, and is given up, does not go when that has come back;
// its ABTS does.
TEST_F(Class2Credit, suspended_given_up_is_not_sent) {
  log_in();
  b().suspend();
  Exchange& exchange = originate();
  send(exchange);
  pair.a.abort(exchange);
  b().resume();
  run();
  EXPECT_EQ(sent(), 0u);
  EXPECT_EQ(sent(RCtl::abts), 1u);
}

// FC-FS "N_Port Login required" where there is no login that could end: the frame is rejected, as for any other reason.
TEST_F(Class2Credit, logged_out_rejected_for_login) {
  pair.to_a.on_frame = [](const LoggedFrame&) { return Interposer::Action::Drop; };
  EXPECT_FALSE(b().logged_in());
  send(originate(wire::Type::els));
  reject(sent_frame(0, RCtl::els_request).header, wire::LinkRejectReason::login_required);
  EXPECT_EQ(user.failures, std::vector{ExchangeFailure::Rejected});
}

}  // namespace
}  // namespace fc2
