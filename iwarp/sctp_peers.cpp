#include "iwarp/sctp_peers.hpp"

#include <algorithm>
#include <utility>

namespace iwarp {

using streams::Address;
using streams::Reason;

namespace {

/// Without a session: then who began the association ends it; the other end waits longer.
constexpr runtime::TimeNs rest_of_beginner = 2 * runtime::second, rest_of_other = 30 * runtime::second;

}  // namespace

// --- an association ------------------------------------------------------------------------------------------------

SctpPeer::SctpPeer(SctpPeers& all, const Address& to, const Address& from) : all_(all), to_(to), from_(from) {
  AssociationUser& own = *this;
  association_ = all.associations_.connect(to, from, own);
}

SctpPeer::SctpPeer(SctpPeers& all, std::unique_ptr<Association> accepted)
    : all_(all), up_(true), association_(std::move(accepted)) {
  association_->set_user(*this);
  await_use();
}

SctpPeer::~SctpPeer() { sessions_.clear(); }

bool SctpPeer::is_consistent() const {
  return std::all_of(sessions_.begin(), sessions_.end(), [](const auto& one) { return one.second->is_consistent(); });
}

void SctpPeer::await_use() {
  all_.services_.scheduler.schedule_after(rest_, was_accepted() ? rest_of_other : rest_of_beginner);
}

void SctpPeer::rest_over() {
  idle_too_long_ = is_idle();
  all_.peer_over();
}

/// Each in its turn: the one that was used last comes last.
std::optional<std::uint16_t> SctpPeer::free_identifier() const {
  const std::uint16_t count = association_->stream_count();
  for (std::uint16_t i = 1; i <= count; ++i) {
    const auto identifier = static_cast<std::uint16_t>((last_identifier_ + std::uint32_t{i}) % count);
    if (!sessions_.contains(identifier) && !retired_.contains(identifier)) return identifier;
  }
  return std::nullopt;
}

bool SctpPeer::serves(const Address& to, const Address& from) const {
  return to_ == to && from_ == from && !lost_ && !idle_too_long_ && (!up_ || free_identifier().has_value());
}

SctpSession& SctpPeer::add_session(std::uint16_t identifier) {
  SessionAssociation& own = *this;
  all_.services_.scheduler.cancel(rest_);
  auto session = std::make_unique<SctpSession>(all_.services_, own, waiting_, identifier);
  return *sessions_.emplace(identifier, std::move(session)).first->second;
}

void SctpPeer::open_session(SessionSeeker& seeker) {
  if (!up_) return seekers_.push_back(&seeker);
  const auto identifier = free_identifier();
  if (!identifier) return all_.open_session(*to_, from_, seeker);  // of another association
  last_identifier_ = *identifier;
  seeker.session_opened(add_session(*identifier));
}

void SctpPeer::associated() {
  up_ = true;
  while (!seekers_.empty()) {
    SessionSeeker* const first = seekers_.front();
    seekers_.erase(seekers_.begin());
    open_session(*first);
  }
  if (sessions_.empty()) await_use();
}

void SctpPeer::message_received(std::uint16_t stream, std::uint32_t protocol, wire::Bytes octets) {
  const auto known = sessions_.find(stream);
  if (known != sessions_.end()) return known->second->chunk_received(protocol, octets);
  if (retired_.contains(stream)) return void(++all_.services_.counters.stale);
  add_session(stream).chunk_received(protocol, octets);
}

void SctpPeer::room_again() {
  for (const auto& [identifier, session] : sessions_)
    if (session->waits_for_room() && !holds_) session->room_again();
}

bool SctpPeer::send(std::uint16_t identifier, std::uint32_t protocol, wire::Bytes chunk) {
  return up_ && !lost_ && !holds_ && association_->send(identifier, protocol, chunk);
}

void SctpPeer::ask_acknowledged(SctpSession&) {
  asks_ = true;
  if (!telling_) ask_now();
}

void SctpPeer::ask_now() {
  if (std::exchange(asks_, false) && !std::exchange(holds_, true)) association_->ask_acknowledged();
}

/// All that any of the sessions had sent.
void SctpPeer::acknowledged() {
  holds_ = false;
  telling_ = true;  // all of them may send before they wait together
  for (const auto& [identifier, session] : sessions_) session->acknowledged();
  room_again();
  telling_ = false;
  ask_now();
}

void SctpPeer::association_lost(Reason reason) {
  lost_ = true;
  for (SessionSeeker* const seeker : std::exchange(seekers_, {})) seeker->session_refused(reason);
  for (const auto& [identifier, session] : sessions_) session->association_lost();
  session_over();
}

SessionPort* SctpPeer::port() const { return was_accepted() ? all_.port_at(association_->local()) : nullptr; }

void SctpPeer::session_over() { all_.services_.scheduler.schedule(sweep_, all_.services_.scheduler.now()); }

void SctpPeer::sweep() {
  std::erase_if(sessions_, [this](const auto& one) {
    if (!one.second->is_over()) return false;
    if (!one.second->releases_identifier()) retired_.insert(one.first);
    return true;
  });
  if (is_over()) return all_.peer_over();
  if (is_idle()) await_use();
}

// --- all of them ---------------------------------------------------------------------------------------------------

SctpPeers::Listening::~Listening() {
  if (listener_ != nullptr) all_.ports_.erase(listener_->address());
}

boost::system::result<std::unique_ptr<SctpPeers::Listening>, Reason> SctpPeers::listen(const Address& at,
                                                                                       SessionPort& port) {
  auto listening = std::make_unique<Listening>(*this);
  auto listener = associations_.listen(at, *listening);
  if (!listener) return listener.error();
  listening->listener_ = std::move(*listener);
  ports_.emplace(listening->address(), &port);
  return listening;
}

SessionPort* SctpPeers::port_at(const Address& local) const {
  const wire::IpAddress any_v4 = wire::IpAddress::v4(0, 0, 0, 0);
  for (const wire::IpAddress& ip :
       {local.ip, local.ip.is_v4_mapped() ? any_v4 : wire::IpAddress{}, wire::IpAddress{}}) {
    const auto found = ports_.find({ip, local.port});
    if (found != ports_.end()) return found->second;
  }
  return nullptr;
}

void SctpPeers::open_session(const Address& to, const Address& from, SessionSeeker& seeker) {
  const auto known = std::find_if(peers_.begin(), peers_.end(), [&](const auto& one) { return one->serves(to, from); });
  if (known != peers_.end()) return (*known)->open_session(seeker);
  peers_.push_back(std::make_unique<SctpPeer>(*this, to, from));
  peers_.back()->open_session(seeker);
}

void SctpPeers::forget(SessionSeeker& seeker) {
  for (const auto& peer : peers_) {
    peer->forget(seeker);
  }
}

/// There is a limit of all. Those that nobody uses are as many as half-open start-ups: the oldest goes.
void SctpPeers::accepted(std::unique_ptr<Association> association) {
  const auto was_accepted = [](const auto& one) { return one->was_accepted(); };
  if (static_cast<std::size_t>(std::count_if(peers_.begin(), peers_.end(), was_accepted)) >= most_accepted) {
    ++services_.counters.half_open_dropped;
    return;
  }
  const auto is_unused = [](const auto& one) { return one->was_accepted() && one->is_idle(); };
  if (static_cast<std::size_t>(std::count_if(peers_.begin(), peers_.end(), is_unused)) >= services_.config.half_open) {
    ++services_.counters.half_open_dropped;
    peers_.erase(std::find_if(peers_.begin(), peers_.end(), is_unused));
  }
  peers_.push_back(std::make_unique<SctpPeer>(*this, std::move(association)));
}

void SctpPeers::sweep() {
  std::erase_if(peers_, [](const auto& peer) { return peer->is_over(); });
}

std::size_t SctpPeers::session_count() const {
  std::size_t count = 0;
  for (const auto& peer : peers_) count += peer->session_count();
  return count;
}

bool SctpPeers::is_consistent() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& peer) { return peer->is_consistent(); });
}

}  // namespace iwarp
