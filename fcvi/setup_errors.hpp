// CSerr of a Connection Setup that failed (FC-VI 8.5.3 a, b, C.2).
#pragma once
#include "fcvi/connection.hpp"

namespace fcvi {

/// The id rests for R_A_TOV, and until the Disconnect of `endpoint`'s VI, if it has one.
inline void set_setup_error(const Services& services, const ConnectionIds::Id& id, const Connection* endpoint) {
  const bool owes_disconnect = endpoint != nullptr && endpoint->vi() != nullptr;
  services.connection_ids.set_error(id, owes_disconnect ? endpoint->handle() : wire::FcviHandle::unassigned,
                                    services.now(), services.port.r_a_tov());
}

}  // namespace fcvi
