// Hosts on TCP: VI/TCP providers and RDMA over emulated streams, with watches of segments in both directions.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "streams/emulated.hpp"
#include "tools/fcvi_sim/network/network.hpp"
#include "tools/fcvi_sim/network/segment_gate.hpp"
#include "tools/fcvi_sim/network/tcp_host.hpp"

namespace sim {

class TcpNetwork final : public Network, private GateOwner {
 public:
  /// All references outlive it.
  TcpNetwork(runtime::Scheduler& scheduler, const Scenario& scenario);

  [[nodiscard]] HostTransport& host(std::size_t host) override { return *hosts_[host]; }
  [[nodiscard]] RdmaCore* rdma(std::size_t host) override { return &hosts_[host]->rdma(); }
  [[nodiscard]] bool has_address(std::size_t, wire::FcId) const override { return false; }
  [[nodiscard]] std::optional<std::size_t> host_with(wire::FcId) const override { return std::nullopt; }

  void attach(std::size_t host) override;
  void detach(std::size_t host) override { attached_[host] = false; }
  [[nodiscard]] bool is_attached(std::size_t host) const override { return attached_[host]; }
  void watch(std::size_t, fc2::FrameTap*, LinkFaults) override {}
  void watch_segments(SegmentWatch* watch, streams::SegmentTap* tap) override;
  void release_segments() override;
  [[nodiscard]] std::optional<std::size_t> host_at(const wire::IpAddress& address) const override;
  void unplug() override;

  void at_link(std::size_t, LinkFunction&) override {}
  void lip(std::size_t) override {}
  void replug(std::size_t) override {}
  void set_isl(std::size_t, bool) override {}
  void set_switch(std::size_t, bool) override {}
  void log_out(std::size_t, std::size_t, bool) override {}

  void set_peer_listener(PeerListener&) override {}
  [[nodiscard]] runtime::TimeNs frame_lifetime(bool class_2) const override;
  [[nodiscard]] bool is_consistent() const override { return true; }
  void visit_switches(const TallyVisitor&) const override {}

 private:
  // GateOwner
  [[nodiscard]] SegmentWatch* watch() const override { return watch_; }
  [[nodiscard]] bool joins(std::size_t one, std::size_t other) const override {
    return attached_[one] && attached_[other];
  }
  [[nodiscard]] bool is_healed() const override { return healed_; }
  streams::StreamRules rules_for(const streams::Address& from, const streams::Address& to);
  [[nodiscard]] streams::Way way(std::size_t from, std::size_t to, std::unique_ptr<StreamCodec> codec, bool connects);
  /// Of a stream to that port of the host: a workload with RDMA has it, or it is VI over TCP.
  [[nodiscard]] StreamCodecs codecs_for(std::size_t called, std::uint16_t port) const;

  const Scenario& scenario_;
  streams::EmulatedNetwork network_;
  std::map<wire::IpAddress, std::size_t> addresses_;
  std::vector<bool> attached_;
  SegmentWatch* watch_ = nullptr;
  std::size_t streams_ = 0;  // begun
  bool healed_ = false;
  std::vector<std::unique_ptr<TcpHost>> hosts_;  // the first to go: what they still write asks the gates
};

}  // namespace sim
