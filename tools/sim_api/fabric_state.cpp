#include <algorithm>
#include <array>

#include "fc2_fabric/link/link.hpp"
#include "settings/tree.hpp"
#include "tools/fcvi_sim/scenario/message_names.hpp"
#include "tools/sim_api/state.hpp"
#include "wire/fc_header.hpp"

namespace fcvi::sim::detail {
namespace {

constexpr std::uint64_t events_between_interrupts = 1000;
constexpr std::size_t most_ports = 250;  // 10.0.0.1 to 10.0.0.250
constexpr std::uint16_t usual_end_to_end_credit = 16, most_end_to_end_credit = 0x7FFF;

bool is_of_fc_vi(const fc2::Frame& frame) {
  const auto header = wire::FcHeader::parse(frame.content());
  return header && header->type == wire::Type::fc_vi;
}

bool is_of_service(const fc2::Frame& frame) {
  const auto header = wire::FcHeader::parse(frame.content());
  return header && wire::is_of_fabric(header->s_id);
}

/// What others put in place of a frame: fault::rewrite with the bytes of another one.
void replace(const fc2::FaultAction& action, fc2::FaultyDirection& direction, fc2::Channel& channel,
             fc2::FramePtr frame) {
  frame->size_bytes = action.size_bytes;
  frame->crc_error = action.crc_error;
  for (const fc2::FramePatch& patch : action.patches) fc2::rewrite(*frame, patch);
  direction.pass(channel, std::move(frame));
}

std::vector<fc2::FramePatch> patches_of(const Bytes& bytes) {
  std::vector<fc2::FramePatch> patches;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    patches.push_back({.offset = static_cast<std::uint16_t>(i), .size = 1, .value = bytes[i]});
  return patches;
}

void complete(std::deque<std::shared_ptr<WorkState>>& queue, const ::sim::Completion& completion) {
  WorkState& work = *queue.front();
  const auto bytes = work.region.bytes();
  work.data.assign(bytes.begin(), bytes.begin() + std::min<std::ptrdiff_t>(completion.length_bytes, std::ssize(bytes)));
  work.completion = completion;
  work.region = {};
  queue.pop_front();
}

template <class T>
class Restored {
 public:
  Restored(T& value, T now) : value_(value), before_(value) { value_ = now; }
  ~Restored() { value_ = before_; }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  T& value_;
  T before_;
};

}  // namespace

void must_be_message(std::string_view name) {
  std::vector<std::string_view> names = ::sim::known_message_names();
  for (unsigned type = 0; type <= 0xFF; ++type) names.push_back(to_string(static_cast<wire::Type>(type)));
  if (std::ranges::find(names, name) != names.end()) return;
  const std::string_view near = settings::nearest(name, names);
  throw Error("no message is called \"" + std::string(name) + "\"" +
              (near.empty() ? std::string(" (docs/scenarios.md: message names)")
                            : "; did you mean \"" + std::string(near) + "\"?"));
}

void Tap::frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) {
  if (capture_ != nullptr) capture_->frame_passed(at, frame, outbound);
  fabric_.frame_passed(port_, at, frame, outbound);
}

FabricState::FabricState(const FabricOptions& chosen) : options(chosen), random(chosen.seed, "ports") {
  start = scheduler->now();
  driver = std::make_unique<::sim::Driver>(*scheduler);
  switches = std::make_unique<fc2::Fabric>(*scheduler, *pool);
  add_switch("switch");
}

FabricState::~FabricState() { close(); }  // nobody runs it: who does shares it

// Links first: calls that are under way end. Then VIs, before the NICs that they stand on.
void FabricState::close() {
  if (running) throw Error("the fabric runs: it cannot be closed now");
  if (std::exchange(is_closed, true)) return;
  interrupt = nullptr;
  for (const auto& fault : faults) fault->predicate = nullptr;
  for (const auto& port : ports) {
    port->script = nullptr;
    if (port->plugged) unplug(*port);
  }
  for (const auto& port : ports) {
    for (auto& wait : port->operations.waits)
      if (!wait.is_done) port->host->transport().withdraw(wait);
    for (const auto& vi : port->vis) {
      for (auto* queue : {&vi->sends, &vi->receives})
        for (const auto& work : *queue) work->region = {};
      vi->endpoint.reset();
    }
  }
  for (const auto& memory : memories) memory->region = {};
  for (const auto& port : ports) {
    port->node.reset();
    port->host.reset();
  }
  switches.reset();
}

void FabricState::must_be_usable() const {
  if (is_closed) throw Error("the fabric is closed");
  if (within == Within::predicate) throw Error("a predicate may only look at frames: the fabric is within an event");
}

// --- switches ----------------------------------------------------------------------------------------------------

