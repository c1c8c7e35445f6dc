#include "tools/fabricd/port_session.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "fc2_fabric/switch/switch.hpp"

namespace fabricd {

PortSession::PortSession(SessionHost& service, std::shared_ptr<FrameStream> stream, const Hello& hello,
                         fc2::FPort& port)
    : Session(service, std::move(stream)), hello_(hello), f_port_(&port), since_(service.core().scheduler().now()) {}

PortSession::~PortSession() {
  if (f_port_ != nullptr) service().fabric().detach(*f_port_);
}

std::string PortSession::description() const {
  return hello_.name + " (process " + std::to_string(hello_.process_id) + ")";
}

void PortSession::record_received(RecordKind kind, std::span<const std::uint8_t>) {
  stream().close();
  stream_closed("it sent a " + std::string(to_string(kind)) + " record on a port's link");
}

// Without its link the port is logged out, and who registered for it is told.
void PortSession::stream_closed(const std::string& reason) {
  spdlog::info("link of {} is down: {}", description(), reason);
  service().fabric().detach(*std::exchange(f_port_, nullptr));
  end();
}

void PortSession::add_tap(fc2::FrameTap& tap) {
  taps_.push_back(&tap);
  if (f_port_ != nullptr) f_port_->tap(this);
}

void PortSession::remove_tap(fc2::FrameTap& tap) {
  std::erase(taps_, &tap);
  if (taps_.empty() && f_port_ != nullptr) f_port_->tap(nullptr);
}

void PortSession::frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) {
  for (fc2::FrameTap* tap : taps_) tap->frame_passed(at, frame, outbound);
}

}  // namespace fabricd
