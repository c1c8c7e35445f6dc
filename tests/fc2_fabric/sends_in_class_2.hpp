// An N_Port that sends sequences in class 2 to a peer that is played by hand.
#pragma once
#include "fc2_fabric/node/sequence_sender.hpp"
#include "tests/support/played_peer.hpp"

namespace fc2 {

constexpr auto data_frame = wire::RCtl::unsolicited_control;

class SendsInClass2 : public support::PlayedPeer {
 public:
  explicit SendsInClass2(bool ack_0 = false, bool in_order = true)
      : PlayedPeer([=](NPortConfig& config) {
          config.end_to_end_credit = 20;
          config.ack_0 = ack_0;
          config.in_order_without_fabric = in_order;
        }) {
    log_in();
  }
  Exchange& originate(ExchangeUser& of) {
    Exchange& exchange = *port.originate(peer, type, of);
    exchange.use_class_2();
    return exchange;
  }
  Exchange& originate() { return originate(user); }
  void send(Exchange& exchange, std::size_t frames = 1, SequenceEnd end = {.transfer_initiative = true},
            TimeNs reply_timeout = 0) {
    port.send(exchange, data_frame, {}, std::vector<std::uint8_t>(frames * max_data_field_bytes), end, reply_timeout);
    run();
  }
  /// A frame of `sequence`.
  void send_next(SequenceSender& sequence, const SequenceEnd* end = nullptr) {
    FramePtr frame = pool.take();
    sequence.stamp(*frame, 100, 0, end);
    port.transmitter().send(std::move(frame));
    run();
  }
  [[nodiscard]] const wire::FcHeader& header(std::size_t number) const { return sent(data_frame, number).header; }
  void acknowledge(std::size_t number) { answer(header(number), wire::RCtl::ack_1, 1); }
  void busy(std::size_t number, wire::RCtl r_ctl = wire::RCtl::p_bsy) { answer(header(number), r_ctl, 0x02030000); }
  /// The peer's IU of one frame in that exchange.
  void reply(const Exchange& exchange, std::uint32_t more_f_ctl, std::uint16_t seq_cnt = 0) {
    put({.r_ctl = wire::RCtl::solicited_control,
         .d_id = own,
         .s_id = peer,
         .type = type,
         .f_ctl = wire::f_ctl::exchange_responder | wire::f_ctl::end_sequence | more_f_ctl,
         .seq_id = {0x70},
         .seq_cnt = {seq_cnt},
         .ox_id = exchange.ox_id(),
         .rx_id = {5}});
  }
  /// It is counted for this reason, and nothing comes of it.
  testing::AssertionResult ignored(Discard reason, Exchange& exchange, const wire::FcHeader& data, wire::RCtl r_ctl) {
    const auto before = discarded(reason);
    const auto frames = log.size();
    answer(data, r_ctl, 1);
    if (discarded(reason) != before + 1) return testing::AssertionFailure() << "not counted";
    if (!exchange.awaits_acknowledgement()) return testing::AssertionFailure() << "closed";
    return user.failures.empty() && log.size() == frames ? testing::AssertionSuccess()
                                                         : testing::AssertionFailure() << "given up";
  }
};

}  // namespace fc2
