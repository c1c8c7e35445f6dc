#include "tools/fabricd/fcoe_side.hpp"

#include <spdlog/spdlog.h>

#include "wire/codec.hpp"

namespace fabricd {

FcoeSide::FcoeSide(fc2::drivers::RealTimeCore& core, const FcoeConfig& config) : core_(core), config_(config.fcf) {
  const fc2::drivers::CoreSection section(core_);
  const fc2::drivers::CoreAccess access{core_.io(), core_, core_.scheduler(), core_.pool()};
  for (const fc2::drivers::EthernetName& name : config.interfaces) {
    auto opened = fc2::drivers::open_ethernet(access, name, {.mtu = config.mtu});
    if (opened.port == nullptr) {
      trouble_ = opened.error;
      return;
    }
    ports_.emplace_back(core_.scheduler(), std::move(opened.port));
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
    spdlog::info("FCF on {}: MAC {}, MTU {}, {}", port.interface().name, to_string(port.interface().mac), port.interface().mtu,
                 port.up() ? "up" : "no carrier yet");
  }
}

void FcoeSide::stop() {
  if (fcf_) fcf_->stop();
}

}  // namespace fabricd
