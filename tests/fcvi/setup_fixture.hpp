// A client and a server whose set-up goes through faults on the server's link: verbs for scenarios.
#pragma once
#include "tests/fcvi/setup_faults.hpp"
#include "tests/fcvi/wire_fixture.hpp"

namespace support {

inline fcvi::ProviderConfig with_ulp_timeout(runtime::TimeNs ulp_timeout) {
  fcvi::ProviderConfig config;
  config.ulp_timeout = ulp_timeout;
  return config;
}

class FaultySetup : public WireNodes {
 public:
  using Level = vi::ReliabilityLevel;
  using Opcode = wire::fcvi::Opcode;
  using Return = vi::Return;
  explicit FaultySetup(fcvi::ProviderConfig config = {}, TestFabric::Adjust adjust = {},
                       fc2::SwitchConfig fabric_config = {}, Level level = Level::ReliableDelivery)
      : WireNodes(config, std::move(adjust), std::move(fabric_config)) {
    client_vi = &client->make_vi(level);
    server_vi = &server->make_vi(level);
    EXPECT_TRUE(fabric.log_in(0, 1));
    fabric.fabric.set_fault(server->port, &faults);
    log.clear();
  }
  ~FaultySetup() override {
    server->provider.withdraw(second_wait);
    fabric.fabric.set_fault(server->port, nullptr);
  }
  void TearDown() override {
    EXPECT_EQ(unexpected() + client_vi->unexpected_events() + server_vi->unexpected_events(), 0u);
    EXPECT_TRUE(faults.all_used());
  }

  /// The time of the CONNECT_RQST is `begun`; T1 runs from `called` on.
  void ask(runtime::TimeNs timeout = runtime::never, std::string_view discriminator = "service of 16 by") {
    request.result.reset();
    called = fabric.scheduler.now();
    const std::uint64_t sent = client->provider.counters().ius_sent;
    client->provider.connect_request(*client_vi, client->net("client, 16 bytes"), server->net(discriminator), timeout,
                                     request);
    EXPECT_TRUE(fabric.run_until([&] { return client->provider.counters().ius_sent != sent; }));
    begun = fabric.scheduler.now();
  }
  void listen(runtime::TimeNs timeout = runtime::never) {
    wait.result.reset();
    server->provider.connect_wait(server->net("service of 16 by"), timeout, wait);
  }
  /// Another call that waits for the same: nothing that is dead may reach it.
  void listen_again() { server->provider.connect_wait(server->net("service of 16 by"), runtime::never, second_wait); }
  [[nodiscard]] bool offered() {
    return fabric.run_until([&] { return wait.result.has_value(); });
  }
  void accept_offer() {
    accept.result.reset();
    server->provider.connect_accept(wait.token, *server_vi, accept);
  }
  /// As soon as it is offered.
  void accept_next() {
    ASSERT_TRUE(offered());
    ASSERT_EQ(wait.result, Return::Success);
    accept_offer();
  }
  void connect_pair() {
    listen(), ask();
    accept_next();
    ASSERT_TRUE(fabric.run_until([&] { return request.result && accept.result; }));
    settle();
    ASSERT_EQ(request.result, Return::Success);
    ASSERT_EQ(accept.result, Return::Success);
    frames();
  }
  [[nodiscard]] Return asked() {
    EXPECT_TRUE(fabric.run_until([&] { return request.result.has_value(); }));
    return request.result.value_or(Return::NotDone);
  }
  [[nodiscard]] Return accepted() {
    EXPECT_TRUE(fabric.run_until([&] { return accept.result.has_value(); }));
    return accept.result.value_or(Return::NotDone);
  }
  void settle() { fabric.run_for(100 * runtime::microsecond); }
  void run_to(runtime::TimeNs after_begin) { fabric.scheduler.run_until(begun + after_begin); }
  [[nodiscard]] runtime::TimeNs elapsed() const { return fabric.scheduler.now() - begun; }

  /// One message from the client to the server; true when it arrived and completed on both sides.
  [[nodiscard]] bool message_flows() {
    const auto receive = server->descriptor(0, {{server->data, 64}});
    server_vi->post_receive(receive, server->handle);
    const auto send = client->descriptor(vi::control::immediate, {}, 0, {}, 0xC0FFEE);
    client_vi->post_send(send, client->handle);
    settle();
    return server->status(receive) == (vi::status::done | vi::status::op_receive | vi::status::immediate) &&
           client->status(send) == (vi::status::done | vi::status::op_send);
  }
  [[nodiscard]] std::uint64_t discarded(const Host& host, fc2::Discard reason) const {
    return host.port.counters().discarded(reason);
  }
  [[nodiscard]] std::uint64_t discarded(const Host& host, fcvi::Discard reason) const {
    return host.provider.counters().discarded(reason);
  }
  /// The client's tap: its own frames, and what came through to it.
  [[nodiscard]] std::vector<WireFrame> seen(Opcode opcode) {
    std::vector<WireFrame> result;
    for (WireFrame& frame : frames())
      if (frame.opcode() == static_cast<unsigned>(opcode)) result.push_back(std::move(frame));
    return result;
  }
  /// Both disconnect; then nothing is left over.
  void expect_nothing_left() {
    faults.clear();
    EXPECT_EQ(disconnect(*client, *client_vi), Return::Success);
    EXPECT_EQ(disconnect(*server, *server_vi), Return::Success);
    EXPECT_EQ(client_vi->state(), vi::State::Idle);
    EXPECT_EQ(server_vi->state(), vi::State::Idle);
    fabric.run_for(60 * runtime::second);
    for (const Host* host : {client.get(), server.get()}) {
      EXPECT_EQ(host->provider.handles_in_use(), 0u);
      EXPECT_EQ(host->provider.open_setups(), 0u);
      EXPECT_EQ(host->provider.resting_connection_ids(), 0u);
      EXPECT_EQ(host->provider.open_connection_ids(), 0u);
      EXPECT_EQ(host->port.open_exchanges(), 0u);
    }
  }
  static constexpr runtime::TimeNs t3 = 10 * runtime::second,
                                   t2 = 20 * runtime::second;  // FCVI_ULP_TIMEOUT = R_A_TOV, and twice that
  IuFaults faults{fabric.pool};
  Wait second_wait;
  runtime::TimeNs called = 0, begun = 0;
};

}  // namespace support
