// Three N_Ports with resolvers on a switch, the first logged in with the others and told of state changes.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "farp/resolver.hpp"
#include "fc2_fabric/switch/fabric_directory.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/ct/accept.hpp"
#include "wire/ct/gpn_id.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/rscn.hpp"

namespace farp_test {
using farp::Resolver, farp::ResolverConfig;

/// The fabric controller tells `port` what may have changed.
inline void tell_changed(support::TestFabric& fabric, fc2::NPort& port, const wire::els::RscnPage& page) {
  const wire::els::Rscn rscn{.pages = {page}};
  const wire::FcHeader header{.r_ctl = wire::RCtl::els_request,
                              .d_id = port.n_port_id(),
                              .s_id = wire::well_known::fabric_controller,
                              .type = wire::Type::els,
                              .f_ctl = wire::f_ctl::single_frame_request | wire::f_ctl::last_sequence,
                              .ox_id = {0x7000}};
  port.receive(support::made_frame(fabric.pool, header, support::bytes_of(rscn)));
}

inline void tell_all_changed(support::TestFabric& fabric, fc2::NPort& port) {
  tell_changed(fabric, port, {.format = wire::els::AddressFormat::fabric});
}

/// Stands in the Name Server's place, and answers nothing unless it is told to.
class SilentServer final : public fc2::ExchangeUser {
 public:
  enum class Answer { None, Abort, Reject, Name };
  explicit SilentServer(fc2::NPort& port, Answer its_answer = Answer::None, wire::Wwn its_name = {})
      : answer(its_answer), name(its_name), port_(port) {
    port.set_user(wire::Type::ct, *this);
  }
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t>) override {
    if (answer == Answer::None) return port_.release(exchange);
    if (answer == Answer::Abort) return port_.abort(exchange);
    auto accept = support::bytes_of(wire::ct::NameAccept{.world_wide_name = name});
    if (answer == Answer::Reject) accept = support::bytes_of(wire::ct::CtHeader::of(wire::ct::Command::reject));
    port_.send(exchange, wire::RCtl::solicited_control, {}, accept,
               {.last_of_exchange = ends, .transfer_initiative = true});
  }
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  Answer answer;
  wire::Wwn name;
  bool ends = true;  // the exchange, with its answer

 private:
  fc2::NPort& port_;
};

class PortValidatorTest : public testing::Test, private fc2::PortListener {
 public:
  PortValidatorTest() : fabric(3) {
    for (std::size_t i = 0; i < 3; ++i) {
      ResolverConfig config;
      config.own_addresses = {wire::IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(i + 1))};
      resolvers.push_back(std::make_unique<Resolver>(fabric.port(i), config));
    }
    fabric.bring_up();
    EXPECT_TRUE(fabric.log_in(0, 1));
    EXPECT_TRUE(fabric.log_in(0, 2));
    fabric.port(0).add_listener(*this);
    fabric.fabric.tap(fabric.port(0), &log);
  }
  ~PortValidatorTest() override {
    for (std::size_t i = 0; i < fabric.size(); ++i) EXPECT_EQ(fabric.port(i).counters().unexpected_events, 0U) << i;
    fabric.port(0).remove_listener(*this);
  }
  void fabric_logged_in() override {}
  void fabric_login_failed() override {}
  void remote_port_logged_in(fc2::RemotePort&) override {}
  void remote_port_login_failed(fc2::RemotePort& port) override { login_failed.push_back(port.peer()); }
  void remote_port_logged_out(fc2::RemotePort& port) override {
    if (!wire::is_of_fabric(port.peer())) logged_out.push_back(port.peer());
  }
  wire::FcId id(std::size_t index) { return fabric.port(index).n_port_id(); }
  void all_changed() { tell_all_changed(fabric, fabric.port(0)); }
  bool knows(wire::FcId peer) { return fabric.port(0).remote_port(peer).logged_in(); }

  /// When GPN_ID about that port went out, counted from `begun`; about all of them, of which port each was.
  std::vector<runtime::TimeNs> questions(wire::FcId of) const {
    std::vector<runtime::TimeNs> times;
    for (const auto& [at, id] : questions())
      if (id == of) times.push_back(at - begun);
    return times;
  }
  std::set<wire::FcId> asked_about() const {
    std::set<wire::FcId> about;
    for (const auto& [at, id] : questions()) about.insert(id);
    return about;
  }
  std::vector<runtime::TimeNs> discoveries(wire::FcId of) const { return times_of(wire::els::Command::adisc, of); }
  std::size_t denials(wire::FcId of) const { return times_of(wire::els::Command::logo, of).size(); }
  /// From here on.
  void begin() {
    log.clear();
    begun = fabric.scheduler.now();
  }

  support::TestFabric fabric;
  std::vector<std::unique_ptr<Resolver>> resolvers;
  support::FrameLog log;
  std::vector<wire::FcId> logged_out, login_failed;
  runtime::TimeNs begun = 0;

 private:
  std::vector<std::pair<runtime::TimeNs, wire::FcId>> questions() const {
    std::vector<std::pair<runtime::TimeNs, wire::FcId>> list;
    for (const support::LoggedFrame& frame : log.frames())
      if (const auto gpn_id = wire::ct::GpnId::parse(frame.data); frame.outbound && gpn_id)
        list.emplace_back(frame.at, gpn_id->port_id);
    return list;
  }
  std::vector<runtime::TimeNs> times_of(wire::els::Command command, wire::FcId to) const {
    std::vector<runtime::TimeNs> times;
    for (const support::LoggedFrame& frame : log.frames())
      if (frame.outbound && frame.is(wire::RCtl::els_request) && frame.is_els(command) && frame.header.d_id == to)
        times.push_back(frame.at - begun);
    return times;
  }
};

}  // namespace farp_test
