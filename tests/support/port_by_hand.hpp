// One N_Port: the test is the far end of its link.
#pragma once
#include <gtest/gtest.h>

#include <functional>

#include "fc2_fabric/node/n_port.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/fan.hpp"
#include "wire/els/login.hpp"

namespace support {

/// Takes frames at once, and remembers what it was told.
class FarWire final : public fc2::FrameOutput {
 public:
  static constexpr std::uint16_t buffers = 11;
  explicit FarWire(runtime::Scheduler& scheduler) : scheduler_(scheduler) {}
  void send(fc2::FramePtr frame) override { log.frame_passed(scheduler_.now(), *frame, true); }
  [[nodiscard]] std::uint16_t own_bb_credit() const override { return buffers; }
  [[nodiscard]] bool alternate_bb_credit() const override { return alternate; }
  void set_bb_credit(std::uint16_t of_far_end) override { told.push_back(of_far_end); }
  FrameLog log;
  bool alternate = false;
  std::vector<std::uint16_t> told;  // BB_Credit

 private:
  runtime::Scheduler& scheduler_;
};

/// A FC-4 with message data, that remembers.
class RecordingDataUser final : public fc2::DataFrameUser {
 public:
  std::vector<wire::FcHeader> data, ius;
  std::vector<std::pair<wire::FcId, wire::OxId>> aborts;
  std::vector<fc2::ExchangeFailure> failures;
  std::function<void(const fc2::ReceivedFrame&)> on_data;
  std::function<std::size_t(const fc2::ReceivedFrame&, const fc2::FrameRun&)> on_run;  // without: takes none
  std::function<bool(const fc2::Frame&)> on_whole;                                     // without: takes none
  bool knows_aborted = false;
  int acknowledged = 0;

  void data_frame_received(const fc2::ReceivedFrame& frame) override {
    data.push_back(frame.header);
    if (on_data) on_data(frame);
  }
  std::size_t data_run_received(const fc2::ReceivedFrame& first, const fc2::FrameRun& run) override {
    return on_run ? on_run(first, run) : 0;
  }
  bool whole_frame_received(const fc2::Frame& frame) override { return on_whole && on_whole(frame); }
  bool abort_received(wire::FcId source, wire::OxId ox_id) override {
    aborts.emplace_back(source, ox_id);
    return knows_aborted;
  }
  void sequence_received(fc2::Exchange&, const wire::FcHeader& first, std::span<const std::uint8_t>) override {
    ius.push_back(first);
  }
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure failure) override { failures.push_back(failure); }
  void sequence_acknowledged(fc2::Exchange&) override { ++acknowledged; }
};

class PortByHand {
 public:
  using Adjust = std::function<void(fc2::NPortConfig&)>;
  using Command = wire::els::Command;
  static constexpr wire::FcId own{0x010105}, peer{0x010201}, other{0x010301};
  static constexpr wire::Wwn f_port_name{0x2000'0000'0000'00F1}, fabric_name{0x1000'0000'0000'00F1};
  static constexpr std::array<std::uint8_t, 4> echo{0x10, 0, 0, 0};

