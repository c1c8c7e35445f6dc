// The responder stream of one endpoint (FC-VI 5.2.5, 8.4, B.2.5): frames of Sends, RDMA Writes and RDMA Read requests
// into registered memory. While all comes in order, one message is open at a time. On an out-of-order fabric frames
// that overtake others begin an epoch (fcvi/epoch.hpp), in which they are placed as they come; what is missing has
// R_A_TOV (rules 4c, 5b, 6e, 7). The reliable levels deliver in order, Unreliable Delivery what is whole (8.4.1,
// VI-ARCH 2.5.1). At Reliable Reception, what comes behind a RDMA Read waits for its data to be sent.
//
// The frame path: one lookup of the target memory, one copy, one event of the machine per frame; no allocation. In an
// epoch one allocation per message, and one per frame that has to be kept.
#pragma once
#include <array>
#include <memory>
#include <utility>

#include "fc2_fabric/node/n_port.hpp"
#include "fcvi/early_frames.hpp"
#include "fcvi/endpoint.hpp"
#include "fcvi/epoch.hpp"
#include "state_machines/message_responder.hpp"
#include "state_machines/outbox.hpp"
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/message_status.hpp"
#include "wire/fcvi/reason.hpp"
#include "wire/fcvi/whole_send.hpp"

namespace fcvi {
class MessageReceiver final : private machines::message_responder::Context {
 public:
  explicit MessageReceiver(Endpoint& endpoint);
  ~MessageReceiver() override;

  void request_received(const IuFrame& iu);
  /// Frames that go on with the open message; `first`: the first of them. See fc2::FrameReceiver::receive_run.
  [[nodiscard]] std::size_t run_received(const IuFrame& first, const fc2::FrameRun& run);
  /// A frame that request_received() would take by its short cut. False: nothing has happened. Pre: it is for us.
  [[nodiscard]] bool whole_send_received(const wire::fcvi::WholeSend& send, std::span<const std::uint8_t> payload);
  void enable();             // the endpoint may receive (C.5.5)
  void resp3_received();     // messages that overtook it go on (Annex F)
  void reads_answered();     // messages that waited for read data to go out go on (VI-ARCH 6.3.1.1)
  void disable();            // the set-up made no connection
  void connection_failed();  // the endpoint went to Error
  void disconnected();       // our Disconnect was answered, or none is needed; again where two were under way
  void port_logged_out();
  /// ABTS of an open message's exchange.
  bool abort_received(wire::OxId ox_id);
  /// Frames are expected: since enable(), and no failure came.
  [[nodiscard]] bool is_enabled() const { return machines::message_responder::expects_frames(machine_); }
  [[nodiscard]] bool is_closed() const { return machine_.is<machines::message_responder::Closed>(); }
  [[nodiscard]] std::string_view state_name() const { return machine_.state_name(); }
  [[nodiscard]] bool is_consistent() const;

 private:
  using ReceiveError = machines::message_responder::ReceiveError;
  using Message = ReceivedMessage;
  using Kind = Message::Kind;
  /// It is the turn of `message`, as long as this lives.
  class Turn {
   public:
    Turn(MessageReceiver& receiver, Message& message)
        : receiver_(receiver), before_(std::exchange(receiver.message_, &message)) {}
    ~Turn() { receiver_.message_ = before_; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    MessageReceiver& receiver_;
    Message* const before_;
  };
  struct Errored {
    wire::MsgId first, last;
    runtime::TimeNs until = 0;
  };
  using ErroredRanges = std::array<Errored, 8>;
  struct Kept;
  /// What the machine's actions ask for, once it has come to rest.
  struct Effect {
    enum class Kind : std::uint8_t { FailConnection, ReleaseHandle };
    Kind kind;
    ReceiveError error;  // FailConnection
  };

