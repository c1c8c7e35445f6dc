// A private arbitrated loop (FC-AL) with up to 126 N_Ports of this program. A LIP, when a port joins or leaves or somebody
// asks, has every port claim an AL_PA anew; between LIPs one port at a time has the loop, and gives it to every other that
// wants it before it has it again.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "fc2_fabric/al_pa.hpp"
#include "fc2_fabric/channel.hpp"
#include "fc2_fabric/n_port.hpp"
#include "state_machines/loop_port.hpp"
#include "wire/bytes.hpp"

namespace fc2 {
class Loop;

struct LoopConfig {
  TimeNs hop_latency_ns = 100;         // from one port to the next
  std::uint64_t bytes_per_second = 0;  // 0: no limit
  std::size_t frames_per_tenancy = 8;  // then others have their turn
};

/// What goes round while the loop is initialized.
struct LoopSignal {
  enum class Kind : std::uint8_t { Lip, Lism, Claim, Cls };
  Kind kind = Kind::Lip;
  std::uint64_t round = 0;     // Lip: which one
  wire::Wwn port_name{};       // Lism
  std::uint8_t stage = 0;      // Claim: LIFA, LIPA, LIHA, LISA
  AlPaMap claimed{};           // Claim
};

/// A N_Port's place on the loop.
class LoopStation final : public FrameOutput, private machines::loop_port::Context {
 public:
  LoopStation(Loop& loop, NPort& port, std::uint8_t hard_address) : loop_(loop), port_(port), hard_address_(hard_address) {
    pause(Pause::Link);
  }
  void send(FramePtr frame) override;

  [[nodiscard]] NPort& port() { return port_; }
  [[nodiscard]] bool participating() const { return machine_.is<machines::loop_port::Monitoring>(); }
  [[nodiscard]] bool is_master() const { return was_master_; }
  [[nodiscard]] std::uint8_t al_pa() const { return al_pa_; }  // while participating
  [[nodiscard]] std::uint64_t unexpected_events() const { return unexpected_events_; }

 private:
  friend class Loop;
  static constexpr std::uint8_t stages = 4;
  void receive(const LoopSignal& signal);
  template <class E> void process(const E& event);
  void settle();
  void take_part(AlPaMap& claimed, std::uint8_t stage);
  bool claim_address(AlPaMap& claimed, std::uint8_t al_pa);

  // machines::loop_port
  void forward() override;
  void send_lism() override;
  void send_claim() override;
  void claim() override { take_part(current_.claimed, current_.stage); }
  void send_cls() override;
  void forget_claim() override;
  void report_interrupted() override { interrupted_ = true; }
  void report_participating() override { participates_ = true; }
  [[nodiscard]] bool claims_left() const override { return current_.stage + 1 < stages; }
  [[nodiscard]] bool has_al_pa() const override { return claimed_; }
  void unexpected(std::string_view, std::string_view, std::string_view) override { ++unexpected_events_; }

  Loop& loop_;
  NPort& port_;
  const std::uint8_t hard_address_;  // 0: none
  machines::loop_port::Machine machine_;
  LoopSignal current_;               // while its event is processed
  std::uint64_t last_round_ = 0;     // the LIP that we saw
  std::uint8_t al_pa_ = 0;           // 0: never had one
  bool claimed_ = false;
  bool was_master_ = false;
  bool interrupted_ = false, participates_ = false;  // set by effects, consumed by settle()
  FramePtr frame_;                   // waits for the loop
  bool waits_for_others_ = false;    // fairness: had the loop since all others had
  FrameTap* tap_ = nullptr;
  std::uint64_t unexpected_events_ = 0;
};

class Loop final : private Event {
 public:
  static constexpr std::size_t max_stations = al_pas.size() - 1;

  Loop(Scheduler& scheduler, FramePool& pool, LoopConfig config) : scheduler_(scheduler), pool_(pool), config_(config) {}
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Joins after the last one, which makes a LIP. A hard address is claimed before all soft ones; 0: none. One that finds
  /// no AL_PA stays on the loop, and tries again at the next LIP. The port must outlive its place.
  LoopStation& attach(NPort& port, std::uint8_t hard_address = 0);
  /// Leaves: everything of the port ends; the others see a LIP.
  void detach(NPort& port);
  /// `port` asks for the initialization of the loop.
  void lip(NPort& port);
  [[nodiscard]] LoopStation* station_of(const NPort& port) const;
  [[nodiscard]] std::size_t size() const { return stations_.size(); }
  void tap(NPort& port, FrameTap* tap);

  [[nodiscard]] std::uint64_t tenancies() const { return tenancies_; }
  [[nodiscard]] std::uint64_t frames_carried() const { return frames_carried_; }
  /// Frames to an AL_PA that nobody has: the OPN comes back.
  [[nodiscard]] std::uint64_t frames_returned() const { return frames_returned_; }

 private:
  friend class LoopStation;
  struct Flying { FramePtr frame; LoopStation* from; };
  struct Passing { TimeNs arrival; LoopStation* to; LoopSignal signal; };
  void begin_lip(LoopStation& from);
  void pass(const LoopStation& from, const LoopSignal& signal);
  void fire(TimeNs now) override;  // the next signal arrives
  [[nodiscard]] std::size_t place_of(const LoopStation& station) const;
  // arbitration
  void wants_loop();
  void arbitrate();
  void transmit();
  void frame_sent();
  void next_of_tenancy();
  void deliver_next();
  void broadcast(const Flying& next);
  void deliver(FramePtr frame, LoopStation& to);
  [[nodiscard]] TimeNs round_trip() const { return config_.hop_latency_ns * static_cast<TimeNs>(stations_.size()); }
  void forget_traffic();

  Scheduler& scheduler_;
  FramePool& pool_;
  const LoopConfig config_;
  std::vector<std::unique_ptr<LoopStation>> stations_;  // in order round the loop
  std::deque<Passing> passing_;
  std::uint64_t round_ = 0;
  LoopStation* owner_ = nullptr;      // has the loop
  std::size_t frames_left_ = 0;       // of its tenancy
  std::deque<Flying> flying_;         // in order of arrival
  std::uint64_t tenancies_ = 0, frames_carried_ = 0, frames_returned_ = 0;
  Timer<Loop, &Loop::arbitrate> arbitration_timer_{*this};
  Timer<Loop, &Loop::frame_sent> transmission_timer_{*this};
  Timer<Loop, &Loop::next_of_tenancy> tenancy_timer_{*this};
  Timer<Loop, &Loop::deliver_next> delivery_timer_{*this};
};

}  // namespace fc2