fc2::Switch& FabricState::switch_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < switches->size(); ++i) {
    if (switches->at(i).config().name == name) return switches->at(i);
    names.push_back(switches->at(i).config().name);
  }
  const std::string_view near = settings::nearest(name, names);
  throw Error("no switch \"" + std::string(name) + "\"" +
              (near.empty() ? std::string() : "; did you mean \"" + std::string(near) + "\"?"));
}

// What is there before anything happens has no delay.
void FabricState::configure_first() {
  if (scheduler->now() == start && events == 0) switches->configure();
}

void FabricState::add_switch(std::string name) {
  must_be_usable();
  if (name.empty()) throw Error("a switch needs a name");
  const std::size_t index = switches->size();
  if (index == fc2::max_domain) throw Error("a fabric has at most 239 switches");
  for (std::size_t i = 0; i < index; ++i)
    if (switches->at(i).config().name == name) throw Error("there is a switch \"" + name + "\" already");
  fc2::SwitchConfig config;
  config.in_order = options.in_order;
  config.name = std::move(name);
  config.domain = static_cast<std::uint8_t>(index + 1);
  config.switch_name.value += index << 16;  // the numbers of its ports are below
  switches->add_switch(std::move(config));
  configure_first();
}

IslState& FabricState::add_isl(std::string_view one, std::string_view other, const IslOptions& chosen) {
  must_be_usable();
  fc2::Switch &a = switch_named(one), &b = switch_named(other);
  if (&a == &b) throw Error("an ISL is between two switches, not from \"" + std::string(one) + "\" to itself");
  if (chosen.latency.count() < 0) throw Error("the latency of an ISL is below 0");
  fc2::InterSwitchLink& link =
      switches->connect(a, b, {.latency_ns = chosen.latency.count(), .bytes_per_second = chosen.bytes_per_second});
  isls.push_back(std::make_unique<IslState>(IslState{*this, &link}));
  configure_first();
  return *isls.back();
}

// --- ports -------------------------------------------------------------------------------------------------------

PortHostConfig FabricState::host_config(const std::string& name, const PortOptions& chosen,
                                        const wire::IpAddress& address) {
  const std::size_t number = ports.size() + 1;
  PortHostConfig config;
  config.port.name = name;
  config.port.port_name.value = 0x200002FCF0000000 + number;  // a locally assigned block
  config.port.node_name.value = 0x100002FCF0000000 + number;
  config.port.first_ox_id = static_cast<std::uint16_t>(random.below(0xFFFF));
  config.port.end_to_end_credit = chosen.end_to_end_credit.value_or(chosen.class_2 ? usual_end_to_end_credit : 0);
  config.port.ack_0 = chosen.ack_0;
  config.resolver.own_addresses = {address};
  config.provider.address = address;
  config.provider.first_handle = static_cast<std::uint32_t>(random.below(0x7FFFFFFF) + 1);
  config.provider.first_connection_id = static_cast<std::uint32_t>(random.below(0x7FFFFFFF) + 1);
  config.provider.class_2 = chosen.class_2;
  return config;
}

PortState& FabricState::add(std::string name, const PortOptions& chosen, bool is_peer) {
  must_be_usable();
  if (name.empty()) throw Error("a port needs a name");
  if (ports.size() == most_ports) throw Error("a fabric has at most " + std::to_string(most_ports) + " ports");
  const std::size_t number = ports.size() + 1;
  const std::string text = chosen.address.empty() ? "10.0.0." + std::to_string(number) : chosen.address;
  const auto address = wire::IpAddress::from_string(text);
  if (!address) throw Error("port \"" + name + "\": address \"" + text + "\" is no IP address, such as 10.0.0.1");
  for (const auto& other : ports) {
    if (other->name == name) throw Error("there is a port \"" + name + "\" already");
    if (other->address == to_string(*address))
      throw Error("port \"" + name + "\": address " + text + " is that of \"" + other->name + "\"");
  }
  if (chosen.latency.count() < 0) throw Error("port \"" + name + "\": its latency is below 0");

  if (chosen.end_to_end_credit.value_or(0) > most_end_to_end_credit)
    throw Error("port \"" + name + "\": its end-to-end credit is above 32767");
  if (chosen.class_2 && chosen.end_to_end_credit == 0)
    throw Error("port \"" + name + "\": class 2 needs end-to-end credit");
  fc2::Switch& at = chosen.switch_name.empty() ? switches->at(0) : switch_named(chosen.switch_name);

  auto made = std::make_unique<PortState>(*this);
  PortState* const port = made.get();
  port->name = name;
  port->address = to_string(*address);
  port->index = ports.size();
  port->link = {.latency_ns = chosen.latency.count(), .bytes_per_second = chosen.bytes_per_second};
  port->at = &at;
  PortHostConfig config = host_config(name, chosen, *address);
  config.is_peer = is_peer;
  port->host = std::make_unique<PortHost>(*scheduler, *pool, config);
  if (!is_peer) port->node = std::make_unique<::sim::Node>(*driver, *port->host, port->index);
  port->tap = std::make_unique<Tap>(*this, *port, options.record ? &capture.add_interface(port->name) : nullptr);
  port->faults = std::make_unique<fc2::FaultyLink>(*scheduler, policy(), port->index);
  actions_.emplace_back();
  ports.push_back(std::move(made));
  plug(*port);
  return *port;
}

