// The messages of one connection that arrive (VI-TCP 2.2.2.2.3, 3.2, 3.6): segments into receive descriptors and
// registered memory.
//
// The payload goes to memory as it comes, each piece judged when it is placed: nothing is touched that was deregistered
// meanwhile (VI-ARCH 3.2.1). The machine runs once a segment, at its end.
#pragma once
#include "state_machines/vitcp_receiver.hpp"
#include "vitcp/message_sender.hpp"
#include "vitcp/read_requester.hpp"
#include "vitcp/read_responder.hpp"
#include "vitcp/segment_reader.hpp"

namespace vitcp {

class MessageReceiver final : public SegmentSink, private machines::vitcp_receiver::Context {
 public:
  /// What the segments are for, besides: all of one connection.
  struct Parts {
    MessageSender& sender;
    ReadRequester& read_requester;
    ReadResponder& read_responder;
  };
  MessageReceiver(Channel& channel, Parts parts) : channel_(channel), parts_(parts) {}

  void connection_established();
  /// Reads that were taken were given to the stream: what waits behind them may begin.
  void reads_answered();
  /// A message waits, or would, until then (VI-ARCH 6.3.1.1).
  [[nodiscard]] bool holds() const { return machines::vitcp_receiver::holds(machine_); }
  void connection_ended();
  [[nodiscard]] bool is_consistent() const;

  // SegmentSink
  [[nodiscard]] bool has_to_wait(const wire::vitcp::SegmentHeader& header) const override;
  void segment_begun(const wire::vitcp::SegmentHeader& header, const wire::vitcp::RdmaHeader& rdma,
                     std::size_t payload_octets) override;
  [[nodiscard]] std::size_t payload_room(std::size_t octets, std::span<wire::MutableBytes> pieces) override;
  void payload_placed(std::size_t octets) override;
  void payload_received(wire::Bytes octets) override;
  void segment_ended() override;
  void segment_damaged(const wire::vitcp::SegmentHeader& header) override;
  void refused(const wire::ParseError& error) override;

 private:
  using Verdict = machines::vitcp_receiver::Verdict;
  struct Message {
    wire::vitcp::SegmentHeader header{};  // of its first segment
    wire::vitcp::RdmaHeader rdma{};
    std::optional<vi::ReceiveWork> receive = {};  // from the first segment on, if it takes one and there was one
    std::uint32_t octets = 0;                     // of payload, placed or dropped
    Verdict verdict = Verdict::Good;              // the worst so far
    bool has_failed = false;                      // and its consumer was told
    [[nodiscard]] bool is_send() const { return header.type == wire::vitcp::SegmentType::send; }
    [[nodiscard]] bool takes_receive() const { return is_send() || header.immediate_data_valid; }
    void note(Verdict found) { verdict = std::min(verdict, found); }
  };

  template <class Event>
  void process(const Event& event);
  void violated(Refusal refusal);
  void resume(const wire::vitcp::SegmentHeader& header);
  void skip_to(wire::vitcp::MessageNumber number);
  void flag_lost(std::uint32_t messages);
  void note_dropped(const wire::vitcp::SegmentHeader& header);
  void lose(const wire::vitcp::SegmentHeader& header, const wire::vitcp::RdmaHeader& rdma);
  [[nodiscard]] std::optional<Refusal> out_of_turn(const wire::vitcp::SegmentHeader& header,
                                                   const wire::vitcp::RdmaHeader& rdma) const;
  [[nodiscard]] std::optional<Refusal> discontinuous(const wire::vitcp::SegmentHeader& header,
                                                     const wire::vitcp::RdmaHeader& rdma) const;
  [[nodiscard]] wire::vitcp::MessageNumber nop_number() const;
  void begin_message(const wire::vitcp::SegmentHeader& header, const wire::vitcp::RdmaHeader& rdma,
                     std::size_t payload_octets);
  void claim(std::size_t payload_octets);
  void judge_more(std::size_t payload_octets);
  [[nodiscard]] bool is_placed() const;
  void place(wire::Bytes octets);
  [[nodiscard]] std::byte* target(std::size_t octets) const;
  [[nodiscard]] std::uint32_t op_code() const;
  void report(Verdict verdict);

  // machines::vitcp_receiver
  void complete_receive() override;
  void fail_receive(Verdict verdict) override;
  void acknowledge() override;
  void report_error(Verdict verdict) override;
  void accept_read() override;
  void expect_next_message() override;
  void drop_segment() override {}  // counted as refused
  void fail_connection(Failure failure) override;
  [[nodiscard]] bool reliable() const override { return channel_.is_reliable(); }
  [[nodiscard]] bool acknowledged() const override { return channel_.acknowledges(); }
  [[nodiscard]] bool window_open() const override { return parts_.read_responder.has_room(); }
  void on_row(const fsm::Row& row) override { fsm::tell(channel_.services.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  Channel& channel_;
  Parts parts_;
  machines::vitcp_receiver::Machine machine_;
  wire::vitcp::SegmentHeader header_{};  // of the present segment
  Message message_;
  // Of the messages that come to nothing since a segment was damaged: those that use no receive descriptor, as far as
  // their damaged segments say, and the last such one.
  std::uint32_t dropped_without_receive_ = 0;
  wire::vitcp::MessageNumber last_dropped_{};
};

}  // namespace vitcp
