// The requestor stream of one endpoint (FC-VI 5.2): send descriptors into IUs into frames, and the answers to them.
//
// The frame path. next_frame() is called when the link can take a frame; it copies once, from registered memory into
// the frame, allocates nothing and calls the message's machine only where a message begins or ends. Read data is placed
// as it comes; on an out-of-order fabric the first frame that overtook another allocates the book of what is here.
#pragma once
#include <array>
#include <boost/circular_buffer.hpp>
#include <memory>

#include "fc2_fabric/node/n_port.hpp"
#include "fc2_fabric/node/sequence_sender.hpp"
#include "fcvi/arrivals.hpp"
#include "fcvi/endpoint.hpp"
#include "fcvi/iu_frame.hpp"
#include "fcvi/message_numbers.hpp"
#include "fcvi/reorder_pool.hpp"
#include "fcvi/scattered_data.hpp"
#include "state_machines/message_originator.hpp"
#include "state_machines/outbox.hpp"
#include "wire/fcvi/message_request.hpp"

namespace fcvi {
class MessageSender final : public fc2::FrameSource,
                            private fc2::RunReader,
                            private machines::message_originator::Context,
                            private fc2::ExchangeUser {
 public:
  explicit MessageSender(Endpoint& endpoint);
  ~MessageSender() override;

  /// There may be something to send.
  void wake();
  /// A SEND_RESP, WRITE_RESP or READ_RESP frame for this endpoint (FQMID with exchange context 1, 5.2.5).
  void response_received(const IuFrame& iu);
  /// RESP3 came: messages that were done before may complete (C.5.5).
  void clear_to_send();
  /// Reliable Reception: a message up to this one, which the peer says that it completed (6.12.2), still waits for its
  /// answer.
  [[nodiscard]] bool awaits_answers(wire::MsgId last) const;
  /// Nothing is sent any more.
  void stop_sending();
  /// The endpoint left Connected: everything open is aborted and flushed.
  void connection_ended();
  [[nodiscard]] bool is_consistent() const;

 private:
  /// Read data that came in another order than it was sent (FC-VI 8.4.1 d).
  struct ReadPieces {
    Arrivals arrivals;
    ScatteredData data;
  };
  struct Message {
    machines::message_originator::Machine machine;
    vi::SendWork work;
    wire::MsgId msg_id{};
    fc2::Exchange* exchange = nullptr;                // ours while it is open
    std::uint64_t bytes_moved = 0;                    // sent, or (RDMA Read) received
    std::uint16_t read_seq_cnt = 0;                   // next expected of the READ_RESP frames
    std::unique_ptr<ReadPieces> pieces = {};          // from the first frame on that overtook another
    runtime::TimeNs deadline = runtime::never;        // of its response
    machines::message_originator::Completion held{};  // not Success: it failed, and its turn to say so is still to come
  };

  using Verdict = machines::message_originator::Completion;
  static constexpr std::size_t device_header_bytes = 32;
  struct Pipeline;

  // fc2::FrameSource
  Next next_frame(fc2::Frame& frame) override;
  Next next_of_any(fc2::Frame& frame);
  [[nodiscard]] wire::FcId destination() const override { return endpoint_.peer_port; }
  [[nodiscard]] std::size_t send_run(fc2::FrameOutput& output, std::size_t most) override;
  [[nodiscard]] std::size_t frames_of_run(const Message& message, std::size_t most) const;
  // fc2::RunReader
  [[nodiscard]] bool read(std::span<std::uint8_t> to, const std::uint8_t* from) const override;
  enum class Begun : std::uint8_t { Nothing, Message, SentWhole };
  Begun start_next(fc2::Frame& frame);
  [[nodiscard]] bool has_more() const;
  [[nodiscard]] bool may_go_whole() const;
  [[nodiscard]] bool may_go_short() const;
  bool send_short(fc2::Frame& frame, vi::Vi& vi);
  bool send_whole(fc2::Frame& frame, vi::SendWork& work);
  void stamp_whole(fc2::Frame& frame, const fc2::OneFrameExchange& exchange, const wire::fcvi::MessageRequest& request);
  void count_whole(std::uint32_t length_bytes);
  [[nodiscard]] Pipeline& pipeline();
  void open_message(const vi::SendWork& work);
  bool start_exchange(Message& message);
  [[nodiscard]] wire::fcvi::MessageRequest request_of(const vi::SendWork& work, wire::MsgId msg_id) const;
  [[nodiscard]] bool begin_sequence(Message& message);
  bool fill(fc2::Frame& frame, Message& message);
  void give_up_unsent(Message& message);
  void finish_sending(Message& message);
  void last_frame_sent(Message& message);
  [[nodiscard]] bool is_read(const Message& message) const { return message.work.kind == vi::SendKind::RdmaRead; }
  [[nodiscard]] bool needs_response() const;

  [[nodiscard]] bool has_open() const;
  Message* find(wire::MsgId msg_id);
  [[nodiscard]] bool awaits(const Message& message, wire::fcvi::Opcode answer) const;
  void status_received(Message& message, const wire::fcvi::DeviceHeader& header);
  void read_data_in_any_order(Message& message, const IuFrame& iu);
  [[nodiscard]] bool keep_pieces(Message& message);
  void drop_pieces(Message& message);
  void read_piece_received(Message& message, const IuFrame& iu, const Arrivals::Range& piece);
  void read_data_received(Message& message, const IuFrame& iu);
  [[nodiscard]] bool read_data_fits(const Message& message, const IuFrame& iu) const;
  [[nodiscard]] bool read_data_belongs(const Message& message, const IuFrame& iu) const;
  void read_data_placed(Message& message, std::size_t bytes);

  template <class E>
  void feed(Message& message, const E& event);
  template <class E>
  void process(Message& message, const E& event);
  void drop_completed();
  void connection_failed(machines::message_originator::Completion verdict);
  void settle();
  [[nodiscard]] bool in_turn(const Message& message) const;
  [[nodiscard]] runtime::TimeNs deadline_of(const Message& message) const;
  void arm_timer();
  void timer_expired();
  void retry() { wake(); }

  // fc2::ExchangeUser; answers come through response_received
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                         std::span<const std::uint8_t> iu) override;
  void exchange_failed(fc2::Exchange& exchange, fc2::ExchangeFailure failure) override;
  void sequence_acknowledged(fc2::Exchange& exchange) override;
  // machines::message_originator
  void start_response_timer() override;
  void stop_response_timer() override;
  void place_read_data() override;
  void complete(machines::message_originator::Completion completion) override;
  void abort_exchange() override;
  void fail_connection() override;
  void set_merr() override {}  // the exchange was aborted: nothing of the message can come any more
  void count_stale() override;
  [[nodiscard]] bool reliable() const override;
  [[nodiscard]] bool may_complete() const override;
  [[nodiscard]] bool reports_transport_errors() const override;
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  [[nodiscard]] const Services& services() const { return endpoint_.services; }

