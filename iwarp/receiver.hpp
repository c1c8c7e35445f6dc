// Incoming DDP segments: judged, placed, and delivered as RDMA Messages (RFC 5041 5.2 to 5.4, 7.1; RFC 5040 5, 7.2).
//
// The stream is in order, and so are segments and messages: nothing is reassembled, each octet goes to its place.
#pragma once
#include <boost/circular_buffer.hpp>

#include "iwarp/framing.hpp"
#include "iwarp/work.hpp"

namespace iwarp {

/// Who gets what was delivered. None of these calls the receiver, but for failed(), which leads to stop().
class ReceiverUser {
 public:
  /// A Send, or what is in the way of one: complete.
  virtual void send_received(const Completion& completion) = 0;
  virtual void read_request_received(const wire::rdmap::ReadRequest& request, const CapturedError& where) = 0;
  /// The oldest RDMA Read of this end is complete.
  virtual void read_response_received() = 0;
  /// `octets`: all of its header that came.
  virtual void terminate_received(wire::Bytes octets, bool well_formed) = 0;
  /// A valid ULPDU came, the first one, and it is no Terminate Message. True: if it is a Send of no octets it is an RTR
  /// indication, of which the ULP hears nothing.
  virtual bool first_ulpdu_received() = 0;
  /// A segment is wrong; nothing of it is placed. By DDP's checks, or by RDMAP's.
  virtual void segment_refused(const CapturedError& error) = 0;
  virtual void framing_refused(wire::mpa::ErrorCode error) = 0;

 protected:
  ~ReceiverUser() = default;
};

/// An RDMA Read of this end whose response is awaited.
struct AwaitedResponse {
  STag sink_stag{};
  std::uint64_t sink_offset = 0;
  std::uint32_t size_bytes = 0, received_bytes = 0;
};

struct ReceiverConfig {
  Accessor who{};
  std::size_t receive_depth = 128;  // receives that can be posted
  std::size_t read_depth = 16;      // responses that can be awaited: ORD
  bool immediate_data = false;      // of RFC 7306, else an unexpected opcode (ruling M-10)
  ReceiveSource* shared = nullptr;  // nothing is posted here then
};

class Receiver final : public UlpduSink {
 public:
  Receiver(MemoryTable& memory, ReceiverUser& user, const ReceiverConfig& config);

  /// False: receive_depth are posted.
  bool post(const ReceiveRequest& request);
  /// The oldest one that is posted leaves the queue, flushed: a completion; nothing: none is left.
  std::optional<Completion> flush_one();
  void await_response(const AwaitedResponse& response);
  [[nodiscard]] std::size_t awaited() const { return awaited_.size(); }
  /// The next response that comes ends nothing that is awaited any more.
  void forget_awaited() { awaited_.clear(); }
  /// From now on segments are dropped, but for a Terminate Message (RFC 5041 7.1, ruling M-17).
  void stop() { stopped_ = true; }
  [[nodiscard]] bool is_stopped() const { return stopped_; }
  [[nodiscard]] bool is_consistent() const;

  // UlpduSink
  void ulpdu_begun(wire::Bytes ddp_header, std::size_t payload_octets) override;
  [[nodiscard]] std::size_t payload_room(std::size_t octets, std::span<wire::MutableBytes> pieces) override;
  void payload_placed(std::size_t octets) override { placed_ += octets; }
  void payload_unplaced() override;
  void payload_received(wire::Bytes octets) override;
  [[nodiscard]] std::size_t early_room(wire::Bytes ddp_header, std::size_t payload_octets,
                                       std::span<wire::MutableBytes> pieces) const override;
  void ulpdu_ended() override;
  void framing_failed(wire::mpa::ErrorCode error) override;

 private:
  enum class Target : std::uint8_t { dropped, tagged, receive, header };
  using Refusal = std::optional<wire::rdmap::Cause>;

  [[nodiscard]] Refusal judge();
  [[nodiscard]] Refusal judge_versions();
  [[nodiscard]] Refusal judge_tagged();
  [[nodiscard]] Refusal judge_write();
  [[nodiscard]] Refusal judge_response();
  [[nodiscard]] Refusal judge_untagged();
  [[nodiscard]] Refusal judge_order(std::size_t queue);
  [[nodiscard]] Refusal judge_send();
  [[nodiscard]] Refusal judge_buffer();
  [[nodiscard]] Refusal judge_header_message(std::size_t header_octets);
  [[nodiscard]] Refusal judge_immediate_data();
  [[nodiscard]] bool has_receive();
  void refuse(wire::rdmap::Cause cause);
  [[nodiscard]] std::size_t receive_room(const ReceiveRequest& receive, std::uint64_t before, std::size_t octets,
                                         std::span<wire::MutableBytes> pieces) const;
  void note_placement();
  void renew(const LocalPiece& piece);
  [[nodiscard]] bool may_come(const wire::ddp::Header& header) const;
  [[nodiscard]] std::size_t early_tagged_room(const wire::ddp::Header& header, std::size_t octets,
                                              std::span<wire::MutableBytes> pieces) const;
  [[nodiscard]] std::size_t early_send_room(const wire::ddp::Header& header, std::size_t octets,
                                            std::span<wire::MutableBytes> pieces) const;

  void deliver();
  void deliver_send();
  void count_written();
  void deliver_immediate_data();
  void deliver_read_request();
  void deliver_response();
  void deliver_terminate();
  [[nodiscard]] Refusal invalidate(Completion& completion);
  [[nodiscard]] CapturedError here() const;
  [[nodiscard]] CapturedError captured(wire::rdmap::Cause cause) const;

  /// What is expected next of an untagged queue (RFC 5041 5.3).
  struct Queue {
    wire::ddp::Msn msn{1};
    std::uint32_t offset = 0;  // octets of the present message
    wire::rdmap::Opcode opcode{};
    std::uint32_t invalidates = 0;
  };

  MemoryTable& memory_;
  ReceiverUser& user_;
  const ReceiverConfig config_;
  std::array<Queue, 3> queues_{};
  boost::circular_buffer<ReceiveRequest> receives_;  // the first one is for the next Send; grows up to receive_depth
  boost::circular_buffer<AwaitedResponse> awaited_;
  std::optional<std::uint8_t> version_;  // DV of the stream, from its first segment on (ruling I-2)

  // the present segment
  wire::ddp::Header header_{};
  wire::rdmap::Control control_{};
  std::size_t payload_octets_ = 0, placed_ = 0;
  Target target_ = Target::dropped;
  wire::MutableBytes tagged_{};  // its target
  std::array<std::uint8_t, wire::rdmap::Terminate::max_bytes> rdma_header_{};
  bool first_ = true, stopped_ = false, unplaced_ = false;
  std::uint32_t written_ = 0;  // octets of the RDMA Write that is coming, or was the last message
  bool writing_ = false;       // it is not whole
};

}  // namespace iwarp
