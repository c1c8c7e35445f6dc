// A host with an FC-VI provider, connected to another one, on one of the topologies of FC-VI 4.2; frames of any kind
// come in at its N_Port. Afterwards it must work as if nothing had been.
#pragma once
#include <deque>
#include <string>

#include "fc2_fabric/link/link.hpp"
#include "fc2_fabric/node/loop_n_port.hpp"
#include "fc2_fabric/node/point_to_point.hpp"
#include "frame_flood.hpp"
#include "tests/fcvi/two_nodes.hpp"

namespace support {

struct Attempt {
  Wait wait;
  Connect request;
  Done answer, end;
};
/// Operations live until they are done: longer than the hosts.
struct Attempts {
  std::deque<Attempt> attempts;
};

class BesiegedNode : private Attempts, public TwoHosts {
 public:
  enum class Kind : std::uint8_t { Fabric, OutOfOrder, Class2, PointToPoint, Loop, PublicLoop, Count };
  explicit BesiegedNode(Kind kind)
      : TwoHosts(provider_config(kind), link_config, adjust_for(kind), {}, fabric_config(kind)), kind_(kind) {
    plug_in();
    settle_in();
    const auto level =
        kind == Kind::OutOfOrder ? vi::ReliabilityLevel::UnreliableDelivery : vi::ReliabilityLevel::ReliableDelivery;
    connect(level);
    tap(&last_sent_);
    client->provider.connect_wait(client->net("service"), runtime::never, attempts.emplace_back().wait);
    for (std::uint64_t i = 0; i < 4; ++i)
      client_vi->post_receive(client->descriptor(0, {{Host::data + i * 4096, 4096}}), client->handle);
  }
  ~BesiegedNode() override {
    tap(nullptr);
    client.reset();
    server.reset();
    for (const std::size_t i : {0U, 1U})
      if (loop_.station_of(fabric.port(i)) != nullptr) loop_.detach(fabric.port(i));
    if (fl_port_ != nullptr) fabric.fabric.detach(*fl_port_);
  }
  void TestBody() override {}

  void take(const FloodStep& step) {
    if (step.bytes.empty()) return link_event(step.bits);
    const FloodAim aim{client->port.n_port_id(), server->port.n_port_id(), last_sent_.ox_id, last_sent_.rx_id, 1};
    client->port.receive(flood_frame(fabric.pool, step, aim));
    fabric.run_for(step.has(FloodStep::Wait) ? 3 * runtime::second : runtime::microsecond);
  }
  /// Whoever asks is answered, what was open ends, nothing is left over; `probed`: others connect both ways.
  void expect_unharmed(bool probed) {
    fabric.run_for(quiet);
    refuse_requests();
    if (probed) expect_connects();
    end_all();
    fabric.run_for(quiet);
    expect_nothing_left();
  }
  /// Sees what the besieged port sends and receives, as its link does.
  void tap(fc2::FrameTap* tap) {
    if (is_on_loop()) return loop_.tap(fabric.port(0), tap);
    if (kind_ != Kind::PointToPoint) return fabric.fabric.tap(fabric.port(0), tap);
    pair_->link.a.output().tap_sender(tap);
    pair_->link.b.output().tap_receiver(tap);
  }

 private:
  static constexpr fc2::LinkConfig link_config{.latency_ns = runtime::microsecond, .bytes_per_second = 0};
  static constexpr runtime::TimeNs quiet = 60 * runtime::second;  // R_A_TOV is 3 s: every retry of every layer is over
  [[noreturn]] static void fail(const char* what) { wire::fuzz::fail(what, "N_Port"); }

