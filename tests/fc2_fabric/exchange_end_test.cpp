// Ends of exchanges that meet each other: aborts of two reasons, answers to the second ABTS (FC-FS, FC-VI C.3 rule 2);
// and sequences of several frames within one exchange (FC-VI 5.5).
#include <gtest/gtest.h>

#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "wire/bls/ba_acc.hpp"

namespace fc2 {
namespace {

using support::Interposer;
using support::LoggedFrame;
using wire::RCtl;
constexpr auto type = wire::Type::ct;
constexpr wire::FcId b_id = support::PortPair::b_id;

/// Aborts what has failed already.
class AbortingUser final : public ExchangeUser {
 public:
  explicit AbortingUser(NPort& port) : port_(port) {}
  void sequence_received(Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t>) override {
    received = &exchange;
  }
  void exchange_failed(Exchange& exchange, ExchangeFailure failure) override {
    failures.push_back(failure);
    port_.abort(exchange);
  }
  Exchange* received = nullptr;
  std::vector<ExchangeFailure> failures;

 private:
  NPort& port_;
};

class ExchangeEndTest : public testing::Test {
 protected:
  ExchangeEndTest() { pair.b.set_user(type, responder); }
  ~ExchangeEndTest() override { EXPECT_EQ(pair.unexpected_events(), 0U); }
  Exchange* request(ExchangeUser& user) {
    return pair.a.request(b_id, RCtl::unsolicited_control, type, std::vector<std::uint8_t>(10), user, millisecond);
  }
  /// b's answer to the last ABTS of a.
  void answer_abts(RCtl r_ctl) {
    const LoggedFrame* abts = pair.to_b.log.find([](const LoggedFrame& f) { return f.is(RCtl::abts); });
    ASSERT_NE(abts, nullptr);
    wire::FcHeader header = abts->header;
    header.r_ctl = r_ctl;
    std::swap(header.s_id, header.d_id);
    header.f_ctl = wire::f_ctl::single_frame_reply;
    pair.a.receive(support::made_frame(pair.pool, header, support::zeros(wire::bls::BaAcc::size())));
  }
  void lose_all_to_b() {
    pair.to_b.on_frame = [](const LoggedFrame&) { return Interposer::Action::Drop; };
  }

  support::PortPair pair;
  support::RecordingUser originator, responder;
};

// FC-FS, FC-VI C.3 rule 2: an exchange is aborted once, and again after R_A_TOV without answer, however often
// its user asks.
TEST_F(ExchangeEndTest, aborting_aborted_by_its_user_too_is_aborted_once) {
  lose_all_to_b();
  AbortingUser user(pair.a);
  Exchange* exchange = request(user);
  pair.run_for(5 * second);
  EXPECT_EQ(user.failures, std::vector{ExchangeFailure::ReplyTimeout});
  EXPECT_EQ(pair.to_b.log.count(RCtl::abts), 1U);
  pair.run_for(10 * second);
  EXPECT_EQ(pair.to_b.log.count(RCtl::abts), 2U);
  pair.a.abort(*exchange);
  pair.run_for(100 * second);
  EXPECT_EQ(pair.to_b.log.count(RCtl::abts), 2U);
  EXPECT_EQ(pair.a.open_exchanges(), 0U);
}

// FC-FS: the peer aborts an exchange, and so does its user here when it hears of that: no ABTS goes back.
TEST_F(ExchangeEndTest, aborted_by_peer_aborted_by_its_user_too_sends_no_abts) {
  AbortingUser user(pair.b);
  pair.b.set_user(type, user);
  request(originator);
  pair.run_for(millisecond / 2);
  ASSERT_NE(user.received, nullptr);
  pair.run_for(second);
  EXPECT_EQ(user.failures, std::vector{ExchangeFailure::AbortedByPeer});
  EXPECT_EQ(pair.to_b.log.count(RCtl::abts), 1U);
  EXPECT_EQ(pair.to_a.log.count(RCtl::abts), 0U);
  EXPECT_EQ(pair.to_a.log.count(RCtl::ba_acc), 1U);
  pair.run_for(100 * second);
  EXPECT_EQ(pair.b.open_exchanges(), 0U);
}

// The user of an exchange that the peer aborted asks later, while the id rests: the same.
TEST_F(ExchangeEndTest, quarantined_by_peer_abort_requested_sends_no_abts) {
  Exchange* exchange = nullptr;
  responder.on_iu = [&](Exchange& opened, std::span<const std::uint8_t>) { exchange = &opened; };
  request(originator);
  pair.run_for(second);
  ASSERT_NE(exchange, nullptr);
  ASSERT_EQ(pair.b.open_exchanges(), 1U);
  pair.b.abort(*exchange);
  pair.run_for(100 * second);
  EXPECT_EQ(pair.to_a.log.count(RCtl::abts), 0U);
  EXPECT_EQ(pair.b.open_exchanges(), 0U);
}

// FC-FS: the first ABTS is lost; the second is rejected, since the peer has no such exchange: nobody is logged out, and
// the id rests for R_A_TOV from then on.
TEST_F(ExchangeEndTest, recovering_rejected_id_rests) {
  ASSERT_TRUE(pair.log_in());
  lose_all_to_b();
  request(originator);
  pair.run_for(15 * second);
  ASSERT_EQ(pair.to_b.log.count(RCtl::abts), 2U);
  answer_abts(RCtl::ba_rjt);
  pair.run_for(9 * second);
  EXPECT_EQ(pair.a.open_exchanges(), 1U);
  pair.run_for(2 * second);
  EXPECT_EQ(pair.a.open_exchanges(), 0U);
  EXPECT_TRUE(pair.a.remote_port(b_id).logged_in());
  EXPECT_EQ(originator.failures.size(), 1U);
}

// FC-VI 5.5: sequences of several frames follow each other within one initiative, each is handed up whole.
TEST_F(ExchangeEndTest, open_second_sequence_of_several_frames_is_assembled) {
  Exchange* exchange = pair.a.originate(b_id, type, originator);
  const std::vector<std::uint8_t> first(10, 1), second_iu(5000, 2);
  pair.a.send(*exchange, RCtl::unsolicited_control, {}, first, {});
  pair.a.send(*exchange, RCtl::unsolicited_control, {}, second_iu, {.last_of_exchange = true});
  pair.run_for(millisecond);
  ASSERT_EQ(responder.ius.size(), 2U);
  EXPECT_EQ(responder.ius[0].bytes, first);
  EXPECT_EQ(responder.ius[1].bytes, second_iu);
  EXPECT_EQ(pair.b.open_exchanges(), 0U);
}

}  // namespace
}  // namespace fc2
