// Two N_Ports that offer class 2 to each other, and a hand that puts frames of its own before them.
#pragma once
#include <gtest/gtest.h>

#include "fc2_fabric/node/class_2.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"

namespace support {

class Class2Pair : public testing::Test {
 public:
  static constexpr std::uint16_t credit = 2;
  static constexpr auto type = wire::Type::ct;  // any FC-4
  static constexpr wire::FcId a_id = PortPair::a_id, b_id = PortPair::b_id;

  explicit Class2Pair(const std::function<void(fc2::NPortConfig&)>& adjust = {})
      : pair([=](fc2::NPortConfig& config) {
          config.end_to_end_credit = credit;
          if (adjust) adjust(config);
        }) {
    pair.b.set_user(type, responder);
  }
  void log_in() {
    ASSERT_TRUE(pair.log_in());
    pair.to_a.log.clear(), pair.to_b.log.clear();
  }
  void run() { pair.run_for(runtime::millisecond); }

  /// From a to b.
  fc2::Exchange& originate(wire::Type of = type) {
    fc2::Exchange& exchange = *pair.a.originate(b_id, of, user);
    exchange.use_class_2();
    return exchange;
  }
  void send(fc2::Exchange& exchange, std::size_t frames = 1, fc2::SequenceEnd end = {.transfer_initiative = true}) {
    const bool els = exchange.type() == wire::Type::els;
    std::vector<std::uint8_t> iu(frames * fc2::max_data_field_bytes);
    if (els) iu[0] = static_cast<std::uint8_t>(wire::els::Command::echo);
    pair.a.send(exchange, els ? wire::RCtl::els_request : wire::RCtl::unsolicited_control, {}, iu, end);
    run();
  }
  [[nodiscard]] std::size_t sent(wire::RCtl r_ctl = wire::RCtl::unsolicited_control) const {
    return pair.to_b.log.count(r_ctl);
  }
  [[nodiscard]] std::size_t answered(wire::RCtl r_ctl) const { return pair.to_a.log.count(r_ctl); }
  [[nodiscard]] const LoggedFrame& sent_frame(std::size_t number,
                                              wire::RCtl r_ctl = wire::RCtl::unsolicited_control) const {
    for (const LoggedFrame& frame : pair.to_b.log.frames())
      if (frame.is(r_ctl) && number-- == 0) return frame;
    throw std::out_of_range("that frame was not sent");
  }
  /// What b acknowledges from now on does not come.
  void lose_acks() {
    pair.to_a.on_frame = [](const LoggedFrame& frame) {
      return wire::is_link_control(frame.header.r_ctl) ? Interposer::Action::Drop : Interposer::Action::Pass;
    };
  }
  /// b's answer to a frame of a, as it should be or not.
  void answer(const wire::FcHeader& data, wire::RCtl r_ctl, std::uint32_t parameter) {
    pair.a.receive(fc2::make_link_control(pair.pool, data, r_ctl, parameter));
    run();
  }
  void reject(const wire::FcHeader& data, wire::LinkRejectReason reason = wire::LinkRejectReason::invalid_parameter) {
    answer(data, wire::RCtl::p_rjt, wire::LinkReject{.reason = reason}.to_parameter());
  }
  void inject(fc2::NPort& to, const wire::FcHeader& header, wire::Sof sof, std::span<const std::uint8_t> data = {}) {
    to.receive(
        made_frame(pair.pool, header, data, sof, wire::class_of_service(sof) == 3 ? wire::Eof::t : wire::Eof::n));
    run();
  }

  RecordingUser user, responder;
  PortPair pair;
};

}  // namespace support