  enum class Place { Past, Next, Ahead };
  [[nodiscard]] bool waits_for_reads(const wire::fcvi::DeviceHeader& header) const;
  [[nodiscard]] bool takes_straight(const wire::fcvi::DeviceHeader& header);
  [[nodiscard]] bool receive_short(const IuFrame& iu);
  [[nodiscard]] bool take_short(wire::MsgId msg_id, std::span<const std::uint8_t> payload,
                                std::optional<std::uint32_t> immediate);
  void take_frame(const IuFrame& iu);
  [[nodiscard]] Place place_of(const IuFrame& iu) const;
  void sort_frame(const IuFrame& iu);
  Kept& keep();
  void keep_frame(const IuFrame& iu);
  [[nodiscard]] bool waits_in_order() const;
  void take_early_frames();
  void go_on();
  void give_up_waiting();
  [[nodiscard]] bool is_next(wire::OxId ox_id) const;
  void refuse(ReceiveError error, bool last);
  void await_more();
  void wrong_seq_cnt();
  bool order_by_message(const IuFrame& iu);
  void first_frame(const IuFrame& iu);
  void begin_message(const IuFrame& iu, bool last);
  void next_frame(const IuFrame& iu);
  [[nodiscard]] static Message message_of(const IuFrame& iu);
  [[nodiscard]] bool fits(const IuFrame& iu) const;
  [[nodiscard]] bool belongs(const Message& message, const IuFrame& iu) const;
  [[nodiscard]] bool last_of_message(const fc2::ReceivedFrame& frame) const;
  std::optional<ReceiveError> claim();
  std::optional<ReceiveError> claim_receive();
  std::optional<ReceiveError> use_receive(const vi::ReceiveWork& work);
  bool place(std::span<const std::uint8_t> payload);
  [[nodiscard]] std::size_t place_run(const fc2::FrameRun& run, std::size_t frames);
  [[nodiscard]] bool needs_response() const { return needs_response(message_->kind == Kind::Read); }
  [[nodiscard]] bool needs_response(bool read) const;
  [[nodiscard]] bool is_before_resp2(const wire::fcvi::DeviceHeader& header) const;
  [[nodiscard]] bool stopped() const;
  [[nodiscard]] bool consumes_descriptor() const { return message_->consumes_descriptor(); }
  [[nodiscard]] std::uint32_t op_code() const;
  template <class E>
  void process(const E& event);
  template <class E>
  void process_breach(const E& event);
  void settle();
  void carry_out(Effect effect);
  void respond(wire::fcvi::MessageStatus status);
  [[nodiscard]] bool is_errored(wire::MsgId id) const;
  void remember_errored(wire::MsgId first, wire::MsgId last);
  [[nodiscard]] bool is_discarding() const;
  void timer_expired();
  void progress_timer_expired();

  // --- out-of-order fabrics: message_receiver_epochs.cpp ---------------------------------------------------------
  [[nodiscard]] bool in_epoch() const;
  void frame_in_any_order(const IuFrame& iu);
  void begin_epoch();
  void adopt_message();
  void frame_of_epoch(const IuFrame& iu);
  OpenMessage* open_message(wire::MsgId id, ReorderPool::Need need);
  [[nodiscard]] ReorderPool::Need need_to_open(const IuFrame& iu) const;
  [[nodiscard]] ReorderPool::Need need_of(const OpenMessage& open) const;
  void take_piece(OpenMessage& open, const IuFrame& iu);
  void add_piece(OpenMessage& open, const IuFrame& iu, const Arrivals::Range& piece);
  void piece_taken(OpenMessage& open);
  [[nodiscard]] bool store(OpenMessage& open, const IuFrame& iu, const Arrivals::Range& piece);
  [[nodiscard]] bool waits_for_its_end(const OpenMessage& open, const Arrivals::Range& piece) const;
  [[nodiscard]] bool hold(OpenMessage& open, const IuFrame& iu);
  void place_held(OpenMessage& open, bool end_too);
  [[nodiscard]] bool place_piece(OpenMessage& open, std::uint32_t offset, std::span<const std::uint8_t> payload);
  [[nodiscard]] bool write_remote(const OpenMessage& open, std::uint32_t offset, std::span<const std::uint8_t> payload);
  void find_target(OpenMessage& open);
  [[nodiscard]] bool waits_to_be_claimed(const OpenMessage& open) const;
  std::optional<ReceiveError> claim_of(OpenMessage& open);
  [[nodiscard]] bool claim_for(OpenMessage& open);
  void claim_in_order();
  void deliver_in_order();
  [[nodiscard]] bool is_told_now(const OpenMessage& open) const;
  [[nodiscard]] bool deliver_next(OpenMessage& open);
  void conclude(OpenMessage& open);
  [[nodiscard]] Message take_out(OpenMessage& open);
  void give_up(OpenMessage& open, machines::message_responder::Loss loss);
  void give_up_breach(OpenMessage& open);
  void give_up_missing(std::uint32_t end);
  void skip_what_is_over();
  [[nodiscard]] bool charge(OpenMessage& open, std::size_t bytes, ReorderPool::Need need);
  void no_room(const fc2::ReceivedFrame& frame);
  void discard_of_the_past(wire::MsgId id);
  [[nodiscard]] runtime::TimeNs missing_since(const OpenMessage& open) const;
  void epoch_timer_expired();
  [[nodiscard]] runtime::TimeNs oldest_missing() const;
  void give_up_overdue(runtime::TimeNs due);
  void give_up_first_overdue(runtime::TimeNs due);
  [[nodiscard]] std::vector<wire::MsgId> overdue_messages(runtime::TimeNs due) const;
  [[nodiscard]] bool abort_in_epoch(wire::OxId ox_id);
  void end_epoch();
  // Unreliable Delivery: message_receiver_unordered.cpp
  [[nodiscard]] bool find_descriptor(OpenMessage& open, const Arrivals::Range& piece);
  void deliver_whole(OpenMessage& open);
  std::optional<ReceiveError> take_descriptor(OpenMessage& open);
  [[nodiscard]] bool park(OpenMessage& open);
  [[nodiscard]] bool waits_for_descriptor(const OpenMessage& open, const Arrivals::Range& piece) const;
  void leave_descriptor(const OpenMessage& open);
  void refuse_open(OpenMessage& open, ReceiveError error);

