#include "fc2_fabric/node/class_2.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/node/remote_ports.hpp"

namespace fc2 {
namespace f_ctl = wire::f_ctl;

/// FC-FS: F_BSY says "fabric busy" in TYPE 7-4; to a Link_Control frame, its command code in TYPE 3-0.
static wire::Type busy_type(const wire::FcHeader& busied, wire::RCtl r_ctl) {
  constexpr std::uint8_t fabric_busy = 0x10;
  if (r_ctl == wire::RCtl::f_bsy_data) return static_cast<wire::Type>(fabric_busy);
  if (r_ctl != wire::RCtl::f_bsy_link) return wire::Type::bls;
  return static_cast<wire::Type>(fabric_busy | (static_cast<std::uint8_t>(busied.r_ctl) & 0x0F));
}

FramePtr make_link_control(FramePool& pool, const wire::FcHeader& data, wire::RCtl r_ctl, std::uint32_t parameter,
                           std::uint32_t more_f_ctl) {
  constexpr std::uint32_t echoed = f_ctl::first_sequence | f_ctl::last_sequence | f_ctl::end_sequence |
                                   f_ctl::sequence_initiative | f_ctl::ack_form_mask;
  constexpr std::uint32_t contexts = f_ctl::exchange_responder | f_ctl::sequence_recipient;
  wire::FcHeader header = data;
  header.r_ctl = r_ctl;
  std::swap(header.s_id, header.d_id);
  header.cs_ctl = 0;
  header.type = busy_type(data, r_ctl);
  header.f_ctl = (data.f_ctl & echoed) | (~data.f_ctl & contexts) | more_f_ctl;
  header.df_ctl = wire::df_ctl::no_device_header;
  header.parameter = parameter;
  FramePtr frame = pool.take();
  header.write(frame->bytes);
  frame->size_bytes = frame_header_bytes;
  frame->sof = wire::Sof::n2;
  frame->eof = data.has(f_ctl::end_sequence) ? wire::Eof::t : wire::Eof::n;  // FC-FS: the last ACK terminates
  return frame;
}

// --- the recipient -----------------------------------------------------------------------------------------------

bool FrameAcknowledger::begin(const ReceivedFrame& frame) {
  if (!frame.class_2) return true;
  frame_ = &frame;
  answer_ = Answer::Accept;
  const RemotePort* remote = remote_ports_.find(frame.header.s_id);
  const bool offered = port_.config().end_to_end_credit != 0;
  if (offered && (frame.header.type == wire::Type::els || (remote != nullptr && remote->logged_in()))) return true;
  port_.counters().discard(offered ? Discard::NotLoggedIn : Discard::BadHeader);
  using Reason = wire::LinkRejectReason;
  const wire::LinkReject reject{.action = wire::RejectAction::non_retryable,
                                .reason = offered ? Reason::login_required : Reason::class_not_supported};
  send(std::exchange(frame_, nullptr)->header, wire::RCtl::p_rjt, reject.to_parameter());
  return false;
}

// ACK_0 acknowledges a whole sequence, when all of it is here, or as soon as there is an error to tell (FC-FS).
void FrameAcknowledger::finish() {
  if (frame_ == nullptr) return;
  const ReceivedFrame& frame = *std::exchange(frame_, nullptr);
  const bool ack_0 = (frame.header.f_ctl & f_ctl::ack_form_mask) == f_ctl::ack_form_ack_0;
  switch (answer_) {
    case Answer::Busy:
      return send(frame.header, wire::RCtl::p_bsy,
                  wire::LinkBusy{.reason = wire::LinkBusyReason::n_port_resource_busy}.to_parameter());
    case Answer::PerformAbts:
      if (ack_0) sequences_.forget(frame.header);
      return send(frame.header, ack_0 ? wire::RCtl::ack_0 : wire::RCtl::ack_1, ack_0 ? 0 : 1,
                  f_ctl::abort_perform_abts);
    case Answer::Accept: break;
  }
  if (!ack_0) return send(frame.header, wire::RCtl::ack_1, 1);
  if (const auto last = sequences_.add(frame, port_.scheduler().now(), port_.r_a_tov()))
    send(*last, wire::RCtl::ack_0, 0);
}

void FrameAcknowledger::send(const wire::FcHeader& answered, wire::RCtl r_ctl, std::uint32_t parameter,
                             std::uint32_t more_f_ctl) {
  port_.transmitter().send(make_link_control(port_.pool(), answered, r_ctl, parameter, more_f_ctl));
}

/// See busy_type().
static wire::RCtl busied_command(const wire::FcHeader& f_bsy) {
  return static_cast<wire::RCtl>(0xC0 | (static_cast<std::uint8_t>(f_bsy.type) & 0x0F));
}

void FrameAcknowledger::busied(const wire::FcHeader& f_bsy) {
  const wire::RCtl command = busied_command(f_bsy);
  if (command != wire::RCtl::ack_1 && command != wire::RCtl::ack_0) return port_.counters().discard(Discard::BadHeader);
  const TimeNs now = port_.scheduler().now();
  std::erase_if(busied_, [&](const BusiedAck& ack) { return now - ack.since >= 2 * port_.e_d_tov(); });
  const auto same = [&](const BusiedAck& ack) {
    return ack.f_bsy.s_id == f_bsy.s_id && ack.f_bsy.ox_id == f_bsy.ox_id && ack.f_bsy.seq_id == f_bsy.seq_id &&
           ack.f_bsy.seq_cnt == f_bsy.seq_cnt;
  };
  auto ack = std::find_if(busied_.begin(), busied_.end(), same);
  if (ack == busied_.end() && busied_.size() == max_busied) return port_.counters().discard(Discard::NoResources);
  if (ack == busied_.end()) ack = busied_.insert(ack, BusiedAck{f_bsy, now});
  if (now - ack->since >= port_.e_d_tov()) return;  // nobody waits for it any more
  ack->due = true;
  if (!again_.pending()) port_.scheduler().schedule_after(again_, port_.e_d_tov() / 64);
}

void FrameAcknowledger::send_again() {
  for (BusiedAck& ack : busied_) {
    if (!std::exchange(ack.due, false)) continue;
    port_.transmitter().send(make_link_control(port_.pool(), ack.f_bsy, busied_command(ack.f_bsy), ack.f_bsy.parameter,
                                               ack.f_bsy.f_ctl & f_ctl::abort_condition_mask));
  }
}

bool FrameAcknowledger::is_consistent() const {
  const bool due = std::any_of(busied_.begin(), busied_.end(), [](const BusiedAck& ack) { return ack.due; });
  return frame_ == nullptr && busied_.size() <= max_busied && due == again_.pending() && sequences_.is_consistent();
}

}  // namespace fc2