  Endpoint& endpoint_;
  MessageNumbers numbers_;
  bool sending_ = false;  // the last message that is open has frames to send
  std::unique_ptr<Pipeline> pipeline_;
};

/// The messages that are open, and what these need: from the first on that does not go whole, or has to wait.
struct MessageSender::Pipeline {
  explicit Pipeline(MessageSender& sender);
  [[nodiscard]] bool is_consistent(std::uint32_t window, bool sending) const;

  boost::circular_buffer<Message> messages;  // in order of MSG_ID, which is consecutive
  fc2::SequenceSender sequence;
  std::uint64_t iu_bytes_left = 0;
  std::array<std::uint8_t, device_header_bytes> device_header{};  // of every frame of the message being sent
  Message* current = nullptr;                                     // whose machine runs, or ran last
  std::size_t placed_bytes = 0;
  runtime::TimeNs read_progress_until = 0;    // FCVI_ULP_TIMEOUT after the last read data
  fsm::Outbox<Verdict, 1> failures;           // of the connection: an effect asked for fail_connection
  Verdict verdict = Verdict::TransportError;  // what fail_connection means, until a message says more
  bool failing = false;      // some message holds its failure: nothing is begun any more (VI-ARCH 2.5.3)
  ReorderPool::Share share;  // what the books of read data take of the port's pool
  runtime::Timer<MessageSender, &MessageSender::timer_expired> timer;  // of the responses
  runtime::Timer<MessageSender, &MessageSender::retry> retry;
};

inline bool MessageSender::has_open() const { return pipeline_ != nullptr && !pipeline_->messages.empty(); }

}  // namespace fcvi
