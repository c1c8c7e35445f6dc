// One Exchange of an N_Port (FC-FS), as its originator or its responder.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/frame/frame.hpp"
#include "fc2_fabric/frame/time.hpp"
#include "state_machines/exchange.hpp"
#include "state_machines/sequence.hpp"
#include "wire/fc_header.hpp"

namespace fc2 {
class Exchange;
class NPort;
class RemotePort;
struct ReceivedFrame;
struct SentSequence;

/// Why an exchange ended that its user had not finished.
enum class ExchangeFailure {
  ReplyTimeout,   // no reply within the time that request() was given; ABTS was sent
  AbortedByPeer,  // ABTS received
  SequenceError,  // a frame of an IU is missing or out of order; ABTS was sent (originator) or the IU discarded
  PortLoggedOut,  // implicit or explicit logout, link down
  // Class 2 (FC-VI B.2.6.1 rules 8a, 8c, 8d, 8e); ABTS was sent
  Busy,             // F_BSY or P_BSY on an in-order fabric
  Rejected,         // F_RJT or P_RJT
  AbortDemanded,    // ACK with "Abort Sequence, Perform ABTS"
  NotAcknowledged,  // no ACK within E_D_TOV
};
const char* to_string(ExchangeFailure failure);

/// Who uses exchanges: a FC-4, link services, one remote port's login. Calls come from NPort::receive or a timer; a
/// user may originate, send on and release exchanges inside them.
class ExchangeUser {
 public:
  /// A whole IU of up to NPort's limit: the optional device header, then the payload. `exchange` may be a new one.
  virtual void sequence_received(Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) = 0;
  /// The exchange is over for the user; it is released after this call.
  virtual void exchange_failed(Exchange& exchange, ExchangeFailure failure) = 0;
  /// Class 2: the sequence that was sent last is closed (FC-VI 5.5). The exchange may be over with it.
  virtual void sequence_acknowledged(Exchange& /*exchange*/) {}
  /// An abort that asked for it is over: answered, or given up (NPort::abort_and_report). The exchange is not the
  /// user's.
  virtual void abort_finished() {}

 protected:
  ~ExchangeUser() = default;
};

/// An FC-4 whose data frames go straight to it, one by one (FC-VI 5.1: "specialized data transfer hardware assists").
class DataFrameUser : public ExchangeUser {
 public:
  /// An in-range frame of R_CTL 01h, 06h or 07h. No exchange is opened for it; see NPort::open_for_reply.
  virtual void data_frame_received(const ReceivedFrame& frame) = 0;
  /// ABTS for an exchange that only the FC-4 knows (its data frames come here). True if it was one.
  virtual bool abort_received(wire::FcId source, wire::OxId ox_id) = 0;

 protected:
  ~DataFrameUser() = default;
};

/// A frame as data_frame_received gets it: header parsed, fill bytes taken off.
struct ReceivedFrame {
  wire::FcHeader header;
  std::span<const std::uint8_t> data_field;
  bool first_of_sequence = false;  // SOFi3, SOFi2
  bool last_of_sequence = false;   // EOFt; class 2: End_Sequence
  bool class_2 = false;
  FramePtr* owner = nullptr;  // who must keep the frame takes it from here, and makes it leave its place
};

/// What a sequence does to its exchange (FC-FS F_CTL 20, 16).
struct SequenceEnd {
  bool last_of_exchange = false;
  bool transfer_initiative = false;
};

/// Slots of an N_Port, used again and again. The machines' effects are collected and carried out when the machine has
/// come to rest, so that a user may do with the exchange whatever it likes from inside its callbacks.
class Exchange final : private Event, private machines::exchange::Context, private machines::sequence::Context {
 public:
  Exchange(NPort& port, std::uint16_t slot);
  ~Exchange() override;

  [[nodiscard]] wire::OxId ox_id() const { return ox_id_; }
  [[nodiscard]] wire::RxId rx_id() const { return rx_id_; }
  [[nodiscard]] wire::FcId peer() const { return peer_; }
  [[nodiscard]] bool is_originator() const { return originator_; }
  [[nodiscard]] wire::Type type() const { return type_; }
  [[nodiscard]] NPort& port() { return port_; }
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

 private:
  friend class NPort;
  friend class RemotePort;
  friend class SequenceSender;
  enum class TimerUse : std::uint8_t { None, Reply, Sequence, Abort, Quarantine, Linger, Acknowledge };

