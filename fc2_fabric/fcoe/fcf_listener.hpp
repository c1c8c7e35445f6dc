// Reports of an FCF to the program that runs it.
#pragma once
#include <cstdint>
#include <string_view>

#include "wire/ethernet.hpp"
#include "wire/types.hpp"

namespace fc2::fcoe {

/// Views are valid during the call.
struct FcfEvent {
  enum class Kind : std::uint8_t {
    LoggedIn,   // a VN_Port, by FLOGI or FDISC: `why` says which
    LoggedOut,  // by LOGO, or its ENode left without one: `why` says which
    Rejected,   // FLOGI, FDISC or LOGO: `why` is the LS_RJT's explanation, or our own rule
    Cleared,    // Clear Virtual Links goes out
    Evicted,    // an ENode that sent nothing since its FLOGI, for a new one
  };
  Kind kind{};
  wire::MacAddress e_node{};
  wire::FcId n_port_id{};  // 0: all of the ENode, or none was granted
  wire::Wwn port_name{};   // 0: not known
  std::string_view why;
  std::string_view interface {};
};
[[nodiscard]] std::string_view to_string(FcfEvent::Kind kind);

/// Called inside the FCF, which must not be destroyed then.
class FcfListener {
 public:
  /// Fcf::logins() has changed.
  virtual void logins_changed() = 0;
  virtual void happened(const FcfEvent&) {}

 protected:
  ~FcfListener() = default;
};

}  // namespace fc2::fcoe
