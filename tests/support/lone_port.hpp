// An N_Port alone on a link without a fabric: what it hears is made by hand, what it says stands in a log.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <stdexcept>

#include "fc2_fabric/node/n_port.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/els/login.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_rjt.hpp"

namespace support {

class LonePort : public testing::Test {
 protected:
  static constexpr wire::FcId own{0x0E01};
  using Adjust = std::function<void(fc2::NPortConfig&)>;
  using AdjustLogin = std::function<void(wire::els::Login&)>;

  explicit LonePort(const Adjust& adjust = {}, runtime::TimeNs start = runtime::second)
      : scheduler(start), port(scheduler, pool, config(adjust)) {
    to_wire.tap_sender(&log);
    port.link_up_without_fabric(to_wire, own);
  }
  ~LonePort() override { EXPECT_EQ(port.counters().unexpected_events, 0U); }
  static fc2::NPortConfig config(const Adjust& adjust) {
    fc2::NPortConfig config = port_config(0);
    if (adjust) adjust(config);
    return config;
  }
  void run_for(runtime::TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  void receive(const wire::FcHeader& header, std::span<const std::uint8_t> payload) {
    port.receive(made_frame(pool, header, payload));
  }
  void els_request(wire::FcId from, std::span<const std::uint8_t> payload) {
    receive(els_request_header(own, from, {7}), payload);
  }
  /// Port_Name and Node_Name say which port it is.
  wire::els::Login login_of(wire::FcId from, wire::els::Command command, const AdjustLogin& adjust) const {
    wire::els::Login login = port.login_parameters(command);
    login.port_name = login.node_name = {0x3000'0000'0000'0000ULL + from.value};
    if (adjust) adjust(login);
    return login;
  }
  void plogi(wire::FcId from, const AdjustLogin& adjust = {}) {
    els_request(from, bytes_of(login_of(from, wire::els::Command::plogi, adjust)));
  }
  void logo(wire::FcId from) {
    els_request(from,
                bytes_of(wire::els::Logo{.n_port_id = from, .port_name = {0x3000'0000'0000'0000ULL + from.value}}));
  }
  /// Answers the latest PLOGI that went there.
  void accept_plogi(wire::FcId of) { answer_plogi(of, bytes_of(login_of(of, wire::els::Command::ls_acc, {}))); }
  void reject_plogi(wire::FcId of, wire::els::RejectReason reason) {
    answer_plogi(of, bytes_of(wire::els::LsRjt{.reason = reason}));
  }
  [[nodiscard]] bool logged_in(wire::FcId id) {
    const fc2::RemotePort* remote = port.find_remote_port(id);
    return remote != nullptr && remote->logged_in();
  }
  [[nodiscard]] std::size_t answered(wire::els::Command command, wire::FcId to) const {
    return log.count([&](const LoggedFrame& f) { return f.outbound && f.header.d_id == to && f.is_els(command); });
  }
  [[nodiscard]] std::uint64_t refused() const { return port.counters().discarded(fc2::Discard::NoResources); }

  runtime::Scheduler scheduler;
  fc2::FramePool pool;
  FrameLog log;
  struct Nowhere final : fc2::FrameReceiver {
    void receive(fc2::FramePtr) override {}
  } nowhere;
  fc2::Channel to_wire{scheduler, {}, nowhere};
  fc2::NPort port;

 private:
  void answer_plogi(wire::FcId of, std::span<const std::uint8_t> payload) {
    const auto& frames = log.frames();
    const auto request = std::find_if(frames.rbegin(), frames.rend(), [&](const LoggedFrame& frame) {
      return frame.header.d_id == of && frame.is_els(wire::els::Command::plogi);
    });
    if (request == frames.rend()) throw std::logic_error("no PLOGI went there");
    receive(els_reply_header(own, of, request->header.ox_id), payload);
  }
};

}  // namespace support
