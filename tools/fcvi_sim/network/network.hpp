// The network of a scenario: a transport for each host, and what joins them. A run knows no more of it than this: hosts
// of another transport are another Network, beside FcNetwork.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "fc2_fabric/frame/capture.hpp"
#include "fc2_fabric/link/channel.hpp"
#include "tools/fcvi_sim/host/host_transport.hpp"
#include "tools/fcvi_sim/host/rdma_core.hpp"
#include "streams/emulated.hpp"
#include "tools/fcvi_sim/network/boundary.hpp"
#include "tools/fcvi_sim/network/segment_watch.hpp"
#include "tools/fcvi_sim/parts/share.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim {

/// Of one link, as its host sees the directions. Each may be nullptr.
struct LinkFaults {
  fc2::FrameFault *sent = nullptr, *received = nullptr;
};

class PeerListener {
 public:
  /// What all connections of `host` with `peer` stood on is gone: its login ended. No peer: it is not a host of the
  /// scenario.
  virtual void peer_lost(std::size_t host, std::optional<std::size_t> peer) = 0;

 protected:
  ~PeerListener() = default;
};

/// Hosts are positions in the scenario's ports. No host is attached at first. Where only a share of the scenario is
/// here, the hosts of others are not there, and must not be asked for.
class Network {
 public:
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Lives as long as the network.
  [[nodiscard]] virtual HostTransport& host(std::size_t host) = 0;
  /// What its streams of RDMA share, where hosts are on TCP; it lives as long. Else nullptr.
  [[nodiscard]] virtual RdmaCore* rdma(std::size_t /*host*/) { return nullptr; }
  /// It sends frames with that source address now.
  [[nodiscard]] virtual bool has_address(std::size_t host, wire::FcId address) const = 0;
  /// The first that has it; none: it is no host's.
  [[nodiscard]] virtual std::optional<std::size_t> host_with(wire::FcId address) const = 0;

  /// The same by what switches know, which is the same in each share of a run; else as host_with().
  [[nodiscard]] virtual std::optional<std::size_t> host_known_at(wire::FcId address) const {
    return host_with(address);
  }

  // --- links
  virtual void attach(std::size_t host) = 0;
  virtual void detach(std::size_t host) = 0;
  [[nodiscard]] virtual bool is_attached(std::size_t host) const = 0;
  /// At the host's end of its link, until it goes; instead of what stood there before. nullptr: nobody watches, no
  /// fault. Nothing happens while it is not attached. Point-to-point, what befalls a frame is its sender's.
  virtual void watch(std::size_t host, fc2::FrameTap* tap, LinkFaults faults) = 0;
  /// The same where hosts are on TCP, of all of them at once: VI segments before they are sent, TCP segments when they
  /// are. nullptr: nobody. Nothing happens elsewhere.
  virtual void watch_segments(SegmentWatch* /*watch*/, streams::SegmentTap* /*tap*/) {}
  /// No segment is held back any more.
  virtual void release_segments() {}
  /// The host that has that IP address, where hosts are on TCP.
  [[nodiscard]] virtual std::optional<std::size_t> host_at(const wire::IpAddress& /*address*/) const {
    return std::nullopt;
  }
  /// All at once, for good: no host is attached any more. Hosts stay, and hear that their links went down.
  virtual void unplug() = 0;

  // --- what befalls it: events that the scenario's topology has (the loader saw to it)
  /// At the link that the host has for itself, if it has one.
  virtual void at_link(std::size_t host, LinkFunction& what) = 0;
  /// Of its loop, by the host, which is attached.
  virtual void lip(std::size_t host) = 0;
  /// The host, which is attached, moves to another place; nobody watches its link there yet.
  virtual void replug(std::size_t host) = 0;
  virtual void set_isl(std::size_t isl, bool up) = 0;
  virtual void set_switch(std::size_t index, bool up) = 0;
  /// Nothing happens where there is no such login.
  virtual void log_out(std::size_t host, std::size_t peer, bool implicit) = 0;

  /// NoLogin: there is none between the hosts, or no link; a login begins if it can. Behind: `most_waiting` frames of
  /// the host wait to be sent already. In neither case anything was sent.
  enum class FrameSent : std::uint8_t { Sent, NoLogin, Behind };
  static constexpr std::size_t most_waiting = 1024;
  /// A frame of that TYPE with this data field goes from one host to the other, alone in its exchange.
  virtual FrameSent send_frame(std::size_t /*host*/, std::size_t /*peer*/, std::uint8_t /*type*/,
                               std::span<const std::uint8_t> /*data_field*/) {
    return FrameSent::NoLogin;
  }

  /// Where only a share of the scenario is here. Else nullptr.
  [[nodiscard]] virtual Boundary* boundary() { return nullptr; }

  // --- what it tells
  /// Called from inside events. It outlives the network.
  virtual void set_peer_listener(PeerListener& listener) = 0;
  /// The longest that a frame may be under way; class 2: until it is taken for lost.
  [[nodiscard]] virtual runtime::TimeNs frame_lifetime(bool class_2) const = 0;
  /// Of its links and switches, between events; of hosts: HostTransport::is_consistent().
  [[nodiscard]] virtual bool is_consistent() const = 0;
  using TallyVisitor = std::function<void(const std::string& name, const HostTransport::Tally& tally)>;
  /// Appends what the host and its link have of something at this moment: the same ones at every time.
  virtual void add_gauges(std::size_t host, std::vector<HostTransport::Gauge>& to) { this->host(host).add_gauges(to); }
  /// Of what is no host: switches, by name.
  virtual void visit_switches(const TallyVisitor& visit) const = 0;
  /// Queues in switches: "domain-1 to bob"; an empty one is in another part of the run. The same ones at every time.
  [[nodiscard]] virtual std::vector<std::string> queue_names() const { return {}; }
  /// Appends how many frames wait in each at this moment, or are on the line out of it.
  virtual void add_queue_lengths(std::vector<std::uint64_t>& /*to*/) {}
  /// Hears of the rows in that switch of the scenario, at once of those since it was made; nullptr: nobody does. At
  /// most one.
  virtual void set_row_listener_of_switch(std::size_t /*index*/, FiredRowListener* /*listener*/) {}

 protected:
  Network() = default;
};

/// What the scenario asks for, or that share of it. All references outlive it; `capture` may be nullptr and gets the
/// links between switches, `share` may be nullptr: all of it.
std::unique_ptr<Network> make_network(runtime::Scheduler& scheduler, fc2::FramePool& pool, const Scenario& scenario,
                                      fc2::CaptureInterfaces* capture, const Share* share = nullptr);

}  // namespace sim
