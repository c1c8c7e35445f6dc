// A node made of the protocol's parts, without libvipl: N_Port, resolver, provider, NIC; on the local fabric,
// in one thread.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "farp/resolver.hpp"
#include "fc2_fabric/drivers/local_fabric_link.hpp"
#include "fc2_fabric/drivers/fabric_core.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "fcvi/provider.hpp"
#include "tests/local_fabric/fixture.hpp"
#include "tests/support/operations.hpp"
#include "vi/nic.hpp"

namespace support {
using runtime::CoreSection;

/// An io_context and a core; several nodes may share them.
struct Machine {
  boost::asio::io_context io{1};
  fc2::drivers::FabricCore core{io};
  std::unique_ptr<runtime::drivers::Doorbell> doorbell = runtime::drivers::Doorbell::make();
  bool run_until(const std::function<bool()>& done, std::chrono::milliseconds limit = generous) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!done()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      if (read_memory())
        io.poll_one();
      else
        io.run_one_for(core.has_memory_inputs() ? 1ms : 100ms);
    }
    return true;
  }
  /// What other processes wrote; looked for often, as a program that polls does.
  bool read_memory() {
    const runtime::CoreSection section(core);
    return core.read_memory();
  }
};

class RawNode final : private vi::Listener, private fc2::drivers::LinkListener {
 public:
  RawNode(Machine& machine, unsigned number, fc2::drivers::LocalFabricOptions options = {})
      : machine_(machine), address(address_of(number)),
        port(machine.core.scheduler(), machine.core.pool(), port_config(number)),
        resolver(port, resolver_config(address)), provider(port, resolver, provider_config(address, number)),
        nic(provider, *this), memory_(memory_bytes) {
    const CoreSection section(machine_.core);
    vi::MemoryAttributes attributes;
    attributes.enable_rdma_write = attributes.enable_rdma_read = true;
    nic.register_memory(base, memory_.data(), memory_.size(), attributes, handle_);
    if (options.doorbell == nullptr) options.doorbell = machine_.doorbell.get();
    link_.emplace(port, machine_.io, machine_.core, std::move(options), static_cast<fc2::drivers::LinkListener*>(this));
  }
  ~RawNode() override {
    const CoreSection section(machine_.core);
    link_.reset();
  }
  static wire::IpAddress address_of(unsigned number) {
    return *wire::IpAddress::from_string("fdfc:7669::" + std::to_string(number));
  }
  static constexpr std::uint64_t base = 0x100000000;
  static constexpr std::size_t memory_bytes = 8u << 20;

  bool ready() {
    return machine_.run_until([&] { return link_->up() && resolver.ready(); });
  }
  [[nodiscard]] bool up() const { return link_->up(); }
  [[nodiscard]] std::size_t direct_paths() const { return link_->direct_paths(); }
  [[nodiscard]] const std::string& trouble() const { return link_->trouble(); }
  vi::NetAddress net(std::string_view discriminator) const { return net(address, discriminator); }
  static vi::NetAddress net(const wire::IpAddress& host, std::string_view discriminator) {
    return vi::NetAddress::make(
        host, std::span(reinterpret_cast<const std::uint8_t*>(discriminator.data()), discriminator.size()));
  }
  vi::Vi& make_vi(vi::ReliabilityLevel level = vi::ReliabilityLevel::ReliableDelivery) {
    vi::Vi* vi = nullptr;
    vi::ViAttributes attributes;
    attributes.reliability = level;
    EXPECT_EQ(nic.create_vi(attributes, nullptr, nullptr, vi), vi::Return::Success);
    return *vi;
  }
  /// VipConnectRequest; the VI stays for `last_vi`.
  vi::Return connect(vi::Vi& vi, const vi::NetAddress& remote) {
    Connect outcome;
    {
      const CoreSection section(machine_.core);
      provider.connect_request(vi, net("client"), remote, 60 * runtime::second, outcome);
    }
    machine_.run_until([&] { return outcome.result.has_value(); });
    return outcome.result.value_or(vi::Return::NotDone);
  }
  /// VipConnectWait and VipConnectAccept.
  vi::Return accept(vi::Vi& vi, std::string_view discriminator) {
    Wait waited;
    Done accepted;
    {
      const CoreSection section(machine_.core);
      provider.connect_wait(net(discriminator), runtime::never, waited);
    }
    machine_.run_until([&] { return waited.result.has_value(); });
    if (waited.result != vi::Return::Success) return waited.result.value_or(vi::Return::NotDone);
    {
      const CoreSection section(machine_.core);
      provider.connect_accept(waited.token, vi, accepted);
    }
    machine_.run_until([&] { return accepted.result.has_value(); });
    return accepted.result.value_or(vi::Return::NotDone);
  }
  /// A descriptor in slot `slot` of the first part of memory, over data at `offset` in it.
  std::uint64_t descriptor(std::size_t slot, std::size_t offset, std::uint32_t length) {
    vi::ControlSegment control;
    control.segment_count = 1;
    control.length_bytes = length;
    const vi::Segment segment{base + offset, handle_.value, length};
    std::memcpy(memory_.data() + slot * 128, &control, sizeof control);
    std::memcpy(memory_.data() + slot * 128 + sizeof control, &segment, sizeof segment);
    return base + slot * 128;
  }
  [[nodiscard]] bool is_done(std::uint64_t descriptor) const { return (status(descriptor) & vi::status::done) != 0; }
  [[nodiscard]] std::uint32_t status(std::uint64_t descriptor) const {
    vi::ControlSegment control;
    std::memcpy(&control, memory_.data() + (descriptor - base), sizeof control);
    return control.status;
  }
  std::uint8_t* bytes(std::size_t offset) { return reinterpret_cast<std::uint8_t*>(memory_.data()) + offset; }
  [[nodiscard]] wire::MemHandle handle() const { return handle_; }

 private:
  Machine& machine_;

 public:
  const wire::IpAddress address;
  fc2::NPort port;
  farp::Resolver resolver;
  fcvi::Provider provider;
  vi::Nic nic;
  int connections_lost = 0;
  std::vector<fc2::drivers::LinkState> link_states;
  std::string last_reason;

 private:
  static fc2::NPortConfig port_config(unsigned number) {
    fc2::NPortConfig config;
    config.port_name = {0x3000'0000'0000'0000U + (static_cast<std::uint64_t>(::getpid()) << 16) + number};
    config.node_name = {0x3100'0000'0000'0000U + number};
    return config;
  }
  static farp::ResolverConfig resolver_config(const wire::IpAddress& own) {
    farp::ResolverConfig config;
    config.own_addresses = {own};
    config.farp_timeout = 100 * runtime::millisecond;
    return config;
  }
  static fcvi::ProviderConfig provider_config(const wire::IpAddress& own, unsigned number) {
    fcvi::ProviderConfig config;
    config.address = own;
    config.first_handle = 0x1000 * number + 1;
    return config;
  }
  bool completed(vi::Vi&, bool, std::uint64_t, bool) override { return false; }
  void asynchronous_error(vi::Vi*, vi::CompletionQueue*, std::uint64_t, std::uint32_t, vi::ResourceCode,
                          vi::ErrorCode error) override {
    if (error == vi::ErrorCode::ConnLost) ++connections_lost;
  }
  void link_changed(fc2::drivers::LinkState state, const std::string& reason) override {
    link_states.push_back(state);
    last_reason = reason;
  }

  std::vector<std::byte> memory_;
  wire::MemHandle handle_{};
  std::optional<fc2::drivers::LocalFabricLink> link_;
};

}  // namespace support
