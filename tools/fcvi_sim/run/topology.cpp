#include "tools/fcvi_sim/run/topology.hpp"

#include <array>
#include <deque>
#include <map>
#include <optional>

#include "fc2_fabric/switch/fabric.hpp"
#include "fc2_fabric/link/link.hpp"
#include "fc2_fabric/node/loop_n_port.hpp"
#include "fc2_fabric/node/point_to_point.hpp"
#include "tools/fcvi_sim/host/node.hpp"

namespace sim {
namespace {

// `end` is the port's.
void befall(fc2::Link& link, fc2::LinkEnd& end, PortEvent::Kind kind, bool over) {
  switch (kind) {
    case PortEvent::Kind::Cut: return over ? link.mend() : link.cut();
    case PortEvent::Kind::Nos: return end.fail();
    case PortEvent::Kind::Ols: return end.go_offline();
    case PortEvent::Kind::LinkReset: return end.reset();
    case PortEvent::Kind::Lip:
    case PortEvent::Kind::Replug:
    case PortEvent::Kind::LinkDown:
    case PortEvent::Kind::SwitchLinkDown:
    case PortEvent::Kind::SwitchDown:
    case PortEvent::Kind::LogOut:
    case PortEvent::Kind::ImplicitLogOut: return;
  }
}

fc2::LoopConfig loop_config(const fc2::LinkConfig& link) {
  return {.hop_latency_ns = link.latency_ns, .bytes_per_second = link.bytes_per_second};
}

fc2::LoopPlace loop_place(const PortSpec& spec) {
  return {.is_private = spec.is_private, .bb_credit = spec.link.bb_credit, .processing_ns = spec.link.processing_ns};
}

void watch_on(fc2::Loop& loop, fc2::NPort& port, fc2::FrameTap* tap, fc2::FaultyLink* faults) {
  loop.tap(port, tap);
  if (faults != nullptr) loop.set_faults(port, &faults->sent, &faults->received);
}

class FabricTopology final : public Topology {
 public:
  FabricTopology(runtime::Scheduler& scheduler, fc2::FramePool& pool, const Scenario& scenario, fc2::Capture* capture)
      : fabric_(scheduler, pool, scenario.fabric) {
    for (std::size_t i = 0; i < scenario.switches.size(); ++i) add_switch(scenario, i);
    for (const SwitchLinkSpec& spec : scenario.switch_links) {
      fc2::InterSwitchLink& link = fabric_.connect(fabric_.at(spec.from), fabric_.at(spec.to), spec.link);
      if (capture != nullptr && spec.capture) link.tap(link.a().owner(), &capture->add_interface(spec.name));
    }
    fabric_.configure();  // before anybody looks
    for (const LoopSpec& spec : scenario.loops) {
      loops_.push_back(
          {std::make_unique<fc2::Loop>(scheduler, pool, loop_config(spec.link)), &fabric_.at(spec.at_switch)});
      loops_.back().fl_port = loops_.back().at->attach(*loops_.back().loop);
    }
  }

 private:
  void add_switch(const Scenario& scenario, std::size_t index) {
    const SwitchSpec& spec = scenario.switches[index];
    fc2::SwitchConfig config = fabric_config(scenario);
    config.name = spec.name;
    config.domain = spec.domain;
    config.priority = spec.priority;
    config.switch_name.value += index << 16;  // the numbers of its ports are below
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

  void attach(fc2::NPort& port, const PortSpec& spec) override {
    if (spec.at_loop) {
      Ring& ring = loops_[*spec.at_loop];
      fc2::attach(*ring.loop, port, loop_place(spec));
      places_[&port] = {.ring = &ring};
      return;
    }
    fc2::Switch& at = fabric_.at(spec.at_switch);
    if (at.attach(port, spec.link)) places_[&port] = {.at = &at};
  }
  void detach(fc2::NPort& port) override {
    const Place place = places_.at(&port);
    places_.erase(&port);
    if (place.ring != nullptr)
      place.ring->loop->detach(port);
    else
      place.at->detach(port);
  }
  [[nodiscard]] bool is_attached(const fc2::NPort& port) const override { return places_.contains(&port); }
  void watch(fc2::NPort& port, fc2::FrameTap* tap, fc2::FaultyLink* faults) override {
    if (Ring* ring = places_.at(&port).ring) return watch_on(*ring->loop, port, tap, faults);
    switch_of(port)->tap(port, tap);
    if (faults != nullptr) switch_of(port)->set_faults(port, &faults->sent, &faults->received);
  }
  void link_event(fc2::NPort& port, PortEvent::Kind kind, bool over) override {
    if (Ring* ring = places_.at(&port).ring)
      return kind == PortEvent::Kind::Replug ? replug(*ring) : ring->loop->lip(port);
    fc2::Switch& at = *switch_of(port);
    if (kind == PortEvent::Kind::Replug)
      at.replug(port);
    else
      befall(*at.link_of(port), at.link_of(port)->b, kind, over);
  }
  void switch_event(const PortEvent& event, bool over) override {
    const std::size_t index = event.port;
    if (event.kind == PortEvent::Kind::SwitchDown)
      return over ? fabric_.restart(fabric_.at(index)) : fabric_.crash(fabric_.at(index));
    fc2::InterSwitchLink& link = *fabric_.links()[index];
    if (over)
      fabric_.plug(link);
    else
      fabric_.unplug(link);
  }
  void visit_counters(const CounterVisitor& visit) const override {
    for (std::size_t i = 0; i < fabric_.size(); ++i) visit(fabric_.at(i).config().name, fabric_.at(i).counters());
  }
  [[nodiscard]] fc2::Switch* switch_of(const fc2::NPort& port) const { return places_.at(&port).at; }
  // The new one first, so that it is another one.
  static void replug(Ring& ring) {
    fc2::FPort* other = ring.at->attach(*ring.loop);
    if (other == nullptr) return;
    if (ring.fl_port != nullptr) ring.at->detach(*ring.fl_port);
    ring.fl_port = other;
  }

  std::deque<Ring> loops_;      // outlive the switches
  mutable fc2::Fabric fabric_;  // its at() is not const
  std::map<const fc2::NPort*, Place> places_;
};

// Plugged in when both ports are there, and unplugged when one of them goes.
class PointToPointTopology final : public Topology {
 public:
  explicit PointToPointTopology(runtime::Scheduler& scheduler) : scheduler_(scheduler) {}

