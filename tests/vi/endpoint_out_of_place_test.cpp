// What a transport tells a VI in a state in which it is not valid, or comes too late: refused or counted, nothing
// else (VI-ARCH 5).
#include "tests/vi/bench.hpp"

namespace vi::testing {
namespace {

/// The VI in this state takes the event, whatever it makes of it, and stays where it is. To the application
/// Disconnecting is Error (ruling 27).
template <class Event>
EndpointOutcome stays(Bench& bench, const char* state, const Event& event) {
  bench.drive_to(state);
  bench.signals();
  const EndpointOutcome outcome = bench.vi->endpoint_event(event);
  EXPECT_EQ(bench.vi->endpoint_state_name(), state == std::string_view("Disconnecting") ? "Error" : state);
  EXPECT_EQ(bench.vi->unexpected_events(), 0u) << state;
  EXPECT_THAT(bench.signals(), ::testing::IsEmpty()) << state;
  return outcome;
}

template <class Event>
void expect_refused(const char* state) {
  Bench bench;
  EXPECT_TRUE(stays(bench, state, Event{}).refused) << state;
}

template <class Event>
void expect_counted(const char* state) {
  Bench bench;
  const std::uint32_t before = bench.vi->stale_events();
  EXPECT_FALSE(stays(bench, state, Event{}).refused);
  EXPECT_EQ(bench.vi->stale_events(), before + 1) << state;
}

// VI-ARCH 5: only an Idle VI takes part in a new connection: VIP_INVALID_STATE.
TEST(EndpointOutOfPlace, notIdle_connect_isRefused) {
  for (const char* state : {"PendingConnect", "Connected", "Error", "Disconnecting"}) {
    expect_refused<endpoint::ConnectRequested>(state);
    expect_refused<endpoint::AcceptRequested>(state);
  }
}

// VI-ARCH 5.1, 5.2: an error that a descriptor reports changes nothing where there is no connection.
TEST(EndpointOutOfPlace, notConnected_localError_isCounted) {
  for (const char* state : {"Idle", "PendingConnect", "Error", "Disconnecting"})
    expect_counted<endpoint::LocalError>(state);
}

// FC-VI D.2: the connection is over already.
TEST(EndpointOutOfPlace, noConnection_itsEndComesLate_isCounted) {
  expect_counted<endpoint::ConnectionLost>("Idle");
  expect_counted<endpoint::SetupFailed>("Error");
  expect_counted<endpoint::ConnectionLost>("Disconnecting");
  expect_counted<endpoint::SetupFailed>("Disconnecting");
  expect_counted<endpoint::CatastrophicError>("Disconnecting");
}

// VI-ARCH 2.5.1: at Unreliable Delivery the connection persists, and carries what is posted next.
TEST(EndpointOutOfPlace, connectedUnreliable_localError_persists) {
  Bench bench({.level = ReliabilityLevel::UnreliableDelivery});
  EXPECT_FALSE(stays(bench, "Connected", endpoint::LocalError{}).refused);
  EXPECT_EQ(bench.vi->stale_events(), 0u);
  EXPECT_TRUE(bench.vi->can_transmit());
  EXPECT_TRUE(bench.vi->can_receive());
}

}  // namespace
}  // namespace vi::testing
