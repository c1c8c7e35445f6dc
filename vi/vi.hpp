// A Virtual Interface: a pair of work queues and an endpoint state (VI-ARCH 2.1.1, 5). Transport-free.
// Not thread-safe: the owner serialises all calls.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "state_machines/consistency.hpp"
#include "state_machines/vi_endpoint.hpp"
#include "vi/data_cursor.hpp"
#include "vi/descriptor.hpp"
#include "vi/memory.hpp"
#include "vi/posted_descriptor.hpp"
#include "vi/transport.hpp"
#include "vi/work_queue.hpp"

namespace vi {
class Nic;

enum class SendKind : std::uint8_t { Send, RdmaWrite, RdmaRead };

/// A send descriptor that began processing.
struct SendWork {
  WorkQueue::Index index = 0;
  SendKind kind = SendKind::Send;
  bool has_immediate = false;
  std::uint32_t immediate_data = 0;
  std::uint32_t length_bytes = 0;
  std::uint64_t remote_address = 0;  // RDMA only
  wire::MemHandle remote_handle{};   // RDMA only
  DataCursor data = {};              // source (Send, RDMA Write) or target (RDMA Read)
};

/// A receive descriptor that was claimed by an incoming Send or RDMA Write with immediate data.
struct ReceiveWork {
  WorkQueue::Index index = 0;
  std::uint32_t error_bits = 0;  // what is wrong with the descriptor for this message: it is to be completed with that
  DataCursor data = {};
};

/// A Send that a frame can take whole, as Vi::read_short_send() found it.
struct ShortSend {
  std::uint32_t length_bytes = 0;
  bool has_immediate = false;
  std::uint32_t immediate_data = 0;
};

/// What an endpoint event asks of the transport that fed it, besides the state.
struct EndpointOutcome {
  /// Tell the peer that the connection ends; feed DisconnectAnswered or DisconnectUnanswered later.
  bool disconnect_requested = false;
  /// The request was not valid in this state: VIP_INVALID_STATE.
  bool refused = false;
  /// The waiting VipDisconnect returns.
  std::optional<machines::vi_endpoint::DisconnectOutcome> disconnect_completed = {};
};

/// A request ended without a connection: `feed` gets the event for the VI, which is Pending Connect, by what the call
/// returns. `breaks`: NotReachable takes the VI to Error (VI-DG 3.3.4: where its level is reliable).
template <class Feed>
void end_request(Return result, bool breaks, const Feed& feed) {
  if (result == Return::NotReachable && breaks)
    feed(machines::vi_endpoint::SetupFailed{});
  else if (result == Return::Timeout)
    feed(machines::vi_endpoint::ConnectTimedOut{});
  else
    feed(machines::vi_endpoint::SetupRefused{});
}

class Vi final : private machines::vi_endpoint::Context {
 public:
  Vi(Nic& nic, const ViAttributes& attributes, CompletionQueue* send_queue, CompletionQueue* receive_queue);
  ~Vi() override;
  Vi(const Vi&) = delete;
  Vi& operator=(const Vi&) = delete;

