// Which exchange a frame belongs to, and which it does not (FC-FS: S_ID, OX_ID, Exchange Context); how long a question
// waits; how often a stranger is told that there is no login.
#include <gtest/gtest.h>

#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"

namespace fc2 {
namespace {
using wire::RCtl;
constexpr auto type = wire::Type::ct;
constexpr wire::FcId a_id = support::PortPair::a_id, b_id = support::PortPair::b_id, other{0x010300};

class WhoseExchange : public testing::Test {
 protected:
  WhoseExchange() { pair.b.set_user(type, responder); }
  ~WhoseExchange() override { EXPECT_EQ(pair.unexpected_events(), 0U); }
  Exchange* request() {
    return pair.a.request(b_id, RCtl::unsolicited_control, type, std::vector<std::uint8_t>(12), originator, second);
  }
  /// An answer of eight bytes that ends this exchange.
  static wire::FcHeader answer(wire::OxId ox_id) {
    return support::reply_header(RCtl::solicited_control, type, a_id, b_id, ox_id);
  }
  void deliver(NPort& to, const wire::FcHeader& header) {
    to.receive(support::made_frame(pair.pool, header, support::zeros(8)));
  }
  [[nodiscard]] std::uint64_t unknown() const { return pair.a.counters().discarded(Discard::UnknownExchange); }

  support::PortPair pair;
  support::RecordingUser originator, responder;
};

// An answer is of the exchange that has its OX_ID, and of the port that was asked: anything else is counted
// and ends nothing.
TEST_F(WhoseExchange, open_answerOfAnother_isNotTaken) {
  Exchange* exchange = request();
  const wire::OxId ox_id = exchange->ox_id();
  pair.run_for(millisecond);
  wire::FcHeader stranger = answer(ox_id);
  stranger.s_id = other;
  deliver(pair.a, stranger);
  EXPECT_EQ(unknown(), 1U);
  for (const unsigned far : {1U, 2U, 0x4000U, 0xFFFEU})
    deliver(pair.a, answer({static_cast<std::uint16_t>(ox_id.value + far)}));
  EXPECT_EQ(unknown(), 5U);
  EXPECT_TRUE(originator.ius.empty());
  EXPECT_TRUE(originator.failures.empty());
  deliver(pair.a, answer(ox_id));
  EXPECT_EQ(originator.ius.size(), 1U);
  EXPECT_EQ(pair.a.open_exchanges(), 0U);
  deliver(pair.a, answer(ox_id));
  EXPECT_EQ(unknown(), 6U) << "it is over";
  EXPECT_EQ(originator.ius.size(), 1U);
}

// An exchange in which the port answers has an OX_ID of the other's: an "answer" to it, by our own count of
// exchanges, is nobody's.
TEST_F(WhoseExchange, responding_answerToItsPlace_isNotTaken) {
  pair.a.set_user(type, responder);
  const auto asked =
      pair.b.request(a_id, RCtl::unsolicited_control, type, std::vector<std::uint8_t>(12), originator, second);
  ASSERT_NE(asked, nullptr);
  pair.run_for(millisecond);
  ASSERT_EQ(responder.ius.size(), 1U);
  const wire::RxId place = responder.ius[0].exchange->rx_id();
  deliver(pair.a, answer({place.value}));
  EXPECT_EQ(unknown(), 1U);
  EXPECT_EQ(responder.ius.size(), 1U);
  EXPECT_EQ(pair.a.open_exchanges(), 1U);
}

// What is addressed to another port is not ours, whatever it says.
TEST_F(WhoseExchange, open_answerToAnotherAddress_isNotTaken) {
  Exchange* exchange = request();
  pair.run_for(millisecond);
  wire::FcHeader elsewhere = answer(exchange->ox_id());
  elsewhere.d_id = other;
  deliver(pair.a, elsewhere);
  EXPECT_EQ(pair.a.counters().discarded(Discard::WrongAddress), 1U);
  EXPECT_TRUE(originator.ius.empty());
}

// Several at once: each answer finds its own.
TEST_F(WhoseExchange, open_severalAtOnce_eachFindsItsOwn) {
  std::vector<Exchange*> exchanges;
  for (int i = 0; i < 5; ++i) exchanges.push_back(request());
  pair.run_for(millisecond);
  for (const std::size_t i : {3U, 0U, 4U, 1U, 2U}) {
    deliver(pair.a, answer(exchanges[i]->ox_id()));
    EXPECT_EQ(originator.ius.back().exchange, exchanges[i]);
  }
  EXPECT_EQ(originator.ius.size(), 5U);
}

// FC-FS: FFFFh is no OX_ID: the numbers go on with 0.
TEST(ExchangeIds, comeRound_withoutFfff) {
  support::PortPair pair([](NPortConfig& config) { config.first_ox_id = 0xFFFD; });
  support::RecordingUser user;
  std::vector<unsigned> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(pair.a.originate(b_id, type, user)->ox_id().value);
  EXPECT_EQ(ids, (std::vector<unsigned>{0xFFFD, 0xFFFE, 0, 1}));
}

// Ruling 221: 2 * E_D_TOV, twice as long each time, and never longer than 2 * R_A_TOV, which the last try has.
TEST(AnswerTime, doubles_upToItsMost) {
  support::PortPair pair;
  const TimeNs first = 2 * pair.a.e_d_tov(), most = 2 * pair.a.r_a_tov();
  EXPECT_EQ(pair.a.answer_time(0, 2), first);
  EXPECT_EQ(pair.a.answer_time(1, 1), std::min(2 * first, most));
  EXPECT_EQ(pair.a.answer_time(2, 1), std::min(4 * first, most));
  EXPECT_EQ(pair.a.answer_time(100, 1), most);
  EXPECT_EQ(pair.a.answer_time(0, 0), most);
  EXPECT_EQ(pair.a.answer_time(3, 0), most);
}

// FC-FS LOGO: who has no login is told so, once in E_D_TOV however much comes.
TEST(Deny, stranger_isToldOnceInEdTov) {
  support::PortPair pair;
  const auto told = [&] {
    return pair.to_b.log.count([](const support::LoggedFrame& f) { return f.is_els(wire::els::Command::logo); });
  };
  pair.a.deny(b_id);
  pair.a.deny(b_id);
  pair.run_for(pair.a.e_d_tov() - 1);
  pair.a.deny(b_id);
  pair.run_for(1);
  EXPECT_EQ(told(), 1U);
  pair.a.deny(b_id);
  pair.run_for(millisecond);
  EXPECT_EQ(told(), 2U);
}

// Each way in which an exchange fails has its own words.
TEST(ExchangeFailures, haveTheirWords) {
  std::vector<std::string_view> words;
  for (int value = 0; value <= static_cast<int>(ExchangeFailure::NotAcknowledged); ++value)
    words.push_back(to_string(static_cast<ExchangeFailure>(value)));
  EXPECT_EQ(words,
            (std::vector<std::string_view>{"reply timeout", "aborted by the peer", "sequence error", "port logged out",
                                           "busy", "rejected", "abort demanded", "not acknowledged"}));
}
}  // namespace
}  // namespace fc2
