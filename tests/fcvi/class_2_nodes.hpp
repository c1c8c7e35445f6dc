// Two nodes that send each other messages in class 2, and a hand that puts frames of its own onto the fabric.
#pragma once
#include "fc2_fabric/node/class_2.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/fcvi/forged_frame.hpp"
#include "tests/fcvi/message_nodes.hpp"
#include "tests/support/made_frame.hpp"

namespace support {

inline fc2::SwitchConfig fabric_order(bool in_order) {
  fc2::SwitchConfig config;
  config.in_order = in_order;
  return config;
}

class Class2Nodes : public MessageNodes {
 public:
  static constexpr std::uint16_t credit = 6;
  struct Options {
    bool in_order = true;
    bool ack_0 = false;
    runtime::TimeNs e_d_tov = 2 * runtime::second;
    std::uint32_t max_iu_bytes = 0;
    std::uint64_t reorder_pool_bytes = 64u << 20;
  };
  Class2Nodes() : Class2Nodes(Options{}) {}
  explicit Class2Nodes(const Options& options)
      : MessageNodes(
            {.address = {},
             .max_iu_bytes = options.max_iu_bytes,
             .reorder_pool_bytes = options.reorder_pool_bytes,
             .class_2 = true},
            [=](fc2::NPortConfig& config, std::size_t) {
              config.end_to_end_credit = credit;
              config.ack_0 = options.ack_0;
            },
            fabric_of(options)) {}
  static fc2::SwitchConfig fabric_of(const Options& options) {
    fc2::SwitchConfig config = fabric_order(options.in_order);
    config.e_d_tov = options.e_d_tov;
    return config;
  }
  /// As if `from` had sent it.
  void inject(fc2::NPort& from, fc2::FramePtr frame) { fabric.fabric.ingress_of(from)->receive(std::move(frame)); }
  /// The server's answer to a frame of the client, as it should be or not.
  void answer(const wire::FcHeader& data, wire::RCtl r_ctl, std::uint32_t parameter, std::uint32_t f_ctl = 0) {
    inject(server->port, fc2::make_link_control(fabric.pool, data, r_ctl, parameter, f_ctl));
  }
  [[nodiscard]] const LoggedFrame* data_frame(std::uint16_t seq_cnt) {
    return log.find([=](const LoggedFrame& f) {
      return f.outbound && f.is(wire::RCtl::solicited_data) && f.header.seq_cnt.value == seq_cnt;
    });
  }
  void lose_all_of_the_client() {
    faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? lose : pass; };
  }
};

}  // namespace support
