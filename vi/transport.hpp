// What the VI model asks of a transport, and what a transport tells the consumer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "vi/types.hpp"

namespace fsm {
struct Row;
}

namespace vi {
class CompletionQueue;
class Vi;

/// What a transport can do: what stands above it asks here and knows no transport. The defaults are the model's own
/// limits.
struct Capabilities {
  std::uint32_t native_mtu_bytes = 0;  // message data of one packet; VIP_NIC_ATTRIBUTES.NativeMTU
  std::uint32_t max_transfer_size_bytes = 0xFFFFFFFF;
  std::uint16_t max_discriminator_bytes = NetAddress::max_discriminator_bytes;
  ReliabilityLevels levels = all_levels;
  ReliabilityLevels rdma_read_levels = reliable_levels;  // a VI of another level must not enable it
  std::size_t max_addresses = 1;                         // that one NIC can have
  bool needs_receives_at_once = false;                   // receive_posted() must not wait for the next event
};

/// Why the connection of a VI ended, for people.
struct EndCause {
  std::string_view text;   // empty: it did not, or nobody knows
  bool peer_left = false;  // the peer disconnected or went away, and reported no error
};

/// A consumer's call under way. The transport calls done() once; it is a signal: implementations wake
/// somebody and return, and must not call back into the model. Lives until done() was called.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual void done(Return result) = 0;
};

/// VipConnectRequest, VI-DG 3.3.4. Valid on Success.
class ConnectOperation : public Operation {
 public:
  /// done(Success), with what the peer's VI has.
  void connected(const ViAttributes& remote) {
    remote_attributes = shown(remote);
    done(Return::Success);
  }
  ViAttributes remote_attributes;
};

/// Names one incoming request between VipConnectWait and Accept/Reject. Never reused; 0 is none.
struct ConnectionToken {
  std::uint64_t value = 0;
};

/// VipConnectWait, VI-DG 3.3.1. Valid on Success.
class ConnectWaitOperation : public Operation {
 public:
  /// done(Success), with the client's request.
  void matched(ConnectionToken offer, const NetAddress& client, const ViAttributes& remote) {
    remote_address = client;
    remote_attributes = shown(remote);
    token = offer;
    done(Return::Success);
  }
  NetAddress remote_address;  // LocalAddr of the matching request, with the discriminator's own length
  ViAttributes remote_attributes;
  ConnectionToken token;
};

/// Signals to the consumer of a NIC: wake somebody and return; do not call back in.
class Listener {
 public:
  virtual ~Listener() = default;
  /// The oldest descriptor of this queue that was not told yet is complete; `error`: its status has error bits. The
  /// only signal of a completion, in the order of VI-DG 6.1, whether the queue has a completion queue or not: its
  /// entries are the consumer's. True: the consumer has taken the descriptor, and it is off the model's queue. False:
  /// it can be dequeued later, by Vi::send_done or receive_done. A consumer answers always the same.
  virtual bool completed(Vi& vi, bool receive_queue, std::uint64_t descriptor_address, bool error) = 0;
  /// Descriptors of this queue that the consumer has taken, and its program has not dequeued: they count for VI Overrun
  /// (VI-DG 3.8.1). Asked at each post.
  [[nodiscard]] virtual std::uint64_t taken_count(const Vi& /*vi*/, bool /*receive_queue*/) const { return 0; }
  /// The VI's state (VI-ARCH 5) is another one now.
  virtual void state_changed(Vi& /*vi*/) {}
  /// A row of the VI's endpoint machine (VI-ARCH 5) fires: its state is about to change, or not.
  virtual void row_fired(Vi& /*vi*/, const fsm::Row& /*row*/) {}
  /// VI-DG 3.8.1. `descriptor_address` is 0 where no descriptor is concerned; `op_code` as in the status
  /// field.
  virtual void asynchronous_error(Vi* vi, CompletionQueue* queue, std::uint64_t descriptor_address,
                                  std::uint32_t op_code, ResourceCode resource, ErrorCode error) = 0;
};

