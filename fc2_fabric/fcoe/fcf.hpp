// FCF: the fabric's ports on Ethernet (FC-BB-5). Couples Ethernet interfaces with a Switch: FIP discovery, logins of
// ENodes as logins at F_Ports, keep-alives, FCoE frames to and from them.
#pragma once
#include <memory>
#include <vector>

#include "fc2_fabric/fcoe/encapsulation.hpp"
#include "fc2_fabric/fcoe/fcf_interface.hpp"
#include "fc2_fabric/fcoe/fcf_table.hpp"
#include "fc2_fabric/switch.hpp"

namespace fc2::fcoe {

class Fcf {
 public:
  /// Switch and Ethernet ports outlive the FCF.
  Fcf(Scheduler& scheduler, FramePool& pool, Switch& fabric, FcfConfig config = {});
  /// As stop().
  ~Fcf();
  Fcf(const Fcf&) = delete;
  Fcf& operator=(const Fcf&) = delete;

  /// Advertises on it from now on. Stays valid until it is removed.
  FcfInterface& add_interface(EthernetPort& ethernet);
  /// Its virtual links are cleared.
  void remove_interface(FcfInterface& interface);
  /// Clears all virtual links and advertises no more: ENodes notice at once, and look elsewhere.
  void stop();

  [[nodiscard]] const std::vector<std::unique_ptr<FcfInterface>>& interfaces() const { return interfaces_; }
  [[nodiscard]] const FcfConfig& config() const { return config_; }

 private:
  Scheduler& scheduler_;
  FramePool& pool_;
  Switch& switch_;
  const FcfConfig config_;
  std::vector<std::unique_ptr<FcfInterface>> interfaces_;
};

}  // namespace fc2::fcoe
