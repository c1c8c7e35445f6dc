// What a VI/TCP provider did, and why it refused what came.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "wire/vitcp/segment.hpp"

namespace vitcp {

/// Why a segment, a stream or a connection was not taken, besides wire::vitcp::refusals.
enum class Refusal : std::uint8_t {
  half_open_limit,     // more accepted streams than may wait for their ConnectRequest
  request_timeout,     // the ConnectRequest was not there in time
  not_a_request,       // another segment came first
  end_in_segment,      // the stream ended within a segment
  no_match,            // nobody waited for the discriminator
  offer_limit,         // as if nobody waited: too many are undecided
  before_accept,       // octets behind the ConnectRequest, before it was answered
  unsuitable_answer,   // a ConnectAccept that does not fit the request, or another segment in its place
  connection_segment,  // a segment of the set-up on an established connection
  message_number,      // a gap, or a number twice
  message_mixed,       // another message, but a Read Response, within a message
  segment_order,       // a Data Offset that is not what came before
  segment_differs,     // immediate data or RDMA header unlike the message's first segment
  message_ack,         // of a message that was not sent, or not whole
  read_response,       // of no RDMA Read that is open, or not as it was asked
  read_window,         // more RDMA Read Requests than were told
  transfer_size,       // an RDMA above the agreed MTU
  farewell_limit,      // too many refused streams: the oldest is closed before its time
  segment_stalled,     // the rest of a segment did not come in time (ruling V-38)
};
inline constexpr std::size_t refusal_count = 19;
[[nodiscard]] std::string_view to_string(Refusal refusal);

struct ProviderCounters {
  std::uint64_t segments_sent = 0, segments_received = 0, nops_sent = 0;
  std::uint64_t payload_octets_sent = 0, payload_octets_received = 0;
  std::uint64_t writes = 0;  // calls of Stream::write: several segments may go out with one
  std::uint64_t messages_sent = 0, messages_received = 0;
  std::uint64_t messages_dropped = 0;  // at Unreliable Delivery: no descriptor, or one that did not fit
  std::uint64_t requests_received = 0, connections = 0, closed_by_timeout = 0;
  std::uint64_t unexpected_events = 0;  // of a state machine: a defect here

  void refuse(Refusal refusal) { ++refused_[static_cast<std::size_t>(refusal)]; }
  void refuse(const wire::ParseError& error);
  [[nodiscard]] std::uint64_t refused(Refusal refusal) const { return refused_[static_cast<std::size_t>(refusal)]; }
  /// Of wire::vitcp::refusals, the one with this field.
  [[nodiscard]] std::uint64_t refused(const wire::ParseError& error) const;
  /// Of all reasons.
  [[nodiscard]] std::uint64_t refused() const;
  /// `visit(name, times)` for each reason, those that never came too.
  template <class Visit>
  void for_each_refusal(Visit visit) const {
    for (std::size_t i = 0; i < refusal_count; ++i) visit(to_string(static_cast<Refusal>(i)), refused_[i]);
    for (const wire::ParseError& error : wire::vitcp::refusals) visit(std::string_view(error.field), refused(error));
  }
  /// `visit(name, number)` for each of the others.
  template <class Visit>
  void for_each(Visit visit) const {
    visit("connections", connections), visit("requests_received", requests_received);
    visit("segments_sent", segments_sent), visit("segments_received", segments_received);
    visit("nops_sent", nops_sent), visit("writes", writes);
    visit("payload_octets_sent", payload_octets_sent), visit("payload_octets_received", payload_octets_received);
    visit("messages_sent", messages_sent), visit("messages_received", messages_received);
    visit("messages_dropped", messages_dropped), visit("closed_by_timeout", closed_by_timeout);
    visit("unexpected_events", unexpected_events);
  }

 private:
  std::array<std::uint64_t, refusal_count> refused_{};
  std::array<std::uint64_t, wire::vitcp::refusals.size() + 1> refused_by_parser_{};  // the last: others
};

}  // namespace vitcp
