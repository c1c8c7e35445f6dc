// Fabric and Fault: time, frames, pictures.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "tools/fcvi_sim/capture/draw.hpp"
#include "tools/fcvi_sim/report/report.hpp"
#include "tools/sim_api/state.hpp"
#include "wire/fc_header.hpp"

namespace fcvi::sim {
namespace {

std::string seconds(Duration time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g s", static_cast<double>(time.count()) / 1e9);
  return text;
}

/// Those who read captures read files, and show their names.
class CaptureFile {
 public:
  CaptureFile(const Bytes& bytes, std::uint64_t seed) {
    folder_ = (std::filesystem::temp_directory_path() / "fcvi-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error(folder_ + ": cannot be made");
    path_ = folder_ + "/fabric, seed " + std::to_string(seed);
    std::ofstream file(path_, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    good_ = file.good();
  }
  ~CaptureFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  CaptureFile(const CaptureFile&) = delete;
  CaptureFile& operator=(const CaptureFile&) = delete;
  [[nodiscard]] const std::string& path() const {
    if (!good_) throw std::runtime_error(path_ + ": cannot be written");
    return path_;
  }

 private:
  std::string folder_, path_;
  bool good_ = false;
};

}  // namespace

Fabric::Fabric(const FabricOptions& options) : state_(std::make_shared<detail::FabricState>(options)) {}

Port Fabric::add_port(std::string name, const PortOptions& options) {
  return Port(std::shared_ptr<detail::PortState>(state_, &state_->add(std::move(name), options, false)));
}

Peer Fabric::add_peer(std::string name, const PortOptions& options) {
  return Peer(std::shared_ptr<detail::PortState>(state_, &state_->add(std::move(name), options, true)));
}

void Fabric::add_switch(std::string name) { state_->add_switch(std::move(name)); }

Isl Fabric::add_isl(std::string_view one, std::string_view other, const IslOptions& options) {
  return Isl(std::shared_ptr<detail::IslState>(state_, &state_->add_isl(one, other, options)));
}

void Isl::unplug() {
  state_->fabric.must_be_usable();
  state_->fabric.switches->unplug(*state_->link);
}

void Isl::plug() {
  state_->fabric.must_be_usable();
  state_->fabric.switches->plug(*state_->link);
}

// --- time --------------------------------------------------------------------------------------------------------

Duration Fabric::now() const { return Duration(state_->now()); }

bool Fabric::step() {
  const std::uint64_t before = state_->events;
  const auto state = state_;
  state->run_until([&] { return state->events != before; }, Duration(runtime::never - state->scheduler->now()));
  return state->events != before;
}

void Fabric::run(Duration time) {
  const auto state = state_;
  constexpr Duration most = std::chrono::hours(24 * 365 * 100);
  if (time > most) throw Error("a run is at most 100 years");
  const runtime::TimeNs end = state->scheduler->now() + time.count();
  state->run_until({}, time);
  state->scheduler->run_until(end);
}

bool Fabric::run_until(const std::function<bool()>& condition, Duration limit) {
  const auto state = state_;
  return state->run_until(condition, limit);
}

void Fabric::run_until(const Call& call, Duration limit) {
  if (!run_until([&] { return call.done(); }, limit))
    throw NotMet("the call is not done within " + seconds(limit) + state_->latest_frames());
}

void Fabric::run_until(const Work& work, Duration limit) {
  if (!run_until([&] { return work.done(); }, limit))
    throw NotMet("the descriptor is not complete within " + seconds(limit) + state_->latest_frames());
}

void Fabric::run_until_ready(Duration limit) {
  const detail::PortState* waiting = nullptr;
  const auto ready = [&] {
    for (const auto& port : state_->ports) {
      waiting = port.get();
      if (port->plugged && !port->host->is_ready()) return false;
    }
    return true;
  };
  if (!run_until(ready, limit))
    throw NotMet("port \"" + waiting->name + "\" is not logged in and registered within " + seconds(limit) +
                 state_->latest_frames());
}

// --- frames ------------------------------------------------------------------------------------------------------

Fault Fabric::add_fault(Predicate predicate, std::string note) {
  state_->must_be_usable();
  constexpr std::size_t most_faults = 65535;
  if (state_->fault_notes.size() == most_faults) throw Error("a fabric has at most 65535 faults");
  state_->fault_notes.push_back(std::move(note));
  std::vector<std::string> notes;
  for (const std::string& text : state_->fault_notes) notes.push_back("fault: " + text);
  state_->capture.set_fault_notes(std::move(notes));
  const auto number = static_cast<std::uint16_t>(state_->fault_notes.size());
  state_->faults.push_back(std::make_unique<detail::FaultState>(*state_, std::move(predicate), number));
  return Fault(std::shared_ptr<detail::FaultState>(state_, state_->faults.back().get()));
}

std::uint64_t Fault::fired() const { return state_->fired; }

void Fault::remove() {
  state_->fabric.must_be_usable();
  state_->predicate = nullptr;
}

std::vector<Frame> Fabric::frames(std::string_view message) const {
  if (message.empty()) return state_->log;
  detail::must_be_message(message);
  std::vector<Frame> some;
  for (const Frame& frame : state_->log)
    if (frame.is(message)) some.push_back(frame);
  return some;
}

// By S_ID, D_ID, OX_ID, SEQ_ID and the end of the Exchange that sends.
std::vector<Frame> Fabric::ius(std::string_view message) const {
  if (!message.empty()) detail::must_be_message(message);
  std::map<std::array<std::uint64_t, 5>, Frame> open;
  std::vector<Frame> whole;
  for (const Frame& frame : state_->log) {
    const wire::FcHeader header = *wire::FcHeader::parse(frame.bytes());
    const std::array<std::uint64_t, 5> key{header.s_id.value, header.d_id.value, header.ox_id.value,
                                           header.seq_id.value, header.has(wire::f_ctl::exchange_responder) ? 1u : 0u};
    if (frame.begins_sequence)
      open.insert_or_assign(key, frame);
    else if (const auto begun = open.find(key); begun != open.end())
      begun->second.append(frame);
    if (!header.has(wire::f_ctl::end_sequence)) continue;
    auto ended = open.extract(key);
    if (!ended.empty() && (message.empty() || ended.mapped().is(message))) whole.push_back(std::move(ended.mapped()));
  }
  return whole;
}

Frame Fabric::expect(std::string_view message, Duration timeout) {
  detail::must_be_message(message);
  const auto state = state_;
  auto& sent = state->sent_since_run;
  const auto found = std::find_if(sent.begin(), sent.end(), [&](const Frame& frame) { return frame.is(message); });
  if (found != sent.end()) {
    Frame frame = *found;
    sent.erase(sent.begin(), found + 1);
    return frame;
  }
  detail::FabricState::Awaited awaited{.message = std::string(message)};
  struct Forget {
    detail::FabricState& fabric;
    ~Forget() { fabric.awaited = nullptr; }
  } const forget{*state};
  state->awaited = &awaited;
  if (!state->run_until([&] { return awaited.frame.has_value(); }, timeout))
    throw NotMet("no " + std::string(message) + " was sent within " + seconds(timeout) + state->latest_frames());
  return *awaited.frame;
}

// --- what happened -----------------------------------------------------------------------------------------------

Bytes Fabric::capture() const { return state_->sink.bytes(); }

std::string Fabric::ladder(bool svg) const {
  if (state_->log.empty()) return {};
  const CaptureFile file(capture(), state_->options.seed);
  const auto drawn = ::sim::capture::draw({.path = file.path(), .as_text = !svg});
  if (drawn.picture.empty()) throw std::runtime_error(drawn.error);
  return drawn.picture;
}

std::string Fabric::report() const {
  if (state_->log.empty()) return {};
  constexpr std::size_t most_frames = 200'000;
  const CaptureFile file(capture(), state_->options.seed);
  const auto report = ::sim::report::of_capture(file.path(), most_frames);
  if (report.page.empty()) throw std::runtime_error(report.error);
  return report.page;
}

void Fabric::close() { state_->close(); }
bool Fabric::closed() const { return state_->is_closed; }

void Fabric::set_interrupt(std::function<void()> check) {
  state_->must_be_usable();
  state_->interrupt = std::move(check);
}

}  // namespace fcvi::sim
