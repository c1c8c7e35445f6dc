// One Exchange of an N_Port (FC-FS), as its originator or its responder.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/node/exchange_user.hpp"
#include "fc2_fabric/node/fc4.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "state_machines/exchange.hpp"
#include "state_machines/outbox.hpp"
#include "state_machines/sequence.hpp"
#include "wire/fc_header.hpp"

namespace fc2 {
class ExchangeTable;
struct SentSequence;

/// Slots of an N_Port, used again and again. The machines' effects are collected and carried out when the machine has
/// come to rest, so that a user may do with the exchange whatever it likes from inside its callbacks.
class Exchange final : private CreditUser, private machines::exchange::Context, private machines::sequence::Context {
 public:
  Exchange(ExchangeTable& table, std::uint16_t slot);
  ~Exchange() override;

  [[nodiscard]] wire::OxId ox_id() const { return ox_id_; }
  [[nodiscard]] wire::RxId rx_id() const { return rx_id_; }
  [[nodiscard]] wire::FcId peer() const { return peer_; }
  [[nodiscard]] bool is_originator() const { return originator_; }
  [[nodiscard]] wire::Type type() const { return fc4_.type; }
  [[nodiscard]] bool repeats_device_header() const { return fc4_.repeats_device_header; }
  [[nodiscard]] NPort& port() const { return services().port(); }
  /// We may send: the Sequence Initiative is ours.
  [[nodiscard]] bool has_initiative() const { return machine_.is<machines::exchange::OpenInitiative>(); }
  /// Not over yet: it has to be finished, aborted or released.
  [[nodiscard]] bool is_open() const { return !machine_.is<machines::exchange::Closed>(); }
  /// An F_Port answers FLOGI to the address that it grants.
  void redirect(wire::FcId peer) { peer_ = peer, forget_remote(); }
  /// Another user goes on with it.
  void hand_over(ExchangeUser& user) { user_ = &user; }
  /// Its sequences go in class 2. Before the first is sent.
  void use_class_2();
  [[nodiscard]] bool is_class_2() const { return class_2_; }
  /// Class 2: some frame that was sent is not acknowledged; the next sequence has to wait.
  [[nodiscard]] bool awaits_acknowledgement() const;
  /// Something came back that the peer sends only when it has everything: all ACKs that did not come are taken for
  /// granted.
  void all_acknowledged();
  void* context = nullptr;  // the user's
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;

  // --- for the parts of the N_Port -----------------------------------------------------------------------------
  /// A frame of it; `frame` is good for the call.
  void frame_received(const ReceivedFrame& frame);
  /// ACK, busy or reject to a frame that it sent.
  void link_control_received(const wire::FcHeader& header);
  void abts_received(const wire::FcHeader& abts);
  /// BA_ACC or BA_RJT to its ABTS.
  void abort_answered(bool accepted);
  [[nodiscard]] bool was_aborted_by_peer() const { return machine_.is<machines::exchange::QuarantinedByPeer>(); }
  /// That sequence began last. Its first frame again is a duplicate.
  [[nodiscard]] bool is_receiving(wire::SeqId id) const { return receive_seq_id_ == id; }
  /// The user hears exchange_failed(ReplyTimeout) unless an IU comes back in time.
  void expect_reply(TimeNs timeout) { start_timer(TimerUse::Reply, timeout); }
  /// As RemotePort knows it.
  [[nodiscard]] CreditUser& credit_user() { return *this; }

 private:
  friend class ExchangeTable;   // makes it, opens it, gets it back
  friend class SequenceSender;  // its frames' headers and counts
  /// What is left to do when the machines have come to rest.
  enum class Effect : std::uint8_t {
    TakeSequence,    // it is whole, with current_
    RefuseSequence,  // its IU is too long, or there is no room for it
    FailSequence,
    TellUser,      // the exchange failed
    LogPortOut,    // second-level recovery
    TellListener,  // the abort is over
    Recycle,
  };
  enum class TimerUse : std::uint8_t { None, Reply, Sequence, Abort, Quarantine, Linger, Acknowledge };

