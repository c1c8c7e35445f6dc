// A port of a switch, whoever is at the other end. Frames that go out wait here while the other end takes none, and who
// sends too many is held back: Fibre Channel does not drop frames for lack of buffers. So do those to an N_Port that is
// away for a moment and will log in again (FC-VI 7.7.5). A sender that can keep back what is for one destination is not
// held as a whole, and one on Ethernet cannot be held at all: what comes from them waits by where it goes, so that a
// port that takes none stops no other flow.
#pragma once
#include <deque>
#include <map>
#include <vector>

#include "fc2_fabric/link/channel.hpp"
#include "fc2_fabric/switch/switch_services.hpp"
#include "wire/types.hpp"

namespace fc2 {
class SwitchPort : public FrameReceiver, private OutputListener {
 public:
  SwitchPort(const SwitchPort&) = delete;
  SwitchPort& operator=(const SwitchPort&) = delete;

  /// Sends a frame out of the switch. `ingress`: the port that it came from, held back while too many wait; nullptr:
  /// the switch itself.
  void send(FramePtr frame, SwitchPort* ingress);
  /// Where send() would let its frames go at once. See FrameOutput::send_run.
  [[nodiscard]] std::size_t send_run(const FrameRun& run);
  /// The link is up.
  [[nodiscard]] bool is_up() const { return output_ != nullptr; }
  /// Since the link came up: into the switch, and out of it.
  [[nodiscard]] std::uint64_t frames_in() const { return frames_in_; }
  [[nodiscard]] std::uint64_t frames_out() const { return frames_out_; }
  /// Frames that wait here, and whether they are discarded because the other end took none for too long.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size() + for_away_.size(); }
  /// Frames for that N_Port_ID wait, whatever the state of the link.
  [[nodiscard]] bool is_away(wire::FcId id) const;
  [[nodiscard]] bool stalled() const { return stalled_; }
  /// Between its members, whenever none of its functions runs: of frames that wait, and of senders that are held.
  [[nodiscard]] bool is_consistent() const;

 protected:
  /// How to send when frames come faster than the link takes them.
  enum class Pace : std::uint8_t {
    Queue,  // the output has a queue of its own
    Wait,   // one frame at a time: the others wait here, where their sender can be held back
  };
  SwitchPort(SwitchServices& owner, Pace pace) : switch_(owner), pace_(pace) {}
  ~SwitchPort() = default;

  void link_is_up(FrameOutput& output);
  /// Waiting frames are lost.
  void link_is_down();
  /// The N_Port is offline; is back, and gets its waiting frames; or does not come back, and they are lost.
  void go_away(wire::FcId id);
  void come_back(wire::FcId id);
  void stay_away(wire::FcId id);
  [[nodiscard]] bool any_away() const { return !away_.empty(); }
  /// Ahead of waiting frames: the switch's own frames during a login.
  void put_out(FramePtr frame, SwitchPort* ingress);
  /// What whoever sends can be made to keep back.
  enum class Hold : std::uint8_t {
    Never,   // nothing: what is too much is lost
    ForOne,  // message data for one destination; all, where that does not suffice
    Whole,   // all
  };
  [[nodiscard]] virtual Hold hold_kind() const { return Hold::Whole; }
  /// Frames come in no longer, or do again.
  virtual void hold() = 0;
  virtual void proceed() = 0;
  /// The same of those for one address, where the kind is ForOne.
  virtual void hold_for(wire::FcId) {}
  virtual void proceed_for(wire::FcId) {}

  /// While the link is up.
  [[nodiscard]] FrameOutput& output() { return *output_; }
  void count_in(std::size_t frames = 1) { frames_in_ += frames; }
  /// Sees outgoing frames; nullptr removes it.
  void tap_output(FrameTap* tap) { tap_ = tap; }
  [[nodiscard]] FrameTap* output_tap() const { return tap_; }

  SwitchServices& switch_;

 private:
  // Where the sender is not held back as a whole: what came from here for one port, until that has room again.
  struct Flow {
    FrameQueue frames;
    bool held = false;
    std::vector<wire::FcId> kept_back;  // what the sender was told to keep back
  };
  // Of one flow. Frames for further addresses wait in the flow, and where that is full the sender is held as a whole.
  static constexpr std::size_t max_kept_back = 64;
  void output_resumed() override;
  void pass(FramePtr frame, SwitchPort* ingress);
  [[nodiscard]] Flow* flow_from(SwitchPort* ingress);
  [[nodiscard]] std::size_t flow_room() const;
  void keep(Flow& flow, FramePtr frame, SwitchPort& egress);
  void begin_flow(SwitchPort& ingress, wire::FcId d_id);
  void keep_back(Flow& flow, wire::FcId d_id);
  void keep_back_no_more(const Flow& flow);
  void let_go(SwitchPort& ingress);
  void end_whole_hold();
  void forget_flows();
  [[nodiscard]] bool blocked() const;
  [[nodiscard]] bool goes_at_once() const;
  [[nodiscard]] bool holds(const SwitchPort* ingress) const;
  void transmit(FramePtr frame);
  void drain();
  void enqueue(FramePtr frame, SwitchPort* ingress);
  void wait(FramePtr frame);
  void keep_for_away(FramePtr frame, SwitchPort* ingress);
  [[nodiscard]] bool has_room_for(const SwitchPort* ingress) const;
  void take_frames_for(wire::FcId id, FrameQueue& taken);
  void drop(const Frame& frame);
  void lose(FrameQueue& frames);
  void hold_back(SwitchPort& ingress, wire::FcId d_id);
  void release_held();
  void hold_time_over();
  void output_free() { drain(); }
  [[nodiscard]] Scheduler& scheduler() const;

  const Pace pace_;
  FrameOutput* output_ = nullptr;  // while the link is up
  FrameTap* tap_ = nullptr;
  FrameQueue waiting_;  // arrival: since when
  std::vector<wire::FcId> away_;
  FrameQueue for_away_;
  bool stalled_ = false;
  TimeNs last_progress_ = 0;      // when a frame left, or could have
  std::deque<SwitchPort*> held_;  // held back by us, or with a flow to here; first come first
  SwitchPort* held_by_ = nullptr;
  std::map<SwitchPort*, Flow> flows_;  // from here, by where they go
  std::uint64_t frames_in_ = 0, frames_out_ = 0;
  Timer<SwitchPort, &SwitchPort::hold_time_over> hold_timer_{*this};
  Timer<SwitchPort, &SwitchPort::output_free> pace_timer_{*this};
};

}  // namespace fc2
