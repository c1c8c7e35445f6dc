// One RDMAP Stream: what the ULP submits and is told, from before the start-up to the end (RFC 5040 5, 6, 7).
//
// Receives can be posted before there is a stream. Operations go out in order, segment by segment, and take turns with
// RDMA Read Responses message by message; a Terminate Message goes before all (ruling M-16).
#pragma once
#include "iwarp/ddp_stream.hpp"
#include "iwarp/read_responder.hpp"
#include "iwarp/send_queue.hpp"
#include "state_machines/rdmap_stream.hpp"

namespace iwarp {

/// What happens to a stream. But for closed() these come from within calls and call nothing of the stream.
class StreamListener {
 public:
  virtual void completed(const Completion& completion) = 0;
  /// An error was found at this end; the other end gets it by a Terminate Message if that is possible.
  virtual void error_found(const CapturedError& /*error*/) {}
  /// The other end found an error. `octets`: its Terminate Header as it came, which may be badly formed (ruling M-6).
  virtual void terminate_received(const wire::rdmap::Cause& /*cause*/, wire::Bytes /*octets*/) {}
  /// The other end's ULP sends no more. This end may, and closes.
  virtual void disconnected() {}
  virtual void lost() {}
  /// There is no stream any more: an event of its own, comes once and last. The stream may be destroyed.
  virtual void closed() = 0;

 protected:
  ~StreamListener() = default;
};

/// The start-up of a stream, as long as there is one.
class StartupHooks {
 public:
  /// The first FPDU came, and is valid. True: if it is of the kind of an RTR indication, it is one.
  virtual bool first_fpdu_received() = 0;
  virtual void rtr_sent() = 0;
  virtual void connection_ended() = 0;

