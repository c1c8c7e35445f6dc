#include "verbs/port_listener.hpp"

#include <cerrno>

#include "iwarp/ift_listener.hpp"
#include "iwarp/mpa_listener.hpp"
#include "iwarp/sctp_startup.hpp"
#include "verbs/framings.hpp"

namespace verbs {
namespace {
constexpr runtime::TimeNs look_interval = runtime::second;
}

int errno_of(streams::Reason reason) {
  using streams::Reason;
  switch (reason) {
    case Reason::refused: return ECONNREFUSED;
    case Reason::unreachable: return EHOSTUNREACH;
    case Reason::timed_out: return ETIMEDOUT;
    case Reason::reset: return ECONNRESET;
    case Reason::address_in_use: return EADDRINUSE;
    case Reason::no_such_address: return EADDRNOTAVAIL;
    case Reason::not_permitted: return EACCES;
    case Reason::no_resources: return ENOMEM;
    case Reason::failed: return EIO;
  }
  return EIO;
}

PortListener::PortListener(Process& process, PortUser& user, const Terms& terms, std::size_t backlog)
    : process_(process), user_(&user), config_(process.configuration().startup),
      services_(process.host().services(config_)), port_(make_port(terms, backlog)) {}

std::unique_ptr<iwarp::StartupPort> PortListener::make_port(const Terms& terms, std::size_t backlog) {
  iwarp::StartupPortUser& own = *this;
  switch (terms.framing) {
    case Framing::mpa: return std::make_unique<iwarp::MpaListener>(services_, own, mpa_options_of(terms), backlog);
    case Framing::ift:
      return std::make_unique<iwarp::IftListener>(
          services_, own, [terms] { return ift_options_of(terms); }, backlog);
    case Framing::sctp:
      if (iwarp::SctpPeers* const peers = process_.sctp_peers())
        return std::make_unique<iwarp::SctpListener>(services_, *peers, own, backlog);
      break;
  }
  return nullptr;
}

int PortListener::listen(const streams::Address& at) {
  if (port_ == nullptr) return EPROTONOSUPPORT;
  const auto reason = port_->listen(at);
  return reason ? errno_of(*reason) : 0;
}

void PortListener::user_gone() {
  user_ = nullptr;
  port_->stop();
  look();
}

void PortListener::look() {
  if (port_->size() == 0) return process_.let_go(this);
  services_.scheduler.schedule_after(look_, look_interval);
}

void PortListener::offered(iwarp::PassiveStartup& startup, const iwarp::PeerOffer& offer) {
  RequestOwner* const request = user_ == nullptr ? nullptr : user_->requested(*this, startup, offer);
  if (request != nullptr) {
    requests_.emplace(&startup, request);
    return;
  }
  refused_.push_back(&startup);
  services_.scheduler.schedule(refuse_, services_.scheduler.now());
}

void PortListener::offer_withdrawn(iwarp::PassiveStartup& startup) {
  std::erase(refused_, &startup);
  const auto request = requests_.find(&startup);
  if (request == requests_.end()) return;
  request->second->request_gone();
  requests_.erase(request);
}

void PortListener::prepare_accept(iwarp::PassiveStartup& startup, const Device& device) {
  requests_.erase(&startup);
  config_.emss = device.config().emss;
}

void PortListener::reject(iwarp::PassiveStartup& startup, std::vector<std::uint8_t> private_data) {
  requests_.erase(&startup);
  startup.reject(std::move(private_data));
}

void PortListener::refuse() {
  for (iwarp::PassiveStartup* const one : std::exchange(refused_, {})) one->reject({});
}

}  // namespace verbs
