#include "tools/fcvi_sim/network/fc_host.hpp"

#include <algorithm>

#include "fc2_fabric/node/remote_port.hpp"

namespace sim {
namespace {

// Each drawn whether the scenario sets it or not: setting one changes no other.
std::uint32_t drawn(Random& random, std::uint32_t limit) { return static_cast<std::uint32_t>(random.below(limit)); }

fc2::NPortConfig port_config(const PortSpec& spec, Random& random) {
  fc2::NPortConfig config;
  config.log_out_silent_ports = true;  // as the library does (ruling 282)
  config.name = spec.name;
  config.port_name = spec.port_name;
  config.node_name = spec.node_name;
  config.receive_data_field_bytes = spec.receive_data_field_bytes;
  config.end_to_end_credit = spec.end_to_end_credit;
  config.ack_0 = spec.ack_0;
  config.first_ox_id = spec.first_ox_id.value_or(static_cast<std::uint16_t>(drawn(random, 0xFFFF)));
  return config;
}

fcvi::ProviderConfig provider_config(const PortSpec& spec, Random& random) {
  fcvi::ProviderConfig config;
  config.address = spec.addresses.front();
  config.more_addresses.assign(spec.addresses.begin() + 1, spec.addresses.end());
  const std::uint32_t first_handle = drawn(random, 0x7FFFFFFF) + 1, first_connection_id = drawn(random, 0x7FFFFFFF) + 1;
  config.first_handle = spec.first_handle.value_or(first_handle);
  config.first_connection_id = spec.first_connection_id.value_or(first_connection_id);
  config.max_iu_bytes = spec.max_iu_bytes;
  config.pipeline_depth = spec.pipeline_depth;
  config.reorder_pool_bytes = spec.reorder_pool_bytes;
  config.preference = spec.preference;
  config.class_2 = spec.class_2;
  config.ulp_timeout = spec.ulp_timeout;
  return config;
}

farp::ResolverConfig resolver_config(const PortSpec& spec) {
  farp::ResolverConfig config;
  config.own_addresses = spec.addresses;
  config.use_name_server = spec.use_name_server;
  return config;
}

template <class Reason>
void add_discards(HostTransport::Tally& tally, const fc2::DiscardCounts<Reason>& counts) {
  counts.for_each_discard([&](Reason reason, std::uint64_t times) {
    tally.discarded.push_back({to_string(reason), times});
  });
}

}  // namespace

FcHost::FcHost(runtime::Scheduler& scheduler, fc2::FramePool& pool, const PortSpec& spec, Random& random)
    : port_(scheduler, pool, port_config(spec, random)), resolver_(port_, resolver_config(spec)),
      provider_(port_, resolver_, provider_config(spec, random)) {}

// The same numbers, in the same order.
void FcHost::draw_for_another(Random& random) {
  PortSpec spec;
  spec.addresses.resize(1);
  (void)port_config(spec, random);
  (void)provider_config(spec, random);
}

void FcHost::set_ready_listener(TransportListener& listener) {
  listener_ = &listener;
  resolver_.set_ready_listener(*this);
}

bool FcHost::leave() {
  if (!port_.online() || !port_.has_fabric()) return false;
  port_.log_out_of_fabric();
  return true;
}

std::vector<HostTransport::Held> FcHost::held() const {
  return {{"FCVI_HANDLEs", provider_.handles_in_use()},
          {"Connection Setups", provider_.open_setups()},
          {"exchanges", port_.open_exchanges()},
          {"FCVI_CONNECTION_IDs of set-ups", provider_.open_connection_ids()},
          {"FCVI_CONNECTION_IDs that rest", provider_.resting_connection_ids()}};
}

HostTransport::Tally tally_of(const fc2::Counters& counters) {
  HostTransport::Tally tally{.discarded = {}, .unexpected_events = counters.unexpected_events};
  add_discards(tally, counters);
  return tally;
}

HostTransport::Tally FcHost::tally() const {
  Tally tally = tally_of(port_.counters());
  add_discards(tally, provider_.counters());
  tally.kept_bytes = provider_.reorder_peak_bytes();
  tally.pool_refusals = provider_.counters().reorder_pool_full;
  return tally;
}

void FcHost::add_gauges(std::vector<Gauge>& to) const {
  to.push_back({"Memory held by early frames", "B", provider_.reorder_bytes()});
  to.push_back({"Frames that wait to be sent", "", port_.waiting_frames()});
  to.push_back({"Exchanges in use", "", port_.open_exchanges()});
}

void FcHost::log_out_from(wire::FcId peer, bool implicit) {
  fc2::RemotePort* remote = port_.find_remote_port(peer);
  if (remote == nullptr) return;
  if (implicit)
    remote->implicit_logout();
  else
    remote->log_out();
}

bool FcHost::send_frame(wire::FcId to, wire::Type type, std::span<const std::uint8_t> data_field) {
  if (!port_.online() || to.value == 0 || to == port_.n_port_id()) return false;
  fc2::RemotePort& remote = port_.remote_port(to);
  if (!remote.logged_in()) {
    remote.log_in();
    return false;
  }
  fc2::Exchange* const exchange = port_.originate(to, type, *this);
  if (exchange == nullptr) return false;
  const auto part = data_field.first(std::min(data_field.size(), remote.send_data_field_bytes()));
  port_.send(*exchange, wire::RCtl::unsolicited_data, {}, part, {.last_of_exchange = true});
  return true;
}

}  // namespace sim
