// The responder stream of one endpoint (FC-VI 5.2.5, 8.4, B.2.5): frames of Sends, RDMA Writes and RDMA Read requests
// into registered memory. One message is open at a time; on an out-of-order fabric frames that overtook others wait for
// them, R_A_TOV at most (rules 4c, 5b, 6e, 7). At Reliable Reception, what comes behind a RDMA Read waits for its data to be sent.
//
// The frame path: one lookup of the target memory, one copy, one event of the machine per frame; no allocation.
#pragma once
#include <array>
#include <memory>

#include "fc2_fabric/n_port.hpp"
#include "fcvi/early_frames.hpp"
#include "state_machines/message_responder.hpp"
#include "vi/vi.hpp"
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/message_status.hpp"
#include "wire/fcvi/reason.hpp"

namespace fcvi {
class Connection;

class MessageReceiver final : private machines::message_responder::Context {
 public:
  explicit MessageReceiver(Connection& connection);
  ~MessageReceiver() override;

  void request_received(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& header,
                        std::span<const std::uint8_t> payload);
  void enable();              // the endpoint may receive (C.5.5)
  void resp3_received();      // messages that overtook it go on (Annex F)
  void reads_answered();      // messages that waited for read data to go out go on (VI-ARCH 6.3.1.1)
  void disable();             // the set-up made no connection
  void connection_failed();   // the endpoint went to Error
  void disconnected();        // our Disconnect was answered, or none is needed; again where two were under way
  void port_logged_out();
  /// ABTS of an open message's exchange.
  bool abort_received(wire::OxId ox_id);
  /// FCVI_MSG_ID of the last message that was completed here (6.12.2); 0 before the first.
  [[nodiscard]] wire::MsgId last_completed() const { return last_completed_.value_or(wire::MsgId{0}); }
  /// Of an RDMA Read: its data are out.
  void message_completed(wire::MsgId id);
  [[nodiscard]] bool is_closed() const { return machine_.is<machines::message_responder::Closed>(); }
  [[nodiscard]] std::string_view state_name() const { return machine_.state_name(); }

 private:
  using ReceiveError = machines::message_responder::ReceiveError;
  enum class Kind : std::uint8_t { Send, Write, WriteImmediate, Read };
  /// The open message; its request stands in each of its frames.
  struct Message {
    Kind kind = Kind::Send;
    bool has_receive = false;             // `receive` is claimed
    vi::ReceiveWork receive;
    wire::fcvi::DeviceHeader header;
    wire::OxId ox_id{};
    std::uint64_t bytes_received = 0;
  };
  struct Errored { wire::MsgId first, last; fc2::TimeNs until = 0; };
  using ErroredRanges = std::array<Errored, 8>;

  enum class Place { Past, Next, Ahead };
  [[nodiscard]] bool waits_for_reads(const wire::fcvi::DeviceHeader& header) const;
  [[nodiscard]] bool takes_straight(const wire::fcvi::DeviceHeader& header);
  void take_frame(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& header,
                  std::span<const std::uint8_t> payload);
  [[nodiscard]] Place place_of(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& header) const;
  void sort_frame(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& header,
                  std::span<const std::uint8_t> payload);
  void keep_frame(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& header);
  void take_early_frames();
  void epoch_timer_expired();
  void give_up_missing();
  void give_up_waiting();
  [[nodiscard]] bool is_next(wire::OxId ox_id) const;
  void refuse(ReceiveError error, bool last);
  void await_more();
  bool order_by_message(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& header);
  void first_frame(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& header,
                   std::span<const std::uint8_t> payload);
  void next_frame(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& header,
                  std::span<const std::uint8_t> payload);
  [[nodiscard]] bool fits(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& header,
                          std::size_t payload_bytes) const;
  [[nodiscard]] bool last_of_message(const fc2::ReceivedFrame& frame) const;
  std::optional<ReceiveError> claim();
  std::optional<ReceiveError> claim_receive();
  bool place(std::span<const std::uint8_t> payload);
  [[nodiscard]] bool needs_response() const { return needs_response(message_.kind == Kind::Read); }
  [[nodiscard]] bool needs_response(bool read) const;
  [[nodiscard]] bool is_before_resp2(const wire::fcvi::DeviceHeader& header) const;
  [[nodiscard]] bool stopped() const;
  [[nodiscard]] bool consumes_descriptor() const { return message_.kind == Kind::Send || message_.kind == Kind::WriteImmediate; }
  [[nodiscard]] std::uint32_t op_code() const;
  template <class E> void process(const E& event);
  template <class E> void process_breach(const E& event);
  void settle();
  void respond(wire::fcvi::MessageStatus status);
  [[nodiscard]] bool is_errored(wire::MsgId id) const;
  void remember_errored(wire::MsgId first, wire::MsgId last);
  void discard_timer_expired();
  void progress_timer_expired();

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
  void fail_connection(ReceiveError error) override { failure_ = error; }
  void start_discard_timer() override;
  void stop_discard_timer() override;
  void release_handle() override { released_ = true; }
  [[nodiscard]] bool reliable() const override;
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  Connection& connection_;
  machines::message_responder::Machine machine_;
  wire::MsgId expected_{};                     // Mexp
  std::uint16_t expected_seq_cnt_ = 0;         // SCexp; wraps in messages of more than 65,536 frames
  std::optional<wire::MsgId> last_completed_;
  Message message_;
  const fc2::ReceivedFrame* frame_ = nullptr;  // while it is processed
  std::size_t placed_bytes_ = 0;
  ReceiveError noted_{};
  std::optional<ReceiveError> failure_;        // set by effects, consumed by settle()
  std::optional<wire::fcvi::Reason> reason_;   // of that failure; by default Transport Error
  bool released_ = false;
  fc2::TimeNs last_frame_at_ = 0;
  std::unique_ptr<ErroredRanges> errored_;     // Merr; from the first on
  fc2::Timer<MessageReceiver, &MessageReceiver::discard_timer_expired> discard_timer_{*this};
  fc2::Timer<MessageReceiver, &MessageReceiver::progress_timer_expired> progress_timer_{*this};
  bool nothing_waits_ = false;                 // nor will a frame have to, before a RDMA Read comes
  EarlyFrames early_;                          // the epoch of rules 4c and 6e
  fc2::Timer<MessageReceiver, &MessageReceiver::epoch_timer_expired> epoch_timer_{*this};
};

}  // namespace fcvi
