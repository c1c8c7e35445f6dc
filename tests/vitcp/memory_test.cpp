// Memory that goes while the system copies (EFAULT): a protection error of its descriptor, and nothing of the stream is
// lost (VI-ARCH 3.2.1, ruling V-31).
#include "tests/vitcp/two_hosts.hpp"

namespace vitcp::testing {
namespace {
using vi::State;
namespace status = vi::status;

/// The system cannot write into the pieces that lie in `bad` memory, nor read from them.
struct Faults {
  std::function<bool(const std::uint8_t*)> bad;
  int count = 0;
  template <class Piece>
  [[nodiscard]] std::size_t good(std::span<const Piece> pieces) {
    std::size_t so_many = 0;
    while (so_many != pieces.size() && (!bad || !bad(pieces[so_many].data()))) ++so_many;
    count += so_many != pieces.size();
    return so_many;
  }
};

class FaultyStream final : public streams::Stream {
 public:
  FaultyStream(std::unique_ptr<streams::Stream> inner, Faults& faults) : inner_(std::move(inner)), faults_(faults) {}
  void set_user(streams::StreamUser& user) override { inner_->set_user(user); }
  [[nodiscard]] streams::Address local() const override { return inner_->local(); }
  [[nodiscard]] streams::Address remote() const override { return inner_->remote(); }
  std::size_t write(std::span<const wire::Bytes> pieces) override {
    return inner_->write(pieces.first(faults_.good(pieces)));
  }
  streams::ReadResult read(std::span<const wire::MutableBytes> pieces) override {
    const std::size_t good = faults_.good(pieces);
    streams::ReadResult result = inner_->read(pieces.first(good));
    result.fault = good != pieces.size() && result.octets == 0 && !result.end;
    return result;
  }
  void ask_readable() override { inner_->ask_readable(); }
  void ask_writable() override { inner_->ask_writable(); }
  bool mark_urgent() override { return inner_->mark_urgent(); }
  void shut_down() override { inner_->shut_down(); }
  void reset() override { inner_->reset(); }

 private:
  std::unique_ptr<streams::Stream> inner_;
  Faults& faults_;
};

class FaultyStreams final : public streams::Streams, private streams::ListenerUser {
 public:
  FaultyStreams(streams::Streams& inner, Faults& faults) : inner_(inner), faults_(faults) {}
  std::unique_ptr<streams::Stream> connect(const streams::Address& to, const streams::Address& from,
                                           streams::StreamUser& user) override {
    return std::make_unique<FaultyStream>(inner_.connect(to, from, user), faults_);
  }
  boost::system::result<std::unique_ptr<streams::Listener>, streams::Reason> listen(
      const streams::Address& at, streams::ListenerUser& user) override {
    user_ = &user;
    return inner_.listen(at, *this);
  }

 private:
  void accepted(std::unique_ptr<streams::Stream> stream) override {
    user_->accepted(std::make_unique<FaultyStream>(std::move(stream), faults_));
  }
  streams::Streams& inner_;
  Faults& faults_;
  streams::ListenerUser* user_ = nullptr;
};

class VitcpMemory : public ::testing::TestWithParam<vi::ReliabilityLevel> {
 protected:
  static constexpr std::size_t large_bytes = 200'000;
  VitcpMemory() {
    ProviderConfig config = hosts_.server->provider.config();
    hosts_.world.network.set_rules([](const auto&, const auto&) {
      streams::StreamRules rules;
      rules.to_acceptor.receive_buffer_bytes = 20'000;  // large payload comes in pieces
      return rules;
    });
    hosts_.server.emplace(streams_, hosts_.world.scheduler, config);
    EXPECT_EQ(hosts_.server->provider.listen(), std::nullopt);
  }
  [[nodiscard]] static bool reliable() { return is_reliable(GetParam()); }
  /// What lies there has gone by the time that the system, or anybody, accesses it; what looks at it before finds it.
  void lose(const std::byte* memory, std::size_t bytes) {
    const auto within = [=](const std::byte* at) { return at >= memory && at < memory + bytes; };
    faults_.bad = [=](const std::uint8_t* at) { return within(reinterpret_cast<const std::byte*>(at)); };
    hosts_.server->guard.allows = [=, this](const std::byte* at, std::size_t) {
      return !within(at) || faults_.count == 0;
    };
  }

