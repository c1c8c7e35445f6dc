#include "fc2_fabric/fcoe/vn2vn_node.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/node/remote_port.hpp"

namespace fc2::fcoe {
namespace vn = machines::fip_vn2vn;

Vn2vnNode::Vn2vnNode(Scheduler& scheduler, FramePool& pool, EthernetPort& ethernet, NPort& port, Vn2vnConfig config,
                     Vn2vnListener* listener)
    : scheduler_(scheduler), pool_(pool), ethernet_(ethernet), config_(config), listener_(listener),
      port_(scheduler, port, *this), loop_(scheduler, LinkConfig{}, port), id_(config.first_id),
      random_(config.seed ^ port.config().port_name.value) {
  ethernet_.attach(this);
  ethernet_.listen(wire::group_mac::all_vn2vn);
  if (config_.vlan != 0) ethernet_.use_vlan(config_.vlan);
  if (ethernet_.up()) process(vn::LinkUp{});
}

Vn2vnNode::~Vn2vnNode() {
  if (up()) forget_link();
  port_.take_down();
  ethernet_.ignore(wire::group_mac::all_vn2vn);
  ethernet_.attach(nullptr);
}

// --- Ethernet ----------------------------------------------------------------------------------------------------

void Vn2vnNode::ethernet_received(EthernetFrame frame) {
  if (!frame.has_header()) return counters_.discard(FcoeDiscard::NotFcoe);
  if (frame.vlan != config_.vlan) return counters_.discard(FcoeDiscard::WrongVlan);
  if (frame.type() == wire::EtherType::fcoe) return fcoe_received(std::move(frame));
  if (frame.type() == wire::EtherType::fip) return fip_received(frame);
  counters_.discard(FcoeDiscard::NotFcoe);
}

void Vn2vnNode::ethernet_link_changed(bool is_up) {
  if (is_up == !machine_.is<vn::Offline>()) return;
  if (is_up) return process(vn::LinkUp{});
  process(vn::LinkDown{});
  const auto unheard = std::exchange(neighbours_, {});  // their logins are the N_Port's to judge
  oldest_neighbours_.clear();
  if (listener_ == nullptr) return;
  for (const auto& [id, neighbour] : unheard) listener_->neighbour_gone(neighbour);
}

void Vn2vnNode::ethernet_resumed() { port_.link.to_wire.resume(); }

// FARP and other broadcasts go to all VN2VN nodes (ruling: group address, as Linux listens to it and drops them).
void Vn2vnNode::fcoe_received(EthernetFrame frame) {
  ++counters_.frames_in;
  if (const FcoeDiscard reason = examine(frame); reason != FcoeDiscard::Count) return counters_.discard(reason);
  const wire::MacAddress destination = frame.destination(), source = frame.source();
  const bool to_all = destination == wire::group_mac::all_vn2vn;
  if (!up() || (!to_all && destination != vn_mac())) return counters_.discard(FcoeDiscard::WrongDestination);
  FramePtr inner = decapsulate(std::move(frame));
  const wire::FcId s_id = s_id_of(*inner);
  if (s_id == id_) return counters_.discard(FcoeDiscard::ForgedSId);  // the Ethernet brings nothing back
  if (d_id_of(*inner) != (to_all ? wire::well_known::broadcast : id_))
    return counters_.discard(FcoeDiscard::WrongDestination);
  if (wire::load_big<3>(source.bytes.data()) != wire::vn2vn_fc_map) return counters_.discard(FcoeDiscard::WrongSource);
  // FC-BB-6: 0000xxh, and no more, so that there is an end to them.
  const bool possible = s_id.value != 0 && s_id.value < 0xFFFF;
  if (!possible || source != wire::mac_of(s_id, wire::vn2vn_fc_map)) return counters_.discard(FcoeDiscard::ForgedSId);
  port_.deliver(std::move(inner));
}

void Vn2vnNode::vn_port_sends(VnPort&, FramePtr frame) {
  const wire::FcId d_id = d_id_of(*frame);
  if (!up() || s_id_of(*frame) != id_) return counters_.discard(FcoeDiscard::NotLoggedIn);
  if (d_id == id_) return loop_.send(std::move(frame));  // the Ethernet brings nothing back
  if (answers_flogi(*frame)) return;
  if (wire::fcoe::frame_size(frame->size_bytes) > wire::EthernetHeader::size() + ethernet_.interface().mtu)
    return counters_.discard(FcoeDiscard::OverLong);
  ++counters_.frames_out;
  const bool to_all = d_id == wire::well_known::broadcast;
  const wire::MacAddress destination = to_all ? wire::group_mac::all_vn2vn : wire::mac_of(d_id, wire::vn2vn_fc_map);
  send(encapsulate(destination, vn_mac(), std::move(frame)));
  if (ethernet_.paused()) port_.link.to_wire.pause();
}

void Vn2vnNode::send(EthernetFrame frame) {
  frame.vlan = config_.vlan;
  ethernet_.send(std::move(frame));
}

// --- machines::fip_vn2vn -----------------------------------------------------------------------------------------

/// The link is up while the N_Port_ID is ours, and FLOGIs are answered then; those to tell of the loss are kept until
/// it is ours again. Each neighbour is known by age, too, and one time runs in every state but Offline.
bool Vn2vnNode::is_consistent() const {
  const bool link = port_.is_up() == up() && (!up() || (port_.id == id_ && port_.mac == vn_mac()));
  const bool waits = up() ? to_tell_.empty() : flogis_.empty();
  const bool neighbours = oldest_neighbours_.size() == neighbours_.size() && (neighbours_.empty() || expiry_.pending());
  return link && waits && neighbours && timer_.pending() == !machine_.is<vn::Offline>();
}

void Vn2vnNode::time_out() { process(vn::Timeout{}); }

// xorshift64*: any that the seed fixes does.
std::uint64_t Vn2vnNode::draw() {
  if (random_ == 0) random_ = 0x9E37'79B9'7F4A'7C15;
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return random_ * 0x2545'F491'4F6C'DD1D;
}

bool Vn2vnNode::may_be_ours(wire::FcId id) const {
  return id.value != 0 && id.value < 0xFFFF && !neighbours_.contains(id);
}

// One that was ours stays ours.
void Vn2vnNode::choose_first_id() {
  if (id_ == wire::FcId{}) id_ = {static_cast<std::uint32_t>(port_.n_port.config().port_name.value & 0xFFFF)};
  while (!may_be_ours(id_)) id_ = {static_cast<std::uint32_t>(draw() >> 48)};
}

void Vn2vnNode::choose_another_id() {
  const TimeNs now = scheduler_.now();
  std::erase_if(collisions_, [&](TimeNs at) { return now - at >= config_.rest; });
  collisions_.push_back(now);
  const wire::FcId before = id_;
  do id_ = {static_cast<std::uint32_t>(draw() >> 48)};
  while (!may_be_ours(id_) || id_ == before);
}

bool Vn2vnNode::too_many_collisions() const {
  const TimeNs now = scheduler_.now();
  const auto recent =
      std::count_if(collisions_.begin(), collisions_.end(), [&](TimeNs at) { return now - at < config_.rest; });
  return recent >= config_.max_collisions;
}

void Vn2vnNode::start_beacon_timer() {
  const auto fuzz = static_cast<std::uint64_t>(std::max<TimeNs>(config_.beacon_fuzz, 1));
  start(config_.beacon_interval + static_cast<TimeNs>(draw() % fuzz));
}

void Vn2vnNode::take_link_up() {
  port_.mac = vn_mac();
  port_.id = id_;
  ethernet_.listen(vn_mac());
  port_.take_up_without_fabric(id_);
  for (const wire::FcId id : std::exchange(to_tell_, {})) port_.n_port.deny(id);
  if (ethernet_.paused()) port_.link.to_wire.pause();
}

void Vn2vnNode::take_link_down() {
  forget_link();
  port_.take_down();
}

void Vn2vnNode::interrupt_link() {
  to_tell_ = port_.n_port.logged_in_ports();
  forget_link();
  port_.interrupt();
}

void Vn2vnNode::forget_link() {
  ethernet_.ignore(*port_.mac);
  flogis_.clear();
  loop_.clear();
}

// --- neighbours --------------------------------------------------------------------------------------------------

// A node that has another's former address is not that other node.
void Vn2vnNode::add_neighbour(const Vn2vnNeighbour& neighbour) {
  if (!machine_.is_any_of<vn::Claiming, vn::Claimed>()) return;
  const auto known = neighbours_.find(neighbour.id);
  const bool same = known != neighbours_.end() && known->second.port_name == neighbour.port_name;
  if (known != neighbours_.end() && !same) drop_neighbour(neighbour.id);
  if (!same && neighbours_.size() >= config_.max_neighbours && !make_room())
    return counters_.discard(FcoeDiscard::NoResources);
  if (!same) oldest_neighbours_.push_back(neighbour.id);
  Vn2vnNeighbour& entry = neighbours_[neighbour.id] = neighbour;
  entry.heard = scheduler_.now();
  if (!expiry_.pending()) scheduler_.schedule_after(expiry_, silence_limit());
  if (!same && listener_ != nullptr) listener_->neighbour_appeared(entry);
}

void Vn2vnNode::drop_neighbour(wire::FcId id) {
  if (RemotePort* remote = port_.n_port.find_remote_port(id)) remote->peer_is_gone();
  std::erase(oldest_neighbours_, id);
  forget_neighbour(id);
}

void Vn2vnNode::forget_neighbour(wire::FcId id) {
  const auto node = neighbours_.extract(id);
  if (node.empty()) return;
  if (listener_ != nullptr) listener_->neighbour_gone(node.mapped());
}

// A login needs no neighbour entry: it stays. An evicted node that is still there appears again with its next beacon.
bool Vn2vnNode::make_room() {
  constexpr int looks = 16;
  for (int look = 0; look < looks && !oldest_neighbours_.empty(); ++look) {
    const wire::FcId oldest = oldest_neighbours_.front();
    oldest_neighbours_.pop_front();
    const RemotePort* remote = port_.n_port.find_remote_port(oldest);
    if (remote != nullptr && remote->in_use()) {
      oldest_neighbours_.push_back(oldest);
      continue;
    }
    forget_neighbour(oldest);
    ++counters_.evicted;
    return true;
  }
  return false;
}

void Vn2vnNode::expire_neighbours() {
  const TimeNs now = scheduler_.now();
  TimeNs first = never;
  std::vector<wire::FcId> silent;
  for (const auto& [id, neighbour] : neighbours_) {
    if (now - neighbour.heard >= silence_limit())
      silent.push_back(id);
    else
      first = std::min(first, neighbour.heard + silence_limit());
  }
  for (const wire::FcId id : silent) drop_neighbour(id);
  if (first != never) scheduler_.schedule(expiry_, first);
}

}  // namespace fc2::fcoe
