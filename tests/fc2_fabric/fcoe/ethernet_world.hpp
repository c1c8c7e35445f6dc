// N_Ports on an emulated Ethernet, in virtual time: through an FCF, or with each other.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fc2_fabric/fcoe/e_node.hpp"
#include "fc2_fabric/fcoe/ethernet_segment.hpp"
#include "fc2_fabric/fcoe/fcf.hpp"
#include "fc2_fabric/fcoe/vn2vn_node.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/fip.hpp"

namespace support {

inline wire::MacAddress station_mac(std::size_t index) {
  return {{0x02, 0, 0, 0, 0, static_cast<std::uint8_t>(index)}};
}
inline constexpr wire::MacAddress fcf_mac{{0x02, 0xFC, 0xF0, 0, 0, 1}};

/// Remembers what passes an Ethernet port.
class EthernetLog final : public fc2::fcoe::EthernetTap {
 public:
  struct Entry {
    runtime::TimeNs at = 0;
    bool outbound = false;
    wire::MacAddress destination{}, source{};
    wire::EtherType type{};
    std::vector<std::uint8_t> bytes;
    std::optional<wire::fip::FipMessage> fip;

    [[nodiscard]] bool is(wire::fip::Operation operation, std::uint8_t subcode) const {
      return fip && fip->operation == operation && fip->subcode == subcode;
    }
  };
  void ethernet_passed(runtime::TimeNs at, const fc2::fcoe::EthernetFrame& frame, bool outbound) override {
    if (!frame.has_header()) return;
    Entry entry{at, outbound, frame.destination(), frame.source(), frame.type(), frame.to_bytes(), {}};
    if (entry.type == wire::EtherType::fip) {
      auto message = wire::fip::FipMessage::parse(wire::Bytes(entry.bytes).subspan(wire::EthernetHeader::size()));
      if (message) entry.fip = *std::move(message);
    }
    entries.push_back(std::move(entry));
  }
  [[nodiscard]] std::vector<const Entry*> sent(wire::fip::Operation operation, std::uint8_t subcode) const {
    return matching(operation, subcode, true);
  }
  [[nodiscard]] std::vector<const Entry*> received(wire::fip::Operation operation, std::uint8_t subcode) const {
    return matching(operation, subcode, false);
  }
  /// Names of the FIP messages, in order: "Discovery Solicitation", ...
  [[nodiscard]] std::vector<std::string> fip_names(bool outbound) const {
    std::vector<std::string> names;
    for (const Entry& entry : entries)
      if (entry.fip && entry.outbound == outbound) names.emplace_back(entry.fip->message_name());
    return names;
  }
  std::vector<Entry> entries;

 private:
  [[nodiscard]] std::vector<const Entry*> matching(wire::fip::Operation operation, std::uint8_t subcode,
                                                   bool outbound) const {
    std::vector<const Entry*> found;
    for (const Entry& entry : entries)
      if (entry.outbound == outbound && entry.is(operation, subcode)) found.push_back(&entry);
    return found;
  }
};

/// An N_Port with its own Ethernet port; a node makes it an ENode or a VN2VN node.
template <class Node>
struct Station {
  Station(runtime::Scheduler& scheduler, fc2::FramePool& pool, fc2::fcoe::SegmentPort& at, fc2::NPortConfig config)
      : ethernet(at), port(scheduler, pool, std::move(config)) {
    ethernet.tap(&log);
  }
  ~Station() { ethernet.tap(nullptr); }
  fc2::fcoe::SegmentPort& ethernet;
  EthernetLog log;
  fc2::NPort port;
  std::unique_ptr<Node> node;
};
using EStation = Station<fc2::fcoe::ENode>;
using VnStation = Station<fc2::fcoe::Vn2vnNode>;

class EthernetWorld {
 public:
  explicit EthernetWorld(fc2::fcoe::FcfConfig fcf_config = {}, std::uint16_t fcf_mtu = 2500,
                         fc2::SwitchConfig fabric_config = {})
      : fabric(scheduler, pool, std::move(fabric_config)), fcf(scheduler, pool, fabric, fcf_config),
        fcf_port(segment.add_port({"fcf", fcf_mac, fcf_mtu})) {}
  fc2::fcoe::FcfInterface& start_fcf() { return fcf.add_interface(fcf_port); }
  fc2::fcoe::FcfInterface& interface() { return *fcf.interfaces().front(); }

  EStation& add_e_node(fc2::fcoe::ENodeConfig config = {}, std::uint16_t mtu = 2500,
                       const std::function<void(fc2::NPortConfig&)>& adjust = {}) {
    EStation& station = add(e_nodes_, mtu, adjust);
    station.node = std::make_unique<fc2::fcoe::ENode>(scheduler, pool, station.ethernet, station.port, config);
    return station;
  }
  VnStation& add_vn2vn(fc2::fcoe::Vn2vnConfig config = {}, std::uint16_t mtu = 2500,
                       const std::function<void(fc2::NPortConfig&)>& adjust = {},
                       fc2::fcoe::Vn2vnListener* listener = nullptr) {
    VnStation& station = add(vn_nodes_, mtu, adjust);
    station.node =
        std::make_unique<fc2::fcoe::Vn2vnNode>(scheduler, pool, station.ethernet, station.port, config, listener);
    return station;
  }
  /// PLOGI from one N_Port to another.
  bool log_in(fc2::NPort& from, const fc2::NPort& to) {
    fc2::RemotePort& remote = from.remote_port(to.n_port_id());
    remote.log_in();
    return run_until([&] { return remote.logged_in(); }, 10 * runtime::second);
  }
  void run_for(runtime::TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  bool run_until(const std::function<bool()>& done, runtime::TimeNs limit = 100 * runtime::second) {
    const runtime::TimeNs end = scheduler.now() + limit;
    while (!done() && scheduler.run_next(end)) {}
    return done();
  }
  /// A FIP message from a station that nobody simulates.
  void inject(fc2::fcoe::SegmentPort& to, const wire::fip::FipMessage& message, const wire::MacAddress& destination,
              const wire::MacAddress& source) {
    segment.inject(to, message.to_ethernet(destination, source));
  }

  runtime::Scheduler scheduler;
  fc2::FramePool pool;
  fc2::fcoe::EthernetSegment segment{scheduler, pool};

 private:
  template <class List>
  typename List::value_type::element_type& add(List& list, std::uint16_t mtu,
                                               const std::function<void(fc2::NPortConfig&)>& adjust) {
    using Item = typename List::value_type::element_type;
    const std::size_t index = next_++;
    fc2::NPortConfig config = port_config(index);
    config.receive_data_field_bytes = fc2::fcoe::data_field_bytes(mtu);
    if (adjust) adjust(config);
    auto& ethernet = segment.add_port({"eth" + std::to_string(index), station_mac(index + 1), mtu});
    return *list.emplace_back(std::make_unique<Item>(scheduler, pool, ethernet, std::move(config)));
  }
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<EStation>> e_nodes_;
  std::vector<std::unique_ptr<VnStation>> vn_nodes_;

 public:
  fc2::Switch fabric;
  fc2::fcoe::Fcf fcf;
  fc2::fcoe::SegmentPort& fcf_port;
};

/// One frame of an ELS request, as FARP sends it to everybody.
inline fc2::FramePtr broadcast_frame(fc2::FramePool& pool, wire::FcId from) {
  return made_frame(
      pool,
      {.r_ctl = wire::RCtl::els_request, .d_id = wire::well_known::broadcast, .s_id = from, .type = wire::Type::els},
      zeros(4));
}

}  // namespace support
