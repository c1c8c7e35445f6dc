// Many hosts on many switches: each logs in, registers, resolves another one's address and connects a VI to it.
#pragma once
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "farp/resolver.hpp"
#include "fc2_fabric/switch/fabric.hpp"
#include "fcvi/provider.hpp"
#include "tests/support/operations.hpp"
#include "tests/support/switched_fabric.hpp"
#include "vi/nic.hpp"
#include "wire/line_rate.hpp"

namespace support {

class ManyHosts {
 public:
  struct Config {
    std::size_t switches = 8;  // a power of two: they form a hypercube, so that there are many paths of equal cost
    std::size_t ports = 1000;  // even: the first half connects to the second
    fc2::FabricConfig fabric = {};
    bool one_link_apart = false;   // one inter-switch link between the two of a pair, however many ports there are
    bool one_server = false;       // all other hosts connect to the first one, instead of pairwise
    std::size_t connections = 1;   // of each pair
    std::size_t at_once = no_end;  // Connection Setups under way
    vi::ReliabilityLevel level = vi::ReliabilityLevel::ReliableDelivery;
    vi::NicLimits limits = {};
    static constexpr std::size_t no_end = ~std::size_t{0};
    [[nodiscard]] std::size_t connection_count() const { return (one_server ? ports - 1 : ports / 2) * connections; }
  };

  struct Host final : vi::Listener, farp::ReadyListener {
    Host(ManyHosts& owner, fc2::NPort& n_port, std::size_t index)
        : hosts(owner),
          address(wire::IpAddress::v4(10, static_cast<std::uint8_t>(index >> 16), static_cast<std::uint8_t>(index >> 8),
                                      static_cast<std::uint8_t>(index))),
          port(n_port), resolver(port, resolver_config()), provider(port, resolver, provider_config()),
          nic(provider, *this, owner.config_.limits) {
      resolver.set_ready_listener(*this);
    }
    farp::ResolverConfig resolver_config() const {
      farp::ResolverConfig config;
      config.own_addresses = {address};
      return config;
    }
    fcvi::ProviderConfig provider_config() const {
      fcvi::ProviderConfig config;
      config.address = address;
      return config;
    }
    [[nodiscard]] vi::NetAddress net(std::uint32_t connection) const {
      std::array<std::uint8_t, 16> discriminator{'s', 'c', 'a', 'l', 'e'};
      std::memcpy(&discriminator[12], &connection, sizeof connection);
      return vi::NetAddress::make(address, discriminator);
    }
    vi::Vi& make_vi() {
      vi::Vi* made = nullptr;
      nic.create_vi({.reliability = hosts.config_.level,
                     .max_transfer_size_bytes = 0,
                     .ptag = {},
                     .enable_rdma_write = false,
                     .enable_rdma_read = false},
                    nullptr, nullptr, made);
      return *made;
    }
    void address_ready() override {
      if (!std::exchange(ready, true)) ++hosts.ready_;
    }
    bool completed(vi::Vi&, bool, std::uint64_t, bool) override {
      ++hosts.completed_;
      return false;
    }
    void asynchronous_error(vi::Vi*, vi::CompletionQueue*, std::uint64_t, std::uint32_t, vi::ResourceCode,
                            vi::ErrorCode) override {}

    ManyHosts& hosts;
    const wire::IpAddress address;
    fc2::NPort& port;
    farp::Resolver resolver;
    fcvi::Provider provider;
    vi::Nic nic;
    bool ready = false;
  };

  /// A connection, and how two hosts come to it. Operations signal; run_until() goes on when the core has settled.
  struct Pair final : vi::ConnectOperation, vi::ConnectWaitOperation {
    Pair(ManyHosts& owner, Host& from, Host& to, std::size_t its_number)
        : hosts(owner), client(from), server(to), number(static_cast<std::uint32_t>(its_number)) {}
    void make_vis() {
      client_vi = &client.make_vi();
      server_vi = &server.make_vi();
    }
    void begin() {
      if (client_vi == nullptr) make_vis();
      server.provider.connect_wait(server.net(number), limit, *this);
      client.provider.connect_request(*client_vi, client.net(number), server.net(number), limit, *this);
    }
    void done(vi::Return value) override {
      if (value == vi::Return::Success && !accepted)
        hosts.waiting_.push_back(this);
      else if (value == vi::Return::Success)
        ++hosts.connected_;
    }
    void accept_it() {
      accepted = true;
      server.provider.connect_accept(vi::ConnectWaitOperation::token, *server_vi, accept);
    }
    static constexpr runtime::TimeNs limit = 60 * runtime::second;
    ManyHosts& hosts;
    Host& client;
    Host& server;
    const std::uint32_t number;  // of the connection, in its discriminator
    vi::Vi* client_vi = nullptr;
    vi::Vi* server_vi = nullptr;
    Done accept;
    bool accepted = false;
  };

