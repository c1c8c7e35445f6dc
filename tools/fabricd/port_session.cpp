#include "tools/fabricd/port_session.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "fc2_fabric/switch/switch.hpp"

namespace fabricd {
using fc2::drivers::Destination;
using fc2::drivers::PathEnd;

PortSession::PortSession(SessionHost& service, std::shared_ptr<FrameStream> stream, const Hello& hello,
                         fc2::FPort& port, runtime::drivers::DoorbellDescriptors doorbell)
    : Session(service, std::move(stream)), hello_(hello), f_port_(&port), since_(service.core().scheduler().now()),
      doorbell_(std::move(doorbell)) {}

PortSession::~PortSession() {
  if (f_port_ == nullptr) return;
  end_paths(PathEnd::Cause::PeerGone);
  service().fabric().detach(*f_port_);
}

std::string PortSession::description() const {
  return hello_.name + " (process " + std::to_string(hello_.process_id) + ")";
}

void PortSession::record_received(RecordKind kind, std::span<const std::uint8_t> body) {
  const auto wanted = kind == RecordKind::PathRequest ? Destination::parse(body) : std::nullopt;
  if (wanted) return service().make_path(*this, wanted->id);
  stream().close();
  stream_closed("it sent a " + std::string(to_string(kind)) + " record on a port's link");
}

// Without its link the port is logged out, and who registered for it is told.
void PortSession::stream_closed(const std::string& reason) {
  spdlog::info("link of {} is down: {}", description(), reason);
  end_paths(PathEnd::Cause::PeerGone);
  service().fabric().detach(*std::exchange(f_port_, nullptr));
  end();
}

void PortSession::add_tap(fc2::FrameTap& tap) {
  taps_.push_back(&tap);
  if (f_port_ == nullptr) return;
  f_port_->tap(this);
  end_paths(PathEnd::Cause::Service);
}

void PortSession::remove_tap(fc2::FrameTap& tap) {
  std::erase(taps_, &tap);
  if (taps_.empty() && f_port_ != nullptr) f_port_->tap(nullptr);
}

// --- paths -------------------------------------------------------------------------------------------------------

bool PortSession::has_address(wire::FcId id) const {
  return f_port_ != nullptr && f_port_->logged_in() && f_port_->address() == id;
}

bool PortSession::has_path_to(const PortSession& other) const {
  return std::find(paths_.begin(), paths_.end(), &other) != paths_.end();
}

void PortSession::add_path(PortSession& other, const runtime::drivers::Descriptor& memory,
                           fc2::drivers::PathRecord path) {
  paths_.push_back(&other);
  std::vector<runtime::drivers::Descriptor> descriptors;
  descriptors.push_back(memory.duplicate());
  descriptors.push_back(other.doorbell_.attention.duplicate());
  descriptors.push_back(other.doorbell_.rung.duplicate());
  path.peer = other.f_port_->address();
  tell(RecordKind::Path, path.write(), std::move(descriptors));
}

void PortSession::end_paths(PathEnd::Cause cause) {
  for (PortSession* const other : std::exchange(paths_, {})) {
    std::erase(other->paths_, this);
    other->path_ended(f_port_->address(), cause);
    if (cause == PathEnd::Cause::Service) path_ended(other->f_port_->address(), cause);
  }
}

void PortSession::path_ended(wire::FcId address, PathEnd::Cause cause) {
  tell(RecordKind::PathEnd, PathEnd{.peer = address, .cause = cause}.write());
}

void PortSession::tell(RecordKind kind, std::span<const std::uint8_t> body,
                       std::vector<runtime::drivers::Descriptor> descriptors) {
  telling_.push_back({kind, {body.begin(), body.end()}, std::move(descriptors)});
  tell_waiting();
}

void PortSession::tell_waiting() {
  while (!telling_.empty() && stream().has_room_for_records()) {
    Telling& next = telling_.front();
    stream().send_record(next.kind, next.body, std::move(next.descriptors));
    telling_.pop_front();
  }
}

void PortSession::frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) {
  for (fc2::FrameTap* tap : taps_) tap->frame_passed(at, frame, outbound);
}

}  // namespace fabricd
