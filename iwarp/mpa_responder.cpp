#include "iwarp/mpa_responder.hpp"

#include <cassert>

#include "state_machines/consistency.hpp"

namespace iwarp {
namespace mr = machines::mpa_responder;
using wire::mpa::EnhancedData;
using wire::mpa::FrameKind;
using wire::mpa::StartupFrame;

MpaResponder::MpaResponder(const Services& services, PassiveStartupOwner& owner,
                           std::unique_ptr<streams::Stream> stream, const MpaOptions& options)
    : services_(services), owner_(owner), options_(options), startup_(services, *this) {
  startup_.adopt(std::move(stream));
}

MpaResponder::~MpaResponder() {
  if (stream_ != nullptr) stream_->set_startup(nullptr);
}

bool MpaResponder::is_consistent() const {
  const bool has_stream = machine_.is_any_of<mr::AwaitRequest, mr::AwaitDecision, mr::Rejecting>();
  const bool timed = machine_.is_any_of<mr::AwaitRequest, mr::Rejecting, mr::AwaitRtr>();
  return (startup_.is_open() == has_stream || machine_.is<mr::Idle>()) && timer_.pending() == timed;
}

template <class Event>
void MpaResponder::process(const Event& event) {
  machine_.process(event, *this);
  FCVI_ASSERT_CONSISTENT(*this);
  effects_.drain([this](const ResponderEffect& effect) { carry_out(effect); });
  if (is_over()) owner_.startup_over();
}

void MpaResponder::carry_out(const ResponderEffect& effect) {
  switch (effect.kind) {
    case ResponderEffect::Kind::offer: return owner_.offered(*this, offer_of(request_));
    case ResponderEffect::Kind::withdraw: return owner_.offer_withdrawn(*this);
    case ResponderEffect::Kind::permit: return stream_->permit_sending();
    case ResponderEffect::Kind::abort: return stream_->abort();
    case ResponderEffect::Kind::connected: return listener_->connected(offer_of(request_));
    case ResponderEffect::Kind::failed: break;
  }
  ++services_.counters.startups_failed;
  services_.counters.failures.count(effect.failure);
  if (listener_ != nullptr) listener_->startup_failed(effect.failure, offer_of(request_));
}

void MpaResponder::start() {
  startup_.expect_frame();
  process(mr::MpaEnabled{});
}

void MpaResponder::withdraw() { process(mr::Withdrawn{}); }
void MpaResponder::make_place() { process(mr::PlaceNeeded{}); }
void MpaResponder::time_expired() { process(mr::TimeExpired{}); }

/// It is the listener's that accepted: told whatever happens to the stream.
void MpaResponder::connection_ended() {
  stream_ = nullptr;
  process(mr::ConnectionEnded{});
}

// --- the request ---------------------------------------------------------------------------------------------------

void MpaResponder::frame_received(const StartupFrame& frame) {
  if (frame.kind == FrameKind::reply) return process(mr::RequestInvalid{});
  request_ = frame;
  startup_.expect_nothing();
  process(mr::RequestReceived{});
}

void MpaResponder::frame_refused() { process(mr::RequestInvalid{}); }
void MpaResponder::octets_unexpected() { process(mr::OctetsReceived{}); }
void MpaResponder::stream_ended() { process(mr::StreamClosed{}); }
void MpaResponder::all_sent() {
  if (machine_.is<mr::Rejecting>()) process(mr::ReplySent{});
}

bool MpaResponder::first_fpdu_received() {
  const bool awaited = machine_.is<mr::AwaitRtr>();
  process(mr::FpduReceived{});
  return awaited && reply_.enhanced->send_rtr;
}

// --- the decision --------------------------------------------------------------------------------------------------

void MpaResponder::accept(RdmapStream& stream, StartupListener& listener, std::vector<std::uint8_t> private_data) {
  assert(is_offered());
  stream_ = &stream;
  listener_ = &listener;
  private_data_ = std::move(private_data);
  stream.set_startup(this);
  process(mr::AcceptRequested{});
}

void MpaResponder::reject(std::vector<std::uint8_t> private_data) {
  private_data_ = std::move(private_data);
  process(mr::RejectRequested{});
}

/// This end takes each RTR indication: all that were asked for; of a request that asks for none, all (RFC 6581 9.2).
void MpaResponder::answer_rtr(EnhancedData& data) {
  if (!data.peer_to_peer || data.send_rtr || data.rdma_write_rtr || data.rdma_read_rtr) return;
  data.send_rtr = data.rdma_write_rtr = data.rdma_read_rtr = true;
}

/// In the request's revision (RFC 6581 10).
StartupFrame MpaResponder::reply_frame(bool rejected) const {
  StartupFrame frame{.kind = FrameKind::reply,
                     .markers = options_.wants_markers,
                     .crc = options_.crc || request_.crc,
                     .rejected = rejected,
                     .revision = request_.revision,
                     .private_data = private_data_};
  if (!request_.enhanced) return frame;
  frame.enhanced = request_.enhanced;
  answer_rtr(*frame.enhanced);
  const bool limited = stream_ != nullptr;
  const EnhancedData& asked = *request_.enhanced;
  frame.enhanced->ird =
      asked.ord == EnhancedData::not_negotiated || !limited ? asked.ord : depth_on_wire(stream_->ird());
  frame.enhanced->ord = asked.ird == EnhancedData::not_negotiated || !limited
                            ? asked.ird
                            : depth_on_wire(depth_of(stream_->ord(), asked.ird));
  return frame;
}

void MpaResponder::send_accept() {
  reply_ = reply_frame(false);
  startup_.send(reply_);
}

void MpaResponder::send_reject() { startup_.send(reply_frame(true)); }

void MpaResponder::enter_full_operation() {
  std::vector<std::uint8_t> unsent;
  auto stream = startup_.release(unsent);
  auto framing = std::make_unique<MpaFraming>(services_.workspace, stream_->sink(),
                                              terms_of(reply_, request_, services_.config.emss));
  const std::size_t ord = request_.enhanced ? depth_of(stream_->ord(), request_.enhanced->ird) : stream_->ord();
  stream_->enable(std::move(stream), std::move(framing), unsent, stream_->ird(), ord);
  if (!options_.awaits_first_fpdu && !peer_to_peer()) effects_.push({ResponderEffect::Kind::permit});
}

void MpaResponder::fail_accept(machines::iwarp::Failure failure) {
  effects_.push({.kind = ResponderEffect::Kind::failed, .failure = failure});
}

}  // namespace iwarp
