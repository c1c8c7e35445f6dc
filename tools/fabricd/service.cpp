#include "tools/fabricd/service.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <boost/asio/post.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "fc2_fabric/drivers/fabric_service.hpp"
#include "settings/tree.hpp"
#include "tools/fabricd/capture_session.hpp"
#include "tools/fabricd/control_session.hpp"
#include "tools/fabricd/fcoe_status.hpp"
#include "tools/fabricd/port_session.hpp"
#include "tools/fabricd/status.hpp"

namespace fabricd {
using runtime::CoreSection;

namespace {
constexpr int accepted_at_once = 16;                                  // then the links have their turn
constexpr runtime::TimeNs accept_pause = 100 * runtime::millisecond;  // when no descriptor is left
constexpr runtime::TimeNs state_change_delay = runtime::millisecond;  // a process that died is told of at once

fc2::SwitchConfig switch_config(const ServiceConfig& config, const FcoeSide& fcoe) {
  fc2::SwitchConfig fabric;
  fabric.switch_name = fabric.fabric_name = fcoe.switch_name().value_or(fabric.switch_name);
  fabric.name = "local fabric";
  fabric.max_ports = config.max_ports + 1;  // the stand-in; ENodes count as the others
  fabric.state_change_delay = state_change_delay;
  fabric.flow_queue_frames = FcoeConfig::flow_queue_frames;
  return fabric;
}
}  // namespace

Service::Service(boost::asio::io_context& io, services::Instance instance, ServiceConfig config)
    : io_(io), instance_(std::move(instance)), config_(config), process_id_(static_cast<std::uint32_t>(::getpid())),
      core_(io), recorder_(config_.history),
      faults_(core_.scheduler(),
              [this](LiveFaults::Id rule, const std::string& what, const fc2::Frame& frame) {
                recorder_.fault_befell(rule, what, core_.scheduler().now(), frame);
              }),
      failures_(core_.scheduler(), recorder_, config_.failures),
      fcoe_(core_, recorder_, faults_, config_.fcoe, instance_.place().directory().file("fcf.logins")),
      fabric_(core_.scheduler(), core_.pool(), switch_config(config_, fcoe_)), stand_in_(fabric_, core_),
      listener_(io, instance_.listener()), signals_(io, SIGTERM, SIGINT), started_at_(core_.now()),
      paths_(config_.path_slots, config_.max_paths) {
  if (!trouble().empty()) return;
  const CoreSection section(core_);
  fabric_.set_witness(&recorder_);
  std::vector<LiveFaults::Id> ids;
  faults_.add(config_.faults, ids);
  fcoe_.start(fabric_);
  await_connections();
  await_signals();
  link_count_changed();
  take_sample();
}

void Service::take_sample() {
  rates_.begin_sample(core_.scheduler().now());
  for (const PortSession* port : ports_) rates_.sample(port->f_port());
  if (fcoe_.present())
    for (const auto& interface : fcoe_.fcf()->interfaces())
      for (const auto& [mac, link] : interface->links())
        if (link->f_port() != nullptr) rates_.sample(*link->f_port());
  core_.scheduler().schedule_after(sample_timer_, Rates::interval);
}

Service::~Service() {
  failures_.finish();           // who asked to stop may remove the folder when its connection ends
  while (!captures_.empty()) {  // they look at ports
    sessions_.erase(captures_.back());
    captures_.pop_back();
  }
  fcoe_.let_go_of_switch();
}

void Service::stop(const std::string& reason) {
  if (std::exchange(stopping_, true)) return;
  spdlog::info("ends: {}", reason);
  instance_.remove_socket();
  boost::system::error_code ignored;
  listener_.close(ignored);
  signals_.cancel(ignored);
  fcoe_.stop();
  failures_.end();
  boost::asio::post(io_, [this] { io_.stop(); });  // answers that were given just now go out first
}

void Service::await_signals() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    const CoreSection section(core_);
    stop(std::string("signal ") + ::strsignal(signal));
  });
}

// --- connections -------------------------------------------------------------------------------------------------

void Service::await_connections() {
  if (stopping_) return;
  listener_.async_wait(listener_.wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    const CoreSection section(core_);
    accept();
  });
}

void Service::accept() {
  for (int i = 0; i < accepted_at_once && !stopping_; ++i) {
    const int descriptor = ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) break;
      spdlog::error("cannot accept a connection: {}", std::strerror(errno));
      core_.scheduler().schedule_after(accept_pause_, accept_pause);
      return;
    }
    const bool welcome = fc2::drivers::is_own_user(descriptor) && sessions_.size() < config_.max_sessions;
    if (welcome)
      add(std::make_unique<Greeting>(*this, descriptor));
    else
      ::close(descriptor);
    if (!welcome) spdlog::warn("a connection was refused: of another user, or one too many");
  }
  await_connections();
}

