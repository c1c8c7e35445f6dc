// What every transport asks of the model when it is told to connect, accept or disconnect (VI-DG 3.3).
#include "tests/vi/bench.hpp"

namespace vi::testing {
namespace {

constexpr const char* states[] = {"Idle", "PendingConnect", "Connected", "Error"};

template <class Base>
struct Call final : Base {
  void done(Return value) override { result = value; }
  std::optional<Return> result;
};

// VI-DG 3.3.4: first what is wrong with the call, then the state.
TEST(ConnectRules, request_onlyOfAnIdleViFromItsOwnAddress) {
  for (const char* state : states) {
    Bench bench;
    bench.drive_to(state);
    const Return valid = bench.vi->state() == State::Idle ? Return::Success : Return::InvalidState;
    EXPECT_EQ(bench.vi->may_request(true, 1), valid) << state;
    EXPECT_EQ(bench.vi->may_request(true, runtime::never), valid) << state;
    EXPECT_EQ(bench.vi->may_request(true, 0), Return::InvalidParameter) << state;
    EXPECT_EQ(bench.vi->may_request(false, 1), Return::InvalidParameter) << state;
  }
}

// VI-DG 3.3.2: the state first; then level and transfer size have to be the same.
TEST(ConnectRules, accept_onlyByAnIdleViThatFits) {
  for (const char* state : states) {
    Bench bench;
    bench.drive_to(state);
    const bool idle = bench.vi->state() == State::Idle;
    ViAttributes remote = bench.vi->attributes();
    EXPECT_EQ(bench.vi->may_accept(remote), idle ? Return::Success : Return::InvalidState) << state;
    ++remote.max_transfer_size_bytes;
    EXPECT_EQ(bench.vi->may_accept(remote), idle ? Return::InvalidMtu : Return::InvalidState) << state;
    remote.reliability = ReliabilityLevel::UnreliableDelivery;
    EXPECT_EQ(bench.vi->may_accept(remote), idle ? Return::InvalidReliabilityLevel : Return::InvalidState) << state;
  }
}

// VI-DG 3.3.4: Error where the network is the cause and the level is a reliable one; else Idle. Receives stay posted
// where the VI is Idle by a refusal; they are flushed by the time-out and by Error.
TEST(ConnectRules, pending_requestEnds_theStateIsByItsResult) {
  struct Case {
    Return result;
    bool breaks;
    State after;
    bool flushed;
  };
  for (const Case& one :
       {Case{Return::NotReachable, true, State::Error, true}, Case{Return::NotReachable, false, State::Idle, false},
        Case{Return::Timeout, true, State::Idle, true}, Case{Return::NoMatch, true, State::Idle, false},
        Case{Return::Reject, true, State::Idle, false}}) {
    Bench bench;
    bench.post_receive(bench.receive(4));
    bench.drive_to("PendingConnect");
    end_request(one.result, one.breaks, [&](const auto& event) { bench.vi->endpoint_event(event); });
    EXPECT_EQ(bench.vi->state(), one.after) << to_string(one.result);
    EXPECT_EQ(bench.signals(), one.flushed ? Log{"receive"} : Log{}) << to_string(one.result);
    EXPECT_EQ(bench.vi->unexpected_events(), 0u);
  }
}

// VI-DG 3.3.5: from every state to Idle with empty queues, and the consumer is not told of a lost connection.
TEST(ConnectRules, anyState_disconnect_isIdle) {
  for (const char* state : states) {
    Bench bench;
    bench.drive_to(state);
    bench.signals();
    bench.post_receive(bench.receive(4));
    bench.vi->disconnect();
    EXPECT_EQ(bench.vi->state(), State::Idle) << state;
    EXPECT_EQ(bench.signals(), Log{"receive"}) << state;
    EXPECT_EQ(bench.vi->unexpected_events(), 0u);
  }
}

// VI-ARCH 3.2.2.1: a protection tag means something to its own NIC only.
TEST(ConnectRules, answeredCalls_haveThePeersAttributesWithoutItsTag) {
  const ViAttributes remote{
      .reliability = ReliabilityLevel::ReliableReception, .max_transfer_size_bytes = 7, .ptag = {3}};
  Call<ConnectOperation> request;
  request.connected(remote);
  Call<ConnectWaitOperation> wait;
  const NetAddress client{.host = wire::IpAddress::v4(10, 0, 0, 1)};
  wait.matched({9}, client, remote);
  EXPECT_EQ(wait.token.value, 9u);
  EXPECT_EQ(wait.remote_address.host, client.host);
  EXPECT_EQ(request.result, Return::Success);
  EXPECT_EQ(wait.result, Return::Success);
  for (const ViAttributes& told : {request.remote_attributes, wait.remote_attributes}) {
    EXPECT_EQ(told.reliability, remote.reliability);
    EXPECT_EQ(told.max_transfer_size_bytes, 7u);
    EXPECT_TRUE(told.ptag.is_null());
  }
}

}  // namespace
}  // namespace vi::testing
