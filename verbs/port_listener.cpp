#include "verbs/port_listener.hpp"

#include <cerrno>

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
      services_(process.host().services(config_)),
      listener_(services_, *this,
                {.wants_markers = terms.markers, .crc = terms.crc, .awaits_first_fpdu = terms.await_first_fpdu},
                backlog) {}

int PortListener::listen(const streams::Address& at) {
  const auto reason = listener_.listen(at);
  return reason ? errno_of(*reason) : 0;
}

void PortListener::user_gone() {
  user_ = nullptr;
  listener_.stop();
  look();
}

void PortListener::look() {
  if (listener_.size() == 0) return process_.let_go(this);
  services_.scheduler.schedule_after(look_, look_interval);
}

void PortListener::offered(iwarp::MpaResponder& responder, const iwarp::PeerOffer& offer) {
  RequestOwner* const request = user_ == nullptr ? nullptr : user_->requested(*this, responder, offer);
  if (request != nullptr) {
    requests_.emplace(&responder, request);
    return;
  }
  refused_.push_back(&responder);
  services_.scheduler.schedule(refuse_, services_.scheduler.now());
}

void PortListener::offer_withdrawn(iwarp::MpaResponder& responder) {
  std::erase(refused_, &responder);
  const auto request = requests_.find(&responder);
  if (request == requests_.end()) return;
  request->second->request_gone();
  requests_.erase(request);
}

void PortListener::prepare_accept(iwarp::MpaResponder& responder, const Device& device) {
  requests_.erase(&responder);
  config_.emss = device.config().emss;
}

void PortListener::reject(iwarp::MpaResponder& responder, std::vector<std::uint8_t> private_data) {
  requests_.erase(&responder);
  responder.reject(std::move(private_data));
}

void PortListener::refuse() {
  for (iwarp::MpaResponder* const one : std::exchange(refused_, {})) one->reject({});
}

}  // namespace verbs