 protected:
  ~StartupHooks() = default;
};

struct StreamConfig {
  ProtectionDomain domain{};
  StreamScope scope{};                                // regions may be limited to it
  std::size_t send_depth = 128, receive_depth = 128;  // operations that are not complete
  std::size_t ird = 16, ord = 16;                     // RDMA Reads of the other end, and of this one
  bool immediate_data = false;               // both ends have RFC 7306's, which nothing negotiates (ruling M-10)
  ReceiveSource* shared_receives = nullptr;  // outlives the stream's use; post_receive() is not called then
};

class RdmapStream final : private machines::rdmap_stream::Context,
                          private DdpStreamUser,
                          private ReceiverUser,
                          private ReadResponderUser,
                          private SendQueueUser {
 public:
  RdmapStream(const Services& services, StreamListener& listener, const StreamConfig& config);

  // --- the ULP
  enum class Posted : std::uint8_t { taken, full, refused };
  /// `refused`: there is no stream yet, or it ends; or Immediate Data that the stream does not have.
  Posted post_send(const SendRequest& request);
  Posted post_receive(const ReceiveRequest& request);
  /// ULP Graceful Termination: what was submitted goes out. closed() follows.
  void close();
  void abort();
  /// The ULP found an error of its own: the other end gets a Terminate Message.
  void terminate(const CapturedError& error);

  // --- the start-up
  void set_startup(StartupHooks* startup) { startup_ = startup; }
  [[nodiscard]] UlpduSink& sink() { return receiver_; }
  [[nodiscard]] std::size_t ird() const { return responder_.ird(); }
  [[nodiscard]] std::size_t ord() const { return sends_.ord(); }
  /// The stream is in RDMA mode. Nothing is sent before permit_sending().
  void enable(std::unique_ptr<streams::Stream> stream, std::unique_ptr<Framing> framing, wire::Bytes unsent,
              std::size_t ird, std::size_t ord);
  void permit_sending();
  /// A zero-length message before all of the ULP; rtr_sent() follows.
  void send_rtr(Operation operation);

  [[nodiscard]] bool is_operational() const { return machines::rdmap_stream::delivers(machine_); }
  /// Neither enabled nor closed: there was no LLP stream yet.
  [[nodiscard]] bool is_idle() const { return machine_.is<machines::rdmap_stream::Idle>(); }
  [[nodiscard]] bool is_closed() const { return machine_.is<machines::rdmap_stream::Closed>(); }
  [[nodiscard]] std::string_view state_name() const { return machine_.state_name(); }
  /// A TCP segment of the stream takes so many octets from now on. Pre: enable().
  void set_emss(std::size_t emss) { ddp_.set_emss(emss); }
  /// FPDUs, once there is a stream.
  [[nodiscard]] Framing::Counts counts() const;
  [[nodiscard]] bool is_consistent() const;

 private:
  template <class Event>
  void process(const Event& event);
  void settle();
  void tell_closed();
  void capture(const CapturedError& error);
  void add_terminate(Framing& framing);
  bool add_response(Framing& framing);
  bool add_operation(Framing& framing);

  // DdpStreamUser
  bool add_segment(Framing& framing) override;
  [[nodiscard]] bool owes_segments() const override;
  void segments_flushed() override;
  void discard_input() override { receiver_.stop(); }
  void ddp_failed() override;
  void peer_closed() override;
  void llp_lost() override;
  void stream_gone() override;
  // ReceiverUser
  void send_received(const Completion& completion) override { listener_.completed(completion); }
  void read_request_received(const wire::rdmap::ReadRequest& request, const CapturedError& where) override;
  void read_response_received() override;
  void terminate_received(wire::Bytes octets, bool well_formed) override;
  bool first_ulpdu_received() override;
  void segment_refused(const CapturedError& error) override;
  void framing_refused(wire::mpa::ErrorCode error) override;
  // ReadResponderUser
  void response_due() override {}  // reading ends with a pump
  void responder_failed(const CapturedError& error) override;
  // SendQueueUser
  void operation_completed(const Completion& completion) override { listener_.completed(completion); }
  void rtr_sent() override;

  // machines::rdmap_stream
  void begin() override { ++services_.counters.streams_enabled; }
  void send_terminate() override { terminate_due_ = true; }
  void flush() override;
  void refuse_operations() override;
  void stop_receiving() override { ddp_.stop_reception(); }
  void close_stream() override { effects_.push(Effect::close); }
  void abort_stream() override { effects_.push(Effect::abort); }
  void report_error() override { listener_.error_found(*error_); }
  void report_terminate() override;
  void count_malformed() override { ++services_.counters.terminates_malformed; }
  void report_disconnected() override { listener_.disconnected(); }
  void report_lost() override { listener_.lost(); }
  void closed() override { effects_.push(Effect::closed); }
  void answer_close() override { effects_.push(Effect::closed); }
  void count_stale() override { ++services_.counters.stale; }
  [[nodiscard]] bool terminate_possible() const override { return may_send_; }
  void on_row(const fsm::Row& row) override { fsm::tell(services_.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override {
    ++services_.counters.unexpected_events;
  }

  /// Whose segments go out.
  enum class Turn : std::uint8_t { any, response, operation };
  enum class Effect : std::uint8_t { close, abort, closed };
  const Services& services_;
  StreamListener& listener_;
  StartupHooks* startup_ = nullptr;
  Receiver receiver_;
  SendQueue sends_;
  ReadResponder responder_;
  DdpStream ddp_;
  machines::rdmap_stream::Machine machine_;
  fsm::Outbox<Effect, 4> effects_;
  std::optional<CapturedError> error_;  // the first one
  wire::Bytes terminate_octets_{};      // that came, while they are told
  Turn turn_ = Turn::any;               // whose message is half sent
  bool response_next_ = false;          // the other one had the last message
  const bool immediate_data_;
  bool may_send_ = false, terminate_due_ = false, output_ended_ = false;
  runtime::Timer<RdmapStream, &RdmapStream::tell_closed> closed_notice_{*this};
};

}  // namespace iwarp