void FabricState::plug(PortState& port) {
  if (port.plugged) return;
  if (!port.at->attach(port.host->port(), port.link)) throw Error("the switch has no port left");
  port.at->tap(port.host->port(), port.tap.get());
  port.at->set_faults(port.host->port(), &port.faults->sent, &port.faults->received);
  port.plugged = true;
}

void FabricState::unplug(PortState& port) {
  if (!port.plugged) return;
  port.at->tap(port.host->port(), nullptr);
  port.at->set_faults(port.host->port(), nullptr, nullptr);
  port.at->detach(port.host->port());
  port.host->link_went();
  port.plugged = false;
}

const std::string& FabricState::name_or_address(std::string_view host) const {
  std::vector<std::string_view> names;
  for (const auto& port : ports) {
    if (port->name == host || port->address == host) return port->address;
    names.push_back(port->name);
  }
  const std::string_view near = settings::nearest(host, names);
  throw Error("no port \"" + std::string(host) + "\"" +
              (near.empty() ? std::string() : "; did you mean \"" + std::string(near) + "\"?"));
}

std::string FabricState::name_of(wire::FcId id) const {
  for (const auto& port : ports)
    if (id.value != 0 && port->host->port().n_port_id() == id) return port->name;
  std::string text = to_string(id);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// --- frames ------------------------------------------------------------------------------------------------------

Frame FabricState::seen(const fc2::Frame& frame, runtime::TimeNs at) const {
  const auto content = frame.content();
  Frame shown = Frame::from_bytes(Bytes(content.begin(), content.end()));
  shown.at = Duration(at - start);
  shown.crc_error = frame.crc_error;
  shown.begins_sequence = frame.sof != wire::Sof::n3 && frame.sof != wire::Sof::n2;
  const auto header = wire::FcHeader::parse(content);
  shown.source = name_of(header->s_id);
  shown.destination = name_of(header->d_id);
  if (frame.fault != 0 && frame.fault <= fault_notes.size()) shown.fault = fault_notes[frame.fault - 1u];
  return shown;
}

void FabricState::frame_passed(PortState& port, runtime::TimeNs at, const fc2::Frame& frame, bool outbound) {
  if (frame.content().size() < fc2::frame_header_bytes) return;
  if (outbound || is_of_service(frame)) {
    Frame shown = seen(frame, at);
    if (outbound) shown.source = port.name;  // also of FLOGI, which has no S_ID
    if (awaited != nullptr && !awaited->frame && shown.is(awaited->message)) awaited->frame = shown;
    if (!running) sent_since_run.push_back(shown);
    if (options.record) log.push_back(shown);
    latest_.push_back(std::move(shown));
    if (latest_.size() > most_latest) latest_.pop_front();
  }
  if (!outbound && port.host->is_peer() && is_of_fc_vi(frame)) port.inbox.push_back(seen(frame, at));
}

// Each frame once: at its sender, or, of a service, where it leaves the fabric.
fc2::FaultPolicy::Verdict FabricState::judge(std::size_t link, fc2::LinkDirection direction, const fc2::Frame& frame,
                                             runtime::TimeNs now) {
  const bool sent = direction == fc2::LinkDirection::Sent;
  if (faults.empty() || thrown_ || frame.content().size() < fc2::frame_header_bytes) return {};
  if (!sent && !is_of_service(frame)) return {};
  Frame shown = seen(frame, now);
  if (sent) shown.source = ports[link]->name;
  const Restored inside(within, Within::predicate);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const Verdict verdict = ask(*faults[i], shown, actions_[link][sent ? 0 : 1]);
    if (verdict.action != nullptr || thrown_) return verdict;
  }
  return {};
}

// What it throws waits until the event is over.
fc2::FaultPolicy::Verdict FabricState::ask(FaultState& fault, const Frame& frame, fc2::FaultAction& action) {
  if (!fault.predicate) return {};
  try {
    if (!to_fault(fault.predicate(frame), action)) return {};
    ++fault.fired;
    return {&action, fault.number};
  } catch (...) {
    thrown_ = std::current_exception();
    return {};
  }
}

