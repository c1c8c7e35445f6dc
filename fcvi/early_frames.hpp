// Frames of one stream that overtook others on an out-of-order fabric, until those come (FC-VI B.2.5 rules 4c, 5b, 6e).
#pragma once
#include <map>

#include <boost/circular_buffer.hpp>

#include "fc2_fabric/exchange.hpp"
#include "fc2_fabric/frame.hpp"
#include "wire/fcvi/device_header.hpp"

namespace fcvi {

/// In order of FCVI_MSG_ID and relative offset, which no two frames of a stream share (5.2.1). The frames are taken over, not
/// copied. Those of the newest end come and those of the oldest go at no cost.
class EarlyFrames {
 public:
  struct Entry {
    fc2::FramePtr frame;          // what `received` looks at
    fc2::ReceivedFrame received;
    wire::fcvi::DeviceHeader header;
    /// When the first of those came that wait here and are not before this one: since then something is known to be missing
    /// before it.
    fc2::TimeNs known_since = 0;
    [[nodiscard]] std::span<const std::uint8_t> payload() const { return received.data_field.subspan(header.size()); }
  };
  /// What all streams of a port keep; half of it those with one peer.
  struct Budget {
    static constexpr std::size_t max_frames = 16384, max_of_one_peer = max_frames / 2;  // 32 MiB, 16 MiB
    std::size_t frames = 0;
    std::map<std::uint32_t, std::size_t> of_peer;  // one entry for each that ever was overtaken by its own frames
  };
  enum class Added {
    Kept,
    Displaced,  // class 3: kept; the one that is farthest from its turn is gone, and is missed after R_A_TOV (rule 7)
    Duplicate,  // it is here already
    NoRoom,     // as many as may be wait, all nearer to their turn, or acknowledged: class 2 sends it again (rule 8b)
  };

  explicit EarlyFrames(Budget& budget) : budget_(budget) {}
  ~EarlyFrames() { clear(); }
  EarlyFrames(const EarlyFrames&) = delete;
  EarlyFrames& operator=(const EarlyFrames&) = delete;

  Added add(const fc2::ReceivedFrame& received, const wire::fcvi::DeviceHeader& header, fc2::TimeNs now);
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] const Entry& first() const { return entries_.front(); }
  Entry take_first();
  void clear();

  static constexpr std::size_t max_frames = 4096;  // of one stream: 8 MiB, what links of 32GFC bring in 2.5 ms

 private:
  static constexpr std::size_t first_capacity = 16;
  using Entries = boost::circular_buffer<Entry>;
  void drop_last();
  void give_back(wire::FcId peer, std::size_t frames);
  Budget& budget_;
  Entries entries_;
};

}  // namespace fcvi
