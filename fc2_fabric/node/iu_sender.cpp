#include "fc2_fabric/node/iu_sender.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "fc2_fabric/node/class_2.hpp"
#include "fc2_fabric/node/exchange_table.hpp"
#include "fc2_fabric/node/sequence_sender.hpp"

namespace fc2 {

void IuSender::accept_els(Exchange& exchange, std::span<const std::uint8_t> payload) {
  send(exchange, wire::RCtl::els_reply, {}, payload, {.last_of_exchange = true, .transfer_initiative = true});
}

void IuSender::reject_els(Exchange& exchange, wire::els::RejectReason reason,
                          wire::els::RejectExplanation explanation) {
  std::array<std::uint8_t, wire::els::LsRjt::size()> payload;
  wire::els::LsRjt{.reason = reason, .explanation = explanation}.write(payload);
  accept_els(exchange, payload);
}

void IuSender::send(Exchange& exchange, wire::RCtl r_ctl, std::span<const std::uint8_t> device_header,
                    std::span<const std::uint8_t> payload, SequenceEnd end, TimeNs reply_timeout, std::uint8_t cs_ctl) {
  acknowledger_.finish();  // the ACK goes before what answers
  SequenceSender sequence;
  sequence.begin_control(exchange, r_ctl, wire::df_ctl::with_device_header(device_header.size()), cs_ctl);
  const std::size_t frame_bytes = sequence.data_field_bytes();
  if (reply_timeout > 0) exchange.expect_reply(reply_timeout);
  const bool exchange_class_2 = exchange.is_class_2();  // the exchange may be over with its last frame
  RemotePort* remote = sequence.remote();
  const bool held = remote != nullptr && remote->suspended() && exchange.type() != wire::Type::els;
  const bool repeats = exchange.repeats_device_header();
  std::uint32_t offset = 0;
  for (bool last = false; !last;) {
    const auto part = payload.subspan(offset, std::min(frame_bytes - device_header.size(), payload.size() - offset));
    last = offset + part.size() == payload.size();
    FramePtr frame = port_.pool().take();
    std::uint8_t* at = frame->data_field().data();
    if (!device_header.empty()) std::memcpy(at, device_header.data(), device_header.size());
    if (!part.empty()) std::memcpy(at + device_header.size(), part.data(), part.size());
    sequence.stamp(*frame, device_header.size() + part.size(), offset, last ? &end : nullptr);
    offset += static_cast<std::uint32_t>(part.size());
    if (!repeats) device_header = {}, sequence.leave_out_device_header();
    if (held) {
      remote->hold(std::move(frame), exchange_class_2 ? &exchange.credit_user() : nullptr);
      continue;
    }
    if (exchange_class_2 && remote != nullptr) {
      remote->send_on_credit(std::move(frame), exchange.credit_user());
      continue;
    }
    if (exchange_class_2) exchange.credit_user().frame_sent(false);
    port_.transmitter().send(std::move(frame));
  }
}

Exchange* IuSender::request(wire::FcId d_id, wire::RCtl r_ctl, wire::Type type, std::span<const std::uint8_t> payload,
                            ExchangeUser& user, TimeNs reply_timeout) {
  Exchange* exchange = exchanges_.originate(d_id, type, user);
  if (exchange != nullptr) send(*exchange, r_ctl, {}, payload, {.transfer_initiative = true}, reply_timeout);
  return exchange;
}

Exchange* IuSender::request_els(wire::FcId d_id, std::span<const std::uint8_t> payload, ExchangeUser& user,
                                TimeNs reply_timeout) {
  return request(d_id, wire::RCtl::els_request, wire::Type::els, payload, user, reply_timeout);
}

void IuSender::abort(Exchange& exchange) { exchanges_.abort(exchange); }

void IuSender::finish(Exchange& exchange) {
  if (exchange.is_open()) exchanges_.release(exchange);
}

}  // namespace fc2
