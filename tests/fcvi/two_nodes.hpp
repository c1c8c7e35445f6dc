// Two hosts on a fabric, each with a port, a resolver, a provider and a NIC, and verbs to write scenarios with.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <new>
#include <numeric>

#include "farp/resolver.hpp"
#include "fcvi/provider.hpp"
#include "tests/support/operations.hpp"
#include "tests/support/test_fabric.hpp"
#include "vi/nic.hpp"

namespace support {

/// Zeros, without touching pages that nobody uses: a host has much memory, and there are many hosts. Mapped, because
/// AddressSanitizer would mark every byte of an allocation, twice, for each host. A page that nobody may touch ends it.
class ZeroedMemory {
 public:
  explicit ZeroedMemory(std::size_t size_bytes) : size_(size_bytes) {
    void* mapped =
        mmap(nullptr, size_ + guard_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    bytes_ = static_cast<std::byte*>(mapped);
    mprotect(bytes_ + size_, guard_bytes, PROT_NONE);
  }
  ~ZeroedMemory() { munmap(bytes_, size_ + guard_bytes); }
  ZeroedMemory(const ZeroedMemory&) = delete;
  ZeroedMemory& operator=(const ZeroedMemory&) = delete;
  [[nodiscard]] std::byte* data() { return bytes_; }
  [[nodiscard]] const std::byte* data() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t guard_bytes = 4096;
  std::byte* bytes_;
  std::size_t size_;  // whole pages
};

struct AsyncError {
  vi::Vi* vi;
  vi::ErrorCode error;
  std::string cause;
};  // cause: of the end, as known in that moment

/// Memory of a host: 16 MiB and a bit more for data, descriptors in front.
class Host : public vi::Listener {
 public:
  Host(TestFabric& fabric, std::size_t index, fcvi::ProviderConfig config = {}, farp::ResolverConfig farp = {})
      : port(fabric.port(index)), address(wire::IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(index + 1))),
        resolver(port, with_address(std::move(farp), address, config.more_addresses)),
        provider(port, resolver, with_address(config, address)), nic(provider, *this), memory(memory_bytes) {
    const vi::MemoryAttributes attributes{.ptag = {}, .enable_rdma_write = true, .enable_rdma_read = true};
    EXPECT_EQ(nic.register_memory(base, memory.data(), memory.size(), attributes, handle), vi::Return::Success);
  }

  static constexpr std::uint64_t base = 0x100000000;
  static constexpr std::size_t memory_bytes = 40u << 20;

  /// A descriptor over `segments` (address, length) pairs; returns its address.
  std::uint64_t descriptor(std::uint16_t control, std::vector<std::pair<std::uint64_t, std::uint32_t>> segments,
                           std::uint64_t remote_address = 0, wire::MemHandle remote = {}, std::uint32_t immediate = 0) {
    const std::uint64_t at = next_descriptor;
    next_descriptor += 64 * (2 + segments.size() / 4);
    vi::ControlSegment header;
    const bool rdma = (control & vi::control::op_mask) != 0;
    header.segment_count = static_cast<std::uint16_t>(segments.size() + (rdma ? 1 : 0));
    header.control = control;
    header.immediate_data = immediate;
    for (const auto& segment : segments) header.length_bytes += segment.second;
    put(at, header);
    std::uint64_t segment_at = at + sizeof header;
    if (rdma) {
      put(segment_at, vi::Segment{remote_address, remote.value, 0});
      segment_at += sizeof(vi::Segment);
    }
    for (const auto& [address_, length] : segments) {
      put(segment_at, vi::Segment{address_, handle.value, length});
      segment_at += sizeof(vi::Segment);
    }
    return at;
  }
  template <class T>
  void put(std::uint64_t at, const T& value) {
    std::memcpy(memory.data() + (at - base), &value, sizeof value);
  }
  template <class T>
  T get(std::uint64_t at) const {
    T value;
    std::memcpy(&value, memory.data() + (at - base), sizeof value);
    return value;
  }
  std::uint8_t* bytes(std::uint64_t at) { return reinterpret_cast<std::uint8_t*>(memory.data() + (at - base)); }
  [[nodiscard]] std::uint32_t status(std::uint64_t descriptor_at) const {
    return get<vi::ControlSegment>(descriptor_at).status;
  }
  [[nodiscard]] vi::ControlSegment control(std::uint64_t descriptor_at) const {
    return get<vi::ControlSegment>(descriptor_at);
  }

