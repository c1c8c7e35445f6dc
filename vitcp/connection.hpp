// One connection, from the end of its set-up until its stream is gone (VI-TCP 2.2.2.2.2).
//
//   stream -> SegmentReader -> MessageReceiver -> receive descriptors, registered memory
//                                              -> MessageSender (acknowledgments), ReadRequester, ReadResponder
//   send descriptors -> MessageSender, ReadResponder -> SegmentWriter -> stream
//   Closing owns the stream, and knows how it ends
//
// What has to be sent is sent by an event of its own, once whoever asked for it is through: so many small messages go
// out with one write, and an acknowledgment with the message that answers it.
#pragma once
#include "vitcp/closing.hpp"
#include "vitcp/message_receiver.hpp"
#include "vitcp/setup_owner.hpp"

namespace vitcp {
class Connection;

/// Why it ended, for people.
enum class Ended : std::uint8_t { no, by_us, descriptor, protocol, stalled, transport, remote, peer_left, peer_gone };
[[nodiscard]] vi::EndCause to_cause(Ended ended);

class ConnectionOwner {
 public:
  /// No message is begun or taken any more.
  virtual void connection_left(Connection& connection) = 0;
  /// The stream is gone; it may be destroyed, not from within.
  virtual void connection_over(Connection& connection) = 0;

 protected:
  ~ConnectionOwner() = default;
};

class Connection final : private streams::StreamUser, private ChannelListener, private ClosingUser {
 public:
  Connection(const Services& services, ConnectionOwner& owner, vi::Vi& vi, Established established);

  /// The VI is Connected.
  void start();
  /// A descriptor was posted.
  void send_posted() { wants_to_send(); }
  void receive_posted();
  /// The model took the VI to Error.
  void stopped();
  /// VipDisconnect: the queues are flushed already. connection_over() follows, not from within.
  void disconnect();
  /// The VI goes: it is not touched any more. The stream ends in order all the same, and `heir` hears of it.
  void abandon(ConnectionOwner& heir);

  [[nodiscard]] const Terms& terms() const { return channel_.terms; }
  [[nodiscard]] vi::EndCause end_cause() const { return to_cause(ended_); }
  [[nodiscard]] bool is_over() const { return !closing_.has_stream(); }
  /// Of all its parts, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;

 private:
  enum class End : std::uint8_t { disconnect, fail };

  void turn();
  void carry_out_end();
  void write();
  bool fill_batch();
  void flush();
  void cut();
  void add_nop();
  bool read();
  void read_on();
  void watch_segment();
  void segment_overdue();
  void answer_reads();
  void note(Ended cause);

  // streams::StreamUser
  void readable() override;
  void writable() override { wants_to_send(); }
  void closed(streams::Reason reason) override;
  // ChannelListener
  void wants_to_send() override;
  void failed(Failure failure) override;
  // ClosingUser
  void leave_connected() override;
  void finish_output() override { wants_to_send(); }
  void report_lost() override;
  void stream_gone() override { owner_->connection_over(*this); }

  ConnectionOwner* owner_;
  Channel channel_;
  SegmentWriter writer_{channel_};
  ReadRequester read_requester_{channel_};
  ReadResponder read_responder_{channel_};
  MessageSender sender_{channel_, read_requester_};
  MessageReceiver receiver_{channel_, {sender_, read_requester_, read_responder_}};
  SegmentReader reader_{channel_, receiver_};
  Closing closing_;
  std::optional<End> end_;  // was asked for, and is carried out by turn()
  Ended ended_ = Ended::no;
  runtime::Timer<Connection, &Connection::turn> turn_{*this};
  runtime::Timer<Connection, &Connection::segment_overdue> segment_timeout_{*this};
  runtime::TimeNs rest_due_ = 0;  // of a segment that has begun
};

}  // namespace vitcp
