#include "fc2_fabric/node/basic_links.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "fc2_fabric/node/remote_ports.hpp"
#include "wire/bls/ba_acc.hpp"

namespace fc2 {

void BasicLinks::accept_abort(const wire::FcHeader& abts) const {
  wire::FcHeader header{.r_ctl = wire::RCtl::ba_acc,
                        .d_id = abts.s_id,
                        .s_id = port_.n_port_id(),
                        .type = wire::Type::bls,
                        .seq_id = abts.seq_id,
                        .ox_id = abts.ox_id,
                        .rx_id = abts.rx_id};
  header.f_ctl = ~abts.f_ctl & wire::f_ctl::exchange_responder;
  header.f_ctl |= wire::f_ctl::last_sequence | wire::f_ctl::end_sequence;
  const wire::bls::BaAcc payload{.ox_id = abts.ox_id, .rx_id = abts.rx_id, .high_seq_cnt = {0xFFFF}};
  std::array<std::uint8_t, wire::bls::BaAcc::size()> bytes;
  payload.write(bytes);
  send(header, bytes);
}

void BasicLinks::send(const wire::FcHeader& header, std::span<const std::uint8_t> payload) const {
  FramePtr frame = port_.pool().take();
  header.write(frame->bytes);
  if (!payload.empty()) std::memcpy(frame->data_field().data(), payload.data(), payload.size());
  frame->size_bytes = static_cast<std::uint16_t>(frame_header_bytes + payload.size());
  frame->sof = wire::Sof::i3;
  frame->eof = wire::Eof::t;
  RemotePort* remote = remote_ports_.find(header.d_id);
  if (remote != nullptr && remote->suspended())
    remote->hold(std::move(frame));
  else
    port_.transmitter().send(std::move(frame));
}

}  // namespace fc2
