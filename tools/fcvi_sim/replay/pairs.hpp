// A capture of both ends that tells no directions: which record is a frame's departure, and which its arrival.
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <tuple>

#include "tools/fcvi_sim/capture/reading.hpp"

namespace sim::replay {

/// Fed with all frames in order. Of two records between ports with the same bytes the second is the arrival of the
/// first, and so are further ones: a fault doubled the frame. Further ones of a broadcast are its arrivals at other
/// ports. A record with other bytes is the arrival of a frame of the same Exchange, SEQ_ID and SEQ_CNT that has left
/// and did not arrive: a fault changed it. A login of either port ends what was before it, but for frames that are
/// still on their way: its ids come again. What a service of the fabric sends or receives is captured at the port only.
class Pairs {
 public:
  /// So long a frame is under way at most. What comes later with the same bytes was sent again.
  explicit Pairs(capture::Time longest_way) : longest_way_(longest_way) {}
  enum class End : std::uint8_t { only, departure, arrival, elsewhere };
  End add(const capture::Seen& seen, const wire::FcHeader& header, wire::Bytes frame);
  /// Most frames between ports came twice.
  [[nodiscard]] bool are_usual() const { return 4 * arrivals_ > frames_; }
  /// Some arrived so late that they may have been sent again instead.
  [[nodiscard]] bool are_late() const { return late_; }
  static constexpr capture::Time soonest_again = 1'000'000'000;  // ns; a port waits for E_D_TOV (FC-FS: 2 s)

 private:
  using Ids = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;
  void note_login(const wire::FcHeader& header);
  [[nodiscard]] std::uint64_t logins_of(const wire::FcHeader& header) const;
  [[nodiscard]] Ids ids_of(const wire::FcHeader& header) const;

  const capture::Time longest_way_;
  bool late_ = false;
  std::uint64_t frames_ = 0, arrivals_ = 0;
  struct Left {
    capture::Time at = 0;
    std::uint64_t logins = 0;
    bool arrived = false;
  };
  boost::unordered_flat_map<std::size_t, Left> left_;               // frames that left, by a hash of the bytes
  std::map<Ids, std::size_t> on_their_way_;                         // did not arrive yet: that hash
  boost::unordered_flat_map<std::uint32_t, std::uint32_t> logins_;  // answers to FLOGI, by N_Port_ID
};

}  // namespace sim::replay
