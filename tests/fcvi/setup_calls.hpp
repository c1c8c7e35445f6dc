// A client that asks and a server that waits: verbs for set-ups without faults.
#pragma once
#include "tests/fcvi/two_nodes.hpp"

namespace support {

class Setup : public TwoNodes {
 public:
  explicit Setup(TestFabric::Adjust adjust = {}, farp::ResolverConfig farp = {}, fcvi::ProviderConfig config = {})
      : TwoNodes(std::move(config), {.latency_ns = runtime::microsecond, .bytes_per_second = 0}, std::move(adjust),
                 std::move(farp)) {
    client_vi = &client->make_vi(vi::ReliabilityLevel::ReliableDelivery);
    server_vi = &server->make_vi(vi::ReliabilityLevel::ReliableDelivery);
  }
  void ask(runtime::TimeNs timeout = 5 * runtime::second, std::string_view discriminator = "service") {
    request.result.reset();
    started = fabric.scheduler.now();
    client->provider.connect_request(*client_vi, client->net("client"), server->net(discriminator), timeout, request);
  }
  void listen(std::string_view discriminator = "service", runtime::TimeNs timeout = 100 * runtime::second) {
    server->provider.connect_wait(server->net(discriminator), timeout, wait);
  }
  [[nodiscard]] vi::Return outcome() {
    EXPECT_TRUE(fabric.run_until([&] { return request.result.has_value(); }));
    took = fabric.scheduler.now() - started;
    return request.result.value_or(vi::Return::NotDone);
  }
  [[nodiscard]] bool offered() {
    return fabric.run_until([&] { return wait.result == vi::Return::Success; });
  }
  [[nodiscard]] vi::Return accepted() {
    EXPECT_TRUE(fabric.run_until([&] { return accept.result.has_value(); }));
    return accept.result.value_or(vi::Return::NotDone);
  }
  void TearDown() override { EXPECT_EQ(unexpected(), 0u); }
  runtime::TimeNs started = 0, took = 0;
};

}  // namespace support
