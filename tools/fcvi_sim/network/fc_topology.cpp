#include "tools/fcvi_sim/network/fc_topology.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "fc2_fabric/switch/f_port.hpp"
#include "fc2_fabric/switch/fabric.hpp"
#include "fc2_fabric/switch/name_server.hpp"
#include "fc2_fabric/link/link.hpp"
#include "fc2_fabric/node/loop_n_port.hpp"
#include "fc2_fabric/node/point_to_point.hpp"
#include "tools/fcvi_sim/network/fc_boundary.hpp"
#include "state_machines/fsm.hpp"

namespace sim {
namespace {

fc2::LoopConfig loop_config(const fc2::LinkConfig& link) {
  return {.hop_latency_ns = link.latency_ns, .bytes_per_second = link.bytes_per_second};
}

fc2::LoopPlace loop_place(const PortSpec& spec) {
  return {.is_private = spec.is_private, .bb_credit = spec.link.bb_credit, .processing_ns = spec.link.processing_ns};
}

void watch_on(fc2::Loop& loop, fc2::NPort& port, fc2::FrameTap* tap, LinkFaults faults) {
  loop.tap(port, tap);
  loop.set_faults(port, faults.sent, faults.received);
}

/// The rows of a switch. What fires while the fabric is made is kept for the first that listens.
class SwitchRows final : public fsm::RowListener {
 public:
  void row_fired(const fsm::Row& row) override {
    if (listener_ != nullptr)
      listener_->row_fired(fired(row));
    else if (being_made_)
      early_.push_back(fired(row));
  }
  void is_made() { being_made_ = false; }
  void tell(FiredRowListener* listener) {
    listener_ = listener;
    const std::vector<FiredRow> early = std::exchange(early_, {});
    if (listener == nullptr) return;
    for (const FiredRow& row : early) listener->row_fired(row);
  }

 private:
  FiredRowListener* listener_ = nullptr;
  std::vector<FiredRow> early_;
  bool being_made_ = true;
};

class FabricTopology final : public FcTopology {
 public:
  FabricTopology(runtime::Scheduler& scheduler, fc2::FramePool& pool, const Scenario& scenario, const FcHosts& hosts,
                 fc2::CaptureInterfaces* capture, const Share* share)
      : FcTopology(scenario, hosts), share_(share), fabric_(scheduler, pool, scenario.fabric),
        places_(scenario.ports.size()) {
    for (std::size_t i = 0; i < scenario.switches.size(); ++i) add_switch(scenario, i);
    for (const SwitchLinkSpec& spec : scenario.switch_links) {
      fc2::InterSwitchLink& link = fabric_.connect(fabric_.at(spec.from), fabric_.at(spec.to), spec.link);
      ends_here_.emplace_back(has_switch(spec.from), has_switch(spec.to));
      if (capture != nullptr && spec.capture) link.tap(link.a().owner(), &capture->add_interface(spec.name));
    }
    fabric_.configure();  // before anybody looks
    for (const LoopSpec& spec : scenario.loops) {
      loops_.push_back(
          {std::make_unique<fc2::Loop>(scheduler, pool, loop_config(spec.link)), &fabric_.at(spec.at_switch)});
      if (has_switch(spec.at_switch)) loops_.back().fl_port = loops_.back().at->attach(*loops_.back().loop);
    }
    for (SwitchRows& rows : rows_) rows.is_made();
    if (share != nullptr) boundary_.emplace(scheduler, fabric_, pool, scenario, *share);
  }

 private:
  void add_switch(const Scenario& scenario, std::size_t index) {
    const SwitchSpec& spec = scenario.switches[index];
    fc2::SwitchConfig config = fabric_config(scenario);
    config.name = spec.name;
    config.domain = spec.domain;
    config.priority = spec.priority;
    config.switch_name.value += index << 16;  // the numbers of its ports are below
    config.rows = &rows_.emplace_back();
    fabric_.add_switch(std::move(config));
  }
  // A loop and its FL_Port.
  struct Ring {
    std::unique_ptr<fc2::Loop> loop;
    fc2::Switch* at;
    fc2::FPort* fl_port = nullptr;
  };
  struct Place {
    fc2::Switch* at = nullptr;
    Ring* ring = nullptr;  // else
  };

