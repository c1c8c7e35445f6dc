#include "tools/fabricd/port_session.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "fc2_fabric/frame/frame_header.hpp"
#include "fc2_fabric/switch/name_server.hpp"
#include "fc2_fabric/switch/switch.hpp"
#include "tools/fabricd/paths.hpp"

namespace fabricd {
using fc2::drivers::Destination;
using fc2::drivers::PathEnd;

namespace {
const std::string closed_by_service = "closed by the end of the service", closed_by_operator = "closed by fcvi-ctl";
}

PortSession::PortSession(SessionHost& service, std::shared_ptr<FrameStream> stream, std::unique_ptr<LocalLine> line,
                         const Hello& hello, fc2::FPort& port, runtime::drivers::DoorbellDescriptors doorbell)
    : Session(service, std::move(stream)), line_(std::move(line)), hello_(hello), f_port_(&port),
      since_(service.core().scheduler().now()),
      number_(this->service().recorder().add_port(
          {.text = description(), .name = hello_.name, .process_id = hello_.process_id, .address = port.address()})),
      process_(hello_.process_id), doorbell_(std::move(doorbell)) {
  fc2::FrameTap& tap = *this;
  line_->set_port(&port);
  line_->tap(&tap);
  fc2::LoginListener& listener = *this;
  port.set_login_listener(&listener);
}

PortSession::~PortSession() {
  if (f_port_ != nullptr) unlink(closed_by_service);
}

std::string PortSession::description() const {
  return hello_.name + " (process " + std::to_string(hello_.process_id) + ")";
}

void PortSession::record_received(RecordKind kind, std::span<const std::uint8_t> body) {
  const auto wanted = kind == RecordKind::PathRequest ? Destination::parse(body) : std::nullopt;
  if (wanted) return service().make_path(*this, wanted->id);
  const auto end = kind == RecordKind::PathEnd ? PathEnd::parse(body) : std::nullopt;
  if (end) return service().paths().said(*this, *end);
  stream().close();
  stream_closed("it sent a " + std::string(to_string(kind)) + " record on a port's link");
}

// What it registers there may be its names.
void PortSession::frame_received(fc2::FramePtr frame) {
  runtime::Scheduler& scheduler = service().core().scheduler();
  if (fc2::d_id_of(*frame) == wire::well_known::name_server && !names_event_.pending())
    scheduler.schedule(names_event_, scheduler.now());
  line_->receive_from_process(std::move(frame));
}

// Without its link the port is logged out, and who registered for it is told.
void PortSession::stream_closed(const std::string& reason) {
  spdlog::info("link of {} is down: {}", description(), reason);
  unlink(reason);
  end();
}

// A process that dies has closed its descriptors; what it sent that no link may carry is a failure, too.
void PortSession::unlink(const std::string& reason) {
  const bool closed = reason.starts_with("closed by");
  const bool by_us = reason == closed_by_service || reason == closed_by_operator;
  const ProcessEnd process = closed && !by_us ? process_.end() : ProcessEnd{};
  const std::string end = by_us ? reason : closed ? process.to_string() : "its link broke: " + reason;
  if (process.ended) spdlog::info("{}: {}", description(), end);
  service().recorder().port_gone(number_, service().core().scheduler().now(), end, closed && process.signal() == 0,
                                 process.signal());
  service().paths().end_all(*this, PathEnd::Cause::PeerGone);
  line_->clear();
  line_->set_port(nullptr);
  f_port_->set_login_listener(nullptr);
  service().fabric().detach(*std::exchange(f_port_, nullptr));
}

void PortSession::cut() {
  stream().close();
  stream_closed(closed_by_operator);
}

const NamedPort& PortSession::names() const { return *service().recorder().names().find(number_); }

std::string PortSession::node_name() const {
  if (f_port_ == nullptr || !f_port_->logged_in()) return {};
  const auto* node = service().fabric().name_server().database().find_node(f_port_->login().node_name);
  return node != nullptr ? node->symbolic_name : std::string();
}

void PortSession::look_at_names() {
  std::vector<std::string> names;
  if (f_port_ != nullptr && f_port_->logged_in()) names.push_back(to_string(f_port_->login().port_name));
  if (std::string node = node_name(); !node.empty()) names.push_back(std::move(node));
  if (names == this->names().more_names) return;
  service().recorder().set_more_names(number_, std::move(names));
  service().names_changed(*this);
}

// What its far ends write is no longer for the port that logged in.
void PortSession::login_ended(wire::FcId id) {
  if (id == f_port_->address()) service().paths().end_all(*this, PathEnd::Cause::PeerGone);
}

void PortSession::watch(bool watched) {
  watchers_ += watched ? 1U : -1U;
  if (watched && connected()) service().paths().end_all(*this, PathEnd::Cause::Service);
}

bool PortSession::is_passed_by() const { return service().paths().count_of(*this) != 0; }

bool PortSession::is_called(std::string_view name) const { return PortNames::is_called(names(), name); }

// --- paths -------------------------------------------------------------------------------------------------------

bool PortSession::has_address(wire::FcId id) const {
  return f_port_ != nullptr && f_port_->logged_in() && f_port_->address() == id;
}

fc2::drivers::OpenFiles PortSession::files_of_path(const runtime::drivers::Descriptor& memory) const {
  fc2::drivers::OpenFiles files;
  for (const auto* file : {&memory, &doorbell_.attention, &doorbell_.rung}) {
    files.push_back(file->duplicate());
    if (!files.back()) return {};
  }
  return files;
}

void PortSession::tell_path(const fc2::drivers::PathRecord& path, fc2::drivers::OpenFiles files) {
  const auto body = path.write();
  fc2::drivers::PathRecord none = path;
  none.slot_count = 0;
  const auto without = none.write();
  ++untold_paths_;
  tell({RecordKind::Path, path.number, {body.begin(), body.end()}, std::move(files), {without.begin(), without.end()}});
}

bool PortSession::tell_path_end(const PathEnd& end) {
  const auto same = [&](const Telling& telling) {
    return telling.kind == RecordKind::Path && telling.path == end.number;
  };
  if (const auto untold = std::find_if(telling_.begin(), telling_.end(), same); untold != telling_.end()) {
    telling_.erase(untold);
    --untold_paths_;
    return false;
  }
  const auto body = end.write();
  tell({RecordKind::PathEnd, end.number, {body.begin(), body.end()}});
  return true;
}

void PortSession::tell(Telling telling) {
  telling_.push_back(std::move(telling));
  tell_waiting();
}

void PortSession::tell_waiting() {
  while (!telling_.empty() && stream().has_room_for_records()) {
    Telling& next = telling_.front();
    if (next.kind == RecordKind::Path) {
      stream().send_record(next.kind, next.body, std::move(next.files), next.without);
      --untold_paths_;
    } else {
      stream().send_record(next.kind, next.body);
    }
    telling_.pop_front();
  }
}

void PortSession::frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) {
  service().recorder().frame_passed(number_, at, frame, outbound);
}

}  // namespace fabricd
