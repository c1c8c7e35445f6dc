#include "iwarp/ift_adaption.hpp"

#include <cassert>

#include "state_machines/consistency.hpp"

namespace iwarp {
namespace ia = machines::ift_adaption;
using wire::ift::AdaptionIndication;
using wire::ift::CrcUse;

namespace {

CrcUse use_of(bool sent, bool ignored) {
  if (!sent) return CrcUse::absent;
  return ignored ? CrcUse::ignored : CrcUse::checked;
}

/// What `from` sends and `to` receives.
wire::ift::Framing direction(const AdaptionIndication& from, const AdaptionIndication& to) {
  return {.vtag = to.vtag,
          .header_crc = use_of(from.header_crc, to.ignores_header_crc),
          .payload_crc = use_of(from.payload_crc, to.ignores_payload_crc)};
}

}  // namespace

IftTerms terms_of(const AdaptionIndication& ours, const AdaptionIndication& theirs, std::size_t emss) {
  return {.out = direction(ours, theirs), .in = direction(theirs, ours), .emss = emss};
}

IftAdaption::~IftAdaption() {
  if (stream_ != nullptr) stream_->set_startup(nullptr);
}

bool IftAdaption::is_consistent() const {
  const bool timed = machine_.is_any_of<ia::Connecting, ia::AwaitPhase1, ia::AwaitPhase0>();
  return startup_.is_open() == (timed || machine_.is<ia::AwaitDecision>()) && timer_.pending() == timed;
}

/// Node A may be gone when its listener was told; node B is its owner's.
template <class Event>
void IftAdaption::process(const Event& event) {
  PassiveStartupOwner* const owner = owner_;
  machine_.process(event, *this);
  FCVI_ASSERT_CONSISTENT(*this);
  effects_.drain([this](const AdaptionEffect& effect) { return carry_out(effect); });
  if (owner != nullptr && is_over()) owner->startup_over();
}

bool IftAdaption::carry_out(const AdaptionEffect& effect) {
  const PeerOffer peer{static_cast<std::uint8_t>(received_.version), {}, {}};
  switch (effect.kind) {
    case AdaptionEffect::Kind::offer: return owner_->offered(*this, peer), true;
    case AdaptionEffect::Kind::withdraw: return owner_->offer_withdrawn(*this), true;
    case AdaptionEffect::Kind::connected: return listener_->connected(peer), false;
    case AdaptionEffect::Kind::failed: break;
  }
  ++services_.counters.startups_failed;
  services_.counters.failures.count(effect.failure);
  if (listener_ != nullptr) listener_->startup_failed(effect.failure, peer);
  return false;
}

void IftAdaption::adopt(RdmapStream& stream, StartupListener& listener) {
  stream_ = &stream;
  listener_ = &listener;
  stream.set_startup(this);
}

void IftAdaption::connect(const streams::Address& to, const streams::Address& from, RdmapStream& stream,
                          StartupListener& listener) {
  to_ = to;
  from_ = from;
  adopt(stream, listener);
  process(ia::ConnectRequested{});
}

void IftAdaption::await(std::unique_ptr<streams::Stream> stream, PassiveStartupOwner& owner) {
  owner_ = &owner;
  startup_.adopt(std::move(stream));
  startup_.expect_frame();
  process(ia::AdaptionAwaited{});
}

void IftAdaption::accept(RdmapStream& stream, StartupListener& listener,
                         [[maybe_unused]] std::vector<std::uint8_t> private_data) {
  assert(is_offered() && private_data.empty());
  adopt(stream, listener);
  process(ia::AcceptRequested{});
}

void IftAdaption::withdraw() { process(ia::Withdrawn{}); }
void IftAdaption::reject([[maybe_unused]] std::vector<std::uint8_t> private_data) {
  assert(private_data.empty());
  process(ia::RejectRequested{});
}
void IftAdaption::make_place() { process(ia::PlaceNeeded{}); }
void IftAdaption::time_expired() { process(ia::TimeExpired{}); }
void IftAdaption::stream_established() { process(ia::StreamEstablished{}); }
void IftAdaption::stream_refused() { process(ia::StreamFailed{}); }
void IftAdaption::frame_refused() { process(ia::IndicationInvalid{}); }
void IftAdaption::octets_unexpected() { process(ia::OctetsReceived{}); }
void IftAdaption::stream_ended() { process(ia::StreamClosed{}); }

void IftAdaption::connection_ended() {
  stream_ = nullptr;
  process(ia::ConnectionEnded{});
}

void IftAdaption::send(bool phase_1) {
  sent_ = {.phase_1 = phase_1,
           .header_crc = options_.header_crc,
           .payload_crc = options_.payload_crc,
           .ignores_header_crc = options_.ignores_header_crc,
           .ignores_payload_crc = options_.ignores_payload_crc,
           .speculative_placement = options_.permits_speculation,
           .vtag = options_.vtag};
  startup_.send(sent_);
}

void IftAdaption::send_phase_0() {
  send(false);
  startup_.expect_frame();
}

ia::Verdict IftAdaption::verdict() const {
  if (!received_.rdma_mode) return ia::Verdict::ModesDisagree;
  const bool protects =
      received_.header_crc && received_.payload_crc && !received_.ignores_header_crc && !received_.ignores_payload_crc;
  return options_.requires_crcs && !protects ? ia::Verdict::CrcUnacceptable : ia::Verdict::Agreed;
}

void IftAdaption::frame_received(const AdaptionIndication& indication) {
  received_ = indication;
  if (indication.phase_1) return process(ia::Phase1Received{verdict()});
  startup_.expect_nothing();
  process(ia::Phase0Received{verdict()});
}

/// Node B may send behind phase 1, node A now that it came (ruling I-13).
void IftAdaption::enter_rddp_mode() {
  std::vector<std::uint8_t> unsent;
  auto stream = startup_.release(unsent);
  auto framing = std::make_unique<IftFraming>(services_.workspace, stream_->sink(),
                                              terms_of(sent_, received_, services_.config.emss));
  WrittenOctets* const written = services_.memory.written();
  if (received_.speculative_placement && options_.places_speculatively && written != nullptr)
    framing->place_speculatively(*written, services_.counters.speculation);
  stream_->enable(std::move(stream), std::move(framing), unsent, stream_->ird(), stream_->ord());
  stream_->permit_sending();
}

}  // namespace iwarp