std::shared_ptr<FrameStream> Service::make_stream(fc2::drivers::StreamUser& user, int descriptor) {
  return FrameStream::make(io_, core_, core_.scheduler(), core_.pool(), user, descriptor);
}

static runtime::drivers::DoorbellDescriptors doorbell_of(const Hello& hello, FrameStream& stream) {
  runtime::drivers::DoorbellDescriptors doorbell;
  if (!hello.has_doorbell) return doorbell;
  auto files = stream.take_files();
  if (files.size() == 2) doorbell = {std::move(files[0]), std::move(files[1])};
  return doorbell;
}

std::string Service::admit(const Hello& hello, const std::shared_ptr<FrameStream>& stream) {
  if (hello.role == Hello::Role::Port) {
    auto doorbell = doorbell_of(hello, *stream);
    downed_.forget_ended();  // this may be another with the same number
    DownedLinks::Downed* const down = downed_.without_waiting(hello.process_id);
    if (down == nullptr) return admit_port(hello, stream, std::move(doorbell));
    auto waiting = std::make_unique<WaitingLink>(*this, stream, hello, std::move(doorbell));
    down->waiting = waiting.get();
    add(std::move(waiting));
    return {};
  }
  if (controls_.size() >= max_controls)
    return fmt::format("there are {} control connections already", controls_.size());
  stream->send_record(RecordKind::Welcome, fc2::drivers::Welcome{.process_id = process_id_}.write());
  stream->expect_no_files();
  auto session = std::make_unique<ControlSession>(*this, stream);
  controls_.insert(session.get());
  add(std::move(session));
  return {};
}

std::string Service::admit(WaitingLink& waiting) {
  return admit_port(waiting.hello(), waiting.shared_stream(), waiting.take_doorbell());
}

std::string Service::admit_port(const Hello& hello, const std::shared_ptr<FrameStream>& stream,
                                runtime::drivers::DoorbellDescriptors doorbell) {
  auto line = std::make_unique<LocalLine>(core_.scheduler(), stream);
  fc2::FPort* f_port = stopping_ ? nullptr : fabric_.attach(line->output(), *stream);
  if (f_port == nullptr)
    return "every F_Port of the local fabric is taken, " + std::to_string(config_.max_ports) + " at most";
  stream->send_record(RecordKind::Welcome, fc2::drivers::Welcome{.process_id = process_id_}.write());
  auto session = std::make_unique<PortSession>(*this, stream, std::move(line), hello, *f_port, std::move(doorbell));
  stream->expect_no_files();
  spdlog::info("link of {} is up", session->description());
  ports_.push_back(session.get());
  ports_by_address_[f_port->address().value] = session.get();
  for (CaptureSession* capture : captures_) capture->add(*session);
  faults_.add(*session);
  add(std::move(session));
  link_count_changed();
  return {};
}

void Service::make_path(PortSession& from, wire::FcId to) {
  if (!from.f_port().logged_in()) return;
  const auto other = ports_by_address_.find(to.value);
  if (other != ports_by_address_.end() && other->second->has_address(to))
    paths_.make(from, *other->second, core_.scheduler().now());
}

void Service::names_changed(PortSession& port) {
  for (CaptureSession* capture : captures_) capture->add(port);
  faults_.look_at(port);
}

void Service::start_capture(const std::shared_ptr<FrameStream>& stream, const CaptureRequest& request) {
  auto capture = std::make_unique<CaptureSession>(*this, stream, request);
  for (PortSession* port : ports_) capture->add(*port);
  captures_.push_back(capture.get());
  add(std::move(capture));
  link_count_changed();
}

void Service::add(std::unique_ptr<Session> session) {
  const Session* key = session.get();
  sessions_[key] = std::move(session);
}

void Service::end(Session& session) {
  if (auto* port = dynamic_cast<PortSession*>(&session)) {
    for (CaptureSession* capture : captures_) capture->remove(*port);
    faults_.remove(*port);
    std::erase(ports_, port);
    std::erase_if(ports_by_address_, [&](const auto& entry) { return entry.second == port; });
  }
  if (auto* capture = dynamic_cast<CaptureSession*>(&session)) {
    std::erase(captures_, capture);
  }
  if (auto* waiting = dynamic_cast<WaitingLink*>(&session)) downed_.let_go(*waiting);
  controls_.erase(&session);
  ended_.push_back(&session);
  core_.scheduler().schedule(burial_, core_.scheduler().now());
  link_count_changed();
}

