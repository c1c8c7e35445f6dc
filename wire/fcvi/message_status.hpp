// The outcome that a message response reports in FCVI_FLAGS.
#pragma once
#include <string>

#include "wire/fcvi/flags.hpp"

namespace wire::fcvi {

/// FC-VI Table 6. Several causes may be set at once; each goes with resp_err.
struct MessageStatus {
  bool resp_err = false;   // the Message Transfer failed
  bool desc_err = false;   // Remote Descriptor Error
  bool prot_err = false;   // RDMA Protection Error
  bool trans_err = false;  // Transport Error
  friend constexpr bool operator==(const MessageStatus&, const MessageStatus&) = default;

  [[nodiscard]] constexpr bool ok() const { return !resp_err; }
  [[nodiscard]] static constexpr MessageStatus from_flags(std::uint8_t flags) {
    return {(flags & message_response_flag::resp_err) != 0, (flags & message_response_flag::desc_err) != 0,
            (flags & message_response_flag::prot_err) != 0, (flags & message_response_flag::trans_err) != 0};
  }
  [[nodiscard]] constexpr std::uint8_t to_flags() const {
    return static_cast<std::uint8_t>(
        (resp_err ? message_response_flag::resp_err : 0) | (desc_err ? message_response_flag::desc_err : 0) |
        (prot_err ? message_response_flag::prot_err : 0) | (trans_err ? message_response_flag::trans_err : 0));
  }
};
/// "ok", or "error" and its causes.
[[nodiscard]] std::string to_string(MessageStatus status);

}  // namespace wire::fcvi
