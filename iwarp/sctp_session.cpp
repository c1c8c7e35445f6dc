#include "iwarp/sctp_session.hpp"

#include <cassert>
#include <utility>

#include "iwarp/mpa_startup.hpp"
#include "state_machines/consistency.hpp"

namespace iwarp {
namespace sc = machines::sctp_session;
using wire::mpa::EnhancedData;
using wire::sctp::FunctionCode;
using wire::sctp::SessionControl;

namespace {

PeerOffer offer_of(const SessionControl& message) {
  return {static_cast<std::uint8_t>(message.enhanced ? 2 : 1), message.enhanced, message.private_data};
}

bool is_initiate(FunctionCode code) {
  return code == FunctionCode::initiate || code == FunctionCode::enhanced_initiate;
}
bool is_accept(FunctionCode code) { return code == FunctionCode::accept || code == FunctionCode::enhanced_accept; }
bool is_reject(FunctionCode code) { return code == FunctionCode::reject || code == FunctionCode::enhanced_reject; }

bool holds_header(wire::Bytes segment) {
  return !segment.empty() && segment.size() >= wire::ddp::header_bytes((segment[0] & 0x80) != 0);
}

}  // namespace

/// The session as DdpStream's LLP stream. Octets go by SegmentChannel.
class SctpSession::LlpStream final : public streams::Stream {
 public:
  explicit LlpStream(SctpSession& session) : session_(&session) { session.llp_ = this; }
  ~LlpStream() override {
    if (session_ != nullptr) drop();
  }
  /// The session is gone.
  void forget() { session_ = nullptr; }
  void set_user(streams::StreamUser& user) override { session_->user_ = &user; }
  [[nodiscard]] streams::Address local() const override { return session_->local(); }
  [[nodiscard]] streams::Address remote() const override { return session_->remote(); }
  std::size_t write(std::span<const wire::Bytes>) override { return 0; }
  streams::ReadResult read(std::span<const wire::MutableBytes>) override { return {}; }
  void ask_readable() override {
    session_->asks_readable_ = true;
    if (session_->unread_.empty() && !session_->ended_) return;
    session_->services_.scheduler.schedule(session_->readable_, session_->services_.scheduler.now());
  }
  void ask_writable() override {
    session_->asks_writable_ = true;
    if (!session_->is_blocked())
      session_->services_.scheduler.schedule(session_->writable_, session_->services_.scheduler.now());
  }
  bool mark_urgent() override { return false; }
  void shut_down() override {
    if (session_->machine_.is_any_of<sc::Established, sc::PeerEnded>()) session_->process(sc::CloseRequested{});
  }
  /// Nothing is told any more.
  void reset() override { session_->user_ = nullptr; }

