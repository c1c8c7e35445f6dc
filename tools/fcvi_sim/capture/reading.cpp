#include "tools/fcvi_sim/capture/reading.hpp"

#include <algorithm>

#include "tools/fcvi_sim/capture/comment.hpp"
#include "wire/describe.hpp"

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
  const bool again = std::find(place.seen_at.begin(), place.seen_at.end(), here) != place.seen_at.end();
  if (place.number == 0 || again) {
    place = {seen.packet.number, {here}};
    return 0;
  }
  place.seen_at.push_back(here);
  return place.number;
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
  if (!*found || (begins && (*found)->ended)) {
    *found = std::make_shared<ExchangeFacts>();
    ExchangeFacts& made = **found;
    made = {++exchange_count_, from, to, header.ox_id.value, header.rx_id.value, {}, false};
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
  seen.frame = take_apart(seen.packet);
  seen.record = nullptr;
  seen.exchange = nullptr;
  seen.is_reply = seen.is_part = false;
  seen.same = 0;
  seen.whole.clear();
  if (seen.frame.fip) seen.same = find_copy(seen, seen.packet.data);
  if (is_behind_gap(seen.packet)) tracker_.frames_missing();
  if (!seen.frame.header) return true;
  seen.record = is_lost(seen.packet)
                    ? tracker_.read_lost(seen.frame, seen.packet.number, seen.since_first)
                    : tracker_.read(seen.frame, seen.packet.number, seen.since_first, view_of(seen.packet.direction));
  seen.same = seen.frame.is_fc_vi() ? seen.record->same : find_copy(seen, seen.frame.fc);
  read_message(seen);
  seen.exchange = exchange_of(seen);
  seen.is_reply = is_request_or_answer(seen.header) && seen.frame.by_responder() && !seen.exchange->name.empty();
  return true;
}

}  // namespace sim::capture
