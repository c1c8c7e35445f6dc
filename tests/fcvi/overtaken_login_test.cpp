// Out-of-order fabrics: a CONNECT_RQST may overtake the LS_ACC that its sender gave to our PLOGI, or LS_ACC is lost
// (FC-VI 5.6, 7.7.2, 8.1).
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/fcvi/setup_faults.hpp"
#include "tests/fcvi/wire_fixture.hpp"
#include "tests/support/made_frame.hpp"

namespace {
using vi::Return;
using wire::RCtl;

fc2::SwitchConfig out_of_order() {
  fc2::SwitchConfig config;
  config.in_order = false;
  return config;
}

/// The client has sent PLOGI, and the server's LS_ACC to it meets its fate: the server is logged in, the client
/// is not yet.
class OvertakenLogin : public support::WireNodes {
 public:
  OvertakenLogin() : WireNodes({}, {}, out_of_order()) { fabric.fabric.set_fault(server->port, &faults); }
  ~OvertakenLogin() override { fabric.fabric.set_fault(server->port, nullptr); }
  void TearDown() override { EXPECT_EQ(unexpected(), 0u); }

  fc2::RemotePort& login_at_client() { return client->port.remote_port(server->port.n_port_id()); }
  void log_in_half() {
    login_at_client().log_in();
    const auto accepted = [&] { return server->port.remote_port(client->port.n_port_id()).logged_in(); };
    ASSERT_TRUE(fabric.run_until(accepted));
    ASSERT_FALSE(login_at_client().logged_in());
  }
  void server_asks() {
    client_vi = &client->make_vi(vi::ReliabilityLevel::ReliableDelivery);
    server_vi = &server->make_vi(vi::ReliabilityLevel::ReliableDelivery);
    client->provider.connect_wait(client->net("service"), runtime::never, wait);
    server->provider.connect_request(*server_vi, server->net("c"), client->net("service"), runtime::never, request);
  }
  void expect_connected_within(runtime::TimeNs time) {
    ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }, time));
    client->provider.connect_accept(wait.token, *client_vi, accept);
    fabric.run_for(runtime::millisecond);
    EXPECT_EQ(accept.result, Return::Success);
    EXPECT_EQ(request.result, Return::Success);
  }
  /// First frames of set-ups that the server begins.
  void flood(std::uint16_t count) {
    for (std::uint16_t i = 0; i < count; ++i) {
      fabric.fabric.ingress_of(server->port)
          ->receive(support::made_frame(fabric.pool,
                                        {.r_ctl = RCtl::unsolicited_control,
                                         .d_id = client->port.n_port_id(),
                                         .s_id = server->port.n_port_id(),
                                         .type = wire::Type::fc_vi,
                                         .f_ctl = wire::f_ctl::first_sequence,
                                         .ox_id = {i},
                                         .rx_id = wire::RxId::unassigned},
                                        support::zeros(32), wire::Sof::i3, wire::Eof::n));
    }
    fabric.run_for(runtime::millisecond);
  }
  [[nodiscard]] std::uint64_t not_logged_in() const {
    return client->port.counters().discarded(fc2::Discard::NotLoggedIn);
  }
  support::IuFaults faults{fabric.pool};
};

// Nothing was lost: the set-up goes on as soon as LS_ACC is there, and costs no T3.
TEST_F(OvertakenLogin, loginPending_rqstOvertakesAccept_waitsForIt) {
  faults.hold(RCtl::els_reply, 10 * runtime::millisecond);
  log_in_half();
  server_asks();
  fabric.run_for(5 * runtime::millisecond);
  EXPECT_FALSE(wait.result.has_value());
  expect_connected_within(10 * runtime::millisecond);
  EXPECT_EQ(not_logged_in(), 0u);
}

// LS_ACC is lost: it is waited for during E_D_TOV, then PLOGI asks again; the set-up begins anew with that login,
// before its T3.
TEST_F(OvertakenLogin, loginPending_acceptLost_asksAgain) {
  faults.lose(RCtl::els_reply);
  log_in_half();
  server_asks();
  fabric.run_for(client->port.e_d_tov() - runtime::millisecond);
  EXPECT_FALSE(login_at_client().logged_in());
  expect_connected_within(10 * runtime::millisecond);
}

// What waits is bounded, and given back when no login comes of it.
TEST_F(OvertakenLogin, loginPending_flood_isBounded) {
  faults.lose_all();
  login_at_client().log_in();
  fabric.run_for(runtime::millisecond);
  fabric.fabric.set_fault(server->port, nullptr);
  const std::size_t before = fabric.pool.outstanding();
  flood(1000);
  EXPECT_LE(fabric.pool.outstanding(), before + 64);
  EXPECT_GE(not_logged_in(), 1000u - 64u);
  fabric.fabric.set_fault(server->port, &faults);
  fabric.run_for(200 * runtime::second);
  EXPECT_FALSE(login_at_client().logging_in());
  EXPECT_LE(fabric.pool.outstanding(), before);
}

}  // namespace
