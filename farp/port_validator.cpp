#include "farp/port_validator.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "fc2_fabric/node/remote_port.hpp"
#include "state_machines/consistency.hpp"
#include "wire/ct/accept.hpp"
#include "wire/ct/gpn_id.hpp"
#include "wire/els/adisc.hpp"

namespace farp {

/// Of one port. finish() ends it, and destroys it.
class PortValidator::Check final : private fc2::ExchangeUser {
 public:
  Check(PortValidator& owner, fc2::RemotePort& remote)
      : owner_(owner), port_(owner.port_), remote_(remote), asks_itself_(remote.validating()) {}
  ~Check() {
    if (exchange_ != nullptr) port_.abort(*exchange_);
  }
  void start() {
    const fc2::RemotePort* server = port_.find_remote_port(wire::well_known::name_server);
    if (server == nullptr || !server->logged_in())
      return is_awaited() || asks_itself_ ? owner_.finish(remote_->peer(), true) : discover_address();
    wire::ct::GpnId gpn_id;
    gpn_id.port_id = remote_->peer();
    std::array<std::uint8_t, wire::ct::GpnId::size()> payload;
    gpn_id.write(payload);
    request(wire::well_known::name_server, wire::RCtl::unsolicited_control, wire::Type::ct, payload);
  }
  /// Whenever none of its functions runs: it awaits an answer of that port or of the Name Server, and not for ever.
  [[nodiscard]] bool is_consistent() const {
    const wire::FcId asked = asks_port_ ? remote_->peer() : wire::well_known::name_server;
    return exchange_ != nullptr && exchange_->peer() == asked && ends_ != never_asked;
  }

 private:
  void discover_address() {
    if (!std::exchange(asks_port_, true)) ends_ = never_asked;
    const wire::els::Adisc adisc{
        .port_name = port_.config().port_name, .node_name = port_.config().node_name, .n_port_id = port_.n_port_id()};
    std::array<std::uint8_t, wire::els::Adisc::size()> payload;
    adisc.write(payload);
    request(remote_->peer(), wire::RCtl::els_request, wire::Type::els, payload);
  }
  // Not logged in yet: it is enough that a port is there.
  [[nodiscard]] bool is_awaited() const { return !remote_->logged_in(); }
  // What is lost is asked again, as long as one answer may take. No exchange is free: nothing is known, and
  // the login stays.
  void request(wire::FcId d_id, wire::RCtl r_ctl, wire::Type type, std::span<const std::uint8_t> payload) {
    const runtime::TimeNs now = port_.scheduler().now();
    if (ends_ == never_asked) ends_ = now + 2 * port_.r_a_tov(), repeated_ = 0;
    exchange_ =
        port_.request(d_id, r_ctl, type, payload, *this, std::min(port_.answer_time(repeated_, 1), ends_ - now));
    if (exchange_ == nullptr) owner_.finish(remote_->peer(), true);
  }
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t> iu) override {
    exchange_ = nullptr;
    if (exchange.is_open()) port_.release(exchange);
    if (asks_port_) return owner_.finish(remote_->peer(), is_same(iu));
    const auto accept = wire::ct::NameAccept::parse(iu);
    if (is_awaited()) return owner_.finish(remote_->peer(), accept.has_value());
    if (asks_itself_)
      return owner_.finish(remote_->peer(), !accept || accept->world_wide_name == remote_->peer_parameters().port_name);
    if (accept && accept->world_wide_name == remote_->peer_parameters().port_name) return discover_address();
    owner_.finish(remote_->peer(), false);
  }
  // A Name Server that is silent says nothing of the port; a port that is silent is not there.
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure failure) override {
    exchange_ = nullptr;
    ++repeated_;
    const bool again = failure == fc2::ExchangeFailure::ReplyTimeout && port_.scheduler().now() < ends_;
    if (again) return asks_port_ ? discover_address() : start();
    if (asks_port_)
      owner_.finish(remote_->peer(), false);
    else if (is_awaited() || asks_itself_)
      owner_.finish(remote_->peer(), true);
    else
      discover_address();
  }
  // FC-VI 7.7.3: the three addresses of the ACC.
  [[nodiscard]] bool is_same(std::span<const std::uint8_t> iu) const {
    const auto accept = wire::els::Adisc::parse(iu);
    const wire::els::Login& login = remote_->peer_parameters();
    return accept && accept->command == wire::els::Command::ls_acc && accept->n_port_id == remote_->peer() &&
           accept->port_name == login.port_name && accept->node_name == login.node_name;
  }

  PortValidator& owner_;
  fc2::NPort& port_;
  const fc2::PortUse remote_;
  fc2::Exchange* exchange_ = nullptr;
  bool asks_port_ = false;
  static constexpr runtime::TimeNs never_asked = 0;
  runtime::TimeNs ends_ = never_asked;  // of the question that is asked
  int repeated_ = 0;
  // Our own link was away, and the login asks by ADISC already. Who was away with us and is not back yet is not
  // gone (FC-VI 7.7.5).
  const bool asks_itself_;
};

PortValidator::PortValidator(fc2::NPort& port) : port_(port) {}
PortValidator::~PortValidator() = default;

/// Who waits, waits for a check that ends.
bool PortValidator::is_consistent() const {
  const bool checks =
      std::all_of(checks_.begin(), checks_.end(), [](const auto& entry) { return entry.second->is_consistent(); });
  return checks && checks_.size() <= max_checks_at_once && (waiting_.empty() || checks_.size() == max_checks_at_once);
}

void PortValidator::state_changed(const wire::els::Rscn& rscn) {
  const auto affects = [&](wire::FcId id) {
    return std::any_of(rscn.pages.begin(), rscn.pages.end(), [&](const auto& page) { return page.affects(id); });
  };
  std::erase_if(gone_, [&](wire::FcId id) {
    const bool back = affects(id);
    if (back) port_.deny(id);
    return back;
  });
  for (const auto& ids : {port_.logged_in_ports(), port_.awaited_ports()})
    for (const wire::FcId id : ids)
      if (!wire::is_of_fabric(id) && affects(id) && id != port_.n_port_id()) waiting_.insert(id);
  start_next();
  FCVI_ASSERT_CONSISTENT(*this);
}

// One that is being checked has changed again: what it says of itself then is new enough only if asked anew.
void PortValidator::start_next() {
  for (auto next = waiting_.begin(); next != waiting_.end() && checks_.size() < max_checks_at_once;) {
    const wire::FcId id = *next;
    fc2::RemotePort* remote = port_.find_remote_port(id);
    next = waiting_.erase(next);
    if (remote == nullptr || !(remote->logged_in() || remote->logging_in())) continue;
    auto& check = checks_[id];
    check = std::make_unique<Check>(*this, *remote);
    check->start();
    next = waiting_.upper_bound(id);
  }
}

void PortValidator::finish(wire::FcId id, bool valid) {
  const auto ended = checks_.extract(id);  // lives to the end of this call, which is its own
  fc2::RemotePort* remote = valid ? nullptr : port_.find_remote_port(id);
  const bool ends_login = remote != nullptr && remote->logged_in();
  if (remote != nullptr) remote->peer_is_gone();
  if (ends_login) gone_.insert(id);
  start_next();
}

void PortValidator::forget(wire::FcId id) {
  waiting_.erase(id);
  checks_.erase(id);
  gone_.erase(id);
}

void PortValidator::stop() {
  waiting_.clear();
  checks_.clear();
  gone_.clear();
}

}  // namespace farp