/// Why the model took a VI to Error: a descriptor, posted, begun or completed (Post Descriptor and Completion
/// Protection Error too); or VI Overrun, Catastrophic Error.
enum class StopCause : std::uint8_t { Descriptor, Nic };

/// Not thread-safe: the driver serialises all calls, feeds time, and releases the consumer after each has
/// settled.
class Transport {
 public:
  virtual ~Transport() = default;
  /// The same for ever.
  [[nodiscard]] virtual Capabilities capabilities() const { return {}; }
  /// A VI was created / is about to be destroyed: Idle with empty queues, or in any state when its NIC goes. Calls
  /// under way are done() then; neither the VI nor its consumer's memory is touched any more.
  virtual Return attach(Vi& vi) = 0;
  virtual void detach(Vi& vi) = 0;

  /// `local` of this and the following calls: InvalidParameter where its host is no address of this transport.

  /// Client side. The VI is Idle. timeout_ns > 0, or runtime::never.
  virtual void connect_request(Vi& vi, const NetAddress& local, const NetAddress& remote, TimeNs timeout_ns,
                               ConnectOperation& operation) = 0;
  /// Server side; timeout 0 looks once. Waiters of the same discriminator are served first come, first
  /// served.
  virtual void connect_wait(const NetAddress& local, TimeNs timeout_ns, ConnectWaitOperation& operation) = 0;
  /// Success, or an immediate error: InvalidParameter (unknown token, which stays usable on attribute
  /// errors), InvalidReliabilityLevel, InvalidMtu, InvalidState, Timeout, NotReachable (a reliable VI is in Error then)
  /// - all through operation.done().
  virtual void connect_accept(ConnectionToken token, Vi& vi, Operation& operation) = 0;
  virtual void connect_reject(ConnectionToken token, Operation& operation) = 0;
  /// Peer to peer (VI-DG 3.3.6 to 3.3.8); timeout_ns > 0, or runtime::never. InvalidState, InvalidParameter,
  /// ErrorResource: what VipConnectPeerRequest returns, and the operation is not kept. Success: the VI is Pending
  /// Connect, and the result of VipConnectPeerDone and VipConnectPeerWait comes through operation.done(), not from
  /// within this call.
  virtual Return connect_peer_request(Vi& vi, const NetAddress& local, const NetAddress& remote, TimeNs timeout_ns,
                                      ConnectOperation& operation) = 0;
  /// The caller of connect_wait is gone: the operation is forgotten without done(). What was done already is not
  /// undone.
  virtual void withdraw(ConnectWaitOperation& operation) = 0;
  /// Any state (VI-DG 3.3.5).
  virtual void disconnect(Vi& vi, Operation& operation) = 0;

  /// A send descriptor was posted to a connected VI; called for each. Call Vi::begin_send, now or later.
  virtual void send_posted(Vi& vi) = 0;
  /// A receive descriptor was posted, in any state but Error; called for each. For transports that tell their peer how
  /// many there are.
  virtual void receive_posted(Vi& /*vi*/) {}
  /// The model itself took the VI to Error: a bad descriptor, a post error, an error completion. Both queues
  /// are flushed and traffic is off; whatever the transport has under way for the VI is to be dropped. May be
  /// called from within Vi::begin_send, complete_send and complete_receive.
  virtual void stopped(Vi& /*vi*/, StopCause /*cause*/) {}

  /// Where the transport tells apart what VI-ARCH 5.2 calls Pending Connect: the name of the state that this VI is in.
  /// Empty: just that.
  [[nodiscard]] virtual std::string_view pending_state_name(const Vi& /*vi*/) const { return {}; }
  /// From the loss on, when the consumer hears of it too, until the VI is Idle again.
  [[nodiscard]] virtual EndCause cause_of_end(const Vi& /*vi*/) const { return {}; }
};

}  // namespace vi
