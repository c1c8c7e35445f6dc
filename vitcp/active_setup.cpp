#include "vitcp/active_setup.hpp"

#include <algorithm>

#include "state_machines/consistency.hpp"
#include "vitcp/conversions.hpp"

namespace vitcp {
namespace va = machines::vitcp_active;
using wire::vitcp::SegmentType;

vi::Return return_of(ConnectFailure failure) {
  switch (failure) {
    case ConnectFailure::NoMatch: return vi::Return::NoMatch;
    case ConnectFailure::Reject: return vi::Return::Reject;
    case ConnectFailure::Timeout: return vi::Return::Timeout;
    case ConnectFailure::NotReachable: return vi::Return::NotReachable;
    case ConnectFailure::AttributesConflict: return vi::Return::InvalidReliabilityLevel;
    case ConnectFailure::NoResources:
    case ConnectFailure::Withdrawn: break;
  }
  return vi::Return::ErrorResource;
}

ActiveSetup::ActiveSetup(const Services& services, ActiveSetupOwner& owner, const vi::Vi& vi, const Request& request)
    : services_(services), owner_(owner), vi_(vi), request_(request), stream_(services, *this),
      retry_delay_(services.config.first_retry_delay) {}

bool ActiveSetup::is_consistent() const {
  const bool has_stream = machine_.is_any_of<va::Connecting, va::Reconnecting, va::PendingAccept>();
  const bool waits = has_stream || machine_.is<va::AwaitRetry>();
  return stream_.is_open() == has_stream && retry_.pending() == machine_.is<va::AwaitRetry>() &&
         (waits || !timeout_.pending());
}

/// The owner may destroy this by the one effect that is carried out.
template <class Event>
void ActiveSetup::process(const Event& event) {
  machine_.process(event, *this);
  Established established;
  if (effects_.contains(Effect::Connected)) {
    established.terms = terms_of(sent_, answer_);
    established.stream = stream_.release(established.unsent);
  }
  FCVI_ASSERT_CONSISTENT(*this);
  effects_.drain([&](Effect effect) { return carry_out(effect, established), false; });
}

void ActiveSetup::carry_out(Effect effect, Established& established) {
  switch (effect) {
    case Effect::RequestSent: return owner_.request_sent();
    case Effect::RequestEnded: return owner_.request_ended();
    case Effect::Connected: return owner_.setup_established(std::move(established));
    case Effect::Failed: return owner_.setup_failed(failure_);
  }
}

void ActiveSetup::start() { process(va::ConnectRequested{}); }
void ActiveSetup::disconnect() { process(va::DisconnectRequested{}); }
void ActiveSetup::supersede() { process(va::Superseded{}); }
void ActiveSetup::connection_ended() { process(va::ConnectionEnded{}); }
void ActiveSetup::time_expired() { process(va::TimeExpired{}); }
void ActiveSetup::retry_due() { process(va::RetryDue{}); }

// --- what the stream brings ----------------------------------------------------------------------------------------

void ActiveSetup::stream_established() {
  refused_ = {};
  process(va::StreamEstablished{});
}

void ActiveSetup::stream_refused(streams::Reason reason) {
  refused_ = reason;
  process(va::StreamFailed{});
}

void ActiveSetup::stream_ended() { process(va::StreamClosed{}); }

void ActiveSetup::segment_refused(wire::Bytes) { process(va::AnswerInvalid{}); }

void ActiveSetup::segment_received(const wire::vitcp::Segment& segment) {
  switch (segment.header.type) {
    case SegmentType::connect_reject: return process(va::RejectReceived{});
    case SegmentType::connect_no_match: return process(va::NoMatchReceived{});
    case SegmentType::connect_accept:
      if (!is_suitable(segment)) break;
      answer_ = segment;
      answer_.payload = {};
      answer_.ce.options.other = {};  // up to 64 KiB that nobody asks for
      return process(va::AcceptReceived{});
    default: break;
  }
  services_.counters.refuse(Refusal::unsuitable_answer);
  process(va::AnswerInvalid{});
}

/// Rulings V-9, V-10; VI-TCP 3.3, 3.6.
bool ActiveSetup::is_suitable(const wire::vitcp::Segment& accept) const {
  const wire::vitcp::CeHeader &asked = sent_.ce, &answered = accept.ce;
  return answered.level == asked.level && answered.peer_to_peer == asked.peer_to_peer &&
         answered.mtu_size_bytes <= asked.mtu_size_bytes && (asked.options.crc || !answered.options.crc);
}

// --- effects -------------------------------------------------------------------------------------------------------

void ActiveSetup::start_timeout() {
  if (request_.timeout != runtime::never) services_.scheduler.schedule_after(timeout_, request_.timeout);
}
void ActiveSetup::stop_timeout() { services_.scheduler.cancel(timeout_); }

void ActiveSetup::open_stream() {
  const std::uint16_t port = services_.config.port;
  stream_.connect({request_.remote.host, port}, {request_.local.host, 0});
}

wire::vitcp::Segment ActiveSetup::request_segment() {
  wire::vitcp::Segment segment;
  segment.header.type = SegmentType::connect_request;
  segment.header.message_number = services_.numbers.draw();
  segment.header.rx_descriptors_posted = receives_that_count(vi_.unclaimed_receives());
  segment.ce = ce_header(services_.config, vi_.attributes());
  segment.ce.peer_to_peer = request_.peer_to_peer;
  segment.ce.calling = discriminator_of(request_.local);
  segment.ce.called = discriminator_of(request_.remote);
  segment.ce.options.urgent_marker = services_.config.take_urgent_marks;
  segment.ce.options.crc = segment.ce.options.end = services_.config.ask_for_crc;
  return segment;
}

void ActiveSetup::send_connect_request() {
  sent_ = request_segment();
  stream_.send(sent_);
  stream_.expect_segment();
  effects_.push(Effect::RequestSent);
}

/// Two peers that always ask at once would never meet: not both wait equally long (ruling V-35).
runtime::TimeNs ActiveSetup::next_retry_delay() {
  const runtime::TimeNs delay = retry_delay_;
  retry_delay_ = std::min(2 * retry_delay_, services_.config.longest_retry_delay);
  if (!request_.peer_to_peer) return delay;
  return delay - services_.numbers.draw().value % std::max<runtime::TimeNs>(1, delay / 2);
}

void ActiveSetup::schedule_retry() {
  services_.scheduler.schedule_after(retry_, next_retry_delay());
  effects_.push(Effect::RequestEnded);
}
void ActiveSetup::cancel_retry() { services_.scheduler.cancel(retry_); }

/// A host at which nobody listens answers that nobody waits there (ruling V-27). That this host has no file left
/// says nothing of the other.
void ActiveSetup::fail_request(ConnectFailure failure) {
  failure_ = failure;
  if (failure == ConnectFailure::NotReachable && refused_ == streams::Reason::refused)
    failure_ = ConnectFailure::NoMatch;
  if (failure == ConnectFailure::NotReachable && refused_ == streams::Reason::no_resources)
    failure_ = ConnectFailure::NoResources;
  effects_.push(Effect::Failed);
}

void ActiveSetup::unexpected(std::string_view, std::string_view, std::string_view) {
  ++services_.counters.unexpected_events;
}

}  // namespace vitcp
