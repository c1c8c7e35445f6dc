// A port's place on an arbitrated loop (FC-AL): its part in the initialization, and its frames. One frame waits for the
// loop; a received frame occupies a buffer.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>

#include "fc2_fabric/link/loop_user.hpp"
#include "fc2_fabric/link/receive_queue.hpp"
#include "state_machines/loop_port.hpp"
#include "state_machines/outbox.hpp"

namespace fc2 {
class Loop;

/// What the ports pass round while the loop is initialized.
struct LoopSignal {
  enum class Kind : std::uint8_t { Lip, Lism, Claim, Cls };
  Kind kind = Kind::Lip;
  std::uint64_t round = 0;      // Lip: which one
  bool from_fl_port = false;    // Lism: D_ID and S_ID 000000h: goes before every name
  wire::Wwn port_name{};        // Lism
  std::uint8_t stage = 0;       // Claim: LIFA, LIPA, LIHA, LISA
  AlPaMap claimed{};            // Claim
  bool login_required = false;  // Claim: the L_bit
};

class LoopStation final : public FrameOutput,
                          private FrameReceiver,
                          private ReadySignal,
                          private machines::loop_port::Context {
 public:
  LoopStation(Loop& loop, LoopUser& user, const LoopPlace& place);
  /// One frame waits for the loop; the next is requested when it has been sent.
  void send(FramePtr frame) override;
  /// FC-AL: R_RDYs announce credit when a circuit is opened, not the login.
  [[nodiscard]] std::uint16_t own_bb_credit() const override { return 0; }
  [[nodiscard]] bool alternate_bb_credit() const override { return true; }

  [[nodiscard]] bool participating() const { return machine_.is<machines::loop_port::Monitoring>(); }
  [[nodiscard]] bool initializing() const {
    namespace lp = machines::loop_port;
    return machine_.is_any_of<lp::SelectingMaster, lp::Master, lp::Claiming>();
  }
  [[nodiscard]] bool is_master() const { return was_master_; }
  [[nodiscard]] std::uint8_t al_pa() const { return al_pa_; }  // while participating
  /// Frames that may be sent to it now: the R_RDYs that it would send when opened.
  [[nodiscard]] std::size_t free_buffers() const;
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  /// It is not opened until it proceeds: its owner has no room.
  void refuse() { refuses_ = true; }
  void proceed();
  [[nodiscard]] std::uint64_t unexpected_events() const { return unexpected_events_; }
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;

 private:
  friend class Loop;
  /// What is left to do when the machine has come to rest.
  enum class Effect : std::uint8_t { TellInterrupted, TakePart };
  static constexpr std::uint8_t stages = 4;
  void signal_received(const LoopSignal& signal);
  template <class E>
  void process(const E& event);
  void settle();
  void carry_out(Effect effect);
  void take_part(AlPaMap& claimed, std::uint8_t stage);
  bool claim_soft(AlPaMap& claimed);
  bool claim_address(AlPaMap& claimed, std::uint8_t al_pa);
  void note_claims(const LoopSignal& signal);
  /// A frame of this port has reached the port that was opened.
  void receive(FramePtr frame) override;
  void send_r_rdy() override;

  // machines::loop_port
  void forward() override;
  void send_lism() override;
  void send_claim() override;
  void claim() override;
  void send_cls() override;
  void forget_claim() override;
  void report_interrupted() override { effects_.push(Effect::TellInterrupted); }
  void report_participating() override { effects_.push(Effect::TakePart); }
  [[nodiscard]] bool claims_left() const override { return current_.stage + 1 < stages; }
  [[nodiscard]] bool has_al_pa() const override { return claimed_; }
  void on_row(const fsm::Row& row) override { fsm::tell(user_.row_listener(), row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override { ++unexpected_events_; }

  Loop& loop_;
  LoopUser& user_;
  std::unique_ptr<LoopUser> own_user_;  // where the loop owns it
  LoopPlace place_;
  machines::loop_port::Machine machine_;
  LoopSignal current_;  // while its event is processed
  LoopState state_;
  std::uint64_t last_round_ = 0;  // the LIP that we saw
  std::uint8_t al_pa_ = 0;        // 0: never had one, or a FL_Port's
  bool claimed_ = false;
  bool was_master_ = false;
  fsm::Outbox<Effect, 2> effects_;
  FramePtr frame_;                 // waits for the loop
  bool waits_for_others_ = false;  // fairness: had the loop since all others had
  bool refuses_ = false;
  Channel sent_;  // to the far end of the circuit, and ...
  ReceiveQueue queue_;
  ReceiveBuffersPtr buffers_;  // none: as many as are asked for
  Channel received_;           // ... into the port: taps and faults are on these
  std::uint64_t unexpected_events_ = 0;
};

}  // namespace fc2