  void open(bool originator, wire::FcId local, wire::FcId peer, wire::Type type, ExchangeUser* user);
  void frame_received(const ReceivedFrame& frame);
  [[nodiscard]] bool in_order(const ReceivedFrame& frame) const;
  [[nodiscard]] bool is_duplicate(const ReceivedFrame& frame) const;
  [[nodiscard]] bool is_foreign(const ReceivedFrame& frame) const;
  // out-of-order fabrics (out_of_order.cpp)
  [[nodiscard]] bool makes_whole(const ReceivedFrame& frame) const;
  void keep_early(const ReceivedFrame& frame);
  void take_early();
  void append(const ReceivedFrame& frame);
  [[nodiscard]] bool take_room(std::size_t bytes);
  void give_room(std::size_t bytes);
  void refuse_iu(Discard reason);
  void fail_sequence();
  void drop_assembly();
  void sequence_received(const ReceivedFrame& frame);
  void supersede();  // the originator uses its OX_ID anew: for it this exchange is over
  void sequence_sent(SequenceEnd end);
  /// Feeds the exchange machine, then carries out what its effects asked for.
  template <class E>
  void process(const E& event);
  void settle();
  void abandon(ExchangeFailure failure);  // tells the user, then aborts
  // class 2 (class_2.cpp)
  void frame_stamped(const Frame& frame, const wire::FcHeader& header, bool ack_0);
  void frame_sent(bool takes_credit);
  void sequence_ended(SequenceEnd end);
  void link_control_received(const wire::FcHeader& header);
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
  void forget_remote();
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
  void request_port_logout() override { log_out_ = true; }
  void release() override { released_ = true; }
  void count_stale() override;
  [[nodiscard]] bool logs_out_silent_port() const override;
  // machines::sequence
  void deliver() override;
  void report_sequence() override { sequence_complete_ = true; }
  void report_sequence_error(machines::sequence::SequenceError error) override;
  void start_sequence_timer() override;
  void start_missing_frame_timer() override;
  void stop_timer() override { start_timer(TimerUse::None, 0); }
  [[nodiscard]] bool out_of_order_fabric() const override;
  // both
  void discard_frame() override;
  void unexpected(std::string_view machine, std::string_view state, std::string_view event) override;

  NPort& port_;
  const std::uint16_t slot_;
  machines::exchange::Machine machine_;
  machines::sequence::Machine sequence_;
  TimerUse timer_use_ = TimerUse::None;
  bool in_use_ = false;
  Exchange* next_free_ = nullptr;  // NPort's list
  bool originator_ = false;
  bool class_2_ = false;
  bool first_sequence_sent_ = false;
  // set by effects, consumed by settle()
  bool released_ = false, log_out_ = false, sequence_complete_ = false, sequence_failed_ = false;
  bool failed_ = false, abort_over_ = false;
  ExchangeFailure failure_{};

  ExchangeUser* user_ = nullptr;
  ExchangeUser* abort_listener_ = nullptr;
  wire::FcId local_{}, peer_{};
  wire::OxId ox_id_{};
  wire::RxId rx_id_ = wire::RxId::unassigned;
  wire::Type type_{};
  std::uint16_t send_seq_cnt_ = 0;     // per initiator, continuously increasing over the exchange (FC-VI 5.6)
  std::uint16_t receive_seq_cnt_ = 0;  // next expected
  wire::SeqId receive_seq_id_{};
  wire::SeqId last_seq_id_{};
  std::uint64_t responder_key_ = 0;         // how NPort finds it
  const ReceivedFrame* current_ = nullptr;  // while a frame is processed
  bool current_in_order_ = false;
  wire::FcHeader first_header_;
  const wire::FcHeader* abts_ = nullptr;
  std::vector<std::uint8_t> assembly_;  // of IUs of several frames
  bool assembling_ = false;             // the first frame of an IU is there, the last is not
  bool iu_refused_ = false;             // it was too long, or there was no room for it
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
  RemotePort* remote_ = nullptr;           // see remote()
  RemotePort* seq_id_owner_ = nullptr;     // gets last_seq_id_ back
  std::size_t* opened_by_peer_ = nullptr;  // a responder's: where NPort counts it
  TimeNs reply_due_ = never;
};

}  // namespace fc2
