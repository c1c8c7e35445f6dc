// What a provider counts, and the reasons of FC-VI's own for which it discards a frame.
#pragma once
#include <cstdint>
#include <string_view>

#include "fc2_fabric/frame/discard_counts.hpp"

namespace fcvi {

/// Beside the reasons that any FC-4 has (fc2::Discard), which are counted at the N_Port.
enum class Discard : std::uint8_t {
  UnknownHandle,  // no endpoint has that FCVI_HANDLE, or it is not the sender's
  NotReceiving,   // the endpoint is not connected, or discards after an error (8.4.2 f)
  DeadSetup,      // of a Connection Setup that failed, or a second time (C.2, CSerr)
  Count,
};
/// In texts, scenarios and their expectations: no name is one of fc2::Discard's.
std::string_view to_string(Discard reason);

/// What a provider did since it began. Frames and bytes are message data only.
struct ProviderCounters : fc2::DiscardCounts<Discard> {
  std::uint64_t ius_sent = 0, ius_received = 0;
  std::uint64_t data_frames_sent = 0, data_frames_received = 0;
  std::uint64_t data_bytes_sent = 0, data_bytes_received = 0;
  std::uint64_t messages_sent = 0, messages_received = 0;
  std::uint64_t short_cuts = 0;  // of them, what went past the machines (ProviderConfig::short_cuts)
  std::uint64_t run_frames = 0;  // received in runs (fc2::FrameRun)
  std::uint64_t connections_made = 0, connections_lost = 0;
  /// Times that the reorder pool had no room: a frame was lost (class 3) or busied (class 2), or at Unreliable Delivery
  /// a message.
  std::uint64_t reorder_pool_full = 0;
};

}  // namespace fcvi
