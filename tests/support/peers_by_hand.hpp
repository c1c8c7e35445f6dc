// An N_Port in virtual time, on a link without a fabric; the test plays every other port by hand, frame by frame.
#pragma once
#include <gtest/gtest.h>

#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/ls_rjt.hpp"

namespace support {

class PeersByHand : public testing::Test {
 public:
  using Adjust = std::function<void(fc2::NPortConfig&)>;
  using Bytes = std::vector<std::uint8_t>;
  using Times = std::vector<runtime::TimeNs>;
  static constexpr wire::FcId own{0x000001}, peer{0x000002}, stranger{0x000003};
  /// For an Adjust: the link promises no order.
  static void out_of_order(fc2::NPortConfig& config) { config.in_order_without_fabric = false; }

  explicit PeersByHand(const Adjust& adjust = {}) : port(scheduler, pool, config(adjust)) {
    wire_.tap_sender(&sent);
    port.add_listener(listener);
    port.set_user(wire::Type::ct, user);
  }
  ~PeersByHand() override { EXPECT_EQ(port.counters().unexpected_events, unexpected_events); }

  fc2::Channel& wire() { return wire_; }
  void link_up(wire::FcId id = own) { port.link_up_without_fabric(wire_, id); }
  void run_for(runtime::TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  void run_until(runtime::TimeNs since_begin) { scheduler.run_until(begin + since_begin); }
  void mark() {  // times count from here
    begin = scheduler.now();
    sent.clear();
    listener.events.clear();
  }
  fc2::RemotePort& remote(wire::FcId id = peer) { return port.remote_port(id); }

  // --- names: higher or lower than the port's own
  static constexpr wire::Wwn own_name{0x2000'0000'0000'0001};
  static wire::Wwn high_name(wire::FcId id) { return {0x3000'0000'0000'0000ULL + id.value}; }
  static wire::Wwn low_name(wire::FcId id) { return {0x1000'0000'0000'0000ULL + id.value}; }
  static wire::Wwn node_name(wire::FcId id) { return {0x1100'0000'0000'0000ULL + id.value}; }
  [[nodiscard]] wire::els::Login login_of(wire::FcId id, wire::els::Command command = wire::els::Command::plogi) {
    wire::els::Login login = port.login_parameters(command);
    login.port_name = low_name(id);
    login.node_name = node_name(id);
    return login;
  }
  /// The three addresses of that login.
  static wire::els::Adisc adisc_of(wire::FcId id, wire::els::Command command = wire::els::Command::adisc) {
    return {.command = command, .port_name = low_name(id), .node_name = node_name(id), .n_port_id = id};
  }

  // --- frames to the port
  void receive(wire::FcHeader header, Bytes payload) {
    while (payload.size() % 4 != 0) {
      payload.push_back(0);
      ++header.f_ctl;  // a fill byte
    }
    port.receive(made_frame(pool, header, payload));
  }
  wire::OxId request(wire::FcId from, const Bytes& payload, wire::FcId to = own,
                     wire::RCtl r_ctl = wire::RCtl::els_request) {
    const wire::OxId ox_id{next_ox_id_++};
    receive(request_header(r_ctl, wire::Type::els, to, from, ox_id), payload);
    return ox_id;
  }
  /// A request, and what the port answers; empty: nothing, so far.
  Bytes ask(wire::FcId from, const Bytes& payload, wire::FcId to = own) {
    const wire::OxId ox_id = request(from, payload, to);
    run_for(runtime::microsecond);
    const LoggedFrame* found = sent.find([&](const LoggedFrame& frame) {
      return frame.is(wire::RCtl::els_reply) && frame.header.d_id == from && frame.header.ox_id == ox_id;
    });
    return found == nullptr ? Bytes{} : found->data;
  }
  /// The answer to a request of the port.
  void answer(const LoggedFrame& asked, const Bytes& payload, std::uint32_t f_ctl = wire::f_ctl::single_frame_reply) {
    wire::FcHeader header = els_reply_header(asked.header.s_id, asked.header.d_id, asked.header.ox_id);
    header.f_ctl = f_ctl;
    receive(header, payload);
  }
  void reject(const LoggedFrame& asked, wire::els::RejectReason reason, wire::els::RejectExplanation explanation = {}) {
    answer(asked, bytes_of(wire::els::LsRjt{.reason = reason, .explanation = explanation}));
  }
  void accept_login(const LoggedFrame& asked) {
    auto login = login_of(asked.header.d_id);
    login.command = wire::els::Command::ls_acc;
    answer(asked, bytes_of(login));
  }
  /// PLOGI of the port, accepted; forgotten.
  void log_in(wire::FcId id = peer) {
    remote(id).log_in();
    run_for(runtime::microsecond);
    accept_login(last());
    ASSERT_TRUE(remote(id).logged_in());
    mark();
  }

  // --- frames of the port
  [[nodiscard]] const LoggedFrame& last() const { return sent.frames().back(); }
  [[nodiscard]] const LoggedFrame& sent_first(wire::els::Command command) const { return *sent.find(command); }
  /// Of the port's ABTS.
  [[nodiscard]] std::vector<wire::OxId> aborted() const {
    std::vector<wire::OxId> ids;
    for (const LoggedFrame& frame : sent.frames())
      if (frame.is(wire::RCtl::abts)) ids.push_back(frame.header.ox_id);
    return ids;
  }
  [[nodiscard]] Times times(wire::els::Command command) const {
    return times([&](const LoggedFrame& frame) { return frame.is(wire::RCtl::els_request) && frame.is_els(command); });
  }
  [[nodiscard]] Times times(wire::RCtl r_ctl) const {
    return times([&](const LoggedFrame& frame) { return frame.is(r_ctl); });
  }
  template <class Predicate>
  [[nodiscard]] Times times(const Predicate& matches) const {
    Times found;
    for (const LoggedFrame& frame : sent.frames())
      if (matches(frame)) found.push_back(frame.at - begin);
    return found;
  }
  [[nodiscard]] std::uint64_t discarded(fc2::Discard reason) const { return port.counters().discarded(reason); }
  /// Of that reason so many, and none of another.
  void expect_discarded(fc2::Discard reason, std::uint64_t count) const {
    EXPECT_EQ(discarded(reason), count) << to_string(reason);
    EXPECT_EQ(port.counters().discarded(), count);
  }

  runtime::Scheduler scheduler;
  fc2::FramePool pool;
  FrameLog sent;
  LoginListener listener;
  RecordingUser user;
  runtime::TimeNs begin = scheduler.now();
  std::uint64_t unexpected_events = 0;

 private:
  static fc2::NPortConfig config(const Adjust& adjust) {
    fc2::NPortConfig config = port_config(0);
    config.port_name = own_name;
    if (adjust) adjust(config);
    return config;
  }
  struct Nowhere final : fc2::FrameReceiver {
    void receive(fc2::FramePtr) override {}
  } nowhere_;
  fc2::Channel wire_{scheduler, {}, nowhere_};
  std::uint16_t next_ox_id_ = 0x4000;

 public:
  fc2::NPort port;
};

inline std::vector<std::uint8_t> ls_rjt(wire::els::RejectReason reason, wire::els::RejectExplanation explanation) {
  return bytes_of(wire::els::LsRjt{.reason = reason, .explanation = explanation});
}

}  // namespace support
