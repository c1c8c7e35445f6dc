#include "tools/fcvi_sim/host/node.hpp"

#include "tools/fcvi_sim/host/endpoint.hpp"

namespace sim {
namespace {

// Each drawn whether the scenario sets it or not: setting one changes no other.
std::uint32_t drawn(Random& random, std::uint32_t limit) { return static_cast<std::uint32_t>(random.below(limit)); }

fc2::NPortConfig port_config(const PortSpec& spec, Random& random) {
  fc2::NPortConfig config;
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

constexpr std::uint64_t first_address = 0x1000'0000'0000, addresses_per_node = 0x0100'0000'0000;

}  // namespace

fc2::SwitchConfig fabric_config(const Scenario& scenario) {
  fc2::SwitchConfig config;
  config.in_order = scenario.in_order;
  return config;
}

Node::Node(Driver& driver, fc2::FramePool& pool, const PortSpec& spec, std::size_t index, Random& random)
    : driver_(driver), ready_(driver), port_(driver.scheduler(), pool, port_config(spec, random)),
      resolver_(port_, resolver_config(spec)), provider_(port_, resolver_, provider_config(spec, random)),
      nic_(provider_, *this), addresses_(first_address + index * addresses_per_node) {
  resolver_.set_ready_listener(*this);
}

void Node::work_completed(vi::Vi& vi, bool receive_queue) {
  if (vi.consumer_context != nullptr) static_cast<Endpoint*>(vi.consumer_context)->work_completed(receive_queue);
}

void Node::asynchronous_error(vi::Vi* vi, vi::CompletionQueue*, std::uint64_t, std::uint32_t, vi::ResourceCode,
                              vi::ErrorCode error) {
  errors_.push_back({driver_.now(), error});
  if (vi != nullptr && vi->consumer_context != nullptr)
    static_cast<Endpoint*>(vi->consumer_context)->asynchronous_error(error);
}

}  // namespace sim
