// Which stations an FCF lets log in, and how often each may ask.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "fc2_fabric/frame/time.hpp"
#include "wire/ethernet.hpp"
#include "wire/types.hpp"

namespace fc2::fcoe {

struct FipLimits {
  // Who may log in: an ENode by its MAC address, a port by its Port_Name or Node_Name. Both empty: everybody.
  std::vector<wire::MacAddress> allowed_macs{};
  std::vector<wire::Wwn> allowed_names{};
  unsigned requests_per_second =
      10;  // solicitations and FLOGIs of one MAC address, twice as many at once; 0: any number
  std::size_t logins_per_enode = 256;  // VN_Ports
};

class FipAdmission {
 public:
  static constexpr std::size_t max_sources = 4096;  // remembered; for one more the oldest is forgotten
  explicit FipAdmission(const FipLimits& limits) : limits_(limits) {}

  [[nodiscard]] bool allows(const wire::MacAddress& e_node, wire::Wwn port_name, wire::Wwn node_name) const;
  /// A request of that station came at `now`. False: it exceeds the limit.
  [[nodiscard]] bool take(const wire::MacAddress& source, TimeNs now);
  [[nodiscard]] const FipLimits& limits() const { return limits_; }

 private:
  TimeNs& due_of(const wire::MacAddress& source);

  const FipLimits limits_;
  std::map<wire::MacAddress, TimeNs> due_;  // when all that came would have been due at the rate
  std::deque<wire::MacAddress> oldest_;     // of those
};

}  // namespace fc2::fcoe
