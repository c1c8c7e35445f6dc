// The messages of one connection that we send (VI-TCP 2.2.2.2.3, 3.2): send descriptors into segments, and the
// acknowledgments of them.
//
// A segment counts as sent when the writer has it, which sends it in any case. But a message completes, and the next
// one begins, only when the stream has taken, or the writer has copied, what is lent of its payload: a completed
// descriptor's memory is the consumer's again. Nothing is allocated but to grow the queue of what waits for its
// acknowledgment.
#pragma once
#include <boost/circular_buffer.hpp>

#include "state_machines/vitcp_sender.hpp"
#include "vitcp/read_requester.hpp"
#include "vitcp/segment_writer.hpp"

namespace vitcp {

class MessageSender final : public ReadWindowUser, private machines::vitcp_sender::Context {
 public:
  MessageSender(Channel& channel, ReadRequester& reads) : channel_(channel), reads_(reads) { reads.set_user(*this); }

  void connection_established();
  /// The next segment of the message that is under way, or the first of the next one. False: there is none that may go
  /// now, or the batch is full.
  [[nodiscard]] bool add_segment(SegmentWriter& writer);
  /// What was added is flushed: no memory of it is read any more.
  void batch_flushed();
  /// Memory of the message that is under way went while the stream took it: a protection error. The connection ends.
  void memory_cut();
  /// A message is under way: some of its segments are sent, and some are not.
  [[nodiscard]] bool is_within_message() const { return message_.octets_sent != 0; }
  /// What every segment of the peer says of ours: Message ACK, Remote Error Code, Rx Descriptors Posted (VI-TCP 3.2).
  void told(const wire::vitcp::SegmentHeader& header);
  void connection_ended();
  [[nodiscard]] bool is_consistent() const;

 private:
  struct Message {
    vi::SendWork work;
    wire::vitcp::MessageNumber number{};  // from its first segment on
    std::uint32_t octets_sent = 0;
    [[nodiscard]] bool is_read() const { return work.kind == vi::SendKind::RdmaRead; }
    [[nodiscard]] bool takes_receive() const { return work.kind == vi::SendKind::Send || work.has_immediate; }
    [[nodiscard]] std::uint32_t octets_left() const { return is_read() ? 0 : work.length_bytes - octets_sent; }
  };
  struct Sent {
    vi::SendWork work;
    wire::vitcp::MessageNumber number;
  };
  /// `flush`: all of the message is in the batch, which is to be flushed before it completes.
  enum class Due : std::uint8_t { nothing, segment, padding, flush };

  template <class Event>
  void process(const Event& event);
  [[nodiscard]] bool begin_next();
  void add_data(SegmentWriter& writer, std::size_t room);
  void add_copied(SegmentWriter& writer, std::size_t octets);
  [[nodiscard]] bool gather(SegmentWriter& writer, std::size_t octets);
  void add_padding(SegmentWriter& writer, std::size_t room);
  void begin_segment(SegmentWriter& writer, std::size_t octets);
  void segment_added(const SegmentWriter& writer, std::size_t octets);
  void memory_lost();
  void acknowledged(const wire::vitcp::SegmentHeader& header);
  [[nodiscard]] bool is_whole(wire::vitcp::MessageNumber number) const;
  void complete_up_to(wire::vitcp::MessageNumber number);
  [[nodiscard]] std::uint32_t refusal_bits(const vi::SendWork& work) const;

  // ReadWindowUser
  void read_completed() override;
  // machines::vitcp_sender
  void send_segment() override { due_ = Due::segment; }
  void send_padding() override { due_ = Due::padding; }
  void complete(machines::vitcp_sender::Completion completion) override;
  void note_error(machines::vitcp_sender::Completion completion) override { noted_ = completion; }
  void complete_noted() override { complete(noted_); }
  void await_ack() override;
  void await_response() override { reads_.add(message_.work, message_.number); }
  void complete_acknowledged() override { complete_up_to(advance(named_)); }
  void complete_refused() override;
  void fail_connection(Failure failure) override { channel_.listener.failed(failure); }
  [[nodiscard]] bool reliable() const override { return channel_.is_reliable(); }
  [[nodiscard]] bool acknowledged() const override { return channel_.acknowledges(); }
  [[nodiscard]] bool unacknowledged() const override { return !sent_.empty(); }
  [[nodiscard]] bool descriptor_available() const override {
    return !channel_.terms.waits_for_receives || channel_.peer_can_receive();
  }
  [[nodiscard]] bool reads_allowed() const override { return channel_.terms.peer_read_window != 0; }
  [[nodiscard]] bool window_open() const override { return reads_.has_room(); }
  void on_row(const fsm::Row& row) override { fsm::tell(channel_.services.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  Channel& channel_;
  ReadRequester& reads_;
  machines::vitcp_sender::Machine machine_;
  Due due_ = Due::nothing;
  Message message_;                                                 // the one that is under way, or waits to be
  machines::vitcp_sender::Completion noted_{};                      // of it, once those before it are acknowledged
  boost::circular_buffer<Sent> sent_;                               // that wait for their acknowledgment, in order
  wire::vitcp::MessageNumber named_ = channel_.terms.first_number;  // by the peer's last Message ACK
  wire::vitcp::RemoteErrorCode error_{};                            // with it
};

}  // namespace vitcp
