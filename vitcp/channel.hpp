// What the parts of one connection share: what the set-up agreed, and what every segment header carries.
#pragma once
#include <algorithm>

#include "state_machines/vitcp_failure.hpp"
#include "vi/vi.hpp"
#include "vitcp/services.hpp"

namespace vitcp {

/// What ConnectRequest and ConnectAccept agreed (VI-TCP 3.3).
struct Terms {
  vi::ReliabilityLevel level{};
  std::uint32_t mtu_bytes = 0;             // the smaller MaxTransferSize (ruling V-9)
  bool crc = false;                        // both had the CRC option
  bool waits_for_receives = false;         // our Descriptor Flow Control bit
  bool tells_receives = false;             // the peer's
  bool urgent_marks = false;               // the peer takes them
  std::uint16_t read_window = 0;           // RDMA Read Requests that we hold
  std::uint16_t peer_read_window = 0;      // that the peer holds
  std::uint16_t receives_told = 0;         // Rx Descriptors Posted of our connection segment
  std::uint16_t peer_receives_posted = 0;  // of the peer's
  wire::vitcp::MessageNumber first_number{}, peer_first_number{};
  vi::ViAttributes peer{};  // of the peer's VI
};

using machines::vitcp::Failure;

/// Of so many that are posted, as many as can be told: differences are modulo 2^16 (ruling V-6).
[[nodiscard]] constexpr std::uint16_t receives_that_count(std::uint64_t waiting) {
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(waiting, 0xFFFF));
}

/// Who hears of it. All of this may be called while a part is at work: it does not call back into one.
class ChannelListener {
 public:
  /// There is something to be sent.
  virtual void wants_to_send() = 0;
  /// Nothing more is taken from the peer, no message is begun, and the connection ends, once what is in segments by
  /// then and what is due of acknowledgments is sent.
  virtual void failed(Failure failure) = 0;

 protected:
  ~ChannelListener() = default;
};

struct Channel {
  const Services& services;
  ChannelListener& listener;
  vi::Vi* vi;  // nullptr: it is gone
  Terms terms;

  wire::vitcp::MessageNumber last_sent = terms.first_number;          // of our last message, but a Read Response
  wire::vitcp::MessageNumber due = advance(terms.peer_first_number);  // of the peer: the open message, or the next one
  /// Of the peer's last message that was received without error, or with remote_error of the one in error (VI-TCP 3.2).
  wire::vitcp::MessageNumber ack = terms.peer_first_number;
  wire::vitcp::RemoteErrorCode remote_error{};
  bool ack_due = false;                               // Reliable Reception: the peer was not told of it yet
  bool nop_owed = false;                              // what a header would have told was not sent
  bool stopped = false;                               // nothing more is taken from the peer
  std::uint16_t receives_claimed = 0;                 // modulo 2^16
  std::uint16_t receives_told = terms.receives_told;  // the Rx Descriptors Posted that the peer knows
  std::uint16_t peer_receives_posted = terms.peer_receives_posted;
  std::uint16_t peer_receives_used = 0;

  [[nodiscard]] bool is_reliable() const { return vi::is_reliable(terms.level); }
  [[nodiscard]] bool acknowledges() const { return terms.level == vi::ReliabilityLevel::ReliableReception; }
  /// Rx Descriptors Posted: all since the set-up, and those that were posted before (ruling V-6). What was flushed at
  /// the end was posted, too: it stays as it was told.
  [[nodiscard]] std::uint16_t receives_posted() const {
    if (stopped) return receives_told;
    const std::uint64_t waiting = vi == nullptr ? 0 : vi->unclaimed_receives();
    return static_cast<std::uint16_t>(receives_claimed + receives_that_count(waiting));
  }
  /// The peer has a receive descriptor for one more message, as far as it told.
  [[nodiscard]] bool peer_can_receive() const {
    return static_cast<std::uint16_t>(peer_receives_posted - peer_receives_used) != 0;
  }
  /// A NOP would have something to say that cannot wait: an acknowledgment, or receive descriptors of which the peer
  /// does not know and which are no fewer than those it knows of (VI-TCP 3.2, Notes on NOP).
  [[nodiscard]] bool nop_due() const {
    if (ack_due || nop_owed) return true;
    if (!terms.tells_receives) return false;
    const auto untold = static_cast<std::uint16_t>(receives_posted() - receives_told);
    // Below 0: messages came for which the peer knew of no receive descriptor.
    const auto known = static_cast<std::int16_t>(receives_told - receives_claimed);
    return untold != 0 && (known <= 0 || untold >= known);
  }
  /// For the next segment that is sent: what it says is told then. The caller adds what is the message's.
  [[nodiscard]] wire::vitcp::SegmentHeader header(wire::vitcp::SegmentType type, wire::vitcp::MessageNumber number) {
    ack_due = nop_owed = false;
    receives_told = receives_posted();
    return {.type = type,
            .message_number = number,
            .message_ack = acknowledges() ? ack : wire::vitcp::MessageNumber{},
            .rx_descriptors_posted = receives_told,
            .remote_error = remote_error};
  }
};

}  // namespace vitcp
