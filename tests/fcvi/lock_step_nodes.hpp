// Two nodes whose ends must agree on which message failed (FC-VI Annex E).
#pragma once
#include <algorithm>

#include "tests/fcvi/class_2_nodes.hpp"

namespace support {

class LockStep : public MessageNodes {
 public:
  using MessageNodes::MessageNodes;
  static constexpr std::uint32_t large = 1u << 20;
  /// A frame that begins and ends a message of the client, which its sender knows nothing of.
  void forge(wire::fcvi::Opcode opcode, wire::RCtl r_ctl, std::uint32_t msg_id, std::uint16_t ox_id,
             std::uint32_t total, std::size_t payload) {
    ForgedFrame frame;
    frame.header = {.r_ctl = r_ctl,
                    .d_id = server->port.n_port_id(),
                    .s_id = client->port.n_port_id(),
                    .type = wire::Type::fc_vi,
                    .f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::end_sequence |
                             wire::f_ctl::sequence_initiative | wire::f_ctl::relative_offset_present,
                    .ox_id = {ox_id},
                    .rx_id = wire::RxId::unassigned};
    wire::fcvi::DeviceHeader header{.handle = wire::FcviHandle{0x1001}, .opcode = opcode, .msg_id = {msg_id}};
    if (opcode != wire::fcvi::Opcode::send_rqst)
      header.rmt_va = server->data + large, header.rmt_va_handle = server->handle;
    header.tot_len_or_connection_id = total;
    frame.data.resize(32 + payload, 0x5A);
    frame.set(header);
    std::fill(frame.data.begin() + 32, frame.data.end(), 0x5A);
    fabric.fabric.ingress_of(client->port)->receive(frame.build(fabric.pool));
  }
};
class LockStepAnyOrder : public LockStep {
 public:
  explicit LockStepAnyOrder(fcvi::ProviderConfig config = {}) : LockStep(config, {}, fabric_order(false)) {}
};

}  // namespace support