  // machines::message_responder
  void place_data() override;
  void complete_receive() override;
  void fail_receive(ReceiveError error) override;
  void send_response() override { respond({}); }
  void refuse_message(ReceiveError error) override;
  void note_refusal(ReceiveError error) override { noted_ = error; }
  void fail_refused() override { fail_receive(noted_); }
  void conclude_refusal() override;
  void start_read_response() override;
  void expect_next_message() override;
  void mark_message_errored() override;
  void mark_messages_missing(bool with_received) override;
  void discard_frame() override;
  void fail_connection(ReceiveError error) override { outbox_.push({Effect::Kind::FailConnection, error}); }
  void start_discard_timer() override;
  void stop_discard_timer() override;
  void release_handle() override { outbox_.push({Effect::Kind::ReleaseHandle, {}}); }
  [[nodiscard]] bool reliable() const override;
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  [[nodiscard]] const Services& services() const { return endpoint_.services; }

  Endpoint& endpoint_;
  machines::message_responder::Machine machine_;
  ReceiveError noted_{};
  bool nothing_waits_ = false;                    // nor will a frame have to, before a RDMA Read comes
  fsm::Outbox<Effect, 4> outbox_;                 // two of a row, and of one that an effect caused
  std::optional<wire::fcvi::Reason> reason_;      // of that failure; by default Transport Error
  std::uint16_t expected_seq_cnt_ = 0;            // SCexp; wraps in messages of more than 65,536 frames
  wire::MsgId expected_{};                        // Mexp
  wire::MsgId came_instead_{};                    // of Mexp: a frame of this message shows the gap
  Message* message_ = nullptr;                    // whose turn it is, while it has its turn or is open
  std::unique_ptr<Message> long_message_;         // that is, or was, open between its frames: from the first on
  const fc2::ReceivedFrame* frame_ = nullptr;     // while it is processed
  const fc2::ReceivedFrame* reply_to_ = nullptr;  // the frame that a response answers, where that came before
  std::size_t placed_bytes_ = 0;
  runtime::TimeNs last_frame_at_ = 0;
  std::unique_ptr<ErroredRanges> errored_;  // Merr; from the first on
  std::unique_ptr<Kept> kept_;
  /// R_A_TOV: of the open message to go on; once the connection failed, of frames to be discarded (8.4.2 f).
  runtime::Timer<MessageReceiver, &MessageReceiver::timer_expired> timer_{*this};
};

/// What is kept of frames that could not be taken as they came: from the first on.
struct MessageReceiver::Kept {
  explicit Kept(MessageReceiver& receiver);
  [[nodiscard]] bool is_consistent() const;

  ReorderPool::Share share;  // of the port's pool
  EarlyFrames early;         // what waits in order
  Epoch epoch;               // what overtook others, and what it overtook
  runtime::Timer<MessageReceiver, &MessageReceiver::epoch_timer_expired> epoch_timer;
};

inline bool MessageReceiver::in_epoch() const { return kept_ != nullptr && kept_->epoch.active(); }
inline bool MessageReceiver::waits_in_order() const { return kept_ != nullptr && !kept_->early.empty(); }

}  // namespace fcvi
