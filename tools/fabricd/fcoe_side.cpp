#include "tools/fabricd/fcoe_side.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "tools/fabricd/login_file.hpp"
#include "wire/codec.hpp"

namespace fabricd {
namespace {
constexpr runtime::TimeNs together = 10 * runtime::millisecond;  // logins within that time are written at once
constexpr runtime::TimeNs losses_interval = 5 * runtime::second;

fc2::fcoe::FcfConfig heard_by(fc2::fcoe::FcfListener& listener, fc2::fcoe::FcfConfig config) {
  config.listener = &listener;
  return config;
}

// A host that was there is no more, though it did not say so.
bool is_failure(const fc2::fcoe::FcfEvent& event) {
  using Kind = fc2::fcoe::FcfEvent::Kind;
  return event.kind == Kind::Cleared || (event.kind == Kind::LoggedOut && event.why != "LOGO");
}
}  // namespace

FcoeSide::FcoeSide(fc2::drivers::FabricCore& core, Recorder& recorder, LiveFaults& faults, const FcoeConfig& config,
                   std::string logins_path)
    : core_(core), recorder_(recorder), config_(heard_by(*this, config.fcf)), logins_path_(std::move(logins_path)),
      links_(faults, ports_) {
  const runtime::CoreSection section(core_);
  const fc2::drivers::CoreAccess access{core_.io(), core_, core_.scheduler(), core_.pool()};
  for (const fc2::drivers::EthernetName& name : config.interfaces) {
    auto opened = fc2::drivers::open_ethernet(access, name, {.mtu = config.mtu, .priority = config.ethernet_priority});
    if (opened.port == nullptr) {
      trouble_ = opened.error;
      return;
    }
    ports_.emplace_back(core_.scheduler(), recorder_, std::move(opened.port));
  }
}

std::optional<wire::Wwn> FcoeSide::switch_name() const {
  if (ports_.empty()) return std::nullopt;
  return wire::Wwn{std::uint64_t{1} << 60 | wire::load_big<6>(ports_.front().interface().mac.bytes.data())};
}

void FcoeSide::start(fc2::Switch& fabric) {
  if (ports_.empty()) return;
  fcf_.emplace(core_.scheduler(), core_.pool(), fabric, config_);
  for (TappedEthernet& port : ports_) {
    fcf_->add_interface(port);
    spdlog::info("FCF on {}: MAC {}, MTU {}, {}", port.interface().name, to_string(port.interface().mac),
                 port.interface().mtu, port.up() ? "up" : "no carrier yet");
  }
  fcf_->remember(read_logins(logins_path_));
  links_.set_fcf(&*fcf_);
  losses_.resize(ports_.size());
  core_.scheduler().schedule_after(losses_timer_, losses_interval);
}

// ENodes that are told of the end may find the next FCF in time, as when there was none.
void FcoeSide::stop() {
  if (std::exchange(stopped_, true)) return;
  if (keeping_.pending()) keep_logins();
  if (fcf_) fcf_->stop();
}

void FcoeSide::let_go_of_switch() {
  stop();
  core_.scheduler().cancel(links_changed_);
  links_.set_fcf(nullptr);
  fcf_.reset();
}

void FcoeSide::logins_changed() {
  if (!stopped_ && !keeping_.pending()) core_.scheduler().schedule_after(keeping_, together);
}

void FcoeSide::happened(const fc2::fcoe::FcfEvent& event) {
  if (!stopped_ && !links_changed_.pending()) core_.scheduler().schedule(links_changed_, core_.scheduler().now());
  std::string who = "ENode " + to_string(event.e_node);
  if (event.n_port_id != wire::FcId{}) who += " N_Port " + to_string(event.n_port_id);
  if (event.port_name != wire::Wwn{}) who += " " + to_string(event.port_name);
  const std::string line = fmt::format("{}: {} {} ({})", event.interface, who, to_string(event.kind), event.why);
  if (is_failure(event) && !stopped_) recorder_.failed(line);
  const runtime::TimeNs now = core_.scheduler().now();
  if (!events_.allows(now)) return;
  if (const auto left_out = events_.take_left_out(); left_out > 0)
    spdlog::info("FCF: {} more lines were left out", left_out);
  spdlog::info("{}", line);
}

void FcoeSide::look_at_losses() {
  if (stopped_) return;
  core_.scheduler().schedule_after(losses_timer_, losses_interval);
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const std::uint64_t now = ports_[i].kernel_drops(), before = std::exchange(losses_[i], now);
    if (now > before)
      spdlog::warn("{}: {}", ports_[i].interface().name, loss_hint(now - before, ports_[i].interface().priority));
  }
}

std::string loss_hint(std::uint64_t frames, unsigned priority) {
  return fmt::format(
      "the kernel lost {} frames for lack of buffers: raise net.core.rmem_max, or run with CAP_NET_ADMIN; and against "
      "losses "
      "in NIC and switch have priority flow control (PFC, 802.1Qbb) for priority {} at both ends of each link",
      frames, priority);
}

void FcoeSide::keep_logins() {
  core_.scheduler().cancel(keeping_);
  auto logins = fcf_->logins();
  if (logins == kept_) return;
  kept_ = std::move(logins);
  if (const std::string error = write_logins(logins_path_, kept_); !error.empty()) spdlog::warn("{}", error);
}

}  // namespace fabricd
