#include "vitcp/incoming_setup.hpp"

#include <algorithm>

#include "state_machines/consistency.hpp"
#include "vitcp/conversions.hpp"
#include "vitcp/port_service/first_segment.hpp"

namespace vitcp {
namespace vp = machines::vitcp_passive;
using wire::vitcp::SegmentType;

bool IncomingSetup::is_consistent() const {
  const bool passes_on = machine_.is<vp::Connected>() && accepting_ != nullptr;  // accept() does, then
  const bool open = machine_.is_any_of<vp::Incoming, vp::Matching, vp::PendingAccept>() || passes_on;
  return stream_.is_open() == open && timer_.pending() == machine_.is<vp::Incoming>();
}

template <class Event>
void IncomingSetup::process(const Event& event) {
  machine_.process(event, *this);
  if (std::exchange(match_due_, false)) {
    const bool found = owner_.match(*this);
    if (!found) services_.counters.refuse(Refusal::no_match);
    found ? static_cast<void>(machine_.process(vp::DiscriminatorMatched{}, *this))
          : static_cast<void>(machine_.process(vp::NoMatchingDiscriminator{}, *this));
  }
  FCVI_ASSERT_CONSISTENT(*this);
  if (is_over()) owner_.over(*this);
  if (std::exchange(offer_due_, false)) owner_.offer(*this);
}

void IncomingSetup::start(std::unique_ptr<streams::Stream> stream) {
  local_ = stream->local();
  remote_ = stream->remote();
  stream_.adopt(std::move(stream));
  process(vp::StreamAccepted{});
  stream_.expect_segment();
  if (!counted_) stream_.look();
}

vi::NetAddress IncomingSetup::client() const { return address_of(remote_.ip, request_.ce.calling); }
vi::NetAddress IncomingSetup::wanted() const { return address_of(local_.ip, request_.ce.called); }

vi::Return IncomingSetup::accept(const vi::Vi& vi, Established& established) {
  accepting_ = &vi;
  outcome_.reset();
  process(vp::AcceptRequested{});
  const bool success = outcome_ == vp::AcceptOutcome::Success;
  if (success) {
    established.terms = terms_of(accept_, request_);
    established.stream = stream_.release(established.unsent);
  }
  accepting_ = nullptr;
  FCVI_ASSERT_CONSISTENT(*this);
  return success ? vi::Return::Success : vi::Return::InvalidReliabilityLevel;
}

void IncomingSetup::reject() { process(vp::RejectRequested{}); }
void IncomingSetup::answer_no_match() { process(vp::NoMatchingDiscriminator{}); }
void IncomingSetup::make_room() { process(vp::PlaceNeeded{}); }
void IncomingSetup::connection_ended() { process(vp::ConnectionEnded{}); }

// --- what the stream brings ----------------------------------------------------------------------------------------

void IncomingSetup::segment_received(const wire::vitcp::Segment& segment) {
  if (segment.header.type != SegmentType::connect_request) {
    services_.counters.refuse(Refusal::not_a_request);
    return process(vp::RequestInvalid{});
  }
  request_ = segment;
  request_.payload = {};
  request_.ce.options.other = {};  // up to 64 KiB that nobody asks for
  ++services_.counters.requests_received;
  process(vp::RequestReceived{});
  if (machine_.is<vp::PendingAccept>()) stream_.expect_nothing();
}

void IncomingSetup::segment_refused(wire::Bytes octets) {
  port_service::answer_to(port_service::examine(octets).finding) ? process(vp::RequestRefused{})
                                                                 : process(vp::RequestInvalid{});
}

void IncomingSetup::octets_unexpected() {
  services_.counters.refuse(Refusal::before_accept);
  process(vp::SegmentReceived{});
}

void IncomingSetup::stream_ended() {
  if (machine_.is<vp::Incoming>()) services_.counters.refuse(Refusal::end_in_segment);
  process(vp::StreamClosed{});
}

void IncomingSetup::request_overdue() {
  services_.counters.refuse(Refusal::request_timeout);
  process(vp::RequestOverdue{});
}

// --- effects -------------------------------------------------------------------------------------------------------

void IncomingSetup::start_request_timer() {
  services_.scheduler.schedule_after(timer_, services_.config.request_timeout);
}

void IncomingSetup::stop_request_timer() { services_.scheduler.cancel(timer_); }

bool IncomingSetup::levels_match() const { return to_wire(accepting_->attributes().reliability) == request_.ce.level; }

/// Rulings V-9, V-10; VI-TCP 3.6.
wire::vitcp::Segment IncomingSetup::accept_segment() {
  wire::vitcp::Segment segment;
  segment.header.type = SegmentType::connect_accept;
  segment.header.message_number = services_.numbers.draw();
  segment.header.message_ack = request_.header.message_number;
  segment.header.rx_descriptors_posted = receives_that_count(accepting_->unclaimed_receives());
  segment.ce = ce_header(services_.config, accepting_->attributes());
  segment.ce.mtu_size_bytes = std::min(segment.ce.mtu_size_bytes, request_.ce.mtu_size_bytes);
  segment.ce.peer_to_peer = request_.ce.peer_to_peer;
  segment.ce.calling = request_.ce.calling;
  segment.ce.called = request_.ce.called;
  segment.ce.options.urgent_marker = services_.config.take_urgent_marks;
  segment.ce.options.crc = segment.ce.options.end = request_.ce.options.crc && services_.config.grant_crc;
  return segment;
}

void IncomingSetup::send_connect_accept() {
  accept_ = accept_segment();
  stream_.send(accept_);
}

void IncomingSetup::send_refusal(SegmentType type) {
  wire::vitcp::Segment segment;
  segment.header.type = type;
  segment.header.message_ack = request_.header.message_number;
  stream_.send(segment);
}

void IncomingSetup::close_stream() {
  std::vector<std::uint8_t> unsent;
  auto stream = stream_.release(unsent);
  owner_.close(std::move(stream), std::move(unsent));
}

void IncomingSetup::unexpected(std::string_view, std::string_view, std::string_view) {
  ++services_.counters.unexpected_events;
}

}  // namespace vitcp
