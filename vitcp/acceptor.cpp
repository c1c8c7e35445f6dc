#include "vitcp/acceptor.hpp"

#include <algorithm>

#include "vitcp/conversions.hpp"
#include "vitcp/port_service/senders.hpp"

namespace vitcp {

bool Acceptor::is_consistent() const {
  const bool setups =
      std::all_of(setups_.begin(), setups_.end(), [](const auto& setup) { return setup->is_consistent(); });
  const bool farewells =
      std::all_of(farewells_.begin(), farewells_.end(), [](const auto& farewell) { return farewell->is_consistent(); });
  return setups && farewells && farewells_.size() <= std::max<std::size_t>(1, services_.config.max_farewells) &&
         offers_.open_count() <= services_.config.max_offers && matched_ == nullptr && matched_peer_ == nullptr;
}

std::optional<streams::Reason> Acceptor::listen() {
  for (const wire::IpAddress& address : services_.config.addresses) {
    auto listener = services_.streams.listen({address, services_.config.port}, *this);
    if (!listener) {
      listeners_.clear();
      return listener.error();
    }
    listeners_.push_back(std::move(*listener));
  }
  return std::nullopt;
}

void Acceptor::accepted(std::unique_ptr<streams::Stream> stream) {
  make_room();
  add(std::move(stream), true);
}

std::size_t Acceptor::half_open() const {
  return static_cast<std::size_t>(
      std::count_if(setups_.begin(), setups_.end(), [](const auto& setup) { return setup->is_half_open(); }));
}

/// Of the sender that has most streams here the one goes that has had most time.
void Acceptor::make_room() {
  const auto is_limited = [](const auto& setup) { return setup->is_half_open() && setup->is_counted(); };
  const auto open = static_cast<std::size_t>(std::count_if(setups_.begin(), setups_.end(), is_limited));
  if (open == 0 || open < services_.config.max_half_open) return;
  services_.counters.refuse(Refusal::half_open_limit);
  port_service::Senders senders;
  for (const auto& setup : setups_)
    if (is_limited(setup)) senders.add(setup->remote().ip);
  const auto weight = [&](const auto& setup) {
    return is_limited(setup) ? senders.count_of(setup->remote().ip) : std::size_t{0};
  };
  const auto lighter = [&](const auto& left, const auto& right) { return weight(left) < weight(right); };
  (*std::max_element(setups_.begin(), setups_.end(), lighter))->make_room();  // the first of equals
}

void Acceptor::add(std::unique_ptr<streams::Stream> stream, bool counted) {
  IncomingSetupOwner& owner = *this;
  IncomingSetup& setup = *setups_.emplace_back(std::make_unique<IncomingSetup>(services_, owner, counted));
  setup.start(std::move(stream));
}

std::unique_ptr<IncomingSetup> Acceptor::release(IncomingSetup& setup) {
  decided(setup);
  const auto found =
      std::find_if(setups_.begin(), setups_.end(), [&](const auto& owned) { return owned.get() == &setup; });
  auto released = std::move(*found);
  setups_.erase(found);
  return released;
}

/// A ConnectRequest of a peer meets peers only (VI-TCP 3.3: the bit must match).
bool Acceptor::match(IncomingSetup& setup) {
  if (setup.request().ce.peer_to_peer) return (matched_peer_ = peers_.match(setup)) != nullptr;
  if (offers_.full()) return services_.counters.refuse(Refusal::offer_limit), false;
  matched_ = points_.take(setup.wanted());
  return matched_ != nullptr;
}

void Acceptor::offer(IncomingSetup& setup) {
  if (matched_peer_ != nullptr) return std::exchange(matched_peer_, nullptr)->requested_by(setup);
  setup.token = offers_.add(setup);
  std::exchange(matched_, nullptr)->matched(setup.token, setup.client(), attributes_of(setup.request().ce));
}

void Acceptor::close(std::unique_ptr<streams::Stream> stream, std::vector<std::uint8_t> unsent) {
  if (!farewells_.empty() && farewells_.size() >= services_.config.max_farewells) {
    services_.counters.refuse(Refusal::farewell_limit);
    farewells_.pop_front();  // its stream had the most time
  }
  FarewellOwner& owner = *this;
  farewells_.push_back(std::make_unique<Farewell>(services_, owner, std::move(stream), std::move(unsent)));
  farewells_.back()->start();
}

void Acceptor::bury() {
  setups_.remove_if([](const auto& setup) { return setup->is_over(); });
  farewells_.remove_if([](const auto& farewell) { return farewell->is_over(); });
}

}  // namespace vitcp