 private:
  void drop() {
    session_->llp_ = nullptr;
    session_->user_ = nullptr;
    session_->process(sc::DropRequested{});
  }
  SctpSession* session_;
};

SctpSession::SctpSession(const Services& services, SessionAssociation& association, WaitingOctets& waiting,
                         std::uint16_t identifier)
    : services_(services), association_(association), identifier_(identifier), order_(waiting) {}

SctpSession::~SctpSession() {
  if (llp_ != nullptr) llp_->forget();
}

bool SctpSession::is_over() const { return machine_.is<sc::Closed>() && llp_ == nullptr && front_ == nullptr; }

bool SctpSession::is_consistent() const {
  const bool timed =
      machine_
          .is_any_of<sc::AwaitAnswer, sc::Ending, sc::Terminating, sc::Lingering, sc::Concluding, sc::Acknowledging>();
  return timer_.pending() == timed && (user_ == nullptr || llp_ != nullptr) && (!asked_ || awaits_) &&
         (!machine_.is_any_of<sc::AwaitAnswer, sc::AwaitDecision>() || llp_ == nullptr);
}

template <class Event>
void SctpSession::process(const Event& event) {
  machine_.process(event, *this);
  FCVI_ASSERT_CONSISTENT(*this);
  effects_.drain([this](const SessionEffect& effect) { carry_out(effect); });
  if (is_over()) association_.session_over();
}

void SctpSession::carry_out(const SessionEffect& effect) {
  const PeerOffer peer = offer_of(received_);
  switch (effect.kind) {
    case SessionEffect::Kind::offer: return association_.port()->session_offered(*this, peer);
    case SessionEffect::Kind::withdraw: return front_ == nullptr ? void() : front_->session_withdrawn();
    case SessionEffect::Kind::enter: return enter();
    case SessionEffect::Kind::terminate:
      if (stream_ != nullptr)
        stream_->terminate(
            {.cause = wire::rdmap::Cause::of(static_cast<wire::mpa::ErrorCode>(static_cast<int>(effect.error)))});
      return;
    case SessionEffect::Kind::end: ended_ = true; return tell_readable();
    case SessionEffect::Kind::lost:
      if (auto* const user = std::exchange(user_, nullptr)) user->closed(streams::Reason::reset);
      return;
    case SessionEffect::Kind::connected:
      stream_ = nullptr;
      if (auto* const front = std::exchange(front_, nullptr)) front->session_connected(peer);
      return;
    case SessionEffect::Kind::failed: break;
  }
  stream_ = nullptr;
  ++services_.counters.startups_failed;
  services_.counters.failures.count(effect.failure);
  if (auto* const front = std::exchange(front_, nullptr)) front->session_failed(effect.failure, peer);
}

/// Of the start-up before anything was sent, else of the end.
void SctpSession::start_timer() {
  const Config& config = services_.config;
  services_.scheduler.schedule_after(timer_, next_ssn_ == 0 ? config.startup_timeout : config.close_timeout);
}

void SctpSession::time_expired() { process(sc::TimeExpired{}); }

// --- the start-up --------------------------------------------------------------------------------------------------

void SctpSession::connect(SessionFront& front, RdmapStream& stream, std::vector<std::uint8_t> private_data,
                          bool enhanced) {
  front_ = &front;
  stream_ = &stream;
  enhanced_ = enhanced;
  private_data_ = std::move(private_data);
  process(sc::ConnectRequested{});
}

void SctpSession::withdraw() {
  if (sc::awaits_answer(machine_)) process(sc::Withdrawn{});
}

void SctpSession::leave_front() {
  front_ = nullptr;
  stream_ = nullptr;
  if (sc::awaits_answer(machine_)) return process(sc::Withdrawn{});
  if (machine_.is<sc::AwaitDecision>()) return process(sc::RejectRequested{});
  if (is_over()) association_.session_over();
}

void SctpSession::accept(RdmapStream& stream, std::vector<std::uint8_t> private_data) {
  stream_ = &stream;
  private_data_ = std::move(private_data);
  process(sc::AcceptRequested{});
}

void SctpSession::reject(std::vector<std::uint8_t> private_data) {
  private_data_ = std::move(private_data);
  process(sc::RejectRequested{});
}

/// RFC 6581 9.1, as MPA does.
EnhancedData SctpSession::answer_depths() const {
  EnhancedData depths = *received_.enhanced;
  if (stream_ == nullptr) return {.ird = depths.ord, .ord = depths.ird};
  const bool told_ord = depths.ord != EnhancedData::not_negotiated,
             told_ird = depths.ird != EnhancedData::not_negotiated;
  return {.ird = told_ord ? depth_on_wire(stream_->ird()) : depths.ord,
          .ord = told_ird ? depth_on_wire(depth_of(stream_->ord(), depths.ird)) : depths.ird};
}

void SctpSession::send_initiate() {
  if (!enhanced_) return send_control(FunctionCode::initiate, std::nullopt);
  const EnhancedData depths{.ird = depth_on_wire(stream_->ird()), .ord = depth_on_wire(stream_->ord())};
  send_control(FunctionCode::enhanced_initiate, depths);
}

void SctpSession::send_accept() {
  if (!received_.enhanced) return send_control(FunctionCode::accept, std::nullopt);
  send_control(FunctionCode::enhanced_accept, answer_depths());
}

void SctpSession::send_reject() {
  if (!received_.enhanced) return send_control(FunctionCode::reject, std::nullopt);
  send_control(FunctionCode::enhanced_reject, answer_depths());
}

/// Either end may send at once: what it sends is ordered behind the Accept (RFC 5043 6.1).
void SctpSession::enter() {
  SegmentChannel& channel = *this;
  auto framing = std::make_unique<SctpFraming>(services_.workspace, stream_->sink(), channel);
  RdmapStream& stream = *stream_;
  const std::size_t ord = received_.enhanced ? depth_of(stream.ord(), received_.enhanced->ird) : stream.ord();
  stream.enable(std::make_unique<LlpStream>(*this), std::move(framing), {}, stream.ird(), ord);
  stream.permit_sending();
}

// --- what comes ----------------------------------------------------------------------------------------------------

void SctpSession::chunk_received(std::uint32_t protocol, wire::Bytes octets) {
  if (machine_.is<sc::Closed>()) return drop_chunk();
  const auto header = wire::sctp::ChunkHeader::parse(octets);
  if (!header) return process(sc::ChunkIllegal{});
  switch (order_.receive(header->ssn, protocol, octets)) {
    case ChunkOrder::Place::early:  // RFC 5043 6.6: nothing may come before the Initiate
      if (machine_.is<sc::Idle>()) process(sc::ChunkIllegal{});
      return;
    case ChunkOrder::Place::wrong: return process(sc::ChunkIllegal{});
    case ChunkOrder::Place::next: break;
  }
  consider(protocol, octets);
  Chunk waiting;
  while (order_.take_waiting(waiting)) consider(waiting.protocol, waiting.octets);
}

void SctpSession::consider(std::uint32_t protocol, wire::Bytes octets) {
  if (machine_.is<sc::Closed>()) return drop_chunk();
  if (protocol == wire::sctp::segment_chunk) return consider_segment(octets.subspan(wire::sctp::ChunkHeader::size()));
  if (protocol != wire::sctp::session_control_chunk) return process(sc::ChunkIllegal{});
  const auto message = SessionControl::parse(octets);
  if (!message) return process(sc::ChunkIllegal{});
  consider_control(*message);
}

void SctpSession::consider_segment(wire::Bytes segment) {
  if (!sc::takes_segments(machine_) || !holds_header(segment)) return process(sc::ChunkIllegal{});
  if (user_ == nullptr) return;
  segment_ = segment;
  if (unread_.empty()) tell_readable();
  if (!segment_.empty() && user_ != nullptr) unread_.emplace_back(segment_.begin(), segment_.end());
  segment_ = {};
}

void SctpSession::consider_control(const SessionControl& message) {
  const FunctionCode code = message.function;
  const bool awaits = sc::awaits_answer(machine_);
  if (is_initiate(code) && (awaits || machine_.is<sc::Idle>())) {
    received_ = message;
    return process(sc::InitiateReceived{});
  }
  if (is_accept(code) && awaits && message.enhanced.has_value() == enhanced_) return accept_received(message);
  if (is_reject(code) && awaits && (enhanced_ || !message.enhanced)) return reject_received(message);
  const bool ended = machine_.is_any_of<sc::PeerEnded, sc::Concluding>();
  code == FunctionCode::terminate && !ended ? process(sc::TerminateReceived{}) : process(sc::ChunkIllegal{});
}

sc::Agreement SctpSession::agreement_of(const SessionControl& accept) const {
  if (!accept.enhanced || accept.enhanced->ord == EnhancedData::not_negotiated) return sc::Agreement::Agreed;
  return accept.enhanced->ord > stream_->ird() ? sc::Agreement::InsufficientIrd : sc::Agreement::Agreed;
}

void SctpSession::accept_received(const SessionControl& message) {
  received_ = message;
  process(sc::AcceptReceived{agreement_of(message)});
}

void SctpSession::reject_received(const SessionControl& message) {
  received_ = message;
  process(sc::RejectReceived{});
}

/// By the last statement the stream may be gone, but not the session.
void SctpSession::tell_readable() {
  if (user_ != nullptr && std::exchange(asks_readable_, false)) user_->readable();
}

wire::Bytes SctpSession::take_segment() {
  if (unread_.empty()) return std::exchange(segment_, {});
  reading_ = std::move(unread_.front());
  unread_.pop_front();
  return reading_;
}

// --- what goes -----------------------------------------------------------------------------------------------------

void SctpSession::send(std::uint32_t protocol, wire::Bytes chunk) {
  if (kept_.empty() && association_.send(identifier_, protocol, chunk)) return;
  kept_.push_back({protocol, {chunk.begin(), chunk.end()}});
}

void SctpSession::send_control(FunctionCode function, const std::optional<EnhancedData>& enhanced) {
  SessionControl message{.ssn = next_ssn_++, .function = function, .enhanced = enhanced};
  if (function != FunctionCode::terminate) message.private_data = std::exchange(private_data_, {});
  std::vector<std::uint8_t> octets(message.size());
  message.write(octets);
  send(wire::sctp::session_control_chunk, octets);
}

void SctpSession::send_segment(wire::MutableBytes chunk) {
  wire::sctp::ChunkHeader{next_ssn_++}.write(chunk);
  send(wire::sctp::segment_chunk, chunk);
}

void SctpSession::send_kept() {
  while (!kept_.empty() && association_.send(identifier_, kept_.front().protocol, kept_.front().chunk))
    kept_.pop_front();
}

void SctpSession::room_again() {
  send_kept();
  if (is_blocked()) return;
  ask_if_all_is_sent();
  tell_writable();
}

void SctpSession::tell_writable() {
  if (user_ != nullptr && std::exchange(asks_writable_, false)) user_->writable();
}

void SctpSession::await_acknowledgement() {
  awaits_ = true;
  ask_if_all_is_sent();
}

void SctpSession::ask_if_all_is_sent() {
  if (!awaits_ || asked_ || is_blocked()) return;
  asked_ = true;
  association_.ask_acknowledged(*this);
}

void SctpSession::acknowledged() {
  if (!std::exchange(asked_, false)) return;
  awaits_ = false;
  process(sc::OutputAcknowledged{});
}

void SctpSession::association_lost() {
  kept_.clear();
  if (!machine_.is<sc::Closed>()) process(sc::AssociationLost{});
}

}  // namespace iwarp