  void attach(std::size_t host) override {
    if (spec(host).at_loop) {
      Ring& ring = loops_[*spec(host).at_loop];
      fc2::attach(*ring.loop, port(host), loop_place(spec(host)));
      places_[host] = {.ring = &ring};
      return;
    }
    fc2::Switch& at = fabric_.at(spec(host).at_switch);
    if (at.attach(port(host), spec(host).link)) places_[host] = {.at = &at};
  }
  void detach(std::size_t host) override {
    const Place place = std::exchange(places_[host], {});
    if (place.ring != nullptr)
      place.ring->loop->detach(port(host));
    else
      place.at->detach(port(host));
  }
  [[nodiscard]] bool is_attached(std::size_t host) const override {
    return places_[host].at != nullptr || places_[host].ring != nullptr;
  }
  void watch(std::size_t host, fc2::FrameTap* tap, LinkFaults faults) override {
    const Place& place = places_[host];
    if (!is_attached(host)) return;
    if (place.ring != nullptr) return watch_on(*place.ring->loop, port(host), tap, faults);
    place.at->tap(port(host), tap);
    place.at->set_faults(port(host), faults.sent, faults.received);
  }
  void at_link(std::size_t host, LinkFunction& what) override {
    if (fc2::Link* link = link_of(host); link != nullptr && link->joined()) what(*link, link->b);  // a switch is down
  }
  void lip(std::size_t host) override {
    if (places_[host].ring != nullptr) places_[host].ring->loop->lip(port(host));
  }
  void replug(std::size_t host) override {
    const Place& place = places_[host];
    if (place.ring != nullptr)
      move(*place.ring);
    else
      place.at->replug(port(host));
  }
  [[nodiscard]] Boundary* boundary() override { return boundary_ ? &*boundary_ : nullptr; }
  [[nodiscard]] fc2::Link* link_of(std::size_t host) override {
    return places_[host].at == nullptr ? nullptr : places_[host].at->link_of(port(host));
  }
  [[nodiscard]] bool is_consistent() const override {
    const auto ring = [](const Ring& one) { return one.loop->is_consistent(); };
    return fabric_.is_consistent() && std::all_of(loops_.begin(), loops_.end(), ring);
  }
  // What its own switch tells of the host: the same in all parts.
  [[nodiscard]] wire::FcId known_address(std::size_t asker, std::size_t host) override {
    const fc2::NameDatabase& known = fabric_.at(spec(asker).at_switch).name_server().database();
    const wire::FcId* id = known.find_port_name(spec(host).port_name);
    return id == nullptr ? wire::FcId{} : *id;
  }
  [[nodiscard]] std::optional<wire::Wwn> known_name(wire::FcId address) override {
    for (std::size_t i = 0; i < fabric_.size(); ++i) {
      if (!fabric_.at(i).online()) continue;
      const fc2::NameDatabase::Port* port = fabric_.at(i).name_server().database().find(address);
      if (port != nullptr) return port->port_name;
    }
    return std::nullopt;
  }
  void set_isl(std::size_t isl, bool up) override {
    fc2::InterSwitchLink& link = *fabric_.links()[isl];
    if (up)
      fabric_.plug(link);
    else
      fabric_.unplug(link);
  }
  void set_switch(std::size_t index, bool up) override {
    return up ? fabric_.restart(fabric_.at(index)) : fabric_.crash(fabric_.at(index));
  }
  void visit_counters(const CounterVisitor& visit) const override {
    for (std::size_t i = 0; i < fabric_.size(); ++i)
      if (share_ == nullptr || share_->has_switch(i)) visit(fabric_.at(i).config().name, fabric_.at(i).counters());
  }
  [[nodiscard]] std::vector<std::string> queue_names() const override {
    std::vector<std::string> names;
    for (std::size_t host = 0; host < places_.size(); ++host)
      if (!spec(host).at_loop)
        names.push_back(has_switch(spec(host).at_switch)
                            ? fabric_.at(spec(host).at_switch).config().name + " to " + spec(host).name
                            : "");
    for (std::size_t isl = 0; isl < fabric_.links().size(); ++isl) {
      const std::string& a = fabric_.links()[isl]->a().owner().config().name;
      const std::string& b = fabric_.links()[isl]->b().owner().config().name;
      names.push_back(ends_here_[isl].first ? a + " to " + b : "");
      names.push_back(ends_here_[isl].second ? b + " to " + a : "");
    }
    for (const Ring& ring : loops_)
      names.push_back(ring.fl_port == nullptr ? "" : ring.at->config().name + " to its loop");
    return names;
  }
  void add_queue_lengths(std::vector<std::uint64_t>& to) override {
    for (std::size_t host = 0; host < places_.size(); ++host)
      if (!spec(host).at_loop) to.push_back(queue_to(host));
    for (std::size_t isl = 0; isl < fabric_.links().size(); ++isl) {
      fc2::InterSwitchLink& link = *fabric_.links()[isl];
      const std::size_t cut = boundary_ ? boundary_->in_flight(isl) : 0;  // of the end that is here
      const auto [a_here, b_here] = ends_here_[isl];
      to.push_back(a_here ? link.a().waiting() + link.link().a.output().in_flight() + cut : 0);
      to.push_back(b_here ? link.b().waiting() + link.link().b.output().in_flight() + cut : 0);
    }
    for (const Ring& ring : loops_) to.push_back(ring.fl_port == nullptr ? 0 : ring.fl_port->waiting());
  }
  /// In this part of the run.
  [[nodiscard]] bool has_switch(std::size_t index) const { return share_ == nullptr || share_->has_switch(index); }
  [[nodiscard]] std::uint64_t queue_to(std::size_t host) {
    fc2::Link* link = link_of(host);
    return link == nullptr ? 0 : places_[host].at->frames_for(port(host)) + link->a.output().in_flight();
  }
  void set_row_listener_of_switch(std::size_t index, FiredRowListener* listener) override {
    rows_[index].tell(listener);
  }
  // The new FL_Port is taken before the old one is freed: the switch would give the same one again.
  static void move(Ring& ring) {
    fc2::FPort* other = ring.at->attach(*ring.loop);
    if (other == nullptr) return;
    if (ring.fl_port != nullptr) ring.at->detach(*ring.fl_port);
    ring.fl_port = other;
  }