 private:
  struct Place {
    fc2::NPort* port = nullptr;
    fc2::FrameTap* tap = nullptr;
    fc2::FaultyLink* faults = nullptr;
  };

  void attach(fc2::NPort& port, const PortSpec& spec) override {
    places_[places_[0].port == nullptr ? 0 : 1].port = &port;
    if (places_[0].port == nullptr || places_[1].port == nullptr) return;
    pair_.emplace(scheduler_, spec.link, *places_[0].port, *places_[1].port);
    for (const Place& place : places_) watch(place);
  }
  void detach(fc2::NPort& port) override {
    pair_.reset();
    place_of(port) = {};
  }
  [[nodiscard]] bool is_attached(const fc2::NPort& port) const override {
    return places_[0].port == &port || places_[1].port == &port;
  }
  void watch(fc2::NPort& port, fc2::FrameTap* tap, fc2::FaultyLink* faults) override {
    Place& place = place_of(port);
    place.tap = tap;
    place.faults = faults;
    if (pair_) watch(place);
  }
  void link_event(fc2::NPort& port, PortEvent::Kind kind, bool over) override {
    if (pair_) befall(pair_->link, end_of(port), kind, over);
  }

  Place& place_of(const fc2::NPort& port) { return places_[places_[0].port == &port ? 0 : 1]; }
  fc2::LinkEnd& end_of(const fc2::NPort& port) { return places_[0].port == &port ? pair_->link.a : pair_->link.b; }
  void watch(const Place& place) {
    fc2::LinkEnd& end = end_of(*place.port);
    fc2::LinkEnd& far_end = &end == &pair_->link.a ? pair_->link.b : pair_->link.a;
    end.output().tap_sender(place.tap);
    far_end.output().tap_receiver(place.tap);
    end.output().set_fault(place.faults == nullptr ? nullptr : &place.faults->sent);
  }

  runtime::Scheduler& scheduler_;
  std::array<Place, 2> places_;
  std::optional<fc2::PointToPoint> pair_;
};

class LoopTopology final : public Topology {
 public:
  LoopTopology(runtime::Scheduler& scheduler, fc2::FramePool& pool, const fc2::LinkConfig& link)
      : loop_(scheduler, pool, loop_config(link)) {}

 private:
  void attach(fc2::NPort& port, const PortSpec& spec) override { fc2::attach(loop_, port, loop_place(spec)); }
  void detach(fc2::NPort& port) override { loop_.detach(port); }
  [[nodiscard]] bool is_attached(const fc2::NPort& port) const override { return loop_.station_of(port) != nullptr; }
  void watch(fc2::NPort& port, fc2::FrameTap* tap, fc2::FaultyLink* faults) override {
    watch_on(loop_, port, tap, faults);
  }
  void link_event(fc2::NPort& port, PortEvent::Kind kind, bool) override {
    if (kind == PortEvent::Kind::Replug)
      loop_.move(port);
    else
      loop_.lip(port);
  }

  fc2::Loop loop_;
};

}  // namespace

std::unique_ptr<Topology> Topology::make(runtime::Scheduler& scheduler, fc2::FramePool& pool, const Scenario& scenario,
                                         fc2::Capture* capture) {
  switch (scenario.topology) {
    case TopologyKind::Fabric: return std::make_unique<FabricTopology>(scheduler, pool, scenario, capture);
    case TopologyKind::PointToPoint: return std::make_unique<PointToPointTopology>(scheduler);
    case TopologyKind::PrivateLoop: return std::make_unique<LoopTopology>(scheduler, pool, scenario.ports.front().link);
  }
  return nullptr;
}

}  // namespace sim