  // --- consumer side -------------------------------------------------------------------------------------
  /// VipPostSend / VipPostRecv: `address` of the descriptor as registered under `handle`. Never blocks;
  /// always Success (VI-DG 3.5.1 knows no other result for a valid VI). Sets the descriptor's status to zero
  /// (VI-DG 5.5). A bad address, alignment or handle is the asynchronous Post Descriptor Error, a full queue
  /// VI Overrun; the descriptor is not posted, and a VI of any level and in any state moves to Error
  /// (VI-DG 3.8.1, 6.3.1). By state (VI-ARCH 5): sends on an unconnected VI, and anything in Error, complete
  /// at once with Descriptor Flushed.
  Return post_send(std::uint64_t address, wire::MemHandle handle) { return post_send(unjudged(address, handle)); }
  Return post_receive(std::uint64_t address, wire::MemHandle handle) { return post_receive(unjudged(address, handle)); }
  /// The same for a descriptor that the posting thread has judged; it is judged anew where that stands no more. Its
  /// status is zero by then.
  Return post_send(const PostedDescriptor& found);
  Return post_receive(const PostedDescriptor& found);
  /// The same for one that was judged valid by what binds this VI now. Pre: there is room (`taken_count()` counts).
  void post_valid(bool receive_queue, const WorkQueue::Entry& entry);
  /// What nearly all posts are, in two steps. False: it is another one (judge_short_post()), and nothing has happened.
  /// Pre: as post_valid(); nothing between the two.
  /// vi/short_post.hpp has the body.
  template <bool receive_queue>
  [[nodiscard]] bool place_short(std::uint64_t address, wire::MemHandle handle);
  template <bool receive_queue>
  void post_placed();
  /// VipSendDone / VipRecvDone: Success or DescriptorError with the descriptor's address; NotDone;
  /// DescriptorError with address 0 when the queue is empty.
  Return send_done(std::uint64_t& address) { return dequeue(send_, address); }
  Return receive_done(std::uint64_t& address) { return dequeue(receive_, address); }
  /// Descriptors that were posted so far, refused ones not counted.
  [[nodiscard]] std::uint64_t posted_count(bool receive_queue) const {
    return (receive_queue ? receive_ : send_).tail();
  }
  /// The next post is a VI Overrun.
  [[nodiscard]] bool is_full(bool receive_queue) const;
  /// VI-DG 6.3.1: something that a VI cannot go on after. Reports Catastrophic Error.
  void fail_catastrophically();
  [[nodiscard]] State state() const;
  /// As VI-ARCH 5 names it, or finer where the transport tells more states apart (Transport::pending_state_name).
  [[nodiscard]] std::string_view endpoint_state_name() const;
  [[nodiscard]] const ViAttributes& attributes() const { return attributes_; }
  [[nodiscard]] bool send_queue_empty() const { return send_.empty(); }
  [[nodiscard]] bool receive_queue_empty() const { return receive_.empty(); }
  [[nodiscard]] CompletionQueue* send_completion_queue() const { return send_.completion_queue(); }
  [[nodiscard]] CompletionQueue* receive_completion_queue() const { return receive_.completion_queue(); }

  // --- transport side ------------------------------------------------------------------------------------
  /// Feeds the endpoint machine of VI-ARCH 5; see state_machines/vi_endpoint.hpp for the events. Flushes,
  /// traffic switches and Connection Lost reports have happened on return; the rest is the caller's.
  template <class Event>
  EndpointOutcome endpoint_event(const Event& event) {
    const State before = state();
    endpoint_.process(event, *this);
    const EndpointOutcome outcome = std::exchange(outcome_, {});  // who hears of the new state may feed the next event
    if (state() != before) tell_state();
    FCVI_ASSERT_CONSISTENT(*this);
    return outcome;
  }

  /// VipConnectRequest and VipConnectPeerRequest: Success where a request may begin (VI-DG 3.3.4, 3.3.6). `own`: the
  /// local address is one of the transport's.
  [[nodiscard]] Return may_request(bool own, TimeNs timeout_ns) const;
  /// VipConnectAccept: Success where a request of a VI with these attributes may be accepted (VI-DG 3.3.2).
  [[nodiscard]] Return may_accept(const ViAttributes& remote) const;
  /// VipDisconnect without a peer that is to be asked: Idle afterwards (VI-DG 3.3.5).
  void disconnect();

  /// For transports whose peer may send before the VI is Connected: receive descriptors can be claimed from now on.
  /// What a VI loses so early is lost for good: what takes it to Error then is Connection Lost. Pre: Pending Connect.
  void receive_early();
  /// There will be no connection, or not this one: what was claimed early can be claimed again, for receives stay
  /// posted (VI-ARCH 5.2). To be called before the event that takes the VI to Idle. Does nothing in other states than
  /// Pending Connect.
  void withdraw_early_reception();

  /// For transports whose ends agree on the smaller of two sizes: what binds the VI from now on, and what a query
  /// shows. The transport gives the consumer's own value back when the VI is Idle again. Pre: not Connected.
  void set_max_transfer_size(std::uint32_t bytes) { attributes_.max_transfer_size_bytes = bytes; }
  /// Receive descriptors that no message has claimed. None in Error.
  [[nodiscard]] std::uint64_t unclaimed_receives() const { return receive_.tail() - receive_.next_index(); }