  explicit PortByHand(const Adjust& adjust = {}) : port(scheduler, pool, config(adjust)) {
    port.add_listener(listener);
  }
  ~PortByHand() { EXPECT_EQ(port.counters().unexpected_events, 0U); }
  void run_for(runtime::TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  [[nodiscard]] std::uint64_t discarded(fc2::Discard reason) const { return port.counters().discarded(reason); }

  // --- frames to the port
  void receive(const wire::FcHeader& header, std::span<const std::uint8_t> data = {}, wire::Sof sof = wire::Sof::i3,
               wire::Eof eof = wire::Eof::t) {
    port.receive(made_frame(pool, header, data, sof, eof));
    run_for(runtime::microsecond);
  }
  /// The first frame of an exchange of its own.
  wire::FcHeader opening(wire::Type type, wire::RCtl r_ctl, wire::FcId from = peer) {
    wire::FcHeader header = request_header(r_ctl, type, port.n_port_id(), from, {next_ox_id_++});
    header.seq_id = {3};
    return header;
  }
  void ask(std::span<const std::uint8_t> els, wire::FcId from = peer) {
    receive(opening(wire::Type::els, wire::RCtl::els_request, from), els);
  }
  /// The answer to what the port asked last by that command.
  void answer(Command asked, std::span<const std::uint8_t> els, wire::FcId to) {
    const LoggedFrame* request = nullptr;
    for (const LoggedFrame& frame : wire.log.frames())
      if (frame.is_els(asked) && frame.is(wire::RCtl::els_request)) request = &frame;
    ASSERT_NE(request, nullptr);
    receive(els_reply_header(to, request->header.d_id, request->header.ox_id), els);
  }
  /// Its mapping is as it was.
  void answer_adisc(wire::FcId id) {
    const wire::Wwn name = name_of(id);
    const wire::els::Adisc accept{.command = Command::ls_acc, .port_name = name, .node_name = name, .n_port_id = id};
    answer(Command::adisc, bytes_of(accept), port.n_port_id());
  }
  static constexpr wire::Wwn name_of(wire::FcId id) { return {0x2000'0000'0000'0000U + id.value}; }
  /// As that port says of itself what this one says.
  wire::els::Login login_of(wire::FcId id, Command command = Command::ls_acc) {
    wire::els::Login login = port.login_parameters(Command::plogi);
    login.command = command;
    login.port_name = login.node_name = name_of(id);
    return login;
  }
  wire::els::Login fabric_login() {
    wire::els::Login login = port.login_parameters(Command::flogi);
    login.command = Command::ls_acc;
    login.features = wire::els::feature::f_port;
    login.set_r_a_tov_ms(10'000);
    login.port_name = f_port_name;
    login.node_name = fabric_name;
    return login;
  }
  /// LS_ACC of another N_Port to FLOGI.
  wire::els::Login n_port_login(int above_ours) {
    wire::els::Login login = fabric_login();
    login.features = 0;
    login.port_name = {port.config().port_name.value + static_cast<std::uint64_t>(std::int64_t{above_ours})};
    return login;
  }

  // --- to these states
  void without_fabric(wire::FcId id = own) {
    port.link_up_without_fabric(wire, id);
    run_for(runtime::microsecond);
  }
  void link_up() {
    port.link_up(wire);
    run_for(runtime::microsecond);
  }
  void on_fabric(wire::FcId id = own) {
    link_up();
    answer(Command::flogi, bytes_of(fabric_login()), id);
  }
  /// FLOGI is answered by another N_Port, of a lower or a higher name than ours (or of the same).
  void meet_n_port(int above_ours) {
    link_up();
    answer(Command::flogi, bytes_of(n_port_login(above_ours)), {});
  }
  /// Another N_Port's FLOGI.
  void flogi_comes(std::uint16_t bb_credit = 23) {
    wire::FcHeader header = opening(wire::Type::els, wire::RCtl::els_request, wire::well_known::unidentified);
    header.d_id = wire::well_known::f_port;
    wire::els::Login login = login_of(peer, Command::flogi);
    login.bb_credit = bb_credit;
    receive(header, bytes_of(login));
  }
  /// The PLOGI that assigns an address, or asks for a login.
  void plogi_comes(wire::FcId from, wire::FcId to) {
    wire::FcHeader header = opening(wire::Type::els, wire::RCtl::els_request, from);
    header.d_id = to;
    receive(header, bytes_of(login_of(from, Command::plogi)));
  }
  void public_loop(std::uint8_t al_pa = own.port()) {
    port.link_up_on_public_loop(wire, al_pa);
    run_for(runtime::microsecond);
  }
  void on_public_loop(wire::FcId id = own) {
    public_loop(id.port());
    answer(Command::flogi, bytes_of(fabric_login()), id);
  }
  void fan_comes() {
    wire::FcHeader header = opening(wire::Type::els, wire::RCtl::els_request, wire::well_known::f_port);
    header.f_ctl = 0x390000;
    const wire::els::Fan fan{.loop_fabric_address = {0x010100}, .port_name = f_port_name, .fabric_name = fabric_name};
    receive(header, bytes_of(fan));
  }
  void log_in(wire::FcId id = peer) {
    port.remote_port(id).log_in();
    run_for(runtime::microsecond);
    answer(Command::plogi, bytes_of(login_of(id)), port.n_port_id());
    EXPECT_TRUE(port.remote_port(id).logged_in());
  }
  [[nodiscard]] std::size_t sent(Command command) const { return wire.log.sent(command); }
  [[nodiscard]] std::size_t sent(Command command, wire::FcId to) const {
    return wire.log.count([&](const LoggedFrame& frame) { return frame.is_els(command) && frame.header.d_id == to; });
  }

  runtime::Scheduler scheduler;
  fc2::FramePool pool;
  LoginListener listener;
  RecordingUser user;
  RecordingDataUser data_user;
  FarWire wire{scheduler};
  fc2::NPort port;

 private:
  static fc2::NPortConfig config(const Adjust& adjust) {
    fc2::NPortConfig config = port_config(0);
    if (adjust) adjust(config);
    return config;
  }
  std::uint16_t next_ox_id_ = 0x4000;
};

}  // namespace support
