#include "fc2_fabric/node/port_services.hpp"

#include <algorithm>

namespace fc2 {

// FC-LS lets an answer take 2 x R_A_TOV. In class 3 a request or its answer may be lost, which nobody tells: it is
// repeated after 2 x E_D_TOV, the time that both take where nothing holds them up, and after twice as long each time,
// so that who is slow is heard.
TimeNs PortServices::answer_time(int repeated, int left) const {
  const TimeNs most = 2 * r_a_tov();
  TimeNs time = 2 * e_d_tov();
  for (int i = 0; i < repeated && time < most; ++i) time *= 2;
  return left > 0 ? std::min(time, most) : most;
}

}  // namespace fc2
