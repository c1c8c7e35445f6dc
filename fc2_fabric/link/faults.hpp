// Faults on links: what can happen to a frame, and a link that carries it out. A FaultPolicy of a higher layer decides
// which frames: it must know what they carry, and may need random numbers.
#pragma once
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "fc2_fabric/link/channel.hpp"

namespace fc2 {

/// Bytes that a fault writes: `size` bytes of `value`, big-endian, where `mask` has ones.
struct FramePatch {
  std::uint16_t offset = 0;  // in the frame, its header included
  std::uint8_t size = 4;     // 1 to 8
  std::uint64_t value = 0;
  std::uint64_t mask = ~std::uint64_t{0};
};

/// A part behind the frame's end is not written.
void rewrite(Frame& frame, const FramePatch& patch);

struct FaultAction;
class FaultyDirection;

/// What a fault does to a frame that would arrive at frame->arrival: loses it, or lets it go on by `direction`, later,
/// changed, or more than once.
using FaultFunction = void(const FaultAction& action, FaultyDirection& direction, Channel& channel, FramePtr frame);

namespace fault {
FaultFunction drop;       // never arrives
FaultFunction duplicate;  // comes again: frames, delay
FaultFunction delay;      // comes late: delay
FaultFunction reorder;    // comes after others: frames, longest_hold
FaultFunction corrupt;    // with another bit: bit, crc_error
FaultFunction truncate;   // without its end: size_bytes, crc_error
FaultFunction rewrite;    // with other fields: patches
}  // namespace fault

/// A function, and what it is told.
struct FaultAction {
  FaultFunction* apply = fault::drop;
  TimeNs delay = 0;                  // delay: so much later; duplicate: a copy each time so much after the one before
  std::uint32_t frames = 1;          // reorder: goes after so many that followed it; duplicate: so many copies
  TimeNs longest_hold = 2 * second;  // reorder: where too few follow, it goes after this time (E_D_TOV)
  std::uint32_t bit = 0;         // corrupt: turned over, counted from the first of the header, round the frame's end
  std::uint16_t size_bytes = 0;  // truncate: the size of the rest of the frame, header included
  bool crc_error = true;         // corrupt, truncate: its CRC tells; else it was damaged where no CRC guards it
  std::vector<FramePatch> patches = {};  // rewrite: CRC as of the new content

  [[nodiscard]] bool loses_frame() const { return apply == fault::drop; }
};

/// On the link between an N_Port and its F_Port.
enum class LinkDirection : std::uint8_t { Sent, Received };  // by the N_Port
std::string_view to_string(LinkDirection direction);

class FaultPolicy {
 public:
  struct Verdict {
    const FaultAction* action = nullptr;  // none: the frame passes. Stays valid until the link has carried it
    std::uint16_t rule = 0;               // its number, from 1: taps find it in Frame::fault
  };
  /// Asked once for each frame on each direction of each link, in order, before any tap sees it.
  virtual Verdict judge(std::size_t link, LinkDirection direction, const Frame& frame, TimeNs now) = 0;
  /// The fault was carried out, after the sender's tap saw the unchanged frame.
  virtual void befell(std::size_t link, LinkDirection direction, const Frame& frame, const Verdict& verdict,
                      TimeNs now) = 0;

 protected:
  ~FaultPolicy() = default;
};

/// One direction of a link.
class FaultyDirection final : public FrameFault, private Event {
 public:
  FaultyDirection(Scheduler& scheduler, FaultPolicy& policy, std::size_t link, LinkDirection direction)
      : scheduler_(scheduler), policy_(policy), link_(link), direction_(direction) {}
  ~FaultyDirection() override = default;

  void foresee(Frame& frame) override;
  void carry(Channel& channel, FramePtr frame) override;
  void link_broke() override;

  // --- for fault functions
  /// The frame goes on, and counts for those that are held back.
  void pass(Channel& channel, FramePtr frame);
  /// Until `frames` others have passed; without them it goes on `longest` after it would have arrived.
  void hold(Channel& channel, FramePtr frame, std::uint32_t frames, TimeNs longest);
  /// What is held back goes on now, in its order.
  void release();

  /// How many are held back.
  [[nodiscard]] std::size_t held() const { return held_.size(); }

 private:
  struct Held {
    FramePtr frame;
    std::uint32_t frames_left;
    TimeNs until;
  };
  void fire(TimeNs now) override;
  void watch_held();

  Scheduler& scheduler_;
  FaultPolicy& policy_;
  std::size_t link_;
  LinkDirection direction_;
  FaultPolicy::Verdict verdict_;  // of the frame that is being sent
  Channel* channel_ = nullptr;    // where held frames go on
  std::deque<Held> held_;         // in the order in which they came
};

/// Both directions of a port's link, for Switch::set_faults.
struct FaultyLink {
  FaultyLink(Scheduler& scheduler, FaultPolicy& policy, std::size_t link)
      : sent(scheduler, policy, link, LinkDirection::Sent), received(scheduler, policy, link, LinkDirection::Received) {
  }
  FaultyDirection sent, received;
};

}  // namespace fc2
