#include "tools/fcvi_sim/capture/reading.hpp"

#include <algorithm>

#include "tools/fcvi_sim/capture/comment.hpp"
#include "wire/describe.hpp"
#include "wire/header_fields.hpp"
#include "wire/els/login.hpp"
#include "wire/fip/descriptors.hpp"

namespace sim::capture {
namespace {

constexpr std::size_t most_places = 65536, bytes_compared = 256;

View view_of(Direction direction) {
  switch (direction) {
    case Direction::sent: return View::sent;
    case Direction::received: return View::received;
    case Direction::unknown: break;
  }
  return View::unknown;
}

bool is_behind_gap(const Packet& packet) {
  return packet.after_gap || std::any_of(packet.comments.begin(), packet.comments.end(), tells_of_gap);
}

bool is_lost(const Packet& packet) {
  return std::any_of(packet.comments.begin(), packet.comments.end(),
                     [](const std::string& comment) { return told_by(comment) == Tells::lost; });
}

/// Those of two ports may cross: each begins a login, and neither ends the other's way.
bool is_plogi(const Frame& frame) {
  return frame.header->r_ctl == wire::RCtl::els_request && !frame.data_field.empty() &&
         wire::els::command_of(frame.data_field) == wire::els::Command::plogi;
}

bool is_request_or_answer(const wire::FcHeader& header) {
  return header.type == wire::Type::els || header.type == wire::Type::ct;
}

}  // namespace

void Reading::read_message(Seen& seen) {
  seen.header = *seen.frame.header;
  seen.whole.clear();
  seen.is_part = false;
  if (seen.frame.is_cut || !seen.frame.trouble.empty()) return;
  const auto message = ius_.add({seen.header, seen.frame.data_field});
  seen.is_part = !message.whole;
  if (!message.whole || message.data_field.data() == seen.frame.data_field.data()) return;
  seen.header = message.header;
  seen.whole.assign(message.data_field.begin(), message.data_field.end());
}

/// Of both ends of a link: the same bytes at another interface, or in the other direction. 0: none.
std::uint64_t Reading::find_copy(const Seen& seen, wire::Bytes bytes) {
  const wire::Bytes compared = bytes.first(std::min(bytes.size(), bytes_compared));
  if (places_.size() == most_places) places_.clear();
  Place& place = places_[std::string(compared.begin(), compared.end())];
  const std::pair here{seen.packet.interface, seen.packet.direction};
  if (is_new(place, seen)) {
    place = {seen.packet.number, {here}};
    return 0;
  }
  place.seen_at.push_back(here);
  return place.number;
}

/// A frame passes a place once: ids are used anew. FLOGI and its answer go over one link: another place with the same
/// direction has another one. So it is with what has the bytes of a frame before the latest login of its ports; of a
/// PLOGI: before the latest FLOGI.
bool Reading::is_new(const Place& place, const Seen& seen) const {
  if (place.number == 0) return true;
  const std::pair here{seen.packet.interface, seen.packet.direction};
  const bool untold = here.second == Direction::unknown;
  const bool again = std::find(place.seen_at.begin(), place.seen_at.end(), here) != place.seen_at.end();
  if (again) return true;
  if (!seen.frame.header) return false;
  const wire::FcId from = seen.frame.header->s_id;
  const bool by_login = from == wire::well_known::f_port || from == wire::well_known::unidentified;
  const std::uint64_t login = is_plogi(seen.frame) ? grant_of(*seen.frame.header) : login_of(seen);
  if (!by_login && place.number >= login) return false;
  return std::any_of(place.seen_at.begin(), place.seen_at.end(),
                     [&](const auto& at) { return at.second == here.second && !(untold && by_login); });
}

std::uint64_t Reading::login_of(const Seen& seen) const {
  return std::max(tracker_.login_of(*seen.frame.header), grant_of(*seen.frame.header));
}

std::uint64_t Reading::grant_of(const wire::FcHeader& header) const {
  std::uint64_t latest = 0;
  for (const wire::FcId id : {header.s_id, header.d_id})
    if (const auto found = granted_.find(id.value); found != granted_.end()) latest = std::max(latest, found->second);
  return latest;
}

/// LS_ACC to FLOGI, its own frame or within FIP: whoever had the N_Port_ID before has it no more.
void Reading::note_grant(const Seen& seen) {
  wire::Bytes fc = seen.frame.fc;
  if (seen.frame.fip) {
    const auto* frame = seen.frame.fip->find<wire::fip::EncapsulatedFrame>();
    if (frame == nullptr) return;
    fc = frame->fc_frame;
  }
  const auto header = wire::FcHeader::parse(fc);
  if (!header || header->s_id != wire::well_known::f_port || header->r_ctl != wire::RCtl::els_reply) return;
  if (fc.size() < wire::FcHeader::size() + wire::els::Login::size()) return;
  if (wire::els::command_of(fc.subspan(wire::FcHeader::size())) == wire::els::Command::ls_acc)
    granted_[header->d_id.value] = seen.packet.number;
}

/// By originator, responder and OX_ID. The answer to FLOGI goes to an address that its request did not have.
std::shared_ptr<ExchangeFacts> Reading::exchange_of(const Seen& seen) {
  const wire::FcHeader& header = *seen.frame.header;
  const bool by_responder = seen.frame.by_responder();
  std::uint32_t from = header.s_id.value, to = header.d_id.value;
  if (by_responder) std::swap(from, to);
  const auto key_of = [&](std::uint64_t originator) {
    return originator << 40 | std::uint64_t{to} << 16 | header.ox_id.value;
  };
  std::shared_ptr<ExchangeFacts>* found = &exchanges_[key_of(from)];
  if (by_responder && !*found && header.s_id == wire::well_known::f_port) {
    const auto flogi = exchanges_.find(key_of(0));
    if (flogi != exchanges_.end() && flogi->second) *found = flogi->second;
  }
  const bool begins = !by_responder && header.has(wire::f_ctl::first_sequence) && seen.same == 0;
  if (!*found || (begins && ((*found)->ended || (*found)->first < login_of(seen)))) {
    *found = std::make_shared<ExchangeFacts>();
    ExchangeFacts& made = **found;
    made = {++exchange_count_, from, to, header.ox_id.value, header.rx_id.value, {}, seen.packet.number, false};
    if (!by_responder) made.name = wire::message_name(header, seen.frame.data_field);
  }
  ExchangeFacts& exchange = **found;
  if (by_responder) exchange.rx_id = header.rx_id.value;
  const bool data = !wire::is_link_control(header.r_ctl);
  if (data && header.has(wire::f_ctl::last_sequence | wire::f_ctl::end_sequence)) exchange.ended = true;
  return *found;
}

bool Reading::next(Seen& seen) {
  if (!file_.next(seen.packet)) return false;
  if (!std::exchange(begun_, true)) first_at_ = seen.packet.at;
  seen.since_first = seen.packet.at - first_at_;
  latest_ = std::max(latest_, seen.since_first);
  seen.frame = take_apart(seen.packet);
  seen.record = nullptr;
  seen.exchange = nullptr;
  seen.tcp.reset();
  seen.is_reply = seen.is_part = false;
  seen.same = 0;
  seen.whole.clear();
  if (seen.frame.fip)
    seen.same = find_copy(seen, seen.packet.data);
  else if (seen.frame.header && !seen.frame.is_fc_vi())
    seen.same = find_copy(seen, seen.frame.fc);
  if (seen.same == 0 && !seen.frame.is_fc_vi() && seen.frame.counts()) note_grant(seen);
  if (is_behind_gap(seen.packet)) tracker_.frames_missing();
  if (!seen.frame.header) {
    if (seen.frame.ethernet && !seen.frame.fip)
      seen.tcp = tcp_.read(seen.frame.untagged.empty() ? seen.packet.data : seen.frame.untagged);
    if (seen.tcp) seen.frame.trouble = to_string(*seen.tcp);
    return true;
  }
  seen.record = is_lost(seen.packet) ? tracker_.read_lost(seen.frame, seen.packet.number, seen.since_first)
                                     : tracker_.read(seen.frame, seen.packet.number, seen.since_first,
                                                     view_of(seen.packet.direction), seen.same != 0);
  if (seen.frame.is_fc_vi()) seen.same = seen.record->same;
  read_message(seen);
  seen.exchange = exchange_of(seen);
  seen.is_reply = is_request_or_answer(seen.header) && seen.frame.by_responder() && !seen.exchange->name.empty();
  return true;
}

}  // namespace sim::capture
