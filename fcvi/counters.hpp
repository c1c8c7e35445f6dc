// What a provider counts.
#pragma once
#include <cstdint>

namespace fcvi {

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

}  // namespace fcvi
