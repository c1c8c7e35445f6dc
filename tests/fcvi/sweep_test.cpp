// Something ends a connection after every single event of its life, from the first IU to the last message: nothing may
// be left over, whatever the moment (FC-VI 7.7.1, 8.2, 8.4.2, 8.5.3, 8.6, C.3 to C.5, D.1).
#include "tests/fcvi/two_nodes.hpp"

namespace {
using Level = vi::ReliabilityLevel;
using support::Connect;
using support::Done;
using support::Host;
using support::Wait;

struct End {
  const char* name;
  void (*act)(class Sweep& sweep);
};

class Sweep : public support::TwoNodes, public ::testing::WithParamInterface<End> {
 public:
  Sweep() : TwoNodes({}, {.latency_ns = 10 * runtime::microsecond, .bytes_per_second = 1'000'000'000}) {}

  /// A set-up, accepted as soon as it is offered, then traffic of all kinds in both directions; stops
  /// after `steps` events.
  bool live(int steps) {
    const auto deadline = fabric.scheduler.now() + runtime::second;
    bool accepting = false, sending = false;
    for (int step = 0; step < steps; ++step) {
      if (!fabric.scheduler.run_next(deadline)) return false;
      if (!std::exchange(accepting, wait.result == vi::Return::Success) && accepting)
        server->provider.connect_accept(wait.token, *server_vi, accept);
      const bool both = accept.result == vi::Return::Success && client_vi->state() == vi::State::Connected;
      if (!std::exchange(sending, both) && both) exchange_messages();
    }
    return true;
  }
  void exchange_messages() {
    for (auto [host, vi, peer] :
         {std::tuple(client.get(), client_vi, server.get()), std::tuple(server.get(), server_vi, client.get())}) {
      vi->post_receive(host->descriptor(0, {{host->data, 9000}}), host->handle);
      vi->post_receive(host->descriptor(0, {{host->data, 9000}}), host->handle);
      vi->post_send(host->descriptor(0, {{host->data, 5000}}), host->handle);
      vi->post_send(host->descriptor(vi::control::op_rdma_read, {{host->data, 9000}}, peer->data, peer->handle),
                    host->handle);
      vi->post_send(host->descriptor(vi::control::op_rdma_write, {{host->data, 3000}}, peer->data, peer->handle),
                    host->handle);
      vi->post_send(host->descriptor(0, {{host->data, 10}}), host->handle);
    }
  }
  void begin(Level level) {
    // A port whose peer's link went believes in its login until the LOGO that answers its next frame.
    client->port.remote_port(server->port.n_port_id()).log_out();
    fabric.run_for(runtime::second);
    ASSERT_TRUE(fabric.log_in(0, 1));
    wait.result.reset(), request.result.reset(), accept.result.reset();
    client->next_descriptor = server->next_descriptor = Host::base;
    client_vi = &client->make_vi(level);
    server_vi = &server->make_vi(level);
    server->provider.connect_wait(server->net("service"), runtime::second, wait);
    client->provider.connect_request(*client_vi, client->net("client"), server->net("service"), 5 * runtime::second,
                                     request);
  }
  void settle_and_check() {
    fabric.run_for(50 * runtime::second);  // T1, T3, T2, two disconnect time-outs
    EXPECT_TRUE(request.result.has_value());
    EXPECT_TRUE(wait.result.has_value());
    Done rejected;  // an offer stands until the application decides
    if (wait.result == vi::Return::Success) server->provider.connect_reject(wait.token, rejected);
    for (auto [host, vi] : {std::pair(client.get(), client_vi), std::pair(server.get(), server_vi)}) {
      EXPECT_EQ(disconnect(*host, *vi), vi::Return::Success);
      EXPECT_EQ(vi->state(), vi::State::Idle);
      EXPECT_EQ(vi->unexpected_events(), 0u);
      std::uint64_t address = 0;
      while (!vi->send_queue_empty()) ASSERT_NE(vi->send_done(address), vi::Return::NotDone);
      while (!vi->receive_queue_empty()) ASSERT_NE(vi->receive_done(address), vi::Return::NotDone);
      EXPECT_EQ(host->nic.destroy_vi(*vi), vi::Return::Success);
    }
    fabric.run_for(60 * runtime::second);  // T2 of a rejected request; handles and exchange ids rest for R_A_TOV
    for (Host* host : {client.get(), server.get()}) {
      EXPECT_EQ(host->port.open_exchanges(), 0u);
      EXPECT_EQ(host->provider.handles_in_use(), 0u);
      EXPECT_EQ(host->provider.open_setups(), 0u);
    }
    EXPECT_EQ(fabric.pool.outstanding(), 0u);
    EXPECT_EQ(unexpected(), 0u);
  }
  Done ends[4];
};

void bounce(Sweep& sweep, std::size_t port) {
  sweep.fabric.detach(port);
  sweep.fabric.run_for(runtime::millisecond);
  sweep.fabric.attach(port);
}

TEST_P(Sweep, every_moment) {
  constexpr int last = 400;
  int longest = 0;
  for (const Level level : {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception})
    for (int steps = 0; steps < last; ++steps) {
      SCOPED_TRACE(testing::Message() << "level " << static_cast<int>(level) << ", after " << steps << " events");
      begin(level);
      const bool busy = live(steps);
      GetParam().act(*this);
      settle_and_check();
      if (HasFailure()) return;
      if (!busy) break;  // all is over before
      longest = std::max(longest, steps);
    }
  EXPECT_GT(longest, 100);  // it came as far as the messages
}

INSTANTIATE_TEST_SUITE_P(
    Ends, Sweep,
    ::testing::Values(
        End{"ClientDisconnects", [](Sweep& s) { s.client->provider.disconnect(*s.client_vi, s.ends[0]); }},
        End{"ServerDisconnects", [](Sweep& s) { s.server->provider.disconnect(*s.server_vi, s.ends[0]); }},
        End{"BothDisconnect",
            [](Sweep& s) {
              s.client->provider.disconnect(*s.client_vi, s.ends[0]);
              s.server->provider.disconnect(*s.server_vi, s.ends[1]);
              s.client->provider.disconnect(*s.client_vi, s.ends[2]);
              s.server->provider.disconnect(*s.server_vi, s.ends[3]);
            }},
        End{"ClientLogsOut", [](Sweep& s) { s.client->port.remote_port(s.server->port.n_port_id()).log_out(); }},
        End{"ServerLogsOut", [](Sweep& s) { s.server->port.remote_port(s.client->port.n_port_id()).log_out(); }},
        End{"ClientLinkBounces", [](Sweep& s) { bounce(s, 0); }},
        End{"ServerLinkBounces", [](Sweep& s) { bounce(s, 1); }},
        End{"ServerSilentForAWhile",
            [](Sweep& s) {
              s.fabric.detach(1);
              s.fabric.run_for(12 * runtime::second);
              s.fabric.attach(1);
            }},
        End{"ClientGoesDuringRetry",
            [](Sweep& s) {
              s.fabric.detach(1);
              s.fabric.run_for(12 * runtime::second);
              bounce(s, 0);
              s.fabric.attach(1);
            }}),
    [](const auto& tested) { return tested.param.name; });
}  // namespace
