// N_Ports with a resolver each, on a switch.
#pragma once
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "farp/resolver.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/els/farp.hpp"

namespace farp_test {

/// Loses the frames that it is told to lose.
struct Losing final : fc2::FrameFault {
  void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
    if (!lost || !lost(*wire::FcHeader::parse(frame->content()))) channel.deliver(std::move(frame));
  }
  std::function<bool(const wire::FcHeader&)> lost;
};

/// The address of port `index`: 10.0.0.1 for the first.
inline wire::IpAddress ip(std::size_t index) {
  return wire::IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(index + 1));
}

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
  /// A port of FC-VI: its resolver registers the FC-4s that it has.
  fc2::NPort& add_port(const support::TestFabric::Adjust& adjust = {}) {
    fc2::NPort& port = fabric.add_port(adjust);
    port.set_user(support::fc4, fc4_user);
    return port;
  }
  /// `count` nodes with addresses ip(0), ip(1), ...; `adjust` changes the resolver's configuration.
  void build(std::size_t count, const std::function<void(farp::ResolverConfig&, std::size_t)>& adjust = {}) {
    for (std::size_t i = 0; i < count; ++i) {
      add_port();
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
    fabric.run_until([&] { return asker.answers + asker.refusals > 0; }, 1000 * runtime::second);
    resolvers.at(from)->forget(asker);
    return asker;
  }
  [[nodiscard]] wire::FcId id(std::size_t index) { return fabric.port(index).n_port_id(); }
  std::vector<wire::FcId> ids(std::initializer_list<std::size_t> indices) {
    std::vector<wire::FcId> list;
    for (const std::size_t index : indices) list.push_back(id(index));
    return list;
  }
  /// An ELS request that arrives at port `to` as if port `from` had sent it.
  template <class Message>
  void deliver(std::size_t to, wire::FcId from, wire::FcId d_id, const Message& message) {
    deliver_bytes(to, from, d_id, support::bytes_of(message));
  }
  void deliver_bytes(std::size_t to, wire::FcId from, wire::FcId d_id, std::span<const std::uint8_t> payload,
                     std::uint32_t f_ctl = wire::f_ctl::single_frame_request | wire::f_ctl::last_sequence) {
    const wire::FcHeader header{.r_ctl = wire::RCtl::els_request,
                                .d_id = d_id,
                                .s_id = from,
                                .type = wire::Type::els,
                                .f_ctl = f_ctl,
                                .ox_id = {next_ox_id++}};
    fabric.port(to).receive(support::made_frame(fabric.pool, header, payload));
    fabric.run_for(runtime::millisecond);
  }
  /// FARP-REQ of port 0 for the address of that port.
  wire::els::FarpRequest request_for(std::size_t responder) {
    wire::els::FarpRequest request;
    request.requesting_n_port_id = id(0);
    request.requesting_port_name = fabric.port(0).config().port_name;
    request.requesting_node_name = fabric.port(0).config().node_name;
    request.requesting_ip = ip(0);
    request.responding_ip = ip(responder);
    return request;
  }
  /// To port 0: that N_Port_ID has the address of port `index`.
  wire::els::FarpReply reply_for(std::size_t index, wire::FcId responder) {
    wire::els::FarpReply reply;
    reply.requesting_n_port_id = id(0);
    reply.responding_n_port_id = responder;
    reply.responding_ip = ip(index);
    return reply;
  }
  static void farp_alone(farp::ResolverConfig& config, std::size_t) { config.use_name_server = false; }
  [[nodiscard]] std::uint64_t discarded(std::size_t index, fc2::Discard reason) {
    return fabric.port(index).counters().discarded(reason);
  }
  [[nodiscard]] std::uint64_t unexpected_events() {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < fabric.size(); ++i) sum += fabric.port(i).counters().unexpected_events;
    return sum;
  }

  support::RecordingUser fc4_user;
  support::TestFabric fabric{0};
  std::deque<Ready> ready;
  std::vector<std::unique_ptr<farp::Resolver>> resolvers;

 private:
  std::uint16_t next_ox_id = 0x7000;
};

inline const wire::IpAddress nobody = wire::IpAddress::v4(10, 9, 9, 9);
inline constexpr auto farp_only = [](farp::ResolverConfig& config, std::size_t) { config.use_name_server = false; };

class FarpTest : public ResolverTest {
 protected:
  ~FarpTest() override { EXPECT_EQ(unexpected_events(), 0U); }
  void tap(std::size_t index) { fabric.fabric.tap(fabric.port(index), &log); }

  support::FrameLog log;
};

}  // namespace farp_test
