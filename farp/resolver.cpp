#include "farp/resolver.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <utility>

#include "farp/address_entry.hpp"
#include "farp/port_validator.hpp"
#include "farp/registration.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "wire/els/farp.hpp"
#include "wire/els/rscn.hpp"
#include "wire/header_fields.hpp"

namespace farp {
using wire::els::FarpReply;
using wire::els::FarpRequest;

class Resolver::Core final : public fc2::PortListener, public fc2::ElsUser, public EntryOwner {
 public:
  Core(fc2::NPort& port, ResolverConfig config);
  ~Core();

  void set_ready_listener(ReadyListener& listener) { ready_listener_ = &listener; }
  [[nodiscard]] bool ready() const { return registration_.ready(); }
  void resolve(const wire::IpAddress& address, ResolveListener& listener);
  void forget(ResolveListener& listener);
  void invalidate(const wire::IpAddress& address);
  void invalidate_all();
  [[nodiscard]] bool is_consistent() const;

 private:
  struct Waiter {
    AddressEntry* entry;
    ResolveListener* listener;
  };
  struct Answer {
    wire::IpAddress address;
    std::vector<wire::FcId> n_port_ids;
    ResolveListener* listener;
  };

  AddressEntry* entry_for(const wire::IpAddress& address);
  bool make_room();
  template <class Affected>
  void invalidate_where(const Affected& affected);
  void tell();

  // EntryOwner
  void settled(AddressEntry& entry, bool found) override;
  [[nodiscard]] bool is_own(const wire::IpAddress& address) const override;
  void send_farp_request(const wire::IpAddress& address) override;

  // PortListener
  void fabric_logged_in() override;
  void fabric_login_failed() override {}
  void remote_port_logged_in(fc2::RemotePort& port) override;
  void remote_port_login_failed(fc2::RemotePort& port) override;
  void remote_port_logged_out(fc2::RemotePort& port) override;

  // ElsUser
  bool els_received(fc2::Exchange& exchange, const wire::FcHeader& header,
                    std::span<const std::uint8_t> payload) override;
  bool farp_request_received(std::span<const std::uint8_t> payload);
  bool farp_reply_received(std::span<const std::uint8_t> payload);
  void state_change_received(const wire::FcHeader& header, std::span<const std::uint8_t> payload);
  void send_els(wire::FcId d_id, std::span<const std::uint8_t> payload);

  // No reply comes on these exchanges, and their only sequence ends them.
  class NoReply final : public fc2::ExchangeUser {
    void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
    void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  };

  fc2::NPort& port_;
  ResolverConfig config_;
  Registration registration_;
  PortValidator validator_;
  ReadyListener* ready_listener_ = nullptr;
  NoReply no_reply_;
  std::map<wire::IpAddress, AddressEntry> entries_;
  std::deque<wire::IpAddress> oldest_;  // of those, each once
  std::vector<Waiter> waiters_;         // those of entries that are being resolved
  std::deque<Answer> answers_;          // to be told; a listener may ask again, or forget others
  bool telling_ = false;
};

Resolver::Core::Core(fc2::NPort& port, ResolverConfig config)
    : port_(port), config_(std::move(config)), registration_(
                                                   port, config_,
                                                   [this] {
                                                     if (ready_listener_ != nullptr) ready_listener_->address_ready();
                                                   },
                                                   [this] { validator_.notifications_begin(); }),
      validator_(port) {
  for (auto& address : config_.own_addresses) address = address.normalized();
  port_.add_listener(*this);
  port_.add_els_user(*this);
}

Resolver::Core::~Core() {
  port_.remove_els_user(*this);
  port_.remove_listener(*this);
}

// --- questions and answers ---------------------------------------------------------------------------------------

AddressEntry* Resolver::Core::entry_for(const wire::IpAddress& address) {
  const auto found = entries_.find(address);
  if (found != entries_.end()) return &found->second;
  if (entries_.size() >= config_.max_entries && !make_room()) return nullptr;
  oldest_.push_back(address);
  return &entries_.try_emplace(address, *this, port_, config_, address).first->second;
}

// A few looks for each new one; who is being resolved goes to the end. A listener that asks while it is told an answer
// stands inside of an entry: then none goes.
bool Resolver::Core::make_room() {
  constexpr std::size_t looks = 16;
  if (telling_) return entries_.size() < config_.max_entries + looks;
  for (std::size_t look = 0; look < looks && !oldest_.empty(); ++look) {
    const wire::IpAddress address = oldest_.front();
    oldest_.pop_front();
    if (entries_.at(address).idle()) {
      entries_.erase(address);
      ++port_.counters().addresses_evicted;
      return true;
    }
    oldest_.push_back(address);
  }
  return false;
}

void Resolver::Core::resolve(const wire::IpAddress& asked, ResolveListener& listener) {
  const wire::IpAddress address = asked.normalized();
  AddressEntry* entry = entry_for(address);
  if (entry != nullptr) {
    waiters_.push_back({entry, &listener});
    return entry->resolve();
  }
  answers_.push_back({address, {}, &listener});
  tell();
}

void Resolver::Core::settled(AddressEntry& entry, bool found) {
  std::vector<wire::FcId> ids;
  if (found) ids.assign(entry.n_port_ids().begin(), entry.n_port_ids().end());
  for (const Waiter& waiter : waiters_)
    if (waiter.entry == &entry) answers_.push_back({entry.address(), ids, waiter.listener});
  std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.entry == &entry; });
  tell();
}