void Service::bury() {
  for (const Session* session : ended_) sessions_.erase(session);
  ended_.clear();
}

// --- idleness ----------------------------------------------------------------------------------------------------

void Service::link_count_changed() {
  const bool idle = ports_.empty() && captures_.empty() && !fcoe_.present() && config_.idle_seconds > 0;
  if (!idle)
    core_.scheduler().cancel(idle_timer_);
  else if (!idle_timer_.pending())
    core_.scheduler().schedule_after(idle_timer_, config_.idle_seconds * runtime::second);
}

// A client that connects just now finds its connection closed without a word, and tries again.
void Service::idle_for_too_long() {
  downed_.forget_ended();
  if (downed_.empty()) return stop("no link for " + std::to_string(config_.idle_seconds) + " s");
  link_count_changed();
}

// --- links that are taken down -----------------------------------------------------------------------------------

std::string Service::no_such_port(std::string_view name) const {
  constexpr std::size_t most_told = 8;
  std::vector<std::string> known = fcoe_.links().names(), all = known;
  for (const PortSession* port : ports_) {
    const auto& more = port->names().more_names;
    known.push_back(port->hello().name);
    known.insert(known.end(), more.begin(), more.end());
    all.push_back(port->text());
  }
  for (std::string& text : downed_.texts()) all.push_back(std::move(text));
  const std::string none = fmt::format("there is no such port: {}", name);
  const std::vector<std::string_view> views(known.begin(), known.end());
  if (const std::string_view near = settings::nearest(name, views); !near.empty())
    return fmt::format("{}; did you mean \"{}\"?", none, near);
  if (all.empty()) return none + "; nobody has a link";
  const auto told = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), most_told));
  return fmt::format("{}; there {} {}{}", none, all.size() == 1 ? "is" : "are", fmt::join(all.begin(), told, ", "),
                     all.size() > most_told ? ", ..." : "");
}

std::string Service::set_link(std::string_view name, LinkAction action) {
  downed_.forget_ended();
  std::vector<PortSession*> up;
  std::copy_if(ports_.begin(), ports_.end(), std::back_inserter(up), [&](auto* port) { return port->is_called(name); });
  const auto down = downed_.called(name);
  std::vector<std::string> all = fcoe_.links().called(name);
  for (const PortSession* port : up) all.push_back(port->text());
  for (const auto* downed : down) all.push_back(downed->port.text);
  if (all.empty()) return no_such_port(name);
  if (all.size() > 1)
    return fmt::format("{} is not one port but {}: {}; name it by its process, N_Port_ID or Port_Name", name,
                       all.size(), fmt::join(all, ", "));
  if (!up.empty())
    set_link(*up.front(), action);
  else if (!down.empty())
    set_link(*down.front(), action);
  else
    fcoe_.links().set_link(name, action);
  spdlog::info("link of {}: {} by fcvi-ctl", all.front(), to_string(action));
  return {};
}

void Service::set_link(PortSession& port, LinkAction action) {
  if (action == LinkAction::Up) return;
  if (action == LinkAction::Down) downed_.add(port.names());
  port.cut();
}

void Service::set_link(DownedLinks::Downed& downed, LinkAction action) {
  if (action == LinkAction::Down) return;
  WaitingLink* const waiting = downed.waiting;
  downed_.remove(&downed);
  if (waiting != nullptr) waiting->bring_up();
}

// --- status ------------------------------------------------------------------------------------------------------

Status Service::status() {
  Status status;
  status.process_id = process_id_;
  status.uptime = core_.scheduler().now() - started_at_;
  status.frames_forwarded = fabric_.frames_forwarded();
  status.captures = captures_.size();
  status.paths = paths_.count();
  status.faults = faults_.states();
  status.faults_unjudged = faults_.unjudged();
  downed_.forget_ended();
  status.links_down = downed_.texts();
  for (std::string& link : fcoe_.links().down()) status.links_down.push_back(std::move(link));
  status.paths_refused = paths_.refused();
  const fc2::FrameHistory& history = recorder_.history();
  status.history_frames = history.end() - history.first();
  if (!history.empty()) status.history_extent = core_.scheduler().now() - history.at(history.first()).at;
  status.failure_files = failures_.written();
  status.failures_lost = failures_.lost();
  status.counters = fabric_.counters();
  for (const PortSession* port : ports_) {
    const auto* registered = fabric_.name_server().database().find(port->f_port().address());
    status.ports.push_back(describe(*port, registered, rates_, core_.scheduler().now()));
    status.ports.back().paths = paths_.count_of(*port);
  }
  if (fcoe_.present()) status.fcoe = describe(fcoe_, fabric_, rates_, core_.scheduler().now());
  return status;
}

}  // namespace fabricd
