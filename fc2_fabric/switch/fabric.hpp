// A fabric of several switches: Domain_IDs, inter-switch links, shortest paths, one directory for all switches that
// reach each other. Real switches agree on these by frames of their own (FC-SW: ELP, EFP, DIA, LSU); here one object
// decides by the same rules, some time after each change.
#pragma once
#include <bitset>
#include <memory>
#include <utility>
#include <vector>

#include "fc2_fabric/switch/directory_feed.hpp"
#include "fc2_fabric/switch/fabric_config.hpp"
#include "fc2_fabric/switch/inter_switch_link.hpp"
#include "fc2_fabric/switch/switch.hpp"

namespace fc2 {

class Fabric final : private TopologyListener, private Event {
 public:
  Fabric(Scheduler& scheduler, FramePool& pool, FabricConfig config = {});
  ~Fabric() override;

  // --- contents. Switches and ISLs live as long as the fabric
  /// Starts offline; gets its Domain_ID at the next configuration of the fabric. Switch_Names must differ.
  Switch& add_switch(SwitchConfig config);
  /// Comes up when both switches run.
  InterSwitchLink& connect(Switch& a, Switch& b, LinkConfig link = {});
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] Switch& at(std::size_t index) { return *members_[index]->device; }
  [[nodiscard]] const std::vector<std::unique_ptr<InterSwitchLink>>& links() const { return links_; }
  /// nullptr: no switch with that Domain_ID reaches `from`.
  [[nodiscard]] Switch* find(const Switch& from, std::uint8_t domain);

  // --- events
  /// Frames on the ISL are lost. The paths that used it are replaced after the reconfiguration delay.
  void unplug(InterSwitchLink& link);
  void plug(InterSwitchLink& link);
  /// The switch dies: all its links go down and its state is lost. N_Ports stay plugged in.
  void crash(Switch& device);
  void restart(Switch& device);
  /// At once, without the delay.
  void configure();

  /// Where changes come from switches that are simulated elsewhere, and go to them. Only with independent switches.
  [[nodiscard]] DirectoryFeed& directory_feed() { return *feed_; }

  [[nodiscard]] const FabricConfig& config() const { return config_; }
  /// Its switches and ISLs, between events. Linear.
  [[nodiscard]] bool is_consistent() const;
  [[nodiscard]] const Switch& principal_of(const Switch& device) const;
  /// Fabrics that do not reach each other; a switch that does not run is not counted.
  [[nodiscard]] std::size_t partitions() const;
  [[nodiscard]] bool reaches(const Switch& a, const Switch& b) const;

 private:
  static constexpr std::size_t nowhere = ~std::size_t{0};
  /// What a switch learns goes into the feed.
  struct Learned final : DirectoryListener {
    Learned(Fabric& in, std::size_t of) : fabric(in), index(of) {}
    void directory_changed(DirectoryChange change) override { fabric.feed_->add(index, std::move(change)); }
    Fabric& fabric;
    std::size_t index;
  };
  struct Member {
    std::unique_ptr<Learned> learned;  // with independent switches
    std::unique_ptr<Switch> device;
    std::size_t index = 0;
    bool powered = true;
    std::uint8_t domain = 0;              // wanted, then assigned; 0: none yet
    bool has_domain = false;              // assigned: it goes before those that only want one
    std::size_t partition = nowhere;      // by index of its principal switch
    std::bitset<max_domain + 1> reaches;  // by Domain_ID
    std::shared_ptr<FabricDirectory> directory;
    std::vector<EPort*> ports;  // up, not isolated
  };
  using Partition = std::vector<Member*>;  // the principal switch first

  void fire(TimeNs) override { configure(); }
  void topology_changed() override;
  Member& member(const Switch& device);
  [[nodiscard]] const Member& member(const Switch& device) const;

  // one step of configure() each
  void settle_links();
  [[nodiscard]] bool may_join(const std::vector<std::size_t>& side, std::size_t a, std::size_t b) const;
  [[nodiscard]] std::vector<Partition> find_partitions() const;
  static void put_in_turn(Partition& partition);
  static void assign_domains(Partition& partition);
  void share_directory(const Partition& partition, std::vector<std::pair<Switch*, wire::FcId>>& twice);
  void tell_of_domains(const Partition& partition);
  void route(const Partition& partition);

  Scheduler& scheduler_;
  FramePool& pool_;
  const FabricConfig config_;
  std::unique_ptr<DirectoryFeed> feed_;  // with independent switches
  PathAges ages_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::unique_ptr<InterSwitchLink>> links_;
};

}  // namespace fc2
