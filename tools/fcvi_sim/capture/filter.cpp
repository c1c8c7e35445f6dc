#include <algorithm>

#include "settings/reader.hpp"
#include "tools/faults/frame_fields.hpp"
#include "tools/fcvi_sim/capture/selection.hpp"
#include "tools/fcvi_sim/scenario/match_loader.hpp"
#include "wire/text.hpp"

namespace sim::capture {
namespace {
using settings::Tree;

constexpr const char* option_name = "--filter";
constexpr std::string_view followed[] = {"connection", "exchange"};

/// What only a capture has, beside the keys of a fault: how the link delimited the frame.
constexpr std::string_view delimiter_keys[] = {"class", "sof", "eof"};
constexpr settings::Choice<wire::Sof> sofs[] = {
    {"SOFi2", wire::Sof::i2}, {"SOFi3", wire::Sof::i3}, {"SOFi4", wire::Sof::i4}, {"SOFn2", wire::Sof::n2},
    {"SOFn3", wire::Sof::n3}, {"SOFn4", wire::Sof::n4}, {"SOFc4", wire::Sof::c4}, {"SOFf", wire::Sof::f}};
constexpr settings::Choice<wire::Eof> eofs[] = {
    {"EOFn", wire::Eof::n},   {"EOFt", wire::Eof::t},   {"EOFa", wire::Eof::a},     {"EOFni", wire::Eof::ni},
    {"EOFdt", wire::Eof::dt}, {"EOFrt", wire::Eof::rt}, {"EOFdti", wire::Eof::dti}, {"EOFrti", wire::Eof::rti}};

std::vector<std::string_view> known_keys() {
  std::vector<std::string_view> keys(std::begin(match_keys), std::end(match_keys));
  keys.insert(keys.end(), std::begin(delimiter_keys), std::end(delimiter_keys));
  return keys;
}

/// "message=PLOGI", without the space that YAML asks for behind a colon.
struct Glued {
  explicit Glued(const std::string& key) {
    const std::size_t sign = key.find_first_of("=:");
    if (sign == std::string::npos) return;
    word = key.substr(0, key.find_last_not_of(' ', sign - 1) + 1);
    const std::size_t begin = key.find_first_not_of(' ', sign + 1);
    if (begin != std::string::npos) value = key.substr(begin);
  }
  std::string word, value;
};

/// Throws where a key is one that stands elsewhere: within `fields`, or after --follow.
void check_place(const Tree& tree) {
  const std::vector<std::string_view> keys = known_keys();
  for (const auto& [key, value] : tree.entries) {
    if (!settings::nearest(key, keys).empty()) continue;
    const std::string found = value.where + ": unknown key \"" + key + "\" in filter; did you mean ";
    if (const Glued glued(key); std::ranges::find(keys, glued.word) != keys.end())
      throw settings::BadInput{found + "\"" + glued.word + ": " + glued.value + "\"?"};
    if (std::ranges::find(followed, key) != std::end(followed))
      throw settings::BadInput{found + "--follow " + key + " N?"};
    if (const std::string_view field = settings::nearest(key, faults::field_names()); !field.empty())
      throw settings::BadInput{found + "\"fields: {" + std::string(field) + ": ...}\"?"};
  }
}

}  // namespace

Filter::Filter() : pool_(std::make_unique<fc2::FramePool>()) {}

std::size_t Filter::port_named(const std::string& name) {
  const auto found = std::find_if(ports_.begin(), ports_.end(), [&](const Port& port) { return port.name == name; });
  if (found != ports_.end()) return static_cast<std::size_t>(found - ports_.begin());
  ports_.push_back({name, false});
  return ports_.size() - 1;
}

std::optional<std::size_t> Filter::find(const std::string& name) {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (ports_[i].name != name) continue;
    ports_[i].seen = true;
    return i;
  }
  return std::nullopt;
}

/// A peer that is named by its interface is known by the N_Port_IDs that it sends from and is sent to there.
void Filter::learn(std::size_t port, const Seen& seen) {
  constexpr std::uint32_t first_well_known = 0xFFFC00;  // domain controllers, services, broadcast
  if (seen.packet.direction == Direction::unknown) return;
  const wire::FcHeader& header = *seen.frame.header;
  const wire::FcId own = seen.packet.direction == Direction::received ? header.d_id : header.s_id;
  if (own.value != 0 && own.value < first_well_known) owners_[own.value] = port;
}

std::optional<std::size_t> Filter::owner_of(wire::FcId id) {
  const auto found = owners_.find(id.value);
  return found != owners_.end() ? found->second : find(to_string(id));
}