  Faults faults_;
  TwoHosts hosts_;
  FaultyStreams streams_{hosts_.world.server, faults_};
};
INSTANTIATE_TEST_SUITE_P(Levels, VitcpMemory, ::testing::Values(unreliable, delivery, reception),
                         [](const auto& level) {
                           return level.param == unreliable ? "Unreliable"
                                  : level.param == delivery ? "Delivery"
                                                            : "Reception";
                         });

// VI-ARCH 3.2.1: of a receive descriptor. At Unreliable Delivery the next message arrives whole.
TEST_P(VitcpMemory, receive_isAProtectionError) {
  auto [a, b] = hosts_.connect(GetParam());
  b.receive(large_bytes);
  b.receive(large_bytes);
  hosts_.settle();
  const vi::Segment gone = b.receive_segment(0);
  lose(reinterpret_cast<const std::byte*>(gone.address), large_bytes);
  a.send(std::string(large_bytes, 'a'));
  a.send(std::string(large_bytes, 'b'));
  hosts_.run(runtime::second);
  EXPECT_GE(faults_.count, 1);
  EXPECT_EQ(*b.receive_error(0) & ~status::partial_error, status::protection_error);
  EXPECT_EQ(b.vi.state(), reliable() ? State::Error : State::Connected);
  if (!reliable()) {
    EXPECT_TRUE(b.received(1) == std::string(large_bytes, 'b'));
  }
  if (GetParam() == reception) {
    EXPECT_EQ(*a.send_error(0) & ~status::partial_error, status::remote_descriptor_error);
  }
}

// VI-ARCH 3.2.1, VI-DG 3.8.1: the target of a peer's RDMA Write.
TEST_P(VitcpMemory, rdmaWrite_isAProtectionError) {
  auto [a, b] = hosts_.connect(GetParam());
  std::byte* const target = hosts_.server->allocate(large_bytes);
  b.receive(8);
  hosts_.settle();
  lose(target, large_bytes);
  a.rdma_write(std::string(large_bytes, 'a'), target);
  a.send("next");
  hosts_.run(runtime::second);
  EXPECT_GE(faults_.count, 1);
  const auto errors = hosts_.server->take_errors();
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors.front(), vi::ErrorCode::RdmaWProt);
  EXPECT_EQ(b.vi.state(), reliable() ? State::Error : State::Connected);
  if (!reliable()) {
    EXPECT_EQ(b.received(), "next");
  }
}

// Of our own RDMA Read.
TEST_P(VitcpMemory, rdmaRead_isAProtectionError) {
  if (!reliable()) GTEST_SKIP() << "no RDMA Read at Unreliable Delivery";
  auto [a, b] = hosts_.connect(GetParam());
  std::byte* const source = hosts_.client->allocate(large_bytes);
  const std::byte* const target = b.rdma_read(source, large_bytes);
  lose(target, large_bytes);
  hosts_.run(runtime::second);
  EXPECT_GE(faults_.count, 1);
  EXPECT_EQ(*b.send_error() & ~status::partial_error, status::protection_error);
}

// Ruling V-31: of a Send: the descriptor says so; at a reliable level its segment never ends, and what stood before it
// arrives.
TEST_P(VitcpMemory, send_isAProtectionError) {
  auto [a, b] = hosts_.connect(GetParam());
  for (int i = 0; i != 3; ++i) a.receive(large_bytes);
  hosts_.settle();
  b.send("before");
  b.send(std::string(large_bytes, 'b'));
  const vi::Segment source = b.send_segment(1);
  lose(reinterpret_cast<const std::byte*>(source.address), large_bytes);
  if (!reliable()) faults_.count = 1;  // it is copied: nobody looks before
  b.send("next");
  hosts_.run(runtime::second);
  EXPECT_EQ(*b.send_error(1) & ~status::partial_error, status::protection_error);
  EXPECT_EQ(b.vi.state(), reliable() ? State::Error : State::Connected);
  EXPECT_EQ(a.received(0), "before");
  if (reliable()) {
    EXPECT_EQ(a.receive_error(1), status::flushed | status::partial_error);
  } else {
    EXPECT_EQ(a.received(1), "next");
  }
}

// VI-DG 3.8.1, ruling V-18: the source of a peer's RDMA Read.
TEST_P(VitcpMemory, readResponse_isReported) {
  if (!reliable()) GTEST_SKIP() << "no RDMA Read at Unreliable Delivery";
  auto [a, b] = hosts_.connect(GetParam());
  std::byte* const source = hosts_.server->allocate(large_bytes);
  lose(source, large_bytes);
  a.rdma_read(source, large_bytes);
  hosts_.run(runtime::second);
  EXPECT_GE(faults_.count, 1);
  EXPECT_EQ(hosts_.server->take_errors().front(), vi::ErrorCode::RdmaRProt);
  EXPECT_NE(a.send_error(), 0U);
  EXPECT_EQ(a.vi.state(), State::Error);
}

}  // namespace
}  // namespace vitcp::testing
