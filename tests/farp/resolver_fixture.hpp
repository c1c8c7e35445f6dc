// N_Ports with a resolver each, on a switch.
#pragma once
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "farp/resolver.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/test_fabric.hpp"

namespace farp_test {

/// The address of port `index`: 10.0.0.1 for the first.
inline wire::IpAddress ip(std::size_t index) { return wire::IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(index + 1)); }

struct Asker final : farp::ResolveListener {
  void resolved(const wire::IpAddress&, std::span<const wire::FcId> n_port_ids) override {
    ++answers;
    ids.assign(n_port_ids.begin(), n_port_ids.end());
  }
  void not_resolved(const wire::IpAddress&) override {
    ++refusals;
    ids.clear();
  }
  int answers = 0, refusals = 0;
  std::vector<wire::FcId> ids;
};

struct Ready final : farp::ReadyListener {
  void address_ready() override { ++count; }
  int count = 0;
};

class ResolverTest : public testing::Test {
 protected:
  /// `count` nodes with addresses ip(0), ip(1), ...; `adjust` changes the resolver's configuration.
  void build(std::size_t count, const std::function<void(farp::ResolverConfig&, std::size_t)>& adjust = {}) {
    for (std::size_t i = 0; i < count; ++i) {
      fabric.add_port();
      farp::ResolverConfig config;
      config.own_addresses = {ip(i)};
      if (adjust) adjust(config, i);
      resolvers.push_back(std::make_unique<farp::Resolver>(fabric.port(i), std::move(config)));
      resolvers.back()->set_ready_listener(ready.emplace_back());
    }
  }
  void bring_up(std::size_t count, const std::function<void(farp::ResolverConfig&, std::size_t)>& adjust = {}) {
    build(count, adjust);
    fabric.bring_up();
  }
  /// Asks from port `from`, and waits for the answer.
  Asker ask(std::size_t from, const wire::IpAddress& address) {
    Asker asker;
    resolvers.at(from)->resolve(address, asker);
    fabric.run_until([&] { return asker.answers + asker.refusals > 0; }, 1000 * fc2::second);
    resolvers.at(from)->forget(asker);
    return asker;
  }
  [[nodiscard]] wire::FcId id(std::size_t index) { return fabric.port(index).n_port_id(); }
  std::vector<wire::FcId> ids(std::initializer_list<std::size_t> indices) {
    std::vector<wire::FcId> list;
    for (const std::size_t index : indices) list.push_back(id(index));
    return list;
  }
  [[nodiscard]] std::uint64_t unexpected_events() {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < fabric.size(); ++i) sum += fabric.port(i).counters().unexpected_events;
    return sum;
  }

  support::TestFabric fabric{0};
  std::deque<Ready> ready;
  std::vector<std::unique_ptr<farp::Resolver>> resolvers;
};

}  // namespace farp_test
