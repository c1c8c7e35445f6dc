// What a VI/TCP provider is configured with. Each limit has a name.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/time.hpp"
#include "wire/types.hpp"
#include "wire/vitcp/port.hpp"
#include "wire/vitcp/segment_header.hpp"

namespace vitcp {

struct ProviderConfig {
  /// Of this NIC: where it listens, and what its connections begin at. At least one; IPv4 as IPv4-mapped.
  std::vector<wire::IpAddress> addresses;
  /// TCP port of this host, and of all others that it connects to.
  std::uint16_t port = wire::vitcp::default_port;

  /// Octets of the longest segment that is sent, headers and trailer included (ruling V-24): 256 to 65,535.
  std::size_t segment_bytes = wire::vitcp::max_segment_bytes;
  /// The CRC is asked for in ConnectRequests, and granted to who asks (VI-TCP 3.6).
  bool ask_for_crc = false, grant_crc = true;
  /// A Send waits for a receive descriptor of the peer (VI-TCP 2.2.1); else the rules of the reliability level hold.
  bool descriptor_flow_control = true;
  /// Urgent marks are taken from peers (VI-TCP 3.7), and sent to those that take them, where the streams can do it.
  bool take_urgent_marks = true, send_urgent_marks = false;
  /// RDMA Read Requests of the peer that one connection holds (ruling V-11). 0: none.
  std::uint16_t rdma_read_window = 16;

  /// The ConnectRequest of an accepted stream has to be whole by then (ruling V-16).
  runtime::TimeNs request_timeout = 10 * runtime::second;
  /// A stream that closed in Pending Accept is established anew after this time, then after twice as much, ... (V-15).
  runtime::TimeNs first_retry_delay = 10 * runtime::millisecond, longest_retry_delay = runtime::second;
  /// What was sent has to be out, and the peer's end to be read, by then (ruling V-17); then the stream is reset.
  runtime::TimeNs close_timeout = 2 * runtime::second;

  /// A segment that has begun, and of which nothing more comes for so long, ends its connection (ruling V-38).
  /// Longer than TCP waits between two tries to send again (two minutes at most, RFC 6298), so that a network which was
  /// gone for a while ends nothing. runtime::never: it is waited for as long as TCP does.
  runtime::TimeNs segment_timeout = 300 * runtime::second;

  /// Accepted streams whose ConnectRequest is not whole. Above it the next one is closed at once.
  std::size_t max_half_open = 64;
  /// ConnectRequests that were matched and not decided; above it they are answered as if nobody waited.
  std::size_t max_offers = 1024;

  /// Refused streams whose answer has to arrive; above it the oldest is closed before its time. At least one.
  std::size_t max_farewells = 64;

  /// Message numbers of connections begin at what is drawn from this (VI-TCP 3.2): a different one in each process.
  std::uint64_t number_seed = 1;
};

}  // namespace vitcp
