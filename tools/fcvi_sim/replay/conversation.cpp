#include "tools/fcvi_sim/replay/conversation.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "tools/fcvi_sim/capture/comment.hpp"
#include "tools/fcvi_sim/capture/copies.hpp"
#include "tools/fcvi_sim/capture/reading.hpp"
#include "tools/fcvi_sim/capture/twice.hpp"
#include "tools/fcvi_sim/capture/way.hpp"
#include "tools/fcvi_sim/replay/pairs.hpp"
#include "wire/ct/rsnn_nn.hpp"
#include "wire/els/login.hpp"
#include "wire/fip/descriptors.hpp"
#include "wire/partial_ius.hpp"

namespace sim::replay {
namespace {
using capture::Direction;
constexpr capture::Time longest_gap =
    86'400'000'000'000;  // timers that ask again would run for longer than anybody waits

// A frame that waits to be overtaken goes after this time (E_D_TOV), as the fault `reorder` has it.
constexpr capture::Time longest_hold = 2'000'000'000;
// More is no fault's work: a capture that says so takes as long as this many.
constexpr std::size_t most_under_way = 4096;

bool contains(const std::vector<wire::FcId>& ids, wire::FcId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// A Fibre Channel frame of a packet: its own, or the one within a FIP message (FLOGI, LOGO and their answers). What
/// VN2VN ports say so to each other is FIP's, and no N_Port's.
struct Carried {
  std::vector<std::uint8_t> bytes;
  wire::FcHeader header;
  bool by_fip = false;
};

bool initiates(wire::Sof sof) { return sof == wire::Sof::i2 || sof == wire::Sof::i3; }

std::optional<Carried> carried_by(const capture::Seen& seen) {
  if (seen.frame.header && seen.frame.trouble.empty())
    return Carried{{seen.frame.fc.begin(), seen.frame.fc.end()}, *seen.frame.header, false};
  if (!seen.frame.fip) return std::nullopt;
  const auto* frame = seen.frame.fip->find<wire::fip::EncapsulatedFrame>();
  if (frame == nullptr) return std::nullopt;
  const auto header = wire::FcHeader::parse(frame->fc_frame);
  const auto is_of_fabric = [](wire::FcId id) { return id == wire::well_known::f_port; };
  if (!header || !(is_of_fabric(header->s_id) || is_of_fabric(header->d_id))) return std::nullopt;
  return Carried{frame->fc_frame, *header, true};
}

wire::Bytes data_field_of(wire::Bytes fc, const wire::FcHeader& header) {
  const wire::Bytes data = fc.subspan(wire::FcHeader::size());
  return data.first(data.size() - std::min(data.size(), header.fill_bytes()));
}

std::optional<wire::els::Login> login_of(const Carried& carried) {
  if (carried.header.type != wire::Type::els) return std::nullopt;
  const auto login = wire::els::Login::parse(data_field_of(carried.bytes, carried.header));
  return login ? std::optional(*login) : std::nullopt;
}

/// Such have no domain: ports of a private loop, of VN2VN, and those of a public loop that ask for an N_Port_ID.
bool is_without_domain(wire::FcId id) { return id.domain() == 0; }

/// A FLOGI, on a public loop with the AL_PA as S_ID.
bool is_asking(const wire::FcHeader& header) {
  return is_without_domain(header.s_id) && header.d_id == wire::well_known::f_port;
}

/// First pass: who is who.
class Census {
 public:
  void add(const capture::Seen& seen);
  [[nodiscard]] std::vector<CapturedPort> ports(const std::vector<capture::Interface>& interfaces) const;
  /// It saw frames that its port received.
  [[nodiscard]] bool receives(std::size_t interface) const { return receiving_.contains(interface); }
  /// That interface shows what its port receives from there.
  [[nodiscard]] bool arrives(std::size_t interface, wire::FcId sender) const {
    return arrivals_.contains({interface, sender.value});
  }
  /// The port of that interface had the N_Port_ID at that frame, as far as the capture shows. It may be another's
  /// later.
  [[nodiscard]] bool holds(std::size_t interface, wire::FcId id, std::uint64_t number) const;
  /// Where the capture tells no directions.
  [[nodiscard]] bool has_both_ends() const { return pairs_.are_usual(); }
  [[nodiscard]] bool has_late_arrivals() const { return has_both_ends() && pairs_.are_late(); }
  /// A FLOGI was accepted without an N_Port_ID: two N_Ports are linked to each other.
  [[nodiscard]] bool is_point_to_point() const { return point_to_point_; }
  /// To the FLOGI.
  [[nodiscard]] std::optional<wire::FcId> granted(const Carried& carried) const;

 private:
  struct Port {
    std::optional<std::size_t> interface;
    std::vector<wire::FcId> ids;
  };
  void learn_name(const Carried& carried, const capture::Packet& packet);
  void learn_grant(const Carried& carried, const capture::Packet& packet);
  static bool is_port(wire::FcId id) { return id != wire::well_known::unidentified && !wire::is_of_fabric(id); }

  /// The interface is at the only port that it sends frames of, not between switches.
  [[nodiscard]] bool is_of_port(std::size_t interface) const;

  Pairs pairs_{capture::Copies::longest_way};
  bool point_to_point_ = false;
  std::set<std::size_t> receiving_, logging_in_;
  std::set<std::pair<std::size_t, std::uint32_t>> arrivals_;
  std::map<std::size_t, std::string> node_names_;  // symbolic ones, by interface
  std::map<std::size_t, std::vector<wire::FcId>> by_interface_;
  std::vector<wire::FcId> senders_;
  std::map<std::uint32_t, wire::Wwn> names_;
  std::map<std::size_t, wire::Wwn> names_sent_;  // by interface
  struct Grant {
    std::uint64_t number = 0;  // of the frame
    std::size_t interface = 0;
  };
  std::map<std::uint32_t, std::vector<Grant>> grants_;  // by N_Port_ID, as they were received
  std::map<std::uint16_t, wire::Wwn> asking_;           // FLOGI's OX_ID: who asks
  std::map<std::uint64_t, wire::FcId> granted_;         // by Port_Name
};

void Census::add(const capture::Seen& seen) {
  const auto carried = carried_by(seen);
  const std::size_t interface = seen.packet.interface;
  const Direction direction = seen.packet.direction;
  if (!carried) return;
  pairs_.add(seen, carried->header, carried->bytes);
  if (direction == Direction::received) {
    receiving_.insert(interface);
    arrivals_.insert({interface, carried->header.s_id.value});
  }
  if (direction == Direction::sent && carried->header.type == wire::Type::ct)
    if (auto name = wire::ct::RsnnNn::parse(data_field_of(carried->bytes, carried->header)))
      node_names_[interface] = name->symbolic_name;
  const wire::FcHeader& header = carried->header;
  learn_name(*carried, seen.packet);
  learn_grant(*carried, seen.packet);
  if (!is_port(header.s_id)) return;
  if (!contains(senders_, header.s_id)) senders_.push_back(header.s_id);
  auto& ids = by_interface_[interface];
  if (direction == Direction::sent && !contains(ids, header.s_id)) ids.push_back(header.s_id);
}

void Census::learn_name(const Carried& carried, const capture::Packet& packet) {
  const auto login = login_of(carried);
  if (!login) return;
  const wire::FcHeader& header = carried.header;
  const bool sent = packet.direction == Direction::sent;
  if (is_asking(header)) {
    asking_[header.ox_id.value] = login->port_name;
    if (sent) logging_in_.insert(packet.interface);
  } else if (is_port(header.s_id)) {
    names_[header.s_id.value] = login->port_name;
  } else {
    return;
  }
  if (sent) names_sent_[packet.interface] = login->port_name;
}

bool Census::holds(std::size_t interface, wire::FcId id, std::uint64_t number) const {
  const auto found = grants_.find(id.value);
  if (found == grants_.end()) return true;
  const std::vector<Grant>& grants = found->second;
  const auto after = std::find_if(grants.begin(), grants.end(), [&](const Grant& one) { return one.number > number; });
  if (after != grants.begin()) return std::prev(after)->interface == interface;
  return std::none_of(grants.begin(), grants.end(), [&](const Grant& one) { return one.interface == interface; });
}

void Census::learn_grant(const Carried& carried, const capture::Packet& packet) {
  const wire::FcHeader& header = carried.header;
  if (header.s_id != wire::well_known::f_port || !login_of(carried)) return;
  if (header.d_id == wire::well_known::unidentified) point_to_point_ = true;
  if (!is_port(header.d_id)) return;
  if (packet.direction == Direction::received) grants_[header.d_id.value].push_back({packet.number, packet.interface});
  const auto asked = asking_.find(header.ox_id.value);
  if (asked == asking_.end()) return;
  names_.try_emplace(header.d_id.value, asked->second);
  granted_[asked->second.value] = header.d_id;
}

std::optional<wire::FcId> Census::granted(const Carried& carried) const {
  const auto login = login_of(carried);
  if (!login) return std::nullopt;
  const auto found = granted_.find(login->port_name.value);
  return found == granted_.end() ? std::nullopt : std::optional(found->second);
}

bool Census::is_of_port(std::size_t interface) const {
  const auto found = by_interface_.find(interface);
  if (found == by_interface_.end() || found->second.empty()) return false;
  if (logging_in_.contains(interface)) return true;
  const std::vector<wire::FcId>& ids = found->second;
  if (ids.size() != 1 && !std::all_of(ids.begin(), ids.end(), is_without_domain)) return false;
  return std::none_of(by_interface_.begin(), by_interface_.end(), [&](const auto& other) {
    return other.first != interface &&
           std::any_of(ids.begin(), ids.end(), [&](wire::FcId id) { return contains(other.second, id); });
  });
}

std::vector<CapturedPort> Census::ports(const std::vector<capture::Interface>& interfaces) const {
  std::vector<CapturedPort> all;
  std::vector<wire::FcId> told;
  const auto named = [this](CapturedPort port) {
    for (const wire::FcId id : port.ids)
      if (const auto found = names_.find(id.value); found != names_.end()) port.port_name = found->second;
    return port;
  };
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    if (interfaces[i].name.empty() || !is_of_port(i)) continue;
    const std::vector<wire::FcId>& ids = by_interface_.at(i);
    CapturedPort port{interfaces[i].name, {}, i, ids, {}};
    if (const auto name = node_names_.find(i); name != node_names_.end()) port.node = name->second;
    port = named(std::move(port));
    // The same N_Port_ID may be another port's later.
    if (const auto name = names_sent_.find(i); name != names_sent_.end()) port.port_name = name->second;
    all.push_back(std::move(port));
    told.insert(told.end(), ids.begin(), ids.end());
  }
  const std::size_t with_interface = all.size();
  for (const wire::FcId id : senders_) {
    if (contains(told, id)) continue;
    CapturedPort port = named({{}, {}, {}, {id}, {}});
    // A port that logged in anew may have another N_Port_ID.
    const auto same =
        std::find_if(all.begin() + static_cast<std::ptrdiff_t>(with_interface), all.end(),
                     [&](const CapturedPort& other) { return port.port_name && other.port_name == port.port_name; });
    if (same != all.end())
      same->ids.push_back(id);
    else
      all.push_back(std::move(port));
  }
  return all;
}

bool is_called(const CapturedPort& port, const std::string& name) {
  if (port.name == name || port.node == name || (port.port_name && wire::to_string(*port.port_name) == name))
    return true;
  return std::any_of(port.ids.begin(), port.ids.end(), [&](wire::FcId id) {
    std::string text = wire::to_string(id), upper = name;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
    return text == upper;
  });
}

std::string unknown_port(const std::string& path, const std::string& name, const std::vector<CapturedPort>& ports) {
  if (ports.empty()) return path + ": no port sent a frame in this capture";
  const bool several =
      std::any_of(ports.begin(), ports.end(), [&](const CapturedPort& port) { return is_called(port, name); });
  std::string text = path + (several ? ": several ports are '" : ": no port '") + name + "'; it has";
  for (std::size_t i = 0; i < ports.size(); ++i) text.append(i == 0 ? " " : ", ").append(ports[i].to_string());
  return text;
}

/// Second pass: the frames of one port.
class Selector {
 public:
  Selector(const CapturedPort& port, const Census& census, const std::vector<capture::Interface>& interfaces,
           capture::Time longest_way)
      : port_(port), census_(census), by_direction_(port.interface && census.receives(*port.interface)),
        of_simulator_(by_direction_ && interfaces[*port.interface].of_simulator), pairs_(longest_way) {}
  void add(const capture::Seen& seen);
  /// All of them: also what was still under way.
  [[nodiscard]] std::vector<CapturedFrame> take();
  /// The process of the port ended then; nullopt: the capture does not say so.
  [[nodiscard]] std::optional<capture::Time> end() const { return end_; }
  /// Why they are not all; empty: they are.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  enum class Role : std::uint8_t { none, sent, received };
  [[nodiscard]] Role role_of(const capture::Seen& seen, const Carried& carried);
  /// Only the simulator captures within the port.
  [[nodiscard]] bool is_at_port(const capture::Seen& seen) const {
    return of_simulator_ && seen.packet.interface == *port_.interface;
  }
  [[nodiscard]] bool comes_from_afar(const capture::Seen& seen, const Carried& carried) const;
  [[nodiscard]] Role role_by_address(const capture::Seen& seen, const Carried& carried);
  [[nodiscard]] Role role_by_name(const Carried& carried);
  [[nodiscard]] CapturedFrame frame_of(const capture::Seen& seen, Carried carried, Role role) const;
  void check(const capture::Seen& seen);
  void send_on(CapturedFrame frame, const capture::Seen& seen);
  void arrive_until(capture::Time time);
  void be_overtaken(const capture::Seen& seen);
  void enter(CapturedFrame frame);
  void mark(CapturedFrame& frame);
  void read_message(CapturedFrame& frame);
  using ExchangeKey = std::tuple<std::uint32_t, std::uint16_t, bool>;  // peer, OX_ID, the port is its originator

