// The login with the fabric's F_Port. Where another N_Port accepts it there is no fabric, and PortAttachment goes on by
// itself.
#pragma once
#include "fc2_fabric/node/login_session.hpp"

namespace fc2 {

/// Whoever needs the fabric login. May ask for it anew in any call.
class FabricLoginListener {
 public:
  /// LS_ACC to FLOGI; `granted`: the address that it came to.
  virtual void fabric_login_accepted(wire::FcId granted, const wire::els::Login& accept) = 0;
  /// It failed, each time. FabricLogin goes on asking.
  virtual void fabric_login_lost() = 0;
  /// It failed, for the first time since the link came up.
  virtual void fabric_login_failed() = 0;
  virtual void fabric_login_ended() = 0;

 protected:
  ~FabricLoginListener() = default;
};

class FabricLogin final : public LoginSession {
 public:
  FabricLogin(const LoginServices& services, FabricLoginListener& listener)
      : LoginSession(services, wire::well_known::f_port), listener_(listener) {}
  /// It can be asked for, and what becomes of that is news.
  void link_up();
  /// There is no fabric: nothing is awaited of it any more, and its login did not fail.
  void leave();
  void link_down_if_up();
  void log_out();

 private:
  [[nodiscard]] wire::els::Login own_parameters(wire::els::Command command) const override;
  [[nodiscard]] wire::els::Command login_command() const override;
  void logged_in_now() override;
  void login_failed_now() override;
  void logged_out_now() override;
  void accepted_at(wire::FcId d_id) override { granted_ = d_id; }
  void try_again();

  FabricLoginListener& listener_;
  wire::FcId granted_{};
  /// The listener heard that it failed, once for each link_up(); or there is nothing to tell.
  bool told_ = false;
  /// Without the fabric there is nothing that a port could do but ask again, for as long as the link works.
  Timer<FabricLogin, &FabricLogin::try_again> again_{*this};
};

}  // namespace fc2