/// False: it passes.
bool FabricState::to_fault(const Action& action, fc2::FaultAction& to) {
  const auto amount = static_cast<std::uint32_t>(action.amount());
  switch (action.kind()) {
    case Action::Kind::pass: return false;
    case Action::Kind::drop: to = {.apply = fc2::fault::drop}; return true;
    case Action::Kind::delay:
      if (action.amount() < 0) throw Error("a frame cannot be delayed by less than 0");
      to = {.apply = fc2::fault::delay, .delay = action.amount()};
      return true;
    case Action::Kind::duplicate: to = {.apply = fc2::fault::duplicate, .delay = 1, .frames = amount}; return true;
    case Action::Kind::reorder: to = {.apply = fc2::fault::reorder, .frames = amount}; return true;
    case Action::Kind::corrupt: to = {.apply = fc2::fault::corrupt, .bit = amount}; return true;
    case Action::Kind::replace: break;
  }
  const Bytes& bytes = action.frame()->bytes();
  if (bytes.size() > fc2::max_frame_bytes) throw Error("an IU of several frames does not go in place of one");
  to = {.apply = replace,
        .size_bytes = static_cast<std::uint16_t>(bytes.size()),
        .crc_error = action.frame()->crc_error,
        .patches = patches_of(bytes)};
  return true;
}

std::string FabricState::latest_frames() const {
  if (latest_.empty()) return "; no frame was sent at all";
  std::string text = "; the last frames were:";
  for (const Frame& frame : latest_) {
    const std::string at = std::to_string(static_cast<double>(frame.at.count()) / 1e9);
    text += "\n  " + at + " s  " + frame.source + " > " + frame.destination + "  " + frame.message() +
            (frame.fault.empty() ? "" : "  (" + frame.fault + ")");
  }
  return text;
}

// --- running -----------------------------------------------------------------------------------------------------

bool FabricState::step(runtime::TimeNs limit) {
  if (!scheduler->run_next(limit)) return false;
  ++events;
  settle();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (interrupt && events % events_between_interrupts == 0) interrupt();
  return true;
}

void FabricState::settle() {
  for (std::size_t i = 0; i < ports.size(); ++i) tend(*ports[i]);  // a script may add one
}

void FabricState::tend(PortState& port) {
  for (const auto& vi : port.vis) tend(*vi);
  if (!port.host->is_peer()) return;
  tell_script(port);
  send_waiting(port);
}

void FabricState::tend(ViState& vi) {
  while (const auto completion = vi.endpoint->take_send()) complete(vi.sends, *completion);
  while (const auto completion = vi.endpoint->take_receive()) complete(vi.receives, *completion);
  if (vi.wait == nullptr || !vi.wait->is_done) return;
  const auto& wait = *std::exchange(vi.wait, nullptr);
  const auto call = std::exchange(vi.listening, nullptr);
  if (wait.outcome != vi::Return::Success) {
    call->result = wait.outcome;
    return;
  }
  auto& accept = vi.port.operations.plain.emplace_back(call);
  vi.port.host->transport().connect_accept(wait.token, vi.endpoint->vi(), accept);
}

void FabricState::tell_script(PortState& port) {
  while (port.script && !port.inbox.empty()) {
    const Frame frame = std::move(port.inbox.front());
    port.inbox.pop_front();
    const Restored inside(within, Within::script);
    const auto script = port.script;  // it may set another one
    script(frame);
  }
}

void FabricState::send_waiting(PortState& port) {
  fc2::Link* const link = port.at->link_of(port.host->port());
  while (link != nullptr && !port.outbox.empty() && link->b.active() && !link->b.output().paused()) {
    const Frame next = std::move(port.outbox.front());
    port.outbox.pop_front();
    fc2::FramePtr frame = pool->take();
    frame->size_bytes = static_cast<std::uint16_t>(next.bytes().size());
    std::copy(next.bytes().begin(), next.bytes().end(), frame->bytes.begin());
    const wire::FcHeader header = *wire::FcHeader::parse(next.bytes());
    frame->sof = next.begins_sequence ? wire::Sof::i3 : wire::Sof::n3;
    frame->eof = header.has(wire::f_ctl::end_sequence) ? wire::Eof::t : wire::Eof::n;
    frame->crc_error = next.crc_error;
    link->b.output().send(std::move(frame));
  }
}

bool FabricState::run_until(const std::function<bool()>& condition, Duration limit) {
  must_be_usable();
  if (running) throw Error("the fabric runs already: a script may send, not run");
  if (limit.count() < 0) throw Error("time does not go back");
  const Restored now_running(running, true);
  sent_since_run.clear();
  const runtime::TimeNs left = runtime::never - scheduler->now();
  const runtime::TimeNs end = limit.count() >= left ? runtime::never : scheduler->now() + limit.count();
  settle();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  while (!condition || !condition())
    if (!step(end)) return false;
  return true;
}

}  // namespace fcvi::sim::detail
