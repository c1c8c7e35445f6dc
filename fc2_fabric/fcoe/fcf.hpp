// FCF: the fabric's ports on Ethernet (FC-BB-5). Couples Ethernet interfaces with a Switch: FIP discovery, logins of
// ENodes as logins at F_Ports, keep-alives, FCoE frames in both directions.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "fc2_fabric/fcoe/encapsulation.hpp"
#include "fc2_fabric/fcoe/fcf_interface.hpp"
#include "fc2_fabric/fcoe/fcf_table.hpp"
#include "fc2_fabric/switch/switch.hpp"

namespace fc2::fcoe {

/// The F_Port that an ENode is logged in at; interfaces by their names.
struct FormerLogin {
  std::string interface;
  wire::MacAddress e_node{};
  std::size_t f_port = 0;
  friend bool operator==(const FormerLogin&, const FormerLogin&) = default;
};

class Fcf {
 public:
  /// Switch and Ethernet ports outlive the FCF.
  Fcf(Scheduler& scheduler, FramePool& pool, Switch& fabric, FcfConfig config = {});
  /// As stop().
  ~Fcf();
  Fcf(const Fcf&) = delete;
  Fcf& operator=(const Fcf&) = delete;

  /// Advertises on it from now on. The reference is valid until it is removed.
  FcfInterface& add_interface(EthernetPort& ethernet);
  /// Its virtual links are cleared.
  void remove_interface(FcfInterface& interface);
  /// Clears all virtual links and stops advertising: ENodes notice at once and look for another FCF.
  void stop();

  /// Logged-in ENodes, and remembered ones that may still come: for an FCF that replaces this one after a sudden end.
  [[nodiscard]] std::vector<FormerLogin> logins() const;
  /// ENodes that were logged in at the FCF before this one get the same F_Port, and with it the same N_Port_ID, if they
  /// come while their exchanges may go on (FC-VI 7.7.5): they notice the missing advertisements after 2.5
  /// FKA_ADV_PERIOD, and logins end R_A_TOV later. For existing interfaces; call it once.
  void remember(const std::vector<FormerLogin>& logins);

  [[nodiscard]] const std::vector<std::unique_ptr<FcfInterface>>& interfaces() const { return interfaces_; }
  [[nodiscard]] const FcfConfig& config() const { return config_; }

 private:
  [[nodiscard]] bool is_here(const FormerLogin& login) const;
  void forget_absent();

  Scheduler& scheduler_;
  FramePool& pool_;
  Switch& switch_;
  const FcfConfig config_;
  std::vector<std::unique_ptr<FcfInterface>> interfaces_;
  std::vector<FormerLogin> remembered_;  // while they may come
  Timer<Fcf, &Fcf::forget_absent> patience_{*this};
};

}  // namespace fc2::fcoe