  /// To the port, captured where it was sent: a fault made it late.
  struct UnderWay {
    CapturedFrame frame;
    capture::Time arrival = 0;
    std::size_t interface = 0;       // of its sender
    std::uint32_t overtaken_by = 0;  // so many frames more of it
    bool waits_for_others = false;
  };

  const CapturedPort& port_;
  const Census& census_;
  const bool by_direction_, of_simulator_;
  Pairs pairs_;
  std::set<std::vector<std::uint8_t>> by_name_;  // FLOGI between two N_Ports, and its answers: seen
  std::string error_;
  std::vector<CapturedFrame> frames_;
  std::vector<UnderWay> under_way_;  // in the order in which they were sent
  std::optional<capture::Time> end_;
  wire::PartialIus sent_ius_, received_ius_;
  std::set<ExchangeKey> answered_;
  std::map<std::pair<ExchangeKey, bool>, wire::SeqId> sequences_;  // the latest that the port sent or received
};

/// Before the larger of two N_Ports gave both their N_Port_IDs.
bool is_before_addresses(const wire::FcHeader& header) {
  return header.s_id == wire::well_known::unidentified || header.d_id == wire::well_known::unidentified;
}

Selector::Role Selector::role_of(const capture::Seen& seen, const Carried& carried) {
  if (!by_direction_) return role_by_address(seen, carried);
  if (seen.packet.interface == *port_.interface)
    return seen.packet.direction == Direction::sent ? Role::sent : Role::received;
  return comes_from_afar(seen, carried) ? Role::received : Role::none;
}

/// It never arrives.
bool is_lost(const capture::Packet& packet) {
  return std::any_of(packet.comments.begin(), packet.comments.end(),
                     [](const std::string& comment) { return capture::told_by(comment) == capture::Tells::lost; });
}

/// A capture that has each frame once shows it where it was sent.
bool Selector::comes_from_afar(const capture::Seen& seen, const Carried& carried) const {
  const wire::FcHeader& header = carried.header;
  const bool to_other = census_.is_point_to_point() && is_before_addresses(header);
  const bool to_port = contains(port_.ids, header.d_id) || header.d_id == wire::well_known::broadcast || to_other;
  if (!to_port || seen.packet.direction != Direction::sent || census_.arrives(*port_.interface, header.s_id))
    return false;
  if (contains(port_.ids, header.d_id) && !census_.holds(*port_.interface, header.d_id, seen.packet.number))
    return false;
  return !is_lost(seen.packet);
}

/// FLOGI of two N_Ports to each other, and its answers, say who sent them. The second record of one is its arrival.
Selector::Role Selector::role_by_name(const Carried& carried) {
  const auto login = login_of(carried);
  if (!login || !by_name_.insert(carried.bytes).second) return Role::none;
  return port_.port_name && login->port_name == *port_.port_name ? Role::sent : Role::received;
}

/// Of a frame that was captured at both ends only the port's own end counts.
Selector::Role Selector::role_by_address(const capture::Seen& seen, const Carried& carried) {
  using End = Pairs::End;
  const End end = census_.has_both_ends() ? pairs_.add(seen, carried.header, carried.bytes) : End::only;
  const wire::FcHeader& header = carried.header;
  const auto asks = [&] { return is_asking(header) ? census_.granted(carried) : std::nullopt; };
  const auto id = asks();
  if (census_.is_point_to_point() && is_before_addresses(header)) return role_by_name(carried);
  const bool repeated = end == End::only && seen.same != 0;
  if (contains(port_.ids, header.s_id) || (id && contains(port_.ids, *id)))
    return repeated || end == End::arrival || end == End::elsewhere ? Role::none : Role::sent;
  if (!contains(port_.ids, header.d_id) && header.d_id != wire::well_known::broadcast) return Role::none;
  if (is_lost(seen.packet)) return Role::none;
  const bool elsewhere =
      seen.packet.direction == Direction::received && port_.interface && seen.packet.interface != *port_.interface;
  return elsewhere || repeated || end == End::departure || end == End::elsewhere ? Role::none : Role::received;
}

/// The port did not send it so.
bool is_by_fault(const capture::Packet& packet) {
  return std::any_of(packet.comments.begin(), packet.comments.end(),
                     [](const std::string& comment) { return capture::told_by(comment) == capture::Tells::fault; });
}

bool is_shown_again(const capture::Packet& packet) {
  return std::any_of(packet.comments.begin(), packet.comments.end(), capture::tells_of_frame_before);
}

void Selector::add(const capture::Seen& seen) {
  arrive_until(seen.since_first);
  auto carried = carried_by(seen);
  const Role role = carried ? role_of(seen, *carried) : Role::none;
  if (role == Role::sent &&
      std::any_of(seen.packet.comments.begin(), seen.packet.comments.end(), capture::tells_of_end))
    end_ = seen.since_first;
  if (role != Role::none && !is_shown_again(seen.packet)) {
    check(seen);
    CapturedFrame frame = frame_of(seen, std::move(*carried), role);
    if (role == Role::received && seen.packet.direction == Direction::sent)
      send_on(std::move(frame), seen);
    else
      enter(std::move(frame));
  }
  be_overtaken(seen);
}

void Selector::check(const capture::Seen& seen) {
  for (const std::string& comment : seen.packet.comments)
    if (error_.empty() && comment.find("way mark") != std::string::npos)
      error_ = "frame " + std::to_string(seen.packet.number) + " says that message data went another way (" + comment +
               "): they cannot be compared";
  if (!frames_.empty() && std::abs(seen.since_first - frames_.back().at) > longest_gap && error_.empty())
    error_ = "frame " + std::to_string(seen.packet.number) + " is more than a day away from the one before";
}

CapturedFrame Selector::frame_of(const capture::Seen& seen, Carried carried, Role role) const {
  CapturedFrame frame;
  frame.number = seen.packet.number;
  frame.at = seen.since_first;
  frame.sent = role == Role::sent;
  frame.on_its_way = !frame.sent && !is_at_port(seen);
  frame.bytes = std::move(carried.bytes);
  frame.header = carried.header;
  if (carried.by_fip) return frame;
  frame.sof = seen.frame.sof;
  if (frame.sent && is_by_fault(seen.packet)) return frame;
  frame.eof = seen.frame.eof;
  frame.crc_error = seen.frame.crc_ok == false;
  return frame;
}

// --- what a fault did on the way to the port, where the frame was captured at its sender -------------------------

void Selector::send_on(CapturedFrame frame, const capture::Seen& seen) {
  if (!error_.empty()) return;
  capture::Way way;
  for (const std::string& comment : seen.packet.comments)
    if (auto told = capture::way_told_by(comment)) way = std::move(*told);
  way.change(frame.bytes);
  frame.crc_error = frame.crc_error || way.crc_error;
  const auto header = wire::FcHeader::parse(frame.bytes);
  const bool to_other = header && census_.is_point_to_point() && is_before_addresses(*header);
  const bool is_to_port =
      to_other || (header && (contains(port_.ids, header->d_id) || header->d_id == wire::well_known::broadcast));
  if (!is_to_port) return;  // cut to less than a header, or rewritten
  frame.header = *header;
  const capture::Time step = std::clamp<capture::Time>(way.delay, 0, longest_gap);
  for (std::uint32_t i = 1; i <= way.copies && under_way_.size() < most_under_way; ++i) {
    under_way_.push_back({frame, frame.at + i * step, seen.packet.interface, 0, false});
    under_way_.back().frame.at += i * step;
  }
  if (way.copies != 0 || (step == 0 && way.overtaken_by == 0)) return enter(std::move(frame));
  const bool waits = way.overtaken_by != 0;
  const capture::Time arrival = frame.at + (waits ? longest_hold : step);
  frame.at = arrival;
  // This record itself is counted, too.
  under_way_.push_back({std::move(frame), arrival, seen.packet.interface, way.overtaken_by + 1, waits});
}

/// What arrives before that time.
void Selector::arrive_until(capture::Time time) {
  while (!under_way_.empty()) {
    const auto first = std::min_element(under_way_.begin(), under_way_.end(),
                                        [](const auto& one, const auto& other) { return one.arrival < other.arrival; });
    if (first->arrival > time) return;
    CapturedFrame frame = std::move(first->frame);
    under_way_.erase(first);
    enter(std::move(frame));
  }
}

/// One more frame of that sender passes those that wait for it.
void Selector::be_overtaken(const capture::Seen& seen) {
  if (under_way_.empty() || seen.packet.direction != Direction::sent) return;
  for (UnderWay& one : under_way_) {
    if (!one.waits_for_others || one.interface != seen.packet.interface || --one.overtaken_by != 0) continue;
    one.arrival = one.frame.at = seen.since_first;
    one.waits_for_others = false;
  }
  arrive_until(seen.since_first);
}

std::vector<CapturedFrame> Selector::take() {
  arrive_until(std::numeric_limits<capture::Time>::max());
  return std::move(frames_);
}

void Selector::enter(CapturedFrame frame) {
  mark(frame);
  read_message(frame);
  frames_.push_back(std::move(frame));
}

void Selector::mark(CapturedFrame& frame) {
  const wire::FcHeader& header = frame.header;
  if (wire::is_link_control(header.r_ctl)) return;
  const bool own = frame.sent != frame.by_responder();
  const ExchangeKey key{(frame.sent ? header.d_id : header.s_id).value, header.ox_id.value, own};
  frame.begins_exchange = !frame.by_responder() && header.has(wire::f_ctl::first_sequence) && header.seq_cnt.value == 0;
  if (frame.begins_exchange) answered_.erase(key);
  if (frame.sent && frame.by_responder()) frame.first_answer = answered_.insert(key).second;
  const auto [sequence, is_first] = sequences_.try_emplace({key, frame.sent}, header.seq_id);
  // Without SOF only another SEQ_ID tells.
  const bool is_new = frame.sof ? initiates(*frame.sof) : sequence->second != header.seq_id;
  frame.begins_sequence = is_first || frame.begins_exchange || frame.first_answer || is_new;
  sequence->second = header.seq_id;
}

void Selector::read_message(CapturedFrame& frame) {
  const auto message = (frame.sent ? sent_ius_ : received_ius_).add({frame.header, frame.data_field()});
  frame.message_header = frame.header;
  if (!message.whole) return;
  frame.message_header = message.header;
  frame.message.assign(message.data_field.begin(), message.data_field.end());
}

/// Feeds each frame of the file to `add`. Returns what is wrong with the file; empty: nothing.
template <class Add>
std::string read_all(capture::Reading& reading, const std::string& path, const Add& add) {
  if (std::string error = reading.open(path); !error.empty()) return error;
  for (capture::Seen seen; reading.next(seen);) add(seen);
  return reading.error();
}

Conversation read_port(const capture::Twice& file, const CapturedPort& port, const Census& census,
                       const std::vector<capture::Interface>& interfaces, capture::Time longest_way,
                       std::string& error) {
  Conversation conversation;
  conversation.port = port;
  Selector selector(port, census, interfaces, longest_way);
  capture::Reading reading;
  error = read_all(reading, file.path(), [&](const capture::Seen& seen) { selector.add(seen); });
  if (error.empty() && !selector.error().empty()) error = file.told_as(file.path() + ": " + selector.error());
  conversation.frames = selector.take();
  conversation.end = std::min(selector.end().value_or(reading.known_until()), reading.known_until());
  return conversation;
}

}  // namespace

wire::Bytes CapturedFrame::data_field() const { return data_field_of(bytes, header); }

std::string CapturedPort::to_string() const {
  std::string text = name.empty() ? std::string() : "'" + name + "'";
  for (const wire::FcId id : ids) text.append(text.empty() ? "" : " ").append(wire::to_string(id));
  if (port_name) text += " (" + wire::to_string(*port_name) + ")";
  if (!node.empty()) text += " of node '" + node + "'";
  return text;
}

ReadConversation read_conversation(const std::string& path, const std::string& port) {
  ReadConversation result;
  const capture::Twice file(path);
  Census census;
  capture::Reading first;
  result.error = read_all(first, file.path(), [&](const capture::Seen& seen) { census.add(seen); });
  if (!result.error.empty()) {
    result.error = file.told_as(result.error);
    return result;
  }
  const std::vector<CapturedPort> ports = census.ports(first.interfaces());
  const auto is_meant = [&](const CapturedPort& one) { return is_called(one, port); };
  const auto found = std::find_if(ports.begin(), ports.end(), is_meant);
  if (std::count_if(ports.begin(), ports.end(), is_meant) != 1) {
    result.error = unknown_port(path, port, ports);
    return result;
  }
  const auto read = [&](capture::Time longest_way) {
    return read_port(file, *found, census, first.interfaces(), longest_way, result.error);
  };
  result.conversation = read(capture::Copies::longest_way);
  if (census.has_late_arrivals() && result.error.empty()) result.sent_again = read(Pairs::soonest_again);
  return result;
}

}  // namespace sim::replay