  vi::Vi& make_vi(vi::ReliabilityLevel level, bool rdma = true) {
    vi::Vi* vi = nullptr;
    EXPECT_EQ(nic.create_vi({.reliability = level,
                             .max_transfer_size_bytes = 0,
                             .ptag = {},
                             .enable_rdma_write = rdma,
                             .enable_rdma_read = rdma},
                            nullptr, nullptr, vi),
              vi::Return::Success);
    return *vi;
  }
  [[nodiscard]] vi::NetAddress net(std::string_view discriminator) const {
    return vi::NetAddress::make(
        address, std::span(reinterpret_cast<const std::uint8_t*>(discriminator.data()), discriminator.size()));
  }
  /// VI Overrun: one receive more than the VI may have.
  void overrun(vi::Vi& vi) {
    taken = nic.limits().max_descriptors_per_queue;
    vi.post_receive(descriptor(0, {}), handle);
    taken = 0;
  }
  /// Left on the queue: tests dequeue by send_done() and receive_done().
  bool completed(vi::Vi&, bool receive, std::uint64_t, bool) override {
    ++(receive ? receives_completed : sends_completed);
    return false;
  }
  [[nodiscard]] std::uint64_t taken_count(const vi::Vi&, bool) const override { return taken; }
  void asynchronous_error(vi::Vi* vi, vi::CompletionQueue*, std::uint64_t, std::uint32_t, vi::ResourceCode,
                          vi::ErrorCode error) override {
    errors.push_back({vi, error, vi != nullptr ? std::string(fcvi::Provider::end_cause(*vi).text) : ""});
  }
  [[nodiscard]] int count(vi::ErrorCode error) const {
    int n = 0;
    for (const auto& e : errors) n += e.error == error;
    return n;
  }

  /// Frames, for all reasons: the port's, and FC-VI's own.
  [[nodiscard]] std::uint64_t discarded() const {
    return port.counters().discarded() + provider.counters().discarded();
  }

  fc2::NPort& port;
  wire::IpAddress address;
  farp::Resolver resolver;
  fcvi::Provider provider;
  vi::Nic nic;
  ZeroedMemory memory;
  wire::MemHandle handle{};
  std::uint64_t next_descriptor = base;
  static constexpr std::uint64_t data = base + (4u << 20);  // where buffers begin
  int sends_completed = 0, receives_completed = 0;
  std::uint64_t taken = 0;
  std::vector<AsyncError> errors;

 private:
  static farp::ResolverConfig with_address(farp::ResolverConfig config, const wire::IpAddress& own,
                                           const std::vector<wire::IpAddress>& more) {
    config.own_addresses = {own};
    config.own_addresses.insert(config.own_addresses.end(), more.begin(), more.end());
    return config;
  }
  static fcvi::ProviderConfig with_address(fcvi::ProviderConfig config, const wire::IpAddress& own) {
    config.address = own;
    return config;
  }
};

/// Client is host 0, server is host 1; not attached to anything yet.
class TwoHosts : public ::testing::Test {
 public:
  explicit TwoHosts(fcvi::ProviderConfig config = {},
                    fc2::LinkConfig link = {.latency_ns = runtime::microsecond, .bytes_per_second = 0},
                    TestFabric::Adjust adjust = {}, farp::ResolverConfig farp = {},
                    fc2::SwitchConfig fabric_config = {})
      : fabric(2, std::move(fabric_config), adjust) {
    fabric.link = link;
    auto of_client = config;
    of_client.more_addresses.clear();  // two hosts have no address in common
    client = std::make_unique<Host>(fabric, 0, of_client, farp);
    config.first_handle += 0x1000;  // each end its own numbers: a mix-up shows
    config.first_connection_id += 0x1000;
    server = std::make_unique<Host>(fabric, 1, config, farp);
  }

  /// Connects a VI of each host; EXPECTs success.
  void connect(vi::ReliabilityLevel level, std::string_view discriminator = "service") {
    client_vi = &client->make_vi(level);
    server_vi = &server->make_vi(level);
    server->provider.connect_wait(server->net(discriminator), 10 * runtime::second, wait);
    client->provider.connect_request(*client_vi, client->net("client"), server->net(discriminator),
                                     10 * runtime::second, request);
    ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
    server->provider.connect_accept(wait.token, *server_vi, accept);
    ASSERT_TRUE(fabric.run_until([&] { return accept.result && request.result; }));
    EXPECT_EQ(request.result, vi::Return::Success);
    EXPECT_EQ(accept.result, vi::Return::Success);
    fabric.run_for(runtime::millisecond);
  }
  vi::Return disconnect(Host& host, vi::Vi& vi) {
    Done done;
    host.provider.disconnect(vi, done);
    EXPECT_TRUE(fabric.run_until([&] { return done.result.has_value(); }));
    return done.result.value_or(vi::Return::NotDone);
  }
  [[nodiscard]] std::uint64_t unexpected() const {
    return client->port.counters().unexpected_events + server->port.counters().unexpected_events;
  }

  TestFabric fabric;
  Wait wait;  // before the hosts: an operation lives until it is done
  Connect request;
  Done accept;
  std::unique_ptr<Host> client, server;
  vi::Vi* client_vi = nullptr;
  vi::Vi* server_vi = nullptr;
};

/// On the fabric, and logged in.
class TwoNodes : public TwoHosts {
 public:
  explicit TwoNodes(fcvi::ProviderConfig config = {},
                    fc2::LinkConfig link = {.latency_ns = runtime::microsecond, .bytes_per_second = 0},
                    TestFabric::Adjust adjust = {}, farp::ResolverConfig farp = {},
                    fc2::SwitchConfig fabric_config = {})
      : TwoHosts(std::move(config), link, std::move(adjust), std::move(farp), std::move(fabric_config)) {
    fabric.bring_up();
    fabric.run_until([&] { return client->resolver.ready() && server->resolver.ready(); });
  }
};

}  // namespace support
