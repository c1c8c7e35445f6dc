// Answers, questions and changes that come at another time than usual, while an address is asked for (FC-VI
// 7.4 to 7.7).
#include "tests/farp/resolver_fixture.hpp"
#include "wire/els/farp.hpp"

namespace farp_test {
namespace {

using wire::els::Command;

class LateAnswers : public ResolverTest, private fc2::ExchangeUser {
 protected:
  ~LateAnswers() override { EXPECT_EQ(unexpected_events(), 0U); }
  void begin(const std::function<void(farp::ResolverConfig&, std::size_t)>& adjust = {}) {
    bring_up(2, adjust);
    fabric.fabric.tap(fabric.port(0), &log);
  }
  /// Port 1 says to port 0 that it has `address`.
  void reply(const wire::IpAddress& address) {
    wire::els::FarpReply late;
    late.responder_action = wire::els::farp_action::reply;
    late.requesting_n_port_id = id(0);
    late.responding_n_port_id = id(1);
    late.responding_ip = address;
    std::vector<std::uint8_t> payload(late.size());
    late.write(payload);
    fc2::Exchange* exchange = fabric.port(1).originate(id(0), wire::Type::els, *this);
    fabric.port(1).send(*exchange, wire::RCtl::els_request, {}, payload, {.last_of_exchange = true});
    fabric.run_for(100 * runtime::microsecond);
  }
  [[nodiscard]] std::size_t queries() const { return log.count(wire::RCtl::unsolicited_control); }
  [[nodiscard]] std::size_t broadcasts() const { return log.sent(Command::farp_req); }
  static void farp_only(farp::ResolverConfig& config, std::size_t) { config.use_name_server = false; }

  support::FrameLog log;  // of port 0
  static inline const wire::IpAddress nobody = wire::IpAddress::v4(10, 9, 9, 9);

 private:
  void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
};

// FC-VI 7.7.1: the mapping was invalidated: a reply that comes now may be older than that; it is asked for again.
TEST_F(LateAnswers, unresolved_reply_is_not_taken) {
  begin(farp_only);
  EXPECT_EQ(ask(0, ip(1)).answers, 1);
  resolvers[0]->invalidate(ip(1));
  reply(ip(1));
  EXPECT_EQ(broadcasts(), 1U);
  EXPECT_EQ(ask(0, ip(1)).answers, 1);
  EXPECT_EQ(broadcasts(), 2U);
}

// FC-VI 7.6: the Name Server is asked: a reply to an earlier broadcast is not its answer.
TEST_F(LateAnswers, querying_reply_is_not_taken) {
  begin();
  Asker asker;
  fabric.silence(0);  // no answer comes from there
  resolvers[0]->resolve(nobody, asker);
  fabric.run_for(runtime::millisecond);
  fabric.fabric.set_fault(fabric.port(0), nullptr);
  ASSERT_EQ(queries(), 1U);
  reply(nobody);
  EXPECT_EQ(asker.answers + asker.refusals, 0);
  EXPECT_EQ(broadcasts(), 0U);
  fabric.run_for(100 * runtime::second);
  EXPECT_EQ(asker.refusals, 1);
}

// FC-VI 7.7.1: the mapping is invalidated while the Name Server is asked: its answer may be older than that; it is
// asked again, once.
TEST_F(LateAnswers, querying_invalidated_asks_again) {
  begin();
  Asker asker;
  resolvers[0]->resolve(ip(1), asker);
  resolvers[0]->invalidate(ip(1));
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(asker.answers, 1);
  EXPECT_EQ(asker.ids, ids({1}));
  EXPECT_EQ(queries(), 2U);
  EXPECT_EQ(broadcasts(), 0U);
}

// FC-VI 7.5: two who ask for an address share one broadcast.
TEST_F(LateAnswers, await_reply_asked_again_shares_the_broadcast) {
  begin(farp_only);
  Asker first, second;
  resolvers[0]->resolve(ip(1), first);
  resolvers[0]->resolve(ip(1), second);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(first.ids, ids({1}));
  EXPECT_EQ(second.ids, ids({1}));
  EXPECT_EQ(broadcasts(), 1U);
}

// FC-VI 7.7.1: unknown to the Name Server, and asked for by broadcast when something changes: the Name Server is asked
// again, which may know it by now.
TEST_F(LateAnswers, await_reply_invalidated_asks_the_name_server) {
  begin();
  Asker asker;
  resolvers[0]->resolve(nobody, asker);
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(broadcasts(), 1U);
  ASSERT_EQ(queries(), 1U);
  resolvers[0]->invalidate(nobody);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(queries(), 2U);
  EXPECT_EQ(broadcasts(), 2U);  // which still does not
  fabric.run_for(100 * runtime::second);
  EXPECT_EQ(asker.refusals, 1);
}

// FC-VI 7.5: nobody answered in time, and then somebody does: who asks next is told so at once.
TEST_F(LateAnswers, failed_reply_comes_late_is_taken) {
  begin(farp_only);
  EXPECT_EQ(ask(0, nobody).refusals, 1);
  const std::size_t before = broadcasts();
  reply(nobody);
  const Asker again = ask(0, nobody);
  EXPECT_EQ(again.ids, ids({1}));
  EXPECT_EQ(broadcasts(), before);
}

}  // namespace
}  // namespace farp_test
