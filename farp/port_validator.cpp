#include "farp/port_validator.hpp"

#include <algorithm>

#include "fc2_fabric/node/remote_port.hpp"
#include "state_machines/consistency.hpp"
#include "state_machines/port_validation.hpp"
#include "wire/ct/accept.hpp"
#include "wire/ct/gpn_id.hpp"
#include "wire/els/adisc.hpp"
#include "wire/message_bytes.hpp"

namespace farp {
namespace pv = machines::port_validation;

/// Of one port. finish() destroys it.
class PortValidator::Check final : private fc2::ExchangeUser, private pv::Context {
 public:
  Check(PortValidator& owner, fc2::RemotePort& remote, First first)
      : owner_(owner), port_(owner.port_), remote_(remote), first_(first), login_asks_(remote.validating()) {}
  ~Check() {
    if (exchange_ != nullptr) port_.abort(*exchange_);
  }
  void start() { process(pv::Begun{}); }
  /// Whenever none of its functions runs: it awaits an answer of that port or of the Name Server, and not for ever.
  [[nodiscard]] bool is_consistent() const {
    if (exchange_ == nullptr) return machine_.is_any_of<pv::Unasked, pv::Valid, pv::Gone>();
    const bool asks_port = machine_.is<pv::AskingPort>();
    return (asks_port || machine_.is<pv::AskingNameServer>()) &&
           exchange_->peer() == (asks_port ? remote_->peer() : wire::well_known::name_server) && ends_ != never_asked;
  }

 private:
  template <class E>
  void process(const E& event) {
    machine_.process(event, *this);
    if (!is_over() && exchange_ == nullptr) machine_.process(pv::NoExchange{}, *this);
    FCVI_ASSERT_CONSISTENT(*this);
    if (is_over()) owner_.finish(remote_->peer(), machine_.is<pv::Valid>());  // *this is gone
  }
  [[nodiscard]] bool is_over() const { return machine_.is_any_of<pv::Valid, pv::Gone>(); }

  // machines::port_validation
  void begin_question() override { ends_ = port_.scheduler().now() + 2 * port_.r_a_tov(), repeated_ = 0; }
  void ask_name_server() override {
    request(wire::well_known::name_server, wire::RCtl::unsolicited_control, wire::Type::ct,
            wire::bytes_of(wire::ct::GpnId{.port_id = remote_->peer()}));
  }
  void ask_port() override {
    const fc2::NPortConfig& config = port_.config();
    request(remote_->peer(), wire::RCtl::els_request, wire::Type::els,
            wire::bytes_of(wire::els::Adisc{
                .port_name = config.port_name, .node_name = config.node_name, .n_port_id = port_.n_port_id()}));
  }
  [[nodiscard]] bool may_ask_name_server() const override {
    const fc2::RemotePort* server = port_.find_remote_port(wire::well_known::name_server);
    return first_ == First::NameServer && server != nullptr && server->logged_in() &&
           (ends_ == never_asked || time_left());
  }
  [[nodiscard]] bool time_left() const override { return port_.scheduler().now() < ends_; }
  [[nodiscard]] bool awaits_login() const override { return !remote_->logged_in(); }
  [[nodiscard]] bool login_asks() const override { return login_asks_; }
  void on_row(const fsm::Row& row) override { fsm::tell(port_.config().rows, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override {
    ++port_.counters().unexpected_events;
  }

  // What is lost is asked again, as long as one answer may take.
  void request(wire::FcId d_id, wire::RCtl r_ctl, wire::Type type, std::span<const std::uint8_t> payload) {
    const runtime::TimeNs left = ends_ - port_.scheduler().now();
    exchange_ = port_.request(d_id, r_ctl, type, payload, *this, std::min(port_.answer_time(repeated_, 1), left));
  }
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t> iu) override {
    exchange_ = nullptr;
    if (exchange.is_open()) port_.release(exchange);
    if (machine_.is<pv::AskingPort>()) return process(pv::AddressAnswered{.same = is_same(iu)});
    process(pv::NameAnswered{named(iu)});
  }
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure failure) override {
    exchange_ = nullptr;
    ++repeated_;
    if (failure == fc2::ExchangeFailure::ReplyTimeout) return process(pv::AnswerOverdue{});
    process(pv::RequestFailed{});
  }
  [[nodiscard]] pv::Named named(std::span<const std::uint8_t> iu) const {
    const auto accept = wire::ct::NameAccept::parse(iu);
    if (!accept) return pv::Named::Nobody;
    return accept->world_wide_name == remote_->peer_parameters().port_name ? pv::Named::Same : pv::Named::Other;
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
  const First first_;
  pv::Machine machine_;
  fc2::Exchange* exchange_ = nullptr;
  static constexpr runtime::TimeNs never_asked = 0;
  runtime::TimeNs ends_ = never_asked;  // the time of the question that is asked
  int repeated_ = 0;
  const bool login_asks_;
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
      if (!wire::is_of_fabric(id) && affects(id) && id != port_.n_port_id())
        waiting_.insert_or_assign(id, First::NameServer);
  start_next();
  FCVI_ASSERT_CONSISTENT(*this);
}

void PortValidator::notifications_begin() {
  for (const wire::FcId id : port_.logged_in_ports())
    if (!wire::is_of_fabric(id) && id != port_.n_port_id() && !checks_.contains(id))
      waiting_.try_emplace(id, First::Port);
  start_next();
  FCVI_ASSERT_CONSISTENT(*this);
}

// One that is being checked has changed again: what it says of itself then is new enough only if asked anew.
void PortValidator::start_next() {
  for (auto next = waiting_.begin(); next != waiting_.end() && checks_.size() < max_checks_at_once;) {
    const auto [id, first] = *next;
    fc2::RemotePort* remote = port_.find_remote_port(id);
    next = waiting_.erase(next);
    if (remote == nullptr || !(remote->logged_in() || remote->logging_in())) continue;
    auto& check = checks_[id];
    check = std::make_unique<Check>(*this, *remote, first);
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
