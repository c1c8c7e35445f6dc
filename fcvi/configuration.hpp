// What the user of a provider chooses: for the port, and for each VI.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/time.hpp"
#include "wire/types.hpp"

namespace fcvi {

/// What the two ends of a connection need not agree on; each VI may have its own (FC-VI 5.8.2).
struct ConnectionOptions {
  bool preference = false;  // FCVI_PREF (5.8.2, 7.3): PREF in every frame of its messages
  bool class_2 = false;     // its messages go in class 2, where both ports and the fabric offer it (NPortConfig)
};

struct ProviderConfig {
  wire::IpAddress address;  // of this NIC, and what LocalNicAddress tells; one of the resolver's own
  std::vector<wire::IpAddress> more_addresses = {};  // connection points may be bound to these as well (4.2)
  std::uint32_t first_handle = 1;                    // drawn from the seed by the driver, as first_connection_id
  std::uint32_t first_connection_id = 1;
  std::uint32_t max_endpoints = 1u << 20;     // FCVI_HANDLEs in use or resting
  std::uint32_t max_pending_requests = 1024;  // CONNECT_RQSTs that wait for the application's decision
  /// Bytes of message data per IU, rounded down to whole frames. SEQ_CNT must not repeat within one IU (5.6), so that
  /// 65,536 frames are the most; 0 means that.
  std::uint64_t max_iu_bytes = 0;
  std::uint32_t pipeline_depth = 31;  // FCVI_PIPELINE_DEPTH (7.3): open messages less one, Reliable Reception
  /// What the port keeps of frames that overtook others on an out-of-order fabric, or that wait for read data (VI-ARCH
  /// 6.3.1.1): all of it. One peer may have half of it, one connection a third (fcvi/reorder_pool.hpp). What finds no
  /// room is lost in class 3, and busied in class 2.
  std::uint64_t reorder_pool_bytes = 256u << 20;
  bool preference = false;  // of VIs without options of their own; class_2 too
  bool class_2 = false;
  runtime::TimeNs ulp_timeout = 0;  // FCVI_ULP_TIMEOUT; 0: R_A_TOV as 8.3 says. Tests shorten it.
  /// What most messages are goes past the machines, and past the parts of `vi` that know all cases: see
  /// MessageSender::send_short, MessageReceiver::receive_short. Nobody can see it; tests run both ways and compare.
  bool short_cuts = true;
  wire::MsgId first_msg_id = wire::MsgId::first;  // 1 as 5.9.6 says. Tests begin shortly before it wraps, at both ends.
};

}  // namespace fcvi
