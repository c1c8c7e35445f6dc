// An arbitrated loop (FC-AL) with up to 126 N_Ports of this program, and a FL_Port if a switch is attached to it. A
// LIP, when a port joins, leaves or asks for it, makes every port claim an AL_PA anew. Between LIPs one port at a time
// owns the loop and opens others; every other port that wants the loop gets it before the same port has it again.
//
// Buffer-to-buffer credit is the alternate one of FC-AL, with a Login_BB_Credit of 0: an opened port sends an R_RDY for
// each free buffer, and for each that becomes free while the circuit is open. A circuit without credit is closed, so
// that others can use the loop until there is a buffer.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "fc2_fabric/link/loop_station.hpp"

namespace fc2 {

struct LoopConfig {
  TimeNs hop_latency_ns = 100;         // from one port to the next
  std::uint64_t bytes_per_second = 0;  // 0: no limit
  std::size_t frames_per_tenancy = 8;  // then others have their turn
};

class Loop final : private Event {
 public:
  static constexpr std::size_t max_stations = al_pas.size() - 1;  // without the FL_Port

  Loop(Scheduler& scheduler, FramePool& pool, LoopConfig config)
      : scheduler_(scheduler), pool_(pool), config_(config) {}
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Joins after the last one, which makes a LIP. A port that finds no AL_PA stays on the loop and tries again at the
  /// next LIP. The port must outlive its place.
  LoopStation& attach(LoopUser& user, const LoopPlace& place = {});
  /// The same for a user that the loop owns.
  LoopStation& attach(std::unique_ptr<LoopUser> user, const LoopPlace& place);
  /// Leaves: the port's exchanges and logins end; the others see a LIP.
  void detach(const FrameReceiver& port) { detach(*station_of(port)); }
  void detach(LoopStation& station);
  /// `port` asks for the initialization of the loop.
  void lip(const FrameReceiver& port) { begin_lip(*station_of(port)); }
  /// Plugs `port` in at another place of the loop, with the highest free AL_PA as its hard address. At the LIP that
  /// follows it claims that address, not its former one.
  void move(const FrameReceiver& port);
  /// The place whose user has this receiver; nullptr: none here.
  [[nodiscard]] LoopStation* station_of(const FrameReceiver& port) const;
  [[nodiscard]] std::size_t size() const { return stations_.size(); }
  /// All places.
  [[nodiscard]] bool is_consistent() const;
  /// At the port, while it is on the loop. nullptr removes it.
  void tap(const FrameReceiver& port, FrameTap* tap);
  /// One for frames that the port sends and one for those that it receives. nullptr removes it.
  void set_faults(const FrameReceiver& port, FrameFault* sent, FrameFault* received);

  [[nodiscard]] std::uint64_t tenancies() const { return tenancies_; }
  [[nodiscard]] std::uint64_t frames_carried() const { return frames_carried_; }
  /// Frames to an AL_PA that no port has: the OPN comes back.
  [[nodiscard]] std::uint64_t frames_returned() const { return frames_returned_; }

 private:
  friend class LoopStation;
  struct Passing {
    TimeNs arrival;
    LoopStation* to;
    LoopSignal signal;
  };
  LoopStation& join(std::unique_ptr<LoopStation> station);
  void begin_lip(LoopStation& from);
  void pass(const LoopStation& from, const LoopSignal& signal);
  void fire(TimeNs now) override;  // the next signal arrives
  [[nodiscard]] std::uint8_t highest_free() const;
  [[nodiscard]] std::size_t place_of(const LoopStation& station) const;
  // arbitration
  void wants_loop();
  void arbitrate();
  [[nodiscard]] bool may_win(const LoopStation& station) const;
  // the owner's tenancy
  [[nodiscard]] LoopStation* addressee(const LoopStation& from, const Frame& frame) const;
  void open_circuit();
  void go_on();
  void transmit();
  void frame_sent();
  void next_of_tenancy();
  void close();
  void buffer_is_free(LoopStation& station);
  // what arrives
  void arrive(FramePtr frame, LoopStation& from);
  void replicate(const Frame& frame, const LoopStation& from);
  [[nodiscard]] TimeNs round_trip() const { return config_.hop_latency_ns * static_cast<TimeNs>(stations_.size()); }
  void forget_traffic();

  Scheduler& scheduler_;
  FramePool& pool_;
  const LoopConfig config_;
  std::vector<std::unique_ptr<LoopStation>> stations_;  // in order round the loop
  std::deque<Passing> passing_;
  std::uint64_t round_ = 0;
  LoopStation* owner_ = nullptr;   // has the loop
  LoopStation* opened_ = nullptr;  // by it; nullptr: all of them, or none
  std::size_t credit_ = 0;         // of that circuit
  std::size_t frames_left_ = 0;    // of its tenancy
  std::uint64_t tenancies_ = 0, frames_carried_ = 0, frames_returned_ = 0;
  Timer<Loop, &Loop::arbitrate> arbitration_timer_{*this};
  Timer<Loop, &Loop::open_circuit> circuit_timer_{*this};
  Timer<Loop, &Loop::frame_sent> transmission_timer_{*this};
  Timer<Loop, &Loop::next_of_tenancy> tenancy_timer_{*this};
};

}  // namespace fc2