  /// Begins the next send descriptor if there is one, the VI is connected, and its fence and the ordering
  /// rules (VI-ARCH 6.3.1) let it: on Reliable Reception nothing passes an RDMA Read. Checks format, length
  /// and protection (VI-DG 5.2); a bad descriptor waits for all before it, then is completed in error here,
  /// and at a reliable level takes the VI to Error. Call it again after each complete_send.
  std::optional<SendWork> begin_send();
  /// Completes a begun send: error bits of status:: or 0. A length is reported on success only. Sends and
  /// RDMA Writes are completed in posting order, and so are RDMA Reads (VI-ARCH 6.3.1.1). At a reliable level
  /// an error takes the VI to Error: by ConnectionLost if it has transport_error, else by LocalError. Nothing
  /// happens if the descriptor was flushed meanwhile.
  void complete_send(const SendWork& work, std::uint32_t error_bits);
  /// Some frames of its message went out, and not all: whatever ends it then, a flush too, is a Partial Packet Error
  /// besides (VI-DG 5.2).
  void set_partly_sent(const SendWork& work, bool partly);

  /// Claims the next receive descriptor, if there is one, for a message that puts `message_bytes` into its data
  /// segments: none for an RDMA Write with immediate data. What the message does not touch is not judged (VI-ARCH
  /// 3.2.1). A bad one is for the caller to complete, now or when the message is at its end.
  std::optional<ReceiveWork> claim_receive(std::uint64_t message_bytes);
  /// Its data from the beginning again, for another message of `message_bytes` or to read what was placed; the
  /// descriptor is read anew.
  void rewind_receive(ReceiveWork& work, std::uint64_t message_bytes) const;
  /// error_bits 0: success with length and, if `immediate`, its data. Length is 0 on any error (ruling 19).
  /// At a reliable level an error takes the VI to Error, as in complete_send. Nothing happens if it was
  /// flushed meanwhile.
  void complete_receive(const ReceiveWork& work, std::uint32_t error_bits, std::uint32_t op_code,
                        std::uint32_t length_bytes, std::optional<std::uint32_t> immediate);
  // Short cuts past the functions above, for what most messages are: one data segment, in memory that was found when
  // the descriptor was posted, and nothing else of the queue under way. Each does what those do together, or nothing:
  // tests/vi/short_message_test.cpp holds them to that. All else goes the long way, which has the rules.

  /// What begin_send() would begin next, with its data in `room`, where that is a Send that fits there and is not
  /// empty. Nothing has begun; `room` may be written to all the same. Pre: can_transmit().
  [[nodiscard]] std::optional<ShortSend> read_short_send(std::span<std::uint8_t> room) const;
  /// begin_send() and complete_send() without error. Pre: read_short_send() was the last call on this VI.
  void complete_short_send(const ShortSend& send);
  /// claim_receive(), the data to where it says, and complete_receive() without error, for a Send of `data`. False:
  /// nothing has happened, but some of `data` may be in its place. Pre: can_receive().
  [[nodiscard]] bool receive_short(std::span<const std::uint8_t> data, std::optional<std::uint32_t> immediate);

  /// Begun, not completed, not flushed. Data of work that is no longer open must not be moved.
  [[nodiscard]] bool is_open(const SendWork& work) const { return send_.is_begun(work.index); }
  [[nodiscard]] bool is_open(const ReceiveWork& work) const { return receive_.is_begun(work.index); }

  /// Remote memory of a peer's RDMA: checks the VI's enable, then region, tag and the region's enable;
  /// nullptr if refused. To move data use the two below: the memory may be gone all the same.
  [[nodiscard]] std::byte* remote_memory(wire::MemHandle handle, std::uint64_t address, std::uint64_t length_bytes,
                                         Access access) const;
  /// A piece of a peer's RDMA Write. False: refused, or the memory is not there any more; what was written before
  /// stands. The last word is written last, for programs that poll for it.
  [[nodiscard]] bool write_remote(wire::MemHandle handle, std::uint64_t address,
                                  std::span<const std::uint8_t> from) const;
  /// Some of its pieces, as MemoryTable::write_pieces(): how many are in their place. 0 also where they are refused.
  [[nodiscard]] std::size_t write_remote_pieces(wire::MemHandle handle, std::uint64_t address,
                                                const MemoryTable::Pieces& from) const;
  /// A piece of a peer's RDMA Read. False: refused, or the memory is not there any more; `to` is undefined.
  [[nodiscard]] bool read_remote(wire::MemHandle handle, std::uint64_t address, std::span<std::uint8_t> to) const;
  /// Raises an asynchronous error at the consumer.
  void report(ErrorCode error, ResourceCode resource, std::uint64_t descriptor_address = 0, std::uint32_t op_code = 0);

