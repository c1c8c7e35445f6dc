// The FCFs that an ENode has heard on one interface (FC-BB-5, FIP discovery).
#pragma once
#include <optional>
#include <vector>

#include "fc2_fabric/frame/time.hpp"
#include "wire/fip.hpp"

namespace fc2::fcoe {

/// An FCF may serve several VLANs with one MAC address: for an ENode these are several FCFs.
struct FcfAddress {
  FcfAddress(const wire::MacAddress& at = {}, std::uint16_t on = 0) : mac(at), vlan(on) {}
  wire::MacAddress mac;
  std::uint16_t vlan;
  friend bool operator==(const FcfAddress&, const FcfAddress&) = default;
};

/// The content of an advertisement, and what the ENode found out itself.
struct KnownFcf {
  wire::MacAddress mac{};
  std::uint16_t vlan = 0;  // where it was heard; 0: untagged
  wire::Wwn switch_name{}, fabric_name{};
  std::uint16_t vf_id = 0;
  std::uint32_t fc_map = wire::default_fc_map;
  std::uint8_t priority = 128;     // smaller is better
  TimeNs period = 0;               // FKA_ADV_PERIOD
  bool keep_alives_wanted = true;  // the D bit is not set
  bool available = false;          // the A bit: takes logins
  bool verified = false;           // a solicited advertisement of full size came through: so will full frames
  TimeNs solicited = 0;            // when we last asked it by itself
  TimeNs expires = 0;              // 2.5 periods after the latest multicast advertisement, or the solicited one
  [[nodiscard]] FcfAddress address() const { return {mac, vlan}; }
  [[nodiscard]] bool usable() const { return available && verified; }
};

class FcfTable {
 public:
  /// An FCF expires after 2.5 times FKA_ADV_PERIOD without an advertisement (FC-BB-5).
  [[nodiscard]] static TimeNs patience(TimeNs period) { return period / 2 * 5; }
  static constexpr std::size_t max_fcfs = 32;
  // FKA_ADV_PERIOD (FC-BB-5).
  static constexpr TimeNs least_period = 500 * millisecond, default_period = 8 * second, greatest_period = 90 * second;

  /// The FCF that a Discovery Advertisement describes: `fcf.mac` is that of its MAC descriptor. nullopt: it lacks a
  /// descriptor, has one that it must not have, or an invalid name or address (FC-BB-5; Linux is as strict).
  [[nodiscard]] static std::optional<KnownFcf> read(const wire::fip::FipMessage& advertisement);

  [[nodiscard]] bool full() const { return fcfs_.size() == max_fcfs; }
  /// If the table is full: evicts the least useful FCF, so that invented ones cannot keep a real one out. One that
  /// never answered a solicitation goes before one that did, then the one that has been silent longest; never `in_use`.
  void make_room(const FcfAddress& in_use);
  /// Adds or renews it. What the ENode found out itself stays. Pre: it is known, or there is room.
  KnownFcf& update(const KnownFcf& heard);
  [[nodiscard]] KnownFcf* find(const FcfAddress& address);
  /// The best usable FCF: smallest priority; then the fabric `preferred`; then the lowest Fabric_Name, switch name, MAC
  /// address and VLAN, so that every ENode of a host selects the same one.
  [[nodiscard]] const KnownFcf* best(wire::Wwn preferred) const;
  /// The time at which the first expires; `never` if there is none.
  [[nodiscard]] TimeNs next_expiry() const;
  /// Removes those that expired by `now`, and returns their addresses.
  std::vector<FcfAddress> expire(TimeNs now);
  void clear() { fcfs_.clear(); }
  [[nodiscard]] const std::vector<KnownFcf>& fcfs() const { return fcfs_; }

 private:
  std::vector<KnownFcf> fcfs_;
};

}  // namespace fc2::fcoe
