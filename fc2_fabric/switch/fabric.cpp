#include "fc2_fabric/switch/fabric.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "fc2_fabric/switch/f_port.hpp"
#include "fc2_fabric/switch/fabric_controller.hpp"
#include "fc2_fabric/switch/fabric_directory.hpp"
#include "fc2_fabric/switch/fabric_paths.hpp"

namespace fc2 {

Fabric::Fabric(Scheduler& scheduler, FramePool& pool, FabricConfig config)
    : scheduler_(scheduler), pool_(pool), config_(config) {
  if (!config_.has_independent_switches()) return;
  feed_ = std::make_unique<DirectoryFeed>(
      scheduler_, config_.directory_delay,
      [this](std::size_t origin, const DirectoryChange& change) { members_[origin]->directory->apply(change); });
}

Fabric::~Fabric() {
  for (const auto& link : links_) link->take_down();
  for (const auto& member : members_) member->device->go_offline();
}

// --- what there is -----------------------------------------------------------------------------------------------

Switch& Fabric::add_switch(SwitchConfig config) {
  assert(std::none_of(members_.begin(), members_.end(),
                      [&](const auto& m) { return m->device->config().switch_name == config.switch_name; }));
  config.in_order = config.in_order && config_.multipath == Multipath::PortPair;
  auto member = std::make_unique<Member>();
  member->domain = config.domain;
  member->device.reset(new Switch(scheduler_, pool_, std::move(config), config_.multipath, &ages_));
  member->index = members_.size();
  if (feed_ != nullptr) {
    member->learned = std::make_unique<Learned>(*this, member->index);
    member->device->keep_own_directory(*member->learned);
  }
  members_.push_back(std::move(member));
  topology_changed();
  return *members_.back()->device;
}

InterSwitchLink& Fabric::connect(Switch& a, Switch& b, LinkConfig link) {
  assert(&a != &b);
  InterSwitchLink& made = *links_.emplace_back(
      std::make_unique<InterSwitchLink>(scheduler_, a, b, link, static_cast<TopologyListener&>(*this)));
  if (config_.has_independent_switches())
    made.be_independent(instant_rank::links + static_cast<std::uint32_t>(links_.size() - 1) * Link::ranks);
  plug(made);
  return made;
}

Fabric::Member& Fabric::member(const Switch& device) {
  return **std::find_if(members_.begin(), members_.end(),
                        [&](const auto& member) { return member->device.get() == &device; });
}

const Fabric::Member& Fabric::member(const Switch& device) const {
  return **std::find_if(members_.begin(), members_.end(),
                        [&](const auto& member) { return member->device.get() == &device; });
}

Switch* Fabric::find(const Switch& from, std::uint8_t domain) {
  for (const auto& other : members_)
    if (other->device->domain() == domain && domain != 0 && reaches(from, *other->device)) return other->device.get();
  return nullptr;
}

const Switch& Fabric::principal_of(const Switch& device) const {
  const Member& asked = member(device);
  return asked.partition == nowhere ? device : *members_[asked.partition]->device;
}

bool Fabric::is_consistent() const {
  return std::all_of(members_.begin(), members_.end(), [](const auto& one) { return one->device->is_consistent(); }) &&
         std::all_of(links_.begin(), links_.end(), [](const auto& link) { return link->is_consistent(); });
}

std::size_t Fabric::partitions() const {
  return static_cast<std::size_t>(
      std::count_if(members_.begin(), members_.end(), [](const auto& m) { return m->partition == m->index; }));
}

bool Fabric::reaches(const Switch& a, const Switch& b) const {
  return member(a).partition == member(b).partition && member(a).partition != nowhere;
}

// --- what happens to it ------------------------------------------------------------------------------------------

void Fabric::topology_changed() {
  if (pending()) return;
  if (config_.has_independent_switches())
    scheduler_.schedule_first(*this, scheduler_.now() + config_.reconfiguration_delay, instant_rank::paths);
  else
    scheduler_.schedule_after(*this, config_.reconfiguration_delay);
}

void Fabric::unplug(InterSwitchLink& link) {
  link.plugged_ = false;
  link.take_down();
}

void Fabric::plug(InterSwitchLink& link) {
  link.plugged_ = true;
  if (member(link.a().owner()).powered && member(link.b().owner()).powered) link.bring_up();
}

void Fabric::crash(Switch& device) {
  Member& crashed = member(device);
  crashed.powered = crashed.has_domain = false;
  crashed.partition = nowhere;
  for (const auto& link : links_)
    if (&link->a().owner() == &device || &link->b().owner() == &device) link->take_down();
  device.go_offline();
  topology_changed();
}

void Fabric::restart(Switch& device) {
  member(device).powered = true;
  for (const auto& link : links_)
    if (link->plugged_ && (&link->a().owner() == &device || &link->b().owner() == &device)) plug(*link);
  topology_changed();
}

// --- configuration -----------------------------------------------------------------------------------------------

void Fabric::configure() {
  scheduler_.cancel(*this);
  ++ages_.now;
  settle_links();
  std::vector<Partition> partitions = find_partitions();
  for (Partition& partition : partitions) assign_domains(partition);
  std::vector<std::pair<Switch*, wire::FcId>> twice;  // ports whose Port_Name another one has
  for (const Partition& partition : partitions) share_directory(partition, twice);
  for (const Partition& partition : partitions) {
    for (Member* member : partition) member->partition = partition.front()->index;
    route(partition);
    tell_of_domains(partition);
    for (Member* member : partition)
      if (member->has_domain)
        member->device->go_online(member->domain, partition.front()->device->config().switch_name);
  }
  for (const auto& [device, id] : twice)
    if (FPort* port = device->find(id)) port->reset_link();  // else it went with another port of its link
}

// Links that joined switches before go first: new ones have to fit.
void Fabric::settle_links() {
  std::vector<std::size_t> side(members_.size());
  std::iota(side.begin(), side.end(), std::size_t{0});
  const auto join = [&](std::size_t a, std::size_t b) {
    const std::size_t from = side[a], to = side[b];
    std::replace(side.begin(), side.end(), from, to);
  };
  const auto ends = [&](const InterSwitchLink& link) {
    return std::pair(member(link.a_.owner()).index, member(link.b_.owner()).index);
  };
  for (const auto& member : members_) member->ports.clear();
  for (const auto& link : links_) {
    const auto [a, b] = ends(*link);
    const bool joined = members_[a]->partition == members_[b]->partition && members_[a]->partition != nowhere;
    if (link->is_up() && joined && !link->isolated_) join(a, b);
  }
  for (const auto& link : links_) {
    if (!link->is_up()) continue;
    const auto [a, b] = ends(*link);
    link->isolated_ = side[a] != side[b] && !may_join(side, side[a], side[b]);
    if (link->isolated_) continue;
    join(a, b);
    members_[a]->ports.push_back(&link->a_);
    members_[b]->ports.push_back(&link->b_);
  }
}

bool Fabric::may_join(const std::vector<std::size_t>& side, std::size_t a, std::size_t b) const {
  if (config_.domain_conflict == DomainConflict::Reassign) return true;
  std::vector<bool> used(max_domain + 1);
  for (const auto& member : members_)
    if (side[member->index] == a && member->has_domain) used[member->domain] = true;
  return std::none_of(members_.begin(), members_.end(), [&](const auto& member) {
    return side[member->index] == b && member->has_domain && used[member->domain];
  });
}

// Each in the order in which its switches get Domain_IDs (FC-SW): the principal switch first, then those that it was
// joined with before, those that have one, and those that have none yet; by priority and name. A switch that joins a
// fabric does not become its principal; of two that meet, the better principal stays.
std::vector<Fabric::Partition> Fabric::find_partitions() const {
  std::vector<Partition> partitions;
  std::vector<bool> seen(members_.size());
  for (const auto& start : members_) {
    if (!start->powered || seen[start->index]) continue;
    Partition found{start.get()};
    seen[start->index] = true;
    for (std::size_t next = 0; next < found.size(); ++next) {
      for (EPort* port : found[next]->ports) {
        const Member& other = member(port->far_end().owner());
        if (seen[other.index]) continue;
        seen[other.index] = true;
        found.push_back(members_[other.index].get());
      }
    }
    partitions.push_back(std::move(found));
  }
  for (Partition& partition : partitions) put_in_turn(partition);
  return partitions;
}

void Fabric::put_in_turn(Partition& partition) {
  const auto rank = [](const Member* m) {
    const bool was_principal = m->has_domain && m->partition == m->index;
    return std::tuple(!was_principal, !m->has_domain, m->device->config().priority, m->device->config().switch_name);
  };
  const auto by_rank = [&](const Member* a, const Member* b) { return rank(a) < rank(b); };
  const Member* principal = *std::min_element(partition.begin(), partition.end(), by_rank);
  const auto turn = [&](const Member* m) {
    const bool same_side = m->has_domain && m->partition == principal->partition;
    return std::tuple(m != principal, !same_side, rank(m));
  };
  std::sort(partition.begin(), partition.end(), [&](const Member* a, const Member* b) { return turn(a) < turn(b); });
}

// A switch keeps its Domain_ID if it is free; one that prefers an id gets it if it is free, else the lowest free one.
void Fabric::assign_domains(Partition& partition) {
  std::vector<bool> used(max_domain + 1);
  used[0] = true;
  for (Member* member : partition) {
    std::size_t domain = member->domain;
    if (used[domain]) domain = static_cast<std::size_t>(std::find(used.begin(), used.end(), false) - used.begin());
    const bool granted = domain < used.size();
    if (member->has_domain && domain != member->domain) member->device->go_offline();
    member->has_domain = granted;
    if (!granted) continue;  // 239 switches are the most (FC-SW)
    used[domain] = true;
    member->domain = static_cast<std::uint8_t>(domain);
  }
}

// A new directory if the set of switches has changed: each takes the records of its domain from the old one.
void Fabric::share_directory(const Partition& partition, std::vector<std::pair<Switch*, wire::FcId>>& twice) {
  const auto& present = partition.front()->directory;
  const auto shares = [&](const auto& member) { return member->directory == present && member->powered; };
  const bool same =
      present != nullptr && std::all_of(partition.begin(), partition.end(), shares) &&
      std::count_if(members_.begin(), members_.end(), shares) == static_cast<std::ptrdiff_t>(partition.size());
  const TimeNs delay = partition.front()->device->config().state_change_delay;
  const auto directory = same ? present : std::make_shared<FabricDirectory>(scheduler_, delay);
  directory->remove_controllers();
  for (Member* member : partition) {
    if (!same && member->device->online())
      for (const wire::FcId id : directory->take_domain(*member->directory, member->domain))
        twice.emplace_back(member->device.get(), id);
    member->device->set_directory(*directory);
    member->directory = directory;
  }
}

// What a switch reaches now and did not before, and the other way round, concerns the ports that registered there.
void Fabric::tell_of_domains(const Partition& partition) {
  std::bitset<max_domain + 1> present;
  for (const Member* member : partition)
    if (member->has_domain) present.set(member->domain);
  for (Member* member : partition) {
    const auto changed = std::exchange(member->reaches, present) ^ present;
    for (std::size_t domain = 1; domain <= max_domain; ++domain)
      if (changed.test(domain) && domain != member->domain)
        member->device->fabric_controller().domain_changed(static_cast<std::uint8_t>(domain));
  }
}

void Fabric::route(const Partition& partition) {
  std::vector<PathNode> nodes;
  for (const Member* member : partition)
    if (member->has_domain) nodes.push_back({member->device.get(), member->domain, &member->device->routes_, {}});
  for (PathNode& node : nodes) {
    for (EPort* port : member(*node.device).ports)
      if (member(port->far_end().owner()).has_domain) node.ports.push_back(port);
  }
  FabricPaths(nodes).apply(ages_);
}

}  // namespace fc2