  void open(bool originator, wire::FcId local, wire::FcId peer, const Fc4& fc4, ExchangeUser* user);
  [[nodiscard]] const PortServices& services() const;
  [[nodiscard]] bool in_order(const ReceivedFrame& frame) const;
  [[nodiscard]] bool is_duplicate(const ReceivedFrame& frame) const;
  [[nodiscard]] bool is_foreign(const ReceivedFrame& frame) const;
  // out-of-order fabrics (out_of_order.cpp)
  [[nodiscard]] bool makes_whole(const ReceivedFrame& frame) const;
  void keep_early(const ReceivedFrame& frame);
  void take_early();
  bool append(const ReceivedFrame& frame);
  [[nodiscard]] bool take_room(std::size_t bytes);
  void give_room(std::size_t bytes);
  void refuse_iu(Discard reason);
  void fail_sequence();
  void drop_assembly();
  void sequence_received(const ReceivedFrame& frame);
  [[nodiscard]] bool is_at_rest() const;
  void supersede();  // the originator uses its OX_ID anew: for it this exchange is over
  void sequence_sent(SequenceEnd end);
  /// Feeds the exchange machine, then carries out what its effects asked for.
  template <class E>
  void process(const E& event);
  void settle();
  void carry_out(Effect effect);
  void fail(ExchangeFailure failure);
  void abandon(ExchangeFailure failure);  // tells the user, then aborts
  // class 2 (class_2.cpp)
  void frame_stamped(const Frame& frame, const wire::FcHeader& header, bool ack_0);
  void frame_sent(bool takes_credit) override;
  void sequence_ended(SequenceEnd end);
  void acknowledged(const wire::FcHeader& header);
  void rejected(const wire::FcHeader& header);
  void busied(const wire::FcHeader& header);
  void send_busied_again();
  void acknowledgement_due();
  void return_credit(std::uint32_t count);
  void forget_credit();
  void forget_sequence();
  /// Frames of a sequence are out that is not closed: until it is, or was recovered after an error, its SEQ_ID rests
  /// (FC-VI 5.5).
  void keep_seq_id(RemotePort& owner) { seq_id_owner_ = &owner; }
  /// In use from here on.
  [[nodiscard]] RemotePort* remote();
  void forget_remote() { remote_ = {}; }
  void resume_reply_timer();
  void start_timer(TimerUse use, TimeNs delay);
  void fire(TimeNs now) override;
  [[nodiscard]] wire::FcHeader header(wire::RCtl r_ctl, wire::Type type) const;  // addressed, ids set

  // machines::exchange
  void send_abts() override;
  void send_ba_acc() override;
  void send_rrq() override {}  // both sides let the ids rest for R_A_TOV instead (FC-FS allows it)
  void start_abort_timer() override;
  void stop_abort_timer() override { start_timer(TimerUse::None, 0); }
  void start_quarantine_timer() override;
  void stop_quarantine_timer() override { start_timer(TimerUse::None, 0); }
  void report_aborted(machines::exchange::AbortCause cause) override;
  void request_port_logout() override { effects_.push(Effect::LogPortOut); }
  void release() override { effects_.push(Effect::Recycle); }
  void count_stale() override;
  [[nodiscard]] bool logs_out_silent_port() const override;
  // machines::sequence
  void deliver() override;
  void report_sequence() override;
  void report_sequence_error(machines::sequence::SequenceError error) override;
  void start_sequence_timer() override;
  void start_missing_frame_timer() override;
  void stop_timer() override { start_timer(TimerUse::None, 0); }
  [[nodiscard]] bool out_of_order_fabric() const override;
  // both
  void on_row(const fsm::Row& row) override;
  void discard_frame() override;
  void unexpected(std::string_view machine, std::string_view state, std::string_view event) override;

  ExchangeTable& table_;
  const std::uint16_t slot_;
  machines::exchange::Machine machine_;
  machines::sequence::Machine sequence_;
  TimerUse timer_use_ = TimerUse::None;
  bool in_use_ = false;            // not on the table's list of free ones
  Exchange* next_free_ = nullptr;  // ExchangeTable's list
  bool originator_ = false;
  bool class_2_ = false;              // of its first frame
  bool first_sequence_sent_ = false;  // F_CTL First_Sequence is for the first alone
  ExchangeFailure failure_{};         // what Effect::TellUser tells
  fsm::Outbox<Effect, 6> effects_;

  ExchangeUser* user_ = nullptr;
  ExchangeUser* abort_listener_ = nullptr;
  wire::FcId local_{}, peer_{};
  wire::OxId ox_id_{};
  wire::RxId rx_id_ = wire::RxId::unassigned;
  Fc4 fc4_;
  std::uint16_t send_seq_cnt_ = 0;     // per initiator, continuously increasing over the exchange (FC-VI 5.6)
  std::uint16_t receive_seq_cnt_ = 0;  // next expected
  wire::SeqId receive_seq_id_{};
  wire::SeqId last_seq_id_{};
  std::uint64_t responder_key_ = 0;         // how the table finds it
  const ReceivedFrame* current_ = nullptr;  // while a frame is processed
  bool current_in_order_ = false;           // ... and is the next one of an IU
  wire::FcHeader first_header_;
  const wire::FcHeader* abts_ = nullptr;
  std::vector<std::uint8_t> assembly_;  // of IUs of several frames
  bool assembling_ = false;             // the first frame of an IU is there, the last is not
  std::uint32_t last_f_ctl_ = 0;        // of the last frame
  /// Frames of the open sequence that overtook others, in order of SEQ_CNT.
  struct EarlyFrame {
    ReceivedFrame received;  // its data field is `bytes`
    std::vector<std::uint8_t> bytes;
  };
  std::vector<EarlyFrame> early_;
  std::size_t early_bytes_ = 0;
  std::size_t room_taken_ = 0;             // of NPortConfig::max_assembled_bytes
  std::unique_ptr<SentSequence> sent_;     // from its first use in class 2
  PortUse remote_;                         // see remote()
  RemotePort* seq_id_owner_ = nullptr;     // gets last_seq_id_ back
  std::size_t* opened_by_peer_ = nullptr;  // a responder's: where it is counted
  TimeNs reply_due_ = never;
};

}  // namespace fc2