  static fcvi::ProviderConfig provider_config(Kind kind) {
    fcvi::ProviderConfig config;
    config.class_2 = kind == Kind::Class2;
    return config;
  }
  static TestFabric::Adjust adjust_for(Kind kind) {
    return [=](fc2::NPortConfig& config, std::size_t) {
      if (kind == Kind::Class2) config.end_to_end_credit = 6;
      config.e_d_tov = 500 * runtime::millisecond;
      config.r_a_tov = 3 * runtime::second;
    };
  }
  static fc2::SwitchConfig fabric_config(Kind kind) {
    fc2::SwitchConfig config;
    config.e_d_tov = 500 * runtime::millisecond;
    config.r_a_tov = 3 * runtime::second;
    config.in_order = kind != Kind::OutOfOrder;
    return config;
  }
  void plug_in() {
    if (kind_ == Kind::PointToPoint) {
      pair_.emplace(fabric.scheduler, link_config, client->port, server->port);
    } else if (is_on_loop()) {
      if (kind_ == Kind::PublicLoop) fl_port_ = fabric.fabric.attach(loop_);
      attach(loop_, client->port);
      attach(loop_, server->port);
    } else {
      for (const std::size_t i : {0U, 1U}) fabric.attach(i);
    }
  }
  [[nodiscard]] bool is_on_loop() const { return kind_ == Kind::Loop || kind_ == Kind::PublicLoop; }
  void settle_in() { fabric.run_for(runtime::second); }
  void link_event(std::uint8_t which) {
    if (kind_ == Kind::Loop && (which & 6) == 6)
      loop_.move(fabric.port(which & 1));
    else if (is_on_loop())
      loop_.lip(fabric.port(which & 1));
    else if (kind_ == Kind::PointToPoint)
      happen(pair_->link, which);
    else
      happen(*fabric.fabric.link_of(client->port), which);
    fabric.run_for((which & 0x80) != 0 ? runtime::second : 2 * runtime::microsecond);
  }
  static void happen(fc2::Link& link, std::uint8_t which) {
    switch (which & 7) {
      case 0: return link.a.reset();
      case 1: return link.b.reset();
      case 2: return link.a.fail();
      case 3: return link.b.fail();
      case 4: return link.a.go_offline();
      case 5: return link.b.go_offline();
      default: link.cut(), link.mend();
    }
  }
  /// CONNECT_RQSTs among the frames found somebody who waits.
  void refuse_requests() {
    Attempt& forged = attempts.front();
    if (!forged.wait.result)
      client->provider.withdraw(forged.wait);
    else if (forged.wait.result == vi::Return::Success)
      client->provider.connect_reject(forged.wait.token, forged.answer);
    fabric.run_for(runtime::second);
  }
  void expect_connects() {
    if (!connects(*client, *server) && !connects(*client, *server)) fail("cannot connect to others afterwards");
    if (!connects(*server, *client) && !connects(*server, *client)) fail("others cannot connect afterwards");
  }
  bool connects(Host& from, Host& to) {
    const std::string name = "afterwards " + std::to_string(attempts.size());
    Attempt& attempt = attempts.emplace_back();
    vi::Vi& asking = from.make_vi(vi::ReliabilityLevel::ReliableDelivery);
    vi::Vi& asked = to.make_vi(vi::ReliabilityLevel::ReliableDelivery);
    vis_.insert(vis_.end(), {{&from, &asking}, {&to, &asked}});
    to.provider.connect_wait(to.net(name), 30 * runtime::second, attempt.wait);
    from.provider.connect_request(asking, from.net("x"), to.net(name), 30 * runtime::second, attempt.request);
    fabric.run_until(
        [&] { return attempt.wait.result && (attempt.wait.result == vi::Return::Success || attempt.request.result); });
    if (attempt.wait.result != vi::Return::Success) return false;
    to.provider.connect_accept(attempt.wait.token, asked, attempt.answer);
    fabric.run_until([&] { return attempt.answer.result && attempt.request.result; });
    return attempt.answer.result == vi::Return::Success && attempt.request.result == vi::Return::Success;
  }
  void end_all() {
    vis_.insert(vis_.end(), {{client.get(), client_vi}, {server.get(), server_vi}});
    for (const auto& [host, vi] : vis_)
      if (vi->state() != vi::State::Idle) host->provider.disconnect(*vi, attempts.emplace_back().end);
  }
  void expect_nothing_left() {
    if (unexpected() != 0) fail("an event without a row in a port's machines");
    for (const auto& [host, vi] : vis_) {
      if (vi->unexpected_events() != 0) fail("an event without a row in a VI's machine");
      if (vi->state() != vi::State::Idle) fail("a VI does not end");
    }
    for (Host* host : {client.get(), server.get()}) {
      if (host->port.open_exchanges() != 0) fail("an exchange stays open");
      if (host->provider.open_setups() != 0) fail("a Connection Setup stays open");
      if (host->provider.handles_in_use() != 0) fail("an FCVI_HANDLE stays in use");
      if (host->port.assembled_bytes() != 0) fail("an IU stays in assembly");
    }
    if (fabric.pool.outstanding() != 0) fail("a frame's buffer is not returned");
  }

  const Kind kind_;
  LastSent last_sent_;
  std::optional<fc2::PointToPoint> pair_;
  fc2::Loop loop_{fabric.scheduler, fabric.pool, {.hop_latency_ns = 100, .bytes_per_second = 0}};
  fc2::FPort* fl_port_ = nullptr;  // of the public loop
  std::vector<std::pair<Host*, vi::Vi*>> vis_;
};

}  // namespace support
