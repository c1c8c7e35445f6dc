#include "iwarp/mpa_initiator.hpp"

#include "state_machines/consistency.hpp"

namespace iwarp {
namespace mi = machines::mpa_initiator;
using wire::mpa::EnhancedData;
using wire::mpa::FrameKind;
using wire::mpa::StartupFrame;

MpaInitiator::MpaInitiator(const Services& services, StartupListener& listener, RdmapStream& stream,
                           const MpaRequest& request)
    : services_(services), listener_(listener), stream_(stream), request_(request), startup_(services, *this),
      revision_(request.revision) {
  stream_.set_startup(this);
}

bool MpaInitiator::is_consistent() const {
  const bool waits = machine_.is_any_of<mi::Connecting, mi::AwaitReply>();
  return startup_.is_open() == waits && timer_.pending() == (waits || machine_.is<mi::SendingRtr>());
}

/// The listener may destroy this by the last effect.
template <class Event>
void MpaInitiator::process(const Event& event) {
  machine_.process(event, *this);
  FCVI_ASSERT_CONSISTENT(*this);
  effects_.drain([this](const InitiatorEffect& effect) { return carry_out(effect); });
}

bool MpaInitiator::carry_out(const InitiatorEffect& effect) {
  switch (effect.kind) {
    case InitiatorEffect::Kind::rtr: return send_rtr_later(), true;
    case InitiatorEffect::Kind::terminate:
      stream_.terminate(
          {.cause = wire::rdmap::Cause::of(static_cast<wire::mpa::ErrorCode>(static_cast<int>(effect.error)))});
      return true;
    case InitiatorEffect::Kind::abort: return stream_.abort(), true;
    case InitiatorEffect::Kind::connected: return listener_.connected(offer_of(reply_)), false;
    case InitiatorEffect::Kind::failed: break;
  }
  services_.counters.failures.count(effect.failure);
  return ++services_.counters.startups_failed, listener_.startup_failed(effect.failure, offer_of(reply_)), false;
}

void MpaInitiator::send_rtr_later() {
  if (request_.rtr_delay == 0) return send_rtr_now();
  services_.scheduler.schedule_after(rtr_, request_.rtr_delay);
}

/// Unless the start-up is over meanwhile.
void MpaInitiator::send_rtr_now() {
  if (machine_.is<mi::SendingRtr>()) stream_.send_rtr(*rtr_of(*reply_.enhanced));
}

void MpaInitiator::start() { process(mi::ConnectRequested{}); }
void MpaInitiator::withdraw() { process(mi::Withdrawn{}); }
void MpaInitiator::time_expired() { process(mi::TimeExpired{}); }
void MpaInitiator::stream_established() { process(mi::StreamEstablished{}); }
void MpaInitiator::stream_refused() { process(mi::StreamFailed{}); }
void MpaInitiator::frame_refused() { process(mi::ReplyInvalid{}); }
void MpaInitiator::stream_ended() { process(mi::StreamClosed{}); }
void MpaInitiator::rtr_sent() { process(mi::RtrSent{}); }
void MpaInitiator::connection_ended() { process(mi::ConnectionEnded{}); }

// --- the request ---------------------------------------------------------------------------------------------------

StartupFrame MpaInitiator::request_frame() const {
  StartupFrame frame{.kind = FrameKind::request,
                     .markers = request_.options.wants_markers,
                     .crc = request_.options.crc,
                     .revision = revision_,
                     .private_data = request_.private_data};
  if (revision_ == 2)
    frame.enhanced = EnhancedData{.peer_to_peer = request_.peer_to_peer,
                                  .send_rtr = request_.peer_to_peer && request_.send_rtr,
                                  .ird = depth_on_wire(stream_.ird()),
                                  .rdma_write_rtr = request_.peer_to_peer && request_.rdma_write_rtr,
                                  .rdma_read_rtr = request_.peer_to_peer && request_.rdma_read_rtr,
                                  .ord = depth_on_wire(stream_.ord())};
  return frame;
}

void MpaInitiator::send_request() {
  sent_ = request_frame();
  startup_.send(sent_);
  startup_.expect_frame();
}

// --- the reply -----------------------------------------------------------------------------------------------------

/// To a request of revision 1 a reply of revision 0 is none (ruling M-3).
bool MpaInitiator::is_lower_revision(const StartupFrame& reply) const {
  return revision_ == 2 && (reply.revision < 2 || !reply.enhanced);
}

void MpaInitiator::frame_received(const StartupFrame& frame) {
  if (frame.kind == FrameKind::request) return process(mi::RequestReceived{});
  if (frame.revision > revision_) return process(mi::ReplyInvalid{});
  if (is_lower_revision(frame)) return process(mi::LowerRevisionReceived{});
  reply_ = frame;
  frame.rejected ? process(mi::RejectReceived{}) : process(mi::AcceptReceived{agreement_of(frame)});
}

/// One that both ends have; of several a zero-length RDMA Write, which asks nothing of the other end.
std::optional<Operation> MpaInitiator::rtr_of(const EnhancedData& reply) const {
  if (sent_.enhanced->rdma_write_rtr && reply.rdma_write_rtr) return Operation::rdma_write;
  if (sent_.enhanced->send_rtr && reply.send_rtr) return Operation::send;
  const bool can_read = stream_.ord() != 0 && reply.ird != 0;
  if (sent_.enhanced->rdma_read_rtr && reply.rdma_read_rtr && can_read) return Operation::rdma_read;
  return std::nullopt;
}

mi::Agreement MpaInitiator::agreement_of(const StartupFrame& reply) const {
  if (!reply.enhanced) return mi::Agreement::ClientServer;
  const bool negotiated = reply.enhanced->ord != EnhancedData::not_negotiated;
  if (negotiated && reply.enhanced->ord > stream_.ird()) return mi::Agreement::InsufficientIrd;
  if (!reply.enhanced->peer_to_peer) return mi::Agreement::ClientServer;
  return rtr_of(*reply.enhanced) ? mi::Agreement::PeerToPeer : mi::Agreement::NoMatchingRtr;
}

void MpaInitiator::enter_full_operation() {
  std::vector<std::uint8_t> unsent;
  auto stream = startup_.release(unsent);
  auto framing =
      std::make_unique<MpaFraming>(services_.workspace, stream_.sink(), terms_of(sent_, reply_, services_.config.emss));
  const std::size_t ord = reply_.enhanced ? depth_of(stream_.ord(), reply_.enhanced->ird) : stream_.ord();
  stream_.enable(std::move(stream), std::move(framing), unsent, stream_.ird(), ord);
  stream_.permit_sending();
}

void MpaInitiator::terminate(machines::iwarp::StartupError error) {
  effects_.push({.kind = InitiatorEffect::Kind::terminate, .error = error});
}

void MpaInitiator::fail_connect(machines::iwarp::Failure failure) {
  effects_.push({.kind = InitiatorEffect::Kind::failed, .failure = failure});
}

}  // namespace iwarp
