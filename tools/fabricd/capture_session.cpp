#include "tools/fabricd/capture_session.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "tools/fabricd/port_session.hpp"
#include "tools/fabricd/tapped_ethernet.hpp"

namespace fabricd {

CaptureSession::CaptureSession(SessionHost& service, std::shared_ptr<FrameStream> stream)
    : Session(service, std::move(stream)), blocks_(this->stream()), capture_(*this) {
  describing_ = false;
  spdlog::info("a capture begins");
}

void CaptureSession::stop_tapping() {
  for (const Interface& interface : interfaces_) interface.port->remove_tap(*interface.tap);
  for (const EthernetInterface& interface : ethernet_interfaces_) interface.port->remove_tap(*interface.tap);
  interfaces_.clear();
  ethernet_interfaces_.clear();
}

void CaptureSession::add(PortSession& port) {
  if (ending_ || interface_count_ == max_interfaces) return;
  ++interface_count_;
  describing_ = true;
  fc2::FrameTap& tap = capture_.add_interface(port.description());
  describing_ = false;
  interfaces_.push_back({&port, &tap});
  port.add_tap(tap);
}

void CaptureSession::add(TappedEthernet& port) {
  if (ending_ || interface_count_ == max_interfaces) return;
  ++interface_count_;
  describing_ = true;
  fc2::fcoe::EthernetTap& tap = capture_.add_ethernet_interface(port.interface().name);
  describing_ = false;
  ethernet_interfaces_.push_back({&port, &tap});
  port.add_tap(tap);
}

void CaptureSession::remove(PortSession& port) {
  std::erase_if(interfaces_, [&](const Interface& interface) { return interface.port == &port; });
}

void CaptureSession::write(std::span<const std::uint8_t> block) {
  if (ending_ || (!describing_ && blocks_.size() > max_backlog_bytes)) {
    ++frames_missed_;
    return;
  }
  blocks_.add(block);
  runtime::Scheduler& scheduler = service().core().scheduler();
  if (!pump_event_.pending()) scheduler.schedule(pump_event_, scheduler.now());
}

void CaptureSession::pump() {
  if (!blocks_.pump() || !ending_ || done_) return;
  done_ = stream().send_record(RecordKind::Done, std::to_string(frames_missed_));
  if (done_) stream().finish();  // the client closes
}

// Any request is for the end: what is on its way still comes, then how many frames are missing.
void CaptureSession::record_received(RecordKind, std::span<const std::uint8_t>) {
  if (std::exchange(ending_, true)) return;
  const std::uint64_t missed = frames_missed_;
  stop_tapping();
  spdlog::info("a capture ends: {} frames, {} more missed", capture_.frame_count() - missed, missed);
  pump();
}

void CaptureSession::frame_received(fc2::FramePtr) { stream_closed("a frame on a control connection"); }

void CaptureSession::stream_closed(const std::string& reason) {
  if (!done_) spdlog::info("a capture ends: {}", reason);
  stream().close();
  end();
}

}  // namespace fabricd