void Resolver::Core::tell() {
  if (std::exchange(telling_, true)) return;
  while (!answers_.empty()) {
    const Answer answer = std::move(answers_.front());
    answers_.pop_front();
    if (answer.n_port_ids.empty())
      answer.listener->not_resolved(answer.address);
    else
      answer.listener->resolved(answer.address, answer.n_port_ids);
  }
  telling_ = false;
}

void Resolver::Core::forget(ResolveListener& listener) {
  std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.listener == &listener; });
  std::erase_if(answers_, [&](const Answer& answer) { return answer.listener == &listener; });
}

/// Entries are known by age, each once; who waits, waits for one that is being resolved.
bool Resolver::Core::is_consistent() const {
  const bool entries =
      std::all_of(entries_.begin(), entries_.end(), [](const auto& entry) { return entry.second.is_consistent(); });
  const bool waits =
      std::none_of(waiters_.begin(), waiters_.end(), [](const Waiter& one) { return one.entry->idle(); });
  return entries && waits && oldest_.size() == entries_.size() && answers_.empty() && !telling_ &&
         registration_.is_consistent() && validator_.is_consistent();
}

// --- validity: FC-VI 7.7 -----------------------------------------------------------------------------------------

void Resolver::Core::invalidate(const wire::IpAddress& address) {
  const auto found = entries_.find(address.normalized());
  if (found != entries_.end()) found->second.invalidate();
}

template <class Affected>
void Resolver::Core::invalidate_where(const Affected& affected) {
  for (auto& [address, entry] : entries_) {
    const auto ids = entry.n_port_ids();
    if (std::any_of(ids.begin(), ids.end(), affected)) entry.invalidate();
  }
}

void Resolver::Core::invalidate_all() {
  for (auto& [address, entry] : entries_) entry.invalidate();
}

void Resolver::Core::fabric_logged_in() {
  invalidate_all();
  validator_.stop();
  registration_.fabric_logged_in();
}

void Resolver::Core::remote_port_logged_in(fc2::RemotePort& port) {
  validator_.forget(port.peer());  // what was asked before the login says nothing of who is there now
  if (port.peer() == wire::well_known::name_server) registration_.name_server_logged_in();
}

void Resolver::Core::remote_port_login_failed(fc2::RemotePort& port) {
  const bool concerned = port.peer() == wire::well_known::name_server && config_.use_name_server;
  if (concerned && port_.online()) registration_.name_server_unavailable();
}

void Resolver::Core::remote_port_logged_out(fc2::RemotePort& port) {
  validator_.forget(port.peer());
  if (port.peer() != wire::well_known::name_server)
    return invalidate_where([&](wire::FcId id) { return id == port.peer(); });
  registration_.stop();
  if (port_.online() && config_.use_name_server) port.log_in();
}

// --- FARP: FC-VI 7.5 ---------------------------------------------------------------------------------------------

bool Resolver::Core::is_own(const wire::IpAddress& address) const {
  return std::find(config_.own_addresses.begin(), config_.own_addresses.end(), address) != config_.own_addresses.end();
}

// Items 1 to 10. Several own addresses: the first is the originator's.
void Resolver::Core::send_farp_request(const wire::IpAddress& address) {
  FarpRequest request;
  request.match_code_points = wire::els::farp_match::ip_address;
  request.responder_action = wire::els::farp_action::reply;
  request.requesting_n_port_id = port_.n_port_id();
  request.requesting_port_name = port_.config().port_name;
  request.requesting_node_name = port_.config().node_name;
  if (!config_.own_addresses.empty()) request.requesting_ip = config_.own_addresses.front();
  request.responding_ip = address;
  std::array<std::uint8_t, FarpRequest::size()> payload;
  request.write(payload);
  send_els(wire::well_known::broadcast, payload);
}

