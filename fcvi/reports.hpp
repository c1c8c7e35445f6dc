// What is known of the end of a connection, for people.
#pragma once
#include <map>
#include <optional>

#include "vi/transport.hpp"
#include "wire/fcvi/reason.hpp"
#include "wire/types.hpp"

namespace fcvi {

/// What the peer's last DISCONNECT IU said of a connection (FC-VI 5.9.7.3.2 NOTE, Annex E). No descriptor depends on
/// it.
struct PeerReport {
  /// FCVI_MSG_ID: of the last message that the peer completed (6.12.2, 6.13.2); whose numbers it means is the peer's
  /// matter.
  wire::MsgId last_msg_id{};
  std::optional<wire::fcvi::Reason> reason;  // Table 12; of a DISCONNECT_RESP 4Bh, Disconnect Accept
};

/// By VI; kept until it connects again or is destroyed.
using PeerReports = std::map<const vi::Vi*, PeerReport>;

using vi::EndCause;

}  // namespace fcvi