std::string Filter::set(const std::string& text) {
  const bool braced = !text.empty() && text.front() == '{';
  const auto tree = settings::parse_yaml(braced ? text : "{" + text + "}", option_name);
  if (!tree) return tree.error().message;
  faults::Rule rule;
  rule.match.received = true;
  try {
    check_place(*tree);
    const settings::MapReader map(*tree, "filter", known_keys());
    if (const Tree* value = map.find("class"))
      class_ = static_cast<int>(settings::read_number(*value, "class", {2, 3}));
    if (const Tree* value = map.find("sof")) sof_ = settings::read_choice(*value, "sof", sofs);
    if (const Tree* value = map.find("eof")) eof_ = settings::read_choice(*value, "eof", eofs);
    load_contents(map, rule.match);
    load_passage(map, rule.match);
    load_turns(map, rule);
    if (const Tree* port = map.find("port")) {
      port_ = port_named(settings::read_text(*port, "port"));
      rule.match.links = {*port_};
    }
    if (const Tree* peer = map.find("peer")) {
      peer_ = port_named(settings::read_text(*peer, "peer"));
      rule.match.peers = {*peer_};
    }
  } catch (const settings::BadInput& error) {
    return error.message;
  }
  std::uint64_t state = 1;  // the same frames each time
  const auto chance = [state](std::size_t, std::size_t) mutable {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state >> 11) / 9007199254740992.0;
  };
  rules_ = std::make_unique<faults::RuleSet>(std::vector{rule}, chance, [this](wire::FcId id) { return owner_of(id); });
  rules_->start_clock(0);
  rules_->set_listener([this](auto&&...) { fired_ = true; });
  return {};
}

/// A place that no port of the filter has counts as one behind them all.
bool Filter::takes_at(std::optional<std::size_t> link, fc2::LinkDirection direction, const Seen& seen) {
  const fc2::FramePtr frame = pool_->take();
  const wire::Bytes bytes = seen.frame.fc.first(std::min(seen.frame.fc.size(), fc2::max_frame_bytes));
  std::copy(bytes.begin(), bytes.end(), frame->bytes.begin());
  frame->size_bytes = static_cast<std::uint16_t>(bytes.size());
  // Where the capture has no delimiters: those that the header suggests.
  const wire::FcHeader& header = *seen.frame.header;
  frame->sof = seen.frame.sof.value_or(header.seq_cnt.value == 0 ? wire::Sof::i3 : wire::Sof::n3);
  frame->eof = seen.frame.eof.value_or(header.has(wire::f_ctl::end_sequence) ? wire::Eof::t : wire::Eof::n);
  fired_ = false;
  rules_->judge(link.value_or(ports_.size()), direction, *frame, seen.since_first);
  return fired_;
}

/// A capture without delimiters (link type 224) has no frame that is so delimited.
bool Filter::is_delimited_so(const Frame& frame) const {
  if (class_ && (!frame.sof || wire::class_of_service(*frame.sof) != *class_)) return false;
  return (!sof_ || frame.sof == sof_) && (!eof_ || frame.eof == eof_);
}

/// Where the capture does not tell: a frame of the peer was received.
fc2::LinkDirection Filter::direction_of(const Seen& seen) {
  const bool untold = seen.packet.direction == Direction::unknown;
  const bool of_peer = untold && peer_ && owner_of(seen.frame.header->s_id) == peer_;
  return of_peer || seen.packet.direction == Direction::received ? fc2::LinkDirection::Received
                                                                 : fc2::LinkDirection::Sent;
}

// A port named by its interface is where the frame was captured, as a fault's port is where it happens; one that is
// named by its N_Port_ID sends what has it as S_ID and receives what has it as D_ID.
bool Filter::takes(const Seen& seen, const std::vector<Interface>& interfaces) {
  if (!rules_) return true;
  if (!seen.frame.header || !is_delimited_so(seen.frame)) return false;
  const wire::FcHeader& header = *seen.frame.header;
  const auto here = find(interfaces[seen.packet.interface].name);
  if (here) learn(*here, seen);
  const auto from = find(to_string(header.s_id)), to = find(to_string(header.d_id));
  const bool is_sent = from && from == port_, is_received = to && to == port_;
  if (here || (!is_sent && !is_received)) return takes_at(here, direction_of(seen), seen);
  if (!is_sent) return takes_at(to, fc2::LinkDirection::Received, seen);
  if (!is_received) return takes_at(from, fc2::LinkDirection::Sent, seen);
  return takes_at(from, fc2::LinkDirection::Sent, seen) || takes_at(to, fc2::LinkDirection::Received, seen);
}

std::vector<std::string> Filter::unseen_ports() const {
  std::vector<std::string> names;
  for (const Port& port : ports_)
    if (!port.seen) names.push_back(port.name);
  return names;
}

}  // namespace sim::capture
