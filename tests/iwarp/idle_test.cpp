// What a stream that is idle takes of memory, beside its socket: counted by the allocator, over sockets.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "iwarp/drivers/host.hpp"
#include "iwarp/mpa_initiator.hpp"
#include "iwarp/mpa_listener.hpp"
#include "tests/support/counted_new.hpp"

namespace iwarp::drivers {
namespace {

constexpr ProtectionDomain domain{3};
constexpr std::uint32_t octets = 10'000;  // of each message: several FPDUs
const wire::IpAddress loopback = wire::IpAddress::v4(127, 0, 0, 1);

/// One end: what it is told is counted.
struct IdleEnd final : StreamListener, StartupListener {
  std::unique_ptr<RdmapStream> stream;
  std::unique_ptr<MpaInitiator> initiator;  // of a client, until it is connected
  int completions = 0;
  bool is_connected = false, is_closed = false;
  void completed(const Completion& completion) override { completions += completion.status == Status::success; }
  void closed() override { is_closed = true; }
  void connected(const PeerOffer&) override { is_connected = true; }
  void startup_failed(machines::iwarp::Failure, const PeerOffer&) override { FAIL() << "no connection"; }
};

/// Clients and servers of one process, in pairs.
class Crowd final : public StartupPortUser {
 public:
  Crowd() {
    for (std::uint16_t port = 24'000; port < 26'000 && !listens_; ++port) listens_ = try_port(port);
    stag_ = *host_.memory().add(domain, memory_, 0, {true, true, true, true});
  }
  ~Crowd() {
    const runtime::CoreSection section(host_);
    for (IdleEnd& end : ends_)
      if (!end.is_closed) end.stream->abort();
    listener_.reset();
    ends_.clear();
  }
  /// So many more streams, used and idle.
  void grow(std::size_t streams) {
    ends_.reserve(ends_.size() + streams);
    for (std::size_t pair = 0; pair < streams / 2; ++pair) add_pair();
  }
  void reserve(std::size_t streams) { ends_.reserve(streams); }
  [[nodiscard]] bool listens() const { return listens_; }

 private:
  bool try_port(std::uint16_t port) {
    const runtime::CoreSection section(host_);
    at_ = {loopback, port};
    return !listener_->listen(at_);
  }
  IdleEnd& add_end() {
    IdleEnd& end = ends_.emplace_back();
    end.stream = std::make_unique<RdmapStream>(services_, end, StreamConfig{.domain = domain});
    return end;
  }
  void offered(PassiveStartup& startup, const PeerOffer&) override { waiting_ = &startup; }
  void offer_withdrawn(PassiveStartup&) override { waiting_ = nullptr; }
  template <class Done>
  void wait(Done done) {
    for (int turns = 0; turns < 6000 && !done(); ++turns) host_.run_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(done());
  }
  void add_pair() {
    IdleEnd& client = add_end();
    {
      const runtime::CoreSection section(host_);
      client.initiator = std::make_unique<MpaInitiator>(services_, client, *client.stream, MpaRequest{.to = at_});
      client.initiator->start();
    }
    wait([&] { return waiting_ != nullptr; });
    IdleEnd& server = add_end();
    {
      const runtime::CoreSection section(host_);
      std::exchange(waiting_, nullptr)->accept(*server.stream, server, {});
    }
    wait([&] { return client.is_connected && server.is_connected; });
    use(client, server);
    use(server, client);
    wait([&] { return client.completions == 4 && server.completions == 4; });
    const runtime::CoreSection section(host_);
    client.initiator.reset();
  }
  /// One operation of each kind.
  void use(IdleEnd& from, IdleEnd& to) {
    const runtime::CoreSection section(host_);
    const LocalPieces piece{{stag_, 0, octets}};
    to.stream->post_receive({1, piece});
    for (const Operation operation : {Operation::rdma_write, Operation::rdma_read, Operation::send})
      EXPECT_EQ(from.stream->post_send({.operation = operation, .pieces = piece, .remote_stag = stag_}),
                RdmapStream::Posted::taken);
  }

  const Config config_{};
  Host host_{Host::Progress::callers};
  const Services services_ = host_.services(config_);
  std::vector<std::uint8_t> memory_ = std::vector<std::uint8_t>(octets);
  STag stag_{};
  streams::Address at_{};
  bool listens_ = false;
  PassiveStartup* waiting_ = nullptr;
  std::unique_ptr<MpaListener> listener_ = std::make_unique<MpaListener>(services_, *this, MpaOptions{}, 64);
  std::vector<IdleEnd> ends_;
};

// At most 2 KiB for each of many, which have sent, written and read, and have nothing to do now (issue 19, WARP 6).
// FCVI_IWARP_IDLE says how many.
TEST(IdleStreams, take_little_memory) {
  const char* const wanted = std::getenv("FCVI_IWARP_IDLE");
  const std::size_t count = wanted == nullptr ? 200 : std::stoul(wanted);
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  if (files.rlim_max < count + 100) GTEST_SKIP() << "a process may open " << files.rlim_max << " files only";
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  Crowd crowd;
  ASSERT_TRUE(crowd.listens());
  crowd.reserve(count + 10);
  crowd.grow(10);  // what they share is there
  const std::size_t before = support::live_bytes;
  crowd.grow(count);
  const double each = static_cast<double>(support::live_bytes - before) / static_cast<double>(count);
  RecordProperty("octets_of_each", std::to_string(each));
  std::printf("%zu idle streams: %.0f octets each; an RdmapStream has %zu\n", count, each, sizeof(RdmapStream));
  EXPECT_LE(each, 2048);
}

}  // namespace
}  // namespace iwarp::drivers
