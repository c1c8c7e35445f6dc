// The largest message that there is, 4 GiB - 1 octets (VI-TCP 3.2), of each kind, at each level, with the CRC and
// without: label `long`. Its memory is the same 16 MiB again and again: 4 GiB are there by address alone.
#include <sys/mman.h>
#include <unistd.h>

#include "tests/vitcp/two_hosts.hpp"

namespace vitcp::testing {
namespace {

constexpr std::uint32_t largest = 0xFFFFFFFF;
constexpr std::size_t unit = std::size_t{16} << 20, all = std::size_t{4} << 30;

class Repeated {
 public:
  Repeated() {
    const int file = ::memfd_create("unit", MFD_CLOEXEC);
    EXPECT_EQ(::ftruncate(file, unit), 0);
    void* const whole = ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(whole, MAP_FAILED);
    memory_ = static_cast<std::byte*>(whole);
    for (std::size_t at = 0; at != all; at += unit)
      EXPECT_NE(::mmap(memory_ + at, unit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0), MAP_FAILED);
    ::close(file);
  }
  ~Repeated() { ::munmap(memory_, all); }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  [[nodiscard]] std::byte* bytes() const { return memory_; }
  void fill(int seed) {
    for (std::size_t i = 0; i != unit; ++i) memory_[i] = static_cast<std::byte>((i >> 8) * 31 + i + seed);
  }
  void clear() { std::memset(memory_, 0, unit); }
  friend bool operator==(const Repeated& left, const Repeated& right) {
    return std::memcmp(left.memory_, right.memory_, unit) == 0;
  }

 private:
  std::byte* memory_;
};

class VitcpLargest : public ::testing::TestWithParam<Kind> {
 protected:
  VitcpLargest() {
    hosts.client->nic.register_memory(address_of(source.bytes()), source.bytes(), all, both, source_handle);
    hosts.server->nic.register_memory(address_of(target.bytes()), target.bytes(), all, both, target_handle);
    a->set_remote(target_handle);
  }
  /// The result of the client's descriptor, of what it is posted for.
  std::optional<std::uint32_t> message(std::uint16_t control) {
    const bool is_send = control == vi::control::op_send_receive;
    const vi::Segment local{address_of(source.bytes()), source_handle.value, largest};
    const vi::Segment far{address_of(target.bytes()), target_handle.value, is_send ? largest : 0};
    std::byte* const receive = write(*hosts.server, vi::control::op_send_receive, {far});
    std::byte* const send =
        is_send ? write(*hosts.client, control, {local}) : write(*hosts.client, control, {far, local});
    if (is_send) b->vi.post_receive(address_of(receive), hosts.server->handle);
    a->vi.post_send(address_of(send), hosts.client->handle);
    hosts.run(3600 * runtime::second);
    const auto* told = reinterpret_cast<const vi::ControlSegment*>(is_send ? receive : send);
    EXPECT_EQ(told->length_bytes, largest);
    const auto* sent = reinterpret_cast<const vi::ControlSegment*>(send);
    if ((sent->status & vi::status::done) == 0) return std::nullopt;
    return sent->status & vi::status::error_mask;
  }
  static std::byte* write(Node& node, std::uint16_t control, const std::vector<vi::Segment>& segments) {
    std::byte* const host = node.allocate(sizeof(vi::ControlSegment) + segments.size() * sizeof(vi::Segment));
    const vi::ControlSegment head{
        .segment_count = static_cast<std::uint16_t>(segments.size()), .control = control, .length_bytes = largest};
    std::memcpy(host, &head, sizeof head);
    std::memcpy(host + sizeof head, segments.data(), segments.size() * sizeof(vi::Segment));
    return host;
  }
  void connect() {
    WaitCall wait;
    ConnectCall request;
    PlainCall accept;
    hosts.server->provider.connect_wait(hosts.server->at("x"), runtime::never, wait);
    hosts.client->provider.connect_request(a->vi, hosts.client->at("y"), hosts.server->at("x"), runtime::never,
                                           request);
    hosts.run_until([&] { return wait.result.has_value(); });
    hosts.server->provider.connect_accept(wait.token, b->vi, accept);
    hosts.run_until([&] { return request.result.has_value(); });
    ASSERT_EQ(request.result, vi::Return::Success);
  }

  static constexpr vi::MemoryAttributes both{.enable_rdma_write = true, .enable_rdma_read = true};
  static Settings settings() {
    Settings settings;
    settings.client.ask_for_crc = GetParam().crc;
    return settings;
  }
  TwoHosts hosts{settings()};
  Repeated source, target;
  wire::MemHandle source_handle{}, target_handle{};
  std::optional<End> a{End(*hosts.client, hosts.client->create(GetParam().level, largest))};
  std::optional<End> b{End(*hosts.server, hosts.server->create(GetParam().level, largest))};
};
INSTANTIATE_TEST_SUITE_P(Levels, VitcpLargest,
                         ::testing::Values(Kind{unreliable}, Kind{delivery}, Kind{reception}, Kind{unreliable, true},
                                           Kind{delivery, true}, Kind{reception, true}),
                         name_of);

TEST_P(VitcpLargest, message_ofEachKind_isWhole) {
  connect();
  int seed = 0;
  for (const std::uint16_t control : {vi::control::op_send_receive, vi::control::op_rdma_write}) {
    source.fill(++seed);
    target.clear();
    EXPECT_EQ(message(control), 0U);
    EXPECT_TRUE(target == source) << control;
  }
  if (!is_reliable(GetParam().level)) return;  // no RDMA Read (VI-ARCH 2.5.1)
  target.fill(++seed);
  source.clear();
  EXPECT_EQ(message(vi::control::op_rdma_read), 0U);
  EXPECT_TRUE(source == target);
}

}  // namespace
}  // namespace vitcp::testing