  /// State, traffic and queues agree: traffic as VI-ARCH 5 and receive_early() allow it, nothing open in Error, no
  /// RDMA Read open that was not posted. Constant time.
  [[nodiscard]] bool is_consistent() const;
  [[nodiscard]] bool can_receive() const { return reception_enabled_; }
  [[nodiscard]] bool can_transmit() const { return transmission_enabled_; }
  [[nodiscard]] Nic& nic() { return nic_; }
  [[nodiscard]] std::uint32_t stale_events() const { return stale_events_; }
  /// Events that vi_endpoint's author held to be impossible: a defect of the transport.
  [[nodiscard]] std::uint32_t unexpected_events() const { return unexpected_events_; }

  void* transport_context = nullptr;  // the transport's endpoint
  void* consumer_context = nullptr;   // vipl's handle, the simulator's process

 private:
  friend class Nic;
  /// What takes a VI to Error. Unreadable descriptors and failures of the NIC are catastrophic: at every reliability
  /// level and in every state (VI-DG 6.3.1).
  enum class Failure { Descriptor, Transport, Unreadable, Nic };

  /// False: refused, and the consumer was told.
  bool post(WorkQueue& queue, const PostedDescriptor& found);
  void send_posted();
  void receive_posted();
  static PostedDescriptor unjudged(std::uint64_t address, wire::MemHandle handle) {
    return {.entry = {.address = address, .handle = handle}};
  }
  void tell_state();
  Return dequeue(WorkQueue& queue, std::uint64_t& address);
  std::uint32_t read_send(const WorkQueue::Entry& entry, const ControlSegment& control, SendWork& work) const;
  std::uint32_t read_receive(const WorkQueue::Entry& entry, std::uint64_t message_bytes, ReceiveWork& work) const;
  /// False: the descriptor's memory is gone.
  bool read_control_segment(const WorkQueue::Entry& entry, ControlSegment& segment) const;
  /// Host address of a posted descriptor's first bytes; nullptr when its memory is gone.
  [[nodiscard]] std::byte* descriptor_memory(const WorkQueue::Entry& entry, std::uint64_t length_bytes) const;
  [[nodiscard]] std::byte* translated_memory(const WorkQueue::Entry& entry, std::uint64_t length_bytes) const;
  [[nodiscard]] std::byte* whole_descriptor(const WorkQueue::Entry& entry, std::uint32_t segment_count) const;

  /// What a completion writes besides the status.
  struct Written {
    std::optional<std::uint32_t> length_bytes = {};
    std::optional<std::uint32_t> immediate_data = {};
  };
  /// False: the descriptor's memory was gone, which the consumer was told; a failure is due (VI-DG 6.3.1).
  bool finish(WorkQueue& queue, WorkQueue::Index index, std::uint32_t status, Written written);
  bool write_completion(const WorkQueue::Entry& entry, std::uint32_t status, Written written);
  [[nodiscard]] const WorkQueue::Entry* next_short(const WorkQueue& queue) const;
  void complete_next(WorkQueue& queue, std::uint32_t status);
  void announce(WorkQueue& queue, std::uint32_t count);
  void flush(WorkQueue& queue);
  void fail(Failure failure);
  /// What finish() of a descriptor with these error bits means to the VI.
  void fail_by_status(bool written, std::uint32_t error_bits);

  // Effects of the endpoint machine.
  void on_row(const fsm::Row& row) override;
  void unexpected(std::string_view machine, std::string_view state, std::string_view event) override;
  void enable_traffic() override { reception_enabled_ = transmission_enabled_ = true; }
  void disable_traffic() override { reception_enabled_ = transmission_enabled_ = false; }
  void flush_descriptors() override;
  void report_connection_lost() override { report(ErrorCode::ConnLost, ResourceCode::Vi); }
  void request_disconnect() override { outcome_.disconnect_requested = true; }
  void complete_disconnect(machines::vi_endpoint::DisconnectOutcome outcome) override {
    outcome_.disconnect_completed = outcome;
  }
  void refuse_request() override { outcome_.refused = true; }
  void count_stale() override { ++stale_events_; }
  [[nodiscard]] bool reliable() const override;

  Nic& nic_;
  ViAttributes attributes_;
  WorkQueue send_;
  WorkQueue receive_;
  EndpointOutcome outcome_;      // of the event that the machine processes
  std::uint32_t nic_index_ = 0;  // in Nic::vis_
  std::uint32_t reads_open_ = 0;
  std::uint32_t stale_events_ = 0;
  std::uint32_t unexpected_events_ = 0;
  machines::vi_endpoint::Machine endpoint_;
  bool reception_enabled_ = false;
  bool transmission_enabled_ = false;
};

}  // namespace vi