  const Share* share_;                            // nullptr: all of it
  std::deque<SwitchRows> rows_;                   // by switch; outlive them
  std::deque<Ring> loops_;                        // outlive the switches
  mutable fc2::Fabric fabric_;                    // its at() is not const
  std::vector<Place> places_;                     // by host
  std::vector<std::pair<bool, bool>> ends_here_;  // by ISL: a, b
  std::optional<FcBoundary> boundary_;
};

// Plugged in when both ports are there, and unplugged when one of them goes.
class PointToPointTopology final : public FcTopology {
 public:
  PointToPointTopology(runtime::Scheduler& scheduler, const Scenario& scenario, const FcHosts& hosts)
      : FcTopology(scenario, hosts), scheduler_(scheduler) {}

 private:
  struct Place {
    bool there = false;
    fc2::FrameTap* tap = nullptr;
    LinkFaults faults = {};
  };

  // Who comes first has the link's end a.
  void attach(std::size_t host) override {
    places_[host].there = true;
    if (!places_[1 - host].there) {
      first_ = host;
      return;
    }
    pair_.emplace(scheduler_, spec(host).link, port(first_), port(1 - first_));
    for (const std::size_t end : {first_, 1 - first_}) watch(end);
  }
  void detach(std::size_t host) override {
    pair_.reset();
    places_[host] = {};
  }
  [[nodiscard]] bool is_attached(std::size_t host) const override { return places_[host].there; }
  void watch(std::size_t host, fc2::FrameTap* tap, LinkFaults faults) override {
    if (!is_attached(host)) return;
    places_[host].tap = tap;
    places_[host].faults = faults;
    if (pair_) watch(host);
  }
  void at_link(std::size_t host, LinkFunction& what) override {
    if (pair_) what(pair_->link, end_of(host));
  }
  [[nodiscard]] bool is_consistent() const override { return !pair_ || pair_->link.is_consistent(); }

  fc2::LinkEnd& end_of(std::size_t host) { return host == first_ ? pair_->link.a : pair_->link.b; }
  void watch(std::size_t host) {
    fc2::LinkEnd& end = end_of(host);
    fc2::LinkEnd& far_end = end_of(1 - host);
    const Place& place = places_[host];
    end.output().tap_sender(place.tap);
    far_end.output().tap_receiver(place.tap);
    end.output().set_fault(place.faults.sent);
  }

  runtime::Scheduler& scheduler_;
  std::array<Place, 2> places_;  // by host
  std::size_t first_ = 0;        // where the link's end a is
  std::optional<fc2::PointToPoint> pair_;
};

class LoopTopology final : public FcTopology {
 public:
  LoopTopology(runtime::Scheduler& scheduler, fc2::FramePool& pool, const Scenario& scenario, const FcHosts& hosts)
      : FcTopology(scenario, hosts), loop_(scheduler, pool, loop_config(scenario.ports.front().link)) {}

 private:
  void attach(std::size_t host) override { fc2::attach(loop_, port(host), loop_place(spec(host))); }
  void detach(std::size_t host) override { loop_.detach(port(host)); }
  [[nodiscard]] bool is_attached(std::size_t host) const override { return loop_.station_of(port(host)) != nullptr; }
  void watch(std::size_t host, fc2::FrameTap* tap, LinkFaults faults) override {
    if (is_attached(host)) watch_on(loop_, port(host), tap, faults);
  }
  void lip(std::size_t host) override { loop_.lip(port(host)); }
  void replug(std::size_t host) override { loop_.move(port(host)); }
  [[nodiscard]] bool is_consistent() const override { return loop_.is_consistent(); }

  fc2::Loop loop_;
};

}  // namespace

fc2::SwitchConfig fabric_config(const Scenario& scenario) {
  fc2::SwitchConfig config;
  config.in_order = scenario.in_order;
  return config;
}

std::unique_ptr<FcTopology> FcTopology::make(runtime::Scheduler& scheduler, fc2::FramePool& pool,
                                             const Scenario& scenario, const FcHosts& hosts,
                                             fc2::CaptureInterfaces* capture, const Share* share) {
  switch (scenario.topology) {
    case TopologyKind::Fabric:
      return std::make_unique<FabricTopology>(scheduler, pool, scenario, hosts, capture, share);
    case TopologyKind::PointToPoint: return std::make_unique<PointToPointTopology>(scheduler, scenario, hosts);
    case TopologyKind::Tcp: break;  // another network
    case TopologyKind::PrivateLoop: return std::make_unique<LoopTopology>(scheduler, pool, scenario, hosts);
  }
  return nullptr;
}

}  // namespace sim