void Resolver::Core::send_els(wire::FcId d_id, std::span<const std::uint8_t> payload) {
  if (fc2::Exchange* exchange = port_.originate(d_id, wire::Type::els, no_reply_))
    port_.send(*exchange, wire::RCtl::els_request, {}, payload, {.last_of_exchange = true});
}

bool Resolver::Core::els_received(fc2::Exchange& exchange, const wire::FcHeader& header,
                                  std::span<const std::uint8_t> payload) {
  if (wire::els::command_of(payload) == wire::els::Command::rscn) state_change_received(header, payload);
  const bool taken = farp_request_received(payload) || farp_reply_received(payload);
  if (taken) port_.release(exchange);
  return taken;
}

// What this provider does not act on may be another ULP's (7.5 NOTE).
bool Resolver::Core::farp_request_received(std::span<const std::uint8_t> payload) {
  const auto request = FarpRequest::parse(payload);
  if (!request) return false;
  const bool ours = is_own(request->responding_ip.normalized());                             // item 11
  const bool by_ip = (request->match_code_points & wire::els::farp_match::ip_address) != 0;  // item 12
  const bool asks_reply = request->responder_action == wire::els::farp_action::reply;        // item 13
  if (!ours || !by_ip || !asks_reply) return false;                                          // "shall take no action"
  FarpReply reply;
  reply.match_code_points = request->match_code_points;        // item 14
  reply.requesting_n_port_id = request->requesting_n_port_id;  // item 15
  reply.responder_action = request->responder_action;          // item 16
  reply.responding_n_port_id = port_.n_port_id();              // item 17
  reply.requesting_port_name = request->requesting_port_name;  // item 18
  reply.responding_port_name = port_.config().port_name;       // item 19, ruling 11
  reply.requesting_node_name = request->requesting_node_name;  // item 20
  reply.responding_node_name = port_.config().node_name;       // item 21
  reply.requesting_ip = request->requesting_ip;                // item 22
  reply.responding_ip = request->responding_ip;                // item 23, as the originator writes it
  std::array<std::uint8_t, FarpReply::size()> bytes;
  reply.write(bytes);
  send_els(request->requesting_n_port_id, bytes);
  return true;
}

// FC-IP, say, asks for addresses too.
bool Resolver::Core::farp_reply_received(std::span<const std::uint8_t> payload) {
  const auto reply = FarpReply::parse(payload);
  if (!reply || reply->responding_n_port_id == wire::FcId{}) return false;
  const auto found = entries_.find(reply->responding_ip.normalized());
  const bool asked = reply->requesting_n_port_id == port_.n_port_id() && found != entries_.end();
  if (!asked) return false;
  found->second.farp_reply_received(reply->responding_n_port_id);
  return true;
}

// FC-VI 7.7.5. Link services answer the RSCN.
void Resolver::Core::state_change_received(const wire::FcHeader& header, std::span<const std::uint8_t> payload) {
  const auto rscn = wire::els::Rscn::parse(payload);
  if (!rscn) return port_.counters().discard(fc2::Discard::BadPayload);
  if (header.s_id != wire::well_known::fabric_controller) return;
  for (const wire::els::RscnPage& page : rscn->pages) invalidate_where([&](wire::FcId id) { return page.affects(id); });
  validator_.state_changed(*rscn);
}

// --- the public face ---------------------------------------------------------------------------------------------

Resolver::Resolver(fc2::NPort& port, ResolverConfig config) : core_(std::make_unique<Core>(port, std::move(config))) {}
Resolver::~Resolver() = default;
void Resolver::set_ready_listener(ReadyListener& listener) { core_->set_ready_listener(listener); }
bool Resolver::ready() const { return core_->ready(); }
void Resolver::resolve(const wire::IpAddress& address, ResolveListener& listener) { core_->resolve(address, listener); }
void Resolver::forget(ResolveListener& listener) { core_->forget(listener); }
void Resolver::invalidate(const wire::IpAddress& address) { core_->invalidate(address); }
void Resolver::invalidate_all() { core_->invalidate_all(); }
bool Resolver::is_consistent() const { return core_->is_consistent(); }

}  // namespace farp