  explicit ManyHosts(const Config& config) : config_(config), fabric_(0, config.fabric) {
    fabric_.link = {.latency_ns = runtime::microsecond, .bytes_per_second = wire::line_rate_bytes_per_second("32GFC")};
    for (std::size_t i = 0; i < config.switches; ++i) fabric_.add_switch();
    const fc2::LinkConfig isl{.latency_ns = 5 * runtime::microsecond,
                              .bytes_per_second = wire::line_rate_bytes_per_second("128GFC")};
    for (std::size_t i = 0; i < config.switches; ++i)
      for (std::size_t bit = 1; bit < config.switches; bit *= 2)
        if ((i & bit) == 0) fabric_.join(i, i | bit, isl);
    fabric_.run_for(runtime::second);
    for (std::size_t i = 0; i < config.ports; ++i) add_host();
  }

  /// Until everybody has registered. False: not all of them by then.
  bool register_all(runtime::TimeNs limit = 100 * runtime::second) {
    return run_until([&] { return ready_ == hosts_.size(); }, limit);
  }
  /// What connect_all() connects: pairwise, each host with one of another switch. After register_all().
  void make_pairs() {
    pairs_.reserve(config_.connection_count());
    for (std::size_t i = 0; i < config_.connection_count(); ++i) {
      const std::size_t of_host = i / config_.connections;
      Host& client = *hosts_[config_.one_server ? of_host + 1 : of_host];
      Host& server = *hosts_[config_.one_server ? 0 : of_host + hosts_.size() / 2];
      pairs_.push_back(std::make_unique<Pair>(*this, client, server, i));
    }
  }
  /// False: not all of them by then.
  bool connect_all(runtime::TimeNs limit = 100 * runtime::second) {
    if (pairs_.empty()) make_pairs();
    return run_until([&] { return connected_ == pairs_.size(); }, limit);
  }
  [[nodiscard]] std::size_t connected() const { return connected_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Pair>>& pairs() const { return pairs_; }
  /// Descriptors of all hosts, so far.
  [[nodiscard]] std::uint64_t completed() const { return completed_; }
  [[nodiscard]] std::size_t registered() const { return ready_; }
  SwitchedFabric& fabric() { return fabric_; }
  [[nodiscard]] std::uint64_t discarded() {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < config_.switches; ++i) sum += fabric_.at(i).counters().discarded();
    return sum;
  }
  [[nodiscard]] std::uint64_t frames_forwarded() {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < config_.switches; ++i) sum += fabric_.at(i).frames_forwarded();
    return sum;
  }

 private:
  /// One after another, and so pairs are on switches that differ; or the two of a pair on two that are joined.
  [[nodiscard]] std::size_t switch_of(std::size_t host) const {
    const std::size_t half = config_.ports / 2;
    if (!config_.one_link_apart) return host % config_.switches;
    if (config_.one_server) return host == 0 ? 0 : 1;
    return (host < half ? host : (host - half) ^ 1) % config_.switches;
  }
  void add_host() {
    const std::size_t index = fabric_.add_port(switch_of(hosts_.size()));
    hosts_.push_back(std::make_unique<Host>(*this, fabric_.port(index), index));
  }
  void begin_some() {
    while (begun_ < pairs_.size() && begun_ - connected_ < config_.at_once) pairs_[begun_++]->begin();
  }
  template <class Done>
  bool run_until(Done done, runtime::TimeNs limit) {
    const runtime::TimeNs end = fabric_.scheduler.now() + limit;
    begin_some();
    while (!done() && fabric_.scheduler.run_next(end)) {
      while (!waiting_.empty()) {
        Pair* pair = waiting_.back();
        waiting_.pop_back();
        pair->accept_it();
      }
      begin_some();
    }
    return done();
  }

  const Config config_;
  SwitchedFabric fabric_;
  std::vector<Pair*> waiting_;  // servers whose request came
  std::size_t ready_ = 0, begun_ = 0, connected_ = 0;
  std::uint64_t completed_ = 0;
  std::vector<std::unique_ptr<Pair>> pairs_;  // an operation lives until it is done
  std::vector<std::unique_ptr<Host>> hosts_;
};

}  // namespace support
