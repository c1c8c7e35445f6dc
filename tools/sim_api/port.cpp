// Port and Peer.
#include <algorithm>

#include "fc2_fabric/node/remote_port.hpp"
#include "tools/sim_api/state.hpp"

namespace fcvi::sim {
namespace {

constexpr Duration login_limit = std::chrono::seconds(30);

detail::PortState& usable(detail::PortState& port) {
  port.fabric.must_be_usable();
  return port;
}

/// Throws Error where there is none.
detail::PortState& port_named(detail::FabricState& fabric, std::string_view name) {
  const std::string& address = fabric.name_or_address(name);
  return **std::find_if(fabric.ports.begin(), fabric.ports.end(),
                        [&](const auto& port) { return port->address == address; });
}

std::uint32_t id_of(const detail::PortState& port) {
  return port.fabric.is_closed ? 0 : port.host->port().n_port_id().value;
}

}  // namespace

const std::string& Port::name() const { return state_->name; }
const std::string& Port::address() const { return state_->address; }
std::uint32_t Port::n_port_id() const { return id_of(*state_); }
bool Port::ready() const { return !state_->fabric.is_closed && state_->host->is_ready(); }

std::vector<std::string> Port::errors() const {
  std::vector<std::string> errors;
  for (const ::sim::Node::Error& error : usable(*state_).node->errors()) errors.emplace_back(to_string(error.code));
  return errors;
}

void Port::unplug() {
  usable(*state_).fabric.unplug(*state_);
  state_->fabric.settle();
}

void Port::plug() { usable(*state_).fabric.plug(*state_); }

// --- peers -------------------------------------------------------------------------------------------------------

const std::string& Peer::name() const { return state_->name; }
const std::string& Peer::address() const { return state_->address; }
std::uint32_t Peer::n_port_id() const { return id_of(*state_); }

void Peer::log_in(std::string_view name) {
  detail::FabricState& fabric = usable(*state_).fabric;
  detail::PortState& other = port_named(fabric, name);
  const auto keep = state_;
  const auto ready = [&] { return state_->host->is_ready() && other.host->is_ready(); };
  if (!fabric.run_until(ready, login_limit)) throw NotMet("the ports are not ready" + fabric.latest_frames());
  fc2::RemotePort& remote = state_->host->port().remote_port(other.host->port().n_port_id());
  if (!remote.logged_in()) remote.log_in();
  const auto logged_in = [&] {
    const fc2::RemotePort* now = state_->host->port().find_remote_port(other.host->port().n_port_id());
    return now != nullptr && now->logged_in();
  };
  if (!fabric.run_until(logged_in, login_limit))
    throw NotMet("\"" + other.name + "\" does not accept the login" + fabric.latest_frames());
}

void Peer::log_out(std::string_view name) {
  detail::FabricState& fabric = usable(*state_).fabric;
  fc2::RemotePort* remote = state_->host->port().find_remote_port(port_named(fabric, name).host->port().n_port_id());
  if (remote != nullptr && remote->logged_in()) remote->log_out();
  fabric.settle();
}

void Peer::send(Frame frame) {
  usable(*state_);
  if (frame.bytes().size() > fc2::max_frame_bytes) throw Error("an IU of several frames is not sent as one");
  if (frame.get("s_id") == 0) frame.set("s_id", n_port_id());
  constexpr std::uint16_t none = 0xFFFF;
  if (frame.get("ox_id") == none) {
    frame.set("ox_id", state_->next_ox_id++);
    if (state_->next_ox_id == none) state_->next_ox_id = 1;
  }
  state_->outbox.push_back(std::move(frame));
  if (state_->fabric.within == detail::Within::nothing) state_->fabric.settle();
}

std::optional<Frame> Peer::take() {
  usable(*state_);
  if (state_->inbox.empty()) return std::nullopt;
  Frame frame = std::move(state_->inbox.front());
  state_->inbox.pop_front();
  return frame;
}

Frame Peer::expect(std::string_view message, Duration timeout) {
  detail::must_be_message(message);
  const auto state = state_;
  auto& inbox = usable(*state).inbox;
  const auto is_it = [&](const Frame& frame) { return frame.is(message); };
  const auto came = [&] { return std::any_of(inbox.begin(), inbox.end(), is_it); };
  if (!state->fabric.run_until(came, timeout))
    throw NotMet("no " + std::string(message) + " came to \"" + name() + "\"" + state->fabric.latest_frames());
  const auto found = std::find_if(inbox.begin(), inbox.end(), is_it);
  Frame frame = *found;
  inbox.erase(inbox.begin(), found + 1);
  return frame;
}

void Peer::on_frame(std::function<void(const Frame&)> script) { usable(*state_).script = std::move(script); }

}  // namespace fcvi::sim
