#include "fc2_fabric/node/one_frame_exchange.hpp"

#include <cstring>

#include "fc2_fabric/node/exchange_table.hpp"
#include "fc2_fabric/node/remote_port.hpp"

namespace fc2 {

void put_header(Frame& frame, wire::FcHeader& header, std::size_t data_bytes) {
  const std::size_t fill = wire::fill_bytes_for(data_bytes);
  if (fill != 0) std::memset(frame.data_field().data() + data_bytes, 0, fill);
  header.f_ctl |= static_cast<std::uint32_t>(fill);
  header.write(frame.bytes);
  frame.size_bytes = static_cast<std::uint16_t>(frame_header_bytes + data_bytes + fill);
}

// For the linker, which makes both sides one: what is returned in parts and taken whole costs the processor a dozen
// cycles, twice.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"  // not inlinable where it is compiled by itself
[[gnu::always_inline]] std::optional<OneFrameExchange> OneFrameExchange::begin(ExchangeTable& table,
                                                                               RemotePort& remote) {
  if (remote.suspended() || remote.output_paused() || !remote.has_free_seq_id()) return std::nullopt;
  const auto ox_id = table.pass_ox_id();
  if (!ox_id) return std::nullopt;
  OneFrameExchange begun;
  begun.s_id_ = table.services().n_port_id();
  begun.d_id_ = remote.peer();
  begun.ox_id_ = *ox_id;
  begun.seq_id_ = remote.control_seq_id();
  return begun;
}
#pragma GCC diagnostic pop

void OneFrameExchange::stamp(Frame& frame, const Form& form, std::size_t data_bytes) const {
  wire::FcHeader header;
  header.r_ctl = form.r_ctl;
  header.type = form.fc4.type;
  header.s_id = s_id_;
  header.d_id = d_id_;
  header.ox_id = ox_id_;
  header.rx_id = wire::RxId::unassigned;
  header.df_ctl = form.df_ctl;
  header.cs_ctl = form.cs_ctl;
  header.seq_id = seq_id_;
  header.f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::last_sequence | wire::f_ctl::end_sequence;
  if (form.fc4.relative_offset) header.f_ctl |= wire::f_ctl::relative_offset_present;
  put_header(frame, header, data_bytes);
  frame.sof = wire::Sof::i3;
  frame.eof = wire::Eof::t;
}

}  // namespace fc2
