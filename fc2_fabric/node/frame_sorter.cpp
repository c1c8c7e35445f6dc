#include "fc2_fabric/node/frame_sorter.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "fc2_fabric/frame/frame_header.hpp"
#include "fc2_fabric/node/class_2.hpp"
#include "fc2_fabric/node/exchange_table.hpp"
#include "fc2_fabric/node/link_services.hpp"
#include "fc2_fabric/node/port_attachment.hpp"
#include "fc2_fabric/node/remote_ports.hpp"
#include "state_machines/consistency.hpp"

namespace fc2 {

FrameSorter::FrameSorter(const PortServices& port, const PortAttachment& attachment, RemotePorts& remote_ports,
                         ExchangeTable& exchanges, FrameAcknowledger& acknowledger, LinkServices& link_services)
    : port_(port), attachment_(attachment), remote_ports_(remote_ports), exchanges_(exchanges),
      acknowledger_(acknowledger), link_services_(link_services) {
  set_user(wire::Type::els, link_services);
}

// In place of the one before, whether or not that had message data.
void FrameSorter::set(const User& user) {
  std::erase_if(users_, [&](const User& before) { return before.type == user.type; });
  users_.insert(users_.begin(), user);
}

void FrameSorter::set_user(wire::Type type, ExchangeUser& user) { set({type, &user, nullptr}); }

void FrameSorter::set_data_user(wire::Type type, DataFrameUser& user) {
  assert(exchanges_.fc4s().has(type));  // else tell_data_users() passes it over
  set({type, &user, &user});
  FCVI_ASSERT_CONSISTENT(*this);
}

void FrameSorter::remove_user(wire::Type type) {
  assert(type != wire::Type::els);  // the port's own
  ExchangeUser* const user = user_of(type);
  std::erase_if(users_, [&](const User& gone) { return gone.type == type; });
  if (user != nullptr) exchanges_.forget_user(*user);
  FCVI_ASSERT_CONSISTENT(*this);
}

/// One that has message data is the user of its TYPE. The ELS are the port's own.
bool FrameSorter::is_consistent() const {
  const auto one_user = [this](wire::Type type) {
    return data_user_of(type) == nullptr || data_user_of(type) == user_of(type);
  };
  return std::ranges::all_of(exchanges_.fc4s().types(), one_user) && data_user_of(wire::Type::els) == nullptr &&
         user_of(wire::Type::els) == &link_services_;
}

Discard FrameSorter::admits(const ReceivedFrame& frame) const {
  const wire::FcId d_id = frame.header.d_id;
  // What was under way when the link was interrupted is good all the same.
  if (d_id == port_.n_port_id() && (port_.online() || attachment_.interrupted())) return Discard::Count;
  const bool to_one = data_user_of(frame.header.type) != nullptr;  // see DataFrameUser
  if (d_id == wire::well_known::broadcast && port_.online()) return to_one ? Discard::WrongAddress : Discard::Count;
  const bool link_service = frame.header.type == wire::Type::els || frame.header.type == wire::Type::bls;
  if (!link_service || port_.config().is_fixed()) return Discard::WrongAddress;
  // The answer to a FLOGI, or to its ABTS, brings the address.
  if (!port_.online() && frame.header.s_id == wire::well_known::f_port) return Discard::Count;
  // Another N_Port's FLOGI; its PLOGI brings the address.
  const bool alone = !port_.online() || attachment_.is_point_to_point();
  if (alone && d_id == wire::well_known::f_port && frame.header.s_id == wire::well_known::unidentified)
    return Discard::Count;
  return attachment_.may_be_assigned() && d_id != wire::well_known::broadcast ? Discard::Count : Discard::WrongAddress;
}

/// ESP_Header, Network_Header, Association_Header (FC-FS): a Device_Header would not stand where the data field begins.
static constexpr std::uint8_t other_optional_headers =
    0x40 | wire::df_ctl::network_header | wire::df_ctl::association_header;

void FrameSorter::receive(FramePtr frame) {
  ++port_.counters().frames_received;
  if (frame->crc_error) [[unlikely]]
    return port_.counters().discard(Discard::BadCrc);
  const std::span<const std::uint8_t> content = frame->content();
  if (content.size() < frame_header_bytes) return port_.counters().discard(Discard::Truncated);
  // In place: it is not copied once more.
  ReceivedFrame received{wire::FcHeader::read(content.first<frame_header_bytes>()), {}, false, false, false, &frame};
  const wire::FcHeader& header = received.header;
  const std::size_t data_bytes = content.size() - frame_header_bytes, fill = header.fill_bytes();
  if (fill > data_bytes) return port_.counters().discard(Discard::Truncated);
  received.data_field = content.subspan(frame_header_bytes, data_bytes - fill);
  const int service = wire::class_of_service(frame->sof);
  received.class_2 = service == 2 && !wire::is_link_control(header.r_ctl);
  received.last_of_sequence = received.class_2 ? header.has(wire::f_ctl::end_sequence) : frame->eof == wire::Eof::t;
  received.first_of_sequence = frame->sof == wire::Sof::i3 || frame->sof == wire::Sof::i2;
  if (service == 0 || (frame->eof != wire::Eof::t && frame->eof != wire::Eof::n))
    return port_.counters().discard(Discard::BadHeader);
  if (frame->only_from != wire::FcId{} && received.header.s_id != frame->only_from) [[unlikely]]
    return port_.counters().discard(Discard::WrongAddress);
  if (DataFrameUser* const user = user_of_plain_data(received); user != nullptr) [[likely]] {
    port_.counters().data_bytes_received += received.data_field.size();
    user->data_frame_received(received);
    return acknowledger_.finish();
  }
  if (const Discard reason = admits(received); reason != Discard::Count) return port_.counters().discard(reason);
  const bool message_data = is_message_data(received.header);
  if (!message_data && too_much_waits(received.header)) return port_.counters().discard(Discard::NoResources);
  if (!acknowledger_.begin(received)) return;
  sort(received, message_data);
  acknowledger_.finish();
}

/// What is not as it mostly is, receive() looks at.
inline std::size_t FrameSorter::receive_whole(const Frame& frame) {
  if (frame.eof != wire::Eof::t || frame.crc_error || frame.size_bytes < frame_header_bytes) return 0;
  if (d_id_of(frame) != port_.n_port_id() || !port_.online()) return 0;
  if (frame.only_from != wire::FcId{} && s_id_of(frame) != frame.only_from) [[unlikely]]
    return 0;
  DataFrameUser* const user = data_user_of(type_of(frame));
  if (user == nullptr || !user->whole_frame_received(frame)) return 0;
  ++port_.counters().frames_received;
  port_.counters().data_bytes_received += frame.size_bytes - frame_header_bytes - wire::fill_bytes_of(frame.content());
  return 1;
}

/// What receive() looks at is the same in all of its frames (FrameRun). Those that do not go on in the usual way do so
/// singly.
std::size_t FrameSorter::receive_run(const FrameRun& run) {
  const Frame& first = run.first;
  if (run.is_whole()) return receive_whole(first);
  const std::size_t data_bytes = first.size_bytes - frame_header_bytes;
  const ReceivedFrame received{wire::FcHeader::read(first.content().first<frame_header_bytes>()),
                               first.content().subspan(frame_header_bytes)};
  const bool right = first.sof == wire::Sof::n3 && first.eof == wire::Eof::n && !first.crc_error &&
                     received.header.fill_bytes() == 0 &&
                     (first.only_from == wire::FcId{} || received.header.s_id == first.only_from);
  DataFrameUser* const user = right ? user_of_plain_data(received) : nullptr;
  if (user == nullptr) return 0;
  const std::size_t taken = user->data_run_received(received, run);
  port_.counters().frames_received += taken;
  port_.counters().data_bytes_received += taken * data_bytes;
  return taken;
}

/// Message data of class 3 to our address, as most frames are: what follows in receive() and in sort() lets them pass,
/// and hands them to this user.
inline DataFrameUser* FrameSorter::user_of_plain_data(const ReceivedFrame& frame) const {
  constexpr std::uint8_t others = 0xF0;  // categories of R_CTL: link services, link control
  const wire::FcHeader& header = frame.header;
  const bool control = header.r_ctl == wire::RCtl::unsolicited_control || header.r_ctl == wire::RCtl::solicited_control;
  if (frame.class_2 || control || (static_cast<std::uint8_t>(header.r_ctl) & others) != 0 ||
      (header.df_ctl & other_optional_headers) != 0 || header.d_id != port_.n_port_id() || !port_.online())
    return nullptr;
  return data_user_of(header.type);
}

bool FrameSorter::is_message_data(const wire::FcHeader& header) const {
  const bool data = header.r_ctl != wire::RCtl::unsolicited_control && header.r_ctl != wire::RCtl::solicited_control;
  return data && data_user_of(header.type) != nullptr;
}

// Who asks on and on, and takes no answers, would have them pile up here. What is lost is asked again (FC-FS: class 3
// may lose it).
bool FrameSorter::too_much_waits(const wire::FcHeader& header) const {
  if (header.has(wire::f_ctl::exchange_responder) || wire::is_link_control(header.r_ctl))
    return false;  // asks for nothing
  const RemotePort* remote = remote_ports_.find(header.s_id);
  return port_.transmitter().waiting() + (remote != nullptr ? remote->held() : 0) >= port_.config().max_waiting_frames;
}

// The place of such a frame is memory that its sender can write to. What is looked at more than once is looked at in a
// copy. Message data are not: they go to where they belong.
static bool others_may_change(const Frame& frame) { return frame.lender != nullptr && frame.only_from != wire::FcId{}; }

static ReceivedFrame in_own_place(ReceivedFrame received) {
  received.data_field = (*received.owner)->leave_place(received.data_field);
  return received;
}

void FrameSorter::sort(const ReceivedFrame& received, bool message_data) {
  const wire::FcHeader& header = received.header;
  const auto category = static_cast<std::uint8_t>(header.r_ctl) >> 4;
  if (!message_data && others_may_change(**received.owner)) [[unlikely]]
    return sort(in_own_place(received), false);
  if (category == 0x8) return basic_link_service(received);
  if (category == 0xC) return link_control(header);
  DataFrameUser* const data_user = data_user_of(header.type);
  if (data_user == nullptr) return control_frame(received);
  if ((header.df_ctl & other_optional_headers) != 0) [[unlikely]] {  // FC-VI 5.8.5
    if (message_data && !header.has(wire::f_ctl::exchange_responder))
      acknowledger_.abort_sequence(received);  // 8.4.2 h)
    return port_.counters().discard(Discard::BadHeader);
  }
  if (message_data) {
    port_.counters().data_bytes_received += received.data_field.size();
    return data_user->data_frame_received(received);
  }
  control_frame(received);
}

void FrameSorter::link_control(const wire::FcHeader& header) {
  if (header.r_ctl == wire::RCtl::f_bsy_link) return acknowledger_.busied(header);
  if (Exchange* exchange = exchanges_.find(header)) return exchange->link_control_received(header);
  port_.counters().discard(Discard::UnknownExchange);
}

void FrameSorter::control_frame(const ReceivedFrame& frame) {
  Exchange* exchange = exchanges_.find(frame.header);
  const bool from_originator = !frame.header.has(wire::f_ctl::exchange_responder);
  // On an out-of-order fabric any frame of an exchange's first sequence may be the one that comes first.
  const bool first = frame.first_of_sequence && frame.header.seq_cnt.value == 0;
  const bool opens = from_originator && frame.header.has(wire::f_ctl::first_sequence) &&
                     (first || (!port_.in_order() && exchange == nullptr));
  if (exchange != nullptr && !opens && exchange->type() != frame.header.type)
    return port_.counters().discard(Discard::BadHeader);
  // The first sequence again, by the same SEQ_ID, is a duplicate; another one uses the OX_ID anew.
  if (exchange != nullptr && !(opens && !exchange->is_receiving(frame.header.seq_id)))
    return exchange->frame_received(frame);
  if (!opens) return port_.counters().discard(Discard::UnknownExchange);
  open_exchange(frame);
}

bool FrameSorter::is_logged_in(wire::FcId peer) const {
  const RemotePort* remote = remote_ports_.find(peer);
  return peer == port_.n_port_id() || (remote != nullptr && remote->logged_in());
}

void FrameSorter::open_exchange(const ReceivedFrame& frame) {
  if (exchanges_.was_aborted(frame.header)) return port_.counters().discard(Discard::AbortedExchange);
  ExchangeUser* const user = user_of(frame.header.type);
  if (user == nullptr) return port_.counters().discard(Discard::UnknownType);
  if (data_user_of(frame.header.type) != nullptr && !is_logged_in(frame.header.s_id))
    return link_services_.login_missing(frame);  // FC-VI 5.6, 7.7.2
  Exchange* exchange = exchanges_.accept(frame.header, *user);
  if (exchange == nullptr) return acknowledger_.busy(frame);
  if (frame.class_2) exchange->use_class_2();  // as it is asked, so it is answered
  exchange->frame_received(frame);
}

void FrameSorter::basic_link_service(const ReceivedFrame& frame) {
  const wire::FcHeader& header = frame.header;
  if (header.r_ctl == wire::RCtl::abts) return abts_received(header);
  if (header.r_ctl == wire::RCtl::nop) return;
  Exchange* exchange = exchanges_.find(header);
  // One that the peer aborted waits for no answer.
  if (exchange == nullptr || exchange->was_aborted_by_peer()) return port_.counters().discard(Discard::UnknownExchange);
  if (header.r_ctl == wire::RCtl::ba_acc) return exchange->abort_answered(true);
  if (header.r_ctl == wire::RCtl::ba_rjt) return exchange->abort_answered(false);
  port_.counters().discard(Discard::BadHeader);
}

// A basic link service does not say whose exchange it is.
bool FrameSorter::tell_data_users(const wire::FcHeader& abts) const {
  return std::ranges::any_of(exchanges_.fc4s().types(), [&](wire::Type type) {
    DataFrameUser* const user = data_user_of(type);
    return user != nullptr && user->abort_received(abts.s_id, abts.ox_id);
  });
}

void FrameSorter::abts_received(const wire::FcHeader& header) {
  if (header.d_id == wire::well_known::broadcast) return port_.counters().discard(Discard::BadHeader);
  acknowledger_.exchange_aborted(header);
  Exchange* exchange = exchanges_.find(header);
  const bool from_originator = !header.has(wire::f_ctl::exchange_responder);
  const bool of_data = from_originator && tell_data_users(header);
  if (exchange == nullptr) {  // FC-FS 23.6.1.1: also for an exchange that never came here, or is still on its way
    if (from_originator && !of_data) exchanges_.abts_without_exchange(header);
    return exchanges_.basic_links().accept_abort(header);
  }
  exchange->abts_received(header);
}

}  // namespace fc2
