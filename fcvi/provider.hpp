// The FC-VI provider of one N_Port: the VI model's transport, over exchanges of TYPE 58h (FC-VI clauses 4 to 8).
//
//   vi::Nic -> Provider -> Endpoint (one per VI) -> MessageSender, MessageReceiver, ReadResponder
//                       -> ConnectOriginator, ConnectResponder, DisconnectOriginator (while they are under way)
//
// No I/O, clock, thread: fed by the N_Port and its scheduler. Not thread-safe: the driver serialises.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

#include "farp/resolver.hpp"
#include "fc2_fabric/node/n_port.hpp"
#include "vi/transport.hpp"
#include "wire/fcvi/reason.hpp"

namespace fcvi {
class Core;

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
  runtime::TimeNs ulp_timeout = 0;                // FCVI_ULP_TIMEOUT; 0: R_A_TOV as 8.3 says. Tests shorten it.
  wire::MsgId first_msg_id = wire::MsgId::first;  // 1 as 5.9.6 says. Tests begin shortly before it wraps, at both ends.
};

/// What a provider did since it began. Frames and bytes are message data only.
struct ProviderCounters {
  std::uint64_t ius_sent = 0, ius_received = 0;
  std::uint64_t data_frames_sent = 0, data_frames_received = 0;
  std::uint64_t data_bytes_sent = 0, data_bytes_received = 0;
  std::uint64_t messages_sent = 0, messages_received = 0;
  std::uint64_t connections_made = 0, connections_lost = 0;
  /// Times that the reorder pool had no room: a frame was lost (class 3) or busied (class 2), or at Unreliable Delivery
  /// a message.
  std::uint64_t reorder_pool_full = 0;
};

/// What the peer's last DISCONNECT IU said of a connection (FC-VI 5.9.7.3.2 NOTE, Annex E). No descriptor depends on
/// it.
struct PeerReport {
  /// FCVI_MSG_ID: of the last message that the peer completed (6.12.2, 6.13.2); whose numbers it means is the peer's
  /// matter.
  wire::MsgId last_msg_id{};
  std::optional<wire::fcvi::Reason> reason;  // Table 12; of a DISCONNECT_RESP 4Bh, Disconnect Accept
};

using vi::EndCause;

class Provider final : public vi::Transport {
 public:
  Provider(fc2::NPort& port, farp::Resolver& resolver, ProviderConfig config);
  ~Provider() override;

  // vi::Transport; see there
  [[nodiscard]] vi::Capabilities capabilities() const override;
  vi::Return attach(vi::Vi& vi) override;
  void detach(vi::Vi& vi) override;
  void connect_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout_ns,
                       vi::ConnectOperation& operation) override;
  void connect_wait(const vi::NetAddress& local, vi::TimeNs timeout_ns, vi::ConnectWaitOperation& operation) override;
  void connect_accept(vi::ConnectionToken token, vi::Vi& vi, vi::Operation& operation) override;
  void connect_reject(vi::ConnectionToken token, vi::Operation& operation) override;
  vi::Return connect_peer_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                                  vi::TimeNs timeout_ns, vi::ConnectOperation& operation) override;
  void withdraw(vi::ConnectWaitOperation& operation) override;
  void disconnect(vi::Vi& vi, vi::Operation& operation) override;
  void send_posted(vi::Vi& vi) override;
  void stopped(vi::Vi& vi, vi::StopCause cause) override;
  [[nodiscard]] EndCause cause_of_end(const vi::Vi& vi) const override { return end_cause(vi); }

  /// For the next Connection Setup of this VI, until the VI is destroyed.
  void set_options(const vi::Vi& vi, ConnectionOptions options);

  /// For who asks where the peer stopped, and why. Nothing before the peer's first DISCONNECT IU of the connection;
  /// kept until the VI connects again or is destroyed.
  [[nodiscard]] std::optional<PeerReport> told_by_peer(const vi::Vi& vi) const;
  /// From the loss on, when the consumer hears of it too, until the VI is Idle again.
  [[nodiscard]] static EndCause end_cause(const vi::Vi& vi);

  [[nodiscard]] const ProviderConfig& config() const;
  /// One of the addresses that connection points and requests of this NIC may be bound to (FC-VI 4.2).
  [[nodiscard]] bool is_own(const wire::IpAddress& host) const;
  [[nodiscard]] const ProviderCounters& counters() const;
  [[nodiscard]] fc2::NPort& port();
  /// FCVI_HANDLEs that are in use or rest, and Connection Setups that are not over: what a long run must not grow.
  [[nodiscard]] std::size_t handles_in_use() const;
  [[nodiscard]] std::size_t open_setups() const;
  /// FCVI_CONNECTION_IDs of failed set-ups, ours and our peers', that rest (C.2).
  [[nodiscard]] std::size_t resting_connection_ids() const;
  [[nodiscard]] std::size_t open_connection_ids() const;
  /// Bytes of the reorder pool: now, and the most at once.
  [[nodiscard]] std::uint64_t reorder_bytes() const;
  [[nodiscard]] std::uint64_t reorder_peak_bytes() const;

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace fcvi
