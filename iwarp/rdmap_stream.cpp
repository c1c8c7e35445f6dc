#include "iwarp/rdmap_stream.hpp"

#include <utility>

#include "state_machines/consistency.hpp"

namespace iwarp {
namespace rs = machines::rdmap_stream;
namespace rdmap = wire::rdmap;

RdmapStream::RdmapStream(const Services& services, StreamListener& listener, const StreamConfig& config)
    : services_(services), listener_(listener), receiver_(services.memory, *this,
                                                          {.who = {config.domain, config.scope},
                                                           .receive_depth = config.receive_depth,
                                                           .read_depth = config.ord,
                                                           .immediate_data = config.immediate_data,
                                                           .shared = config.shared_receives}),
      sends_(services, *this, receiver_, {config.domain, config.scope}, config.send_depth, config.ord),
      responder_(services, *this, {config.domain, config.scope}, config.ird), ddp_(services, *this),
      immediate_data_(config.immediate_data) {}

bool RdmapStream::is_consistent() const {
  return ddp_.is_consistent() && receiver_.is_consistent() && sends_.is_consistent() && responder_.is_consistent() &&
         !(machine_.is<rs::Idle>() && ddp_.has_stream()) && !(is_closed() && ddp_.has_stream()) &&
         !(is_operational() && receiver_.is_stopped());
}

template <class Event>
void RdmapStream::process(const Event& event) {
  machine_.process(event, *this);
  settle();
}

/// Closed is told by an event of its own: the listener may destroy this then.
void RdmapStream::settle() {
  effects_.drain([this](Effect effect) {
    switch (effect) {
      case Effect::close: return ddp_.close();
      case Effect::abort: return ddp_.abort();
      case Effect::closed: return services_.scheduler.schedule(closed_notice_, services_.scheduler.now());
    }
  });
  FCVI_ASSERT_CONSISTENT(*this);
}

void RdmapStream::tell_closed() {
  if (StartupHooks* const startup = std::exchange(startup_, nullptr)) startup->connection_ended();
  listener_.closed();
}

// --- the ULP -------------------------------------------------------------------------------------------------------

RdmapStream::Posted RdmapStream::post_send(const SendRequest& request) {
  if (!rs::may_submit(machine_)) return Posted::refused;
  if (request.operation == Operation::immediate_data && !immediate_data_) return Posted::refused;
  if (!sends_.post(request)) return Posted::full;
  ddp_.pump();
  return Posted::taken;
}

RdmapStream::Posted RdmapStream::post_receive(const ReceiveRequest& request) {
  if (!machine_.is<rs::Idle>() && !rs::may_submit(machine_)) return Posted::refused;
  return receiver_.post(request) ? Posted::taken : Posted::full;
}

void RdmapStream::close() { process(rs::CloseRequested{}); }
void RdmapStream::abort() { process(rs::AbortRequested{}); }
void RdmapStream::terminate(const CapturedError& error) {
  capture(error);
  process(rs::ErrorFound{});
}

// --- the start-up --------------------------------------------------------------------------------------------------

void RdmapStream::enable(std::unique_ptr<streams::Stream> stream, std::unique_ptr<Framing> framing, wire::Bytes unsent,
                         std::size_t ird, std::size_t ord) {
  responder_.limit(ird);
  sends_.limit(ord);
  machine_.process(rs::StreamEnabled{}, *this);
  ddp_.enable(std::move(stream), std::move(framing), unsent);
  settle();
}

void RdmapStream::permit_sending() {
  may_send_ = true;
  ddp_.pump();
}

void RdmapStream::send_rtr(Operation operation) {
  sends_.post_rtr(operation);
  ddp_.pump();
}

Framing::Counts RdmapStream::counts() const {
  return ddp_.framing() == nullptr ? Framing::Counts{} : ddp_.framing()->counts();
}

void RdmapStream::rtr_sent() {
  if (startup_ != nullptr) startup_->rtr_sent();
}

bool RdmapStream::first_ulpdu_received() { return startup_ != nullptr && startup_->first_fpdu_received(); }

// --- what is sent --------------------------------------------------------------------------------------------------

bool RdmapStream::add_segment(Framing& framing) {
  if (!may_send_ || output_ended_) return false;
  if (terminate_due_) return add_terminate(framing), true;
  const bool response_first = turn_ == Turn::response || (turn_ == Turn::any && response_next_);
  if (turn_ == Turn::response || (turn_ == Turn::any && response_first && responder_.is_due()))
    return add_response(framing);
  if (turn_ == Turn::operation || sends_.is_due()) return add_operation(framing);
  return responder_.is_due() && add_response(framing);
}

bool RdmapStream::add_response(Framing& framing) {
  const bool whole = responder_.add_segment(framing);
  turn_ = whole ? Turn::any : Turn::response;
  response_next_ = false;
  return true;
}

bool RdmapStream::add_operation(Framing& framing) {
  const SendQueue::Added added = sends_.add_segment(framing);
  turn_ = added == SendQueue::Added::part ? Turn::operation : Turn::any;
  response_next_ = true;
  if (added == SendQueue::Added::failed) terminate({.cause = rdmap::Cause::local_catastrophic(rdmap::Layer::rdma)});
  return true;
}

void RdmapStream::add_terminate(Framing& framing) {
  terminate_due_ = false;
  output_ended_ = true;
  const rdmap::Terminate terminate = error_->to_terminate();
  const wire::ddp::Header header{.last = true,
                                 .rsvd_ulp = rdmap::Control{.opcode = rdmap::Opcode::terminate}.to_rsvd_ulp(),
                                 .queue_number = rdmap::terminate_queue,
                                 .msn = {1}};
  std::array<std::uint8_t, wire::ddp::untagged_header_bytes + rdmap::Terminate::max_bytes> octets;
  header.write(octets);
  terminate.write(wire::MutableBytes(octets).subspan(header.size()));
  framing.add(wire::Bytes(octets).first(header.size() + terminate.size()), {});
  ++services_.counters.terminates_sent;
}

bool RdmapStream::owes_segments() const {
  if (!may_send_ || output_ended_) return false;
  return terminate_due_ || turn_ == Turn::operation || sends_.is_due();
}

void RdmapStream::segments_flushed() { sends_.flushed(); }

// --- what is received ----------------------------------------------------------------------------------------------

void RdmapStream::read_request_received(const rdmap::ReadRequest& request, const CapturedError& where) {
  responder_.request_received(request, where);
}

void RdmapStream::read_response_received() { sends_.response_received(); }

void RdmapStream::terminate_received(wire::Bytes octets, bool well_formed) {
  ++services_.counters.terminates_received;
  terminate_octets_ = octets;
  process(rs::TerminateReceived{well_formed});
  terminate_octets_ = {};
}

void RdmapStream::report_terminate() {
  listener_.terminate_received(rdmap::Terminate::cause_of(terminate_octets_), terminate_octets_);
}

void RdmapStream::capture(const CapturedError& error) {
  if (!error_) error_ = error;
}

void RdmapStream::segment_refused(const CapturedError& error) {
  ++services_.counters.segments_refused;
  services_.counters.errors.count(error.cause);
  capture(error);
  error.cause.layer == rdmap::Layer::ddp ? ddp_.segment_invalid() : process(rs::ErrorFound{});
}

void RdmapStream::framing_refused(wire::mpa::ErrorCode error) {
  ++(error == wire::mpa::ErrorCode::crc_mismatch ? services_.counters.crc_errors : services_.counters.framing_errors);
  services_.counters.errors.count(rdmap::Cause::of(error));
  capture({.cause = rdmap::Cause::of(error)});
  ddp_.llp_error_found();
}

void RdmapStream::responder_failed(const CapturedError& error) {
  ++services_.counters.segments_refused;
  services_.counters.errors.count(error.cause);
  capture(error);
  process(rs::ErrorFound{});
}

// --- the end -------------------------------------------------------------------------------------------------------

void RdmapStream::ddp_failed() { process(rs::ErrorFound{}); }
void RdmapStream::peer_closed() { process(rs::PeerClosed{}); }
void RdmapStream::llp_lost() { process(rs::LlpLost{}); }
void RdmapStream::stream_gone() { process(rs::StreamGone{}); }

void RdmapStream::flush() {
  if (!terminate_due_) output_ended_ = true;
  turn_ = Turn::any;
  receiver_.stop();
  receiver_.forget_awaited();
  sends_.flush();
  while (const auto completion = receiver_.flush_one()) listener_.completed(*completion);
  responder_.stream_ended();
}

void RdmapStream::refuse_operations() {
  sends_.finish();
  if (turn_ == Turn::response) turn_ = Turn::any;
  responder_.stream_ended();
}

}  // namespace iwarp
