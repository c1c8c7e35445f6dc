// Memory that is registered and not there: each access of the model to a consumer's memory ends as for memory that is
// not registered (VI-ARCH 3.2.1, VI-DG 3.8.1, 5.2).
#include <algorithm>
#include <array>

#include "tests/vi/bench.hpp"

namespace vi::testing {
namespace {

using ::testing::ElementsAre;
using enum ReliabilityLevel;

/// Memory with a hole: what touches it is refused, as the kernel would. Nothing else may be touched without asking.
class Hole final : public MemoryGuard {
 public:
  bool run(const std::byte* host, std::size_t length_bytes, Body body, void* context) const override {
    ++accesses;
    if (size != 0 && host < begin + size && begin < host + length_bytes) return false;
    body(context);
    return true;
  }
  void open(const void* at, std::size_t length_bytes) {
    begin = static_cast<const std::byte*>(at);
    size = length_bytes;
  }
  [[nodiscard]] bool catches_accesses() const override { return catches; }
  const std::byte* begin = nullptr;
  std::size_t size = 0;
  mutable int accesses = 0;
  bool catches = false;
};

// What a fault is looked up for needs no guard around it: a descriptor and up to 32 bytes of data, in and out. A
// longer copy does.
TEST(CaughtAccesses, few_bytes_need_no_guard_more_do) {
  for (const std::size_t size : {std::size_t{8}, std::size_t{32}, std::size_t{33}}) {
    Hole hole;
    hole.catches = true;
    Bench bench{{.guard = &hole}};
    bench.connect();
    EXPECT_EQ(bench.post_receive(bench.receive(64)), Return::Success);
    EXPECT_EQ(bench.post_send(bench.send(std::string(size, 'x'))), Return::Success);
    SendWork sending = bench.begin();
    ReceiveWork receiving = bench.claim(size);
    std::array<std::uint8_t, 64> data{};
    EXPECT_TRUE(sending.data.gather(std::span(data).first(size)));
    EXPECT_TRUE(receiving.data.scatter(std::span(data).first(size)));
    bench.vi->complete_receive(receiving, 0, status::op_receive, static_cast<std::uint32_t>(size), std::nullopt);
    EXPECT_EQ(hole.accesses, size > 32 ? 2 : 0);
  }
}

struct Unmapped : public ::testing::Test {
  Hole hole;
  Bench bench{{.guard = &hole}};
  static constexpr std::size_t control_bytes = sizeof(ControlSegment);
};

TEST_F(Unmapped, connected_post_descriptor) {
  // VI-DG 3.8.1: the address "was not valid when the descriptor was posted"; each queue. The connection
  // ends (ruling 206).
  for (const bool receive : {false, true}) {
    Bench fresh({.guard = &hole});
    hole.open(nullptr, 0);
    const auto posted = receive ? fresh.receive(4) : fresh.send("data");
    fresh.connect();
    hole.open(posted.host, 1);
    EXPECT_EQ(receive ? fresh.post_receive(posted) : fresh.post_send(posted), Return::Success);
    EXPECT_THAT(fresh.signals(), ElementsAre("Post Descriptor Error", "Connection Lost", "stopped"));
    EXPECT_EQ(fresh.vi->state(), State::Error);
    EXPECT_EQ(posted.status(), 0xFFFFFFFF);
  }
}

TEST_F(Unmapped, connected_begin_control_segment_gone) {
  // No status can be written either: Completion Protection Error, Error, and the connection ends (ruling 206).
  const auto posted = bench.send("data");
  bench.connect();
  bench.post_send(posted);
  bench.signals();
  hole.open(posted.host, control_bytes);
  EXPECT_FALSE(bench.vi->begin_send().has_value());
  EXPECT_THAT(bench.signals(), ElementsAre("Completion Protection Error", "send", "Connection Lost", "stopped"));
}

TEST_F(Unmapped, connected_begin_address_segment_gone) {
  const auto posted = bench.rdma_write("data");
  bench.connect();
  bench.post_send(posted);
  hole.open(&posted.segment(0), sizeof(Segment));
  EXPECT_FALSE(bench.vi->begin_send().has_value());
  EXPECT_EQ(posted.status(), status::done | status::op_rdma_write | status::protection_error);
  EXPECT_EQ(bench.vi->state(), State::Error);
}

TEST_F(Unmapped, connected_begin_data_segment_gone) {
  for (auto make : {+[](Bench& b) { return b.send("data"); }, +[](Bench& b) { return b.rdma_write("data"); }}) {
    Bench fresh({.guard = &hole});
    hole.open(nullptr, 0);
    const auto posted = make(fresh);
    fresh.connect();
    fresh.post_send(posted);
    hole.open(&posted.segment(posted.control().segment_count - 1u), sizeof(Segment));
    EXPECT_FALSE(fresh.vi->begin_send().has_value());
    EXPECT_EQ(posted.status() & status::error_mask, status::protection_error);
    EXPECT_EQ(fresh.vi->state(), State::Error);
  }
}

TEST_F(Unmapped, connected_gather_and_scatter) {
  // The transport learns it; a segment that was read is not read again.
  const Piece source = bench.allocate("data"), target = bench.allocate(4);
  bench.connect();
  bench.post_send(bench.descriptor(0, 4, {bench.segment(source)}));
  bench.post_receive(bench.receive(target));
  SendWork sending = bench.begin();
  ReceiveWork receiving = bench.claim(4);
  std::array<std::uint8_t, 2> frame{};
  EXPECT_TRUE(sending.data.gather(frame));
  EXPECT_TRUE(receiving.data.scatter(frame));
  hole.open(source.host + 2, 2);
  EXPECT_FALSE(sending.data.gather(frame));
  hole.open(target.host + 2, 2);
  EXPECT_FALSE(receiving.data.scatter(frame));
  EXPECT_EQ(target.text().substr(0, 2), "da");
}

TEST_F(Unmapped, connected_claim_descriptor_gone) {
  const auto posted = bench.receive(4);
  bench.connect();
  bench.post_receive(posted);
  hole.open(posted.host, control_bytes);
  bench.claim_bad();
  EXPECT_THAT(bench.signals(), ElementsAre("Completion Protection Error", "receive", "Connection Lost", "stopped"));
}

TEST_F(Unmapped, connected_claim_segment_gone) {
  const auto posted = bench.receive(4);
  bench.connect();
  bench.post_receive(posted);
  hole.open(&posted.segment(0), sizeof(Segment));
  bench.claim_bad();
  EXPECT_EQ(posted.status(), status::done | status::op_receive | status::protection_error);
}

TEST_F(Unmapped, connected_complete_descriptor_gone) {
  // VI-DG 3.8.1, ruling 62: each queue, and the flush goes on behind it; a message had begun to arrive (ruling 204).
  const auto sent = bench.send("data"), received = bench.receive(4);
  bench.connect();
  bench.post_send(sent);
  bench.post_receive(received);
  const SendWork sending = bench.begin();
  static_cast<void>(bench.claim(4));
  hole.open(sent.host, control_bytes);
  bench.signals();
  bench.vi->complete_send(sending, 0);
  EXPECT_THAT(bench.signals(),
              ElementsAre("Completion Protection Error", "send", "receive", "Connection Lost", "stopped"));
  std::uint64_t address = 0;
  EXPECT_EQ(bench.vi->send_done(address), Return::DescriptorError);
  EXPECT_EQ(address, sent.address());
  EXPECT_EQ(received.status() & status::error_mask, status::flushed | status::partial_error);
}

TEST_F(Unmapped, connected_remote_memory_gone) {
  const Piece piece = bench.allocate("0123");
  wire::MemHandle region{};
  bench.nic.memory().register_region(piece.address(), piece.host, 4,
                                     {.enable_rdma_write = true, .enable_rdma_read = true}, region);
  std::array<std::uint8_t, 2> bytes{'a', 'b'};
  EXPECT_TRUE(bench.vi->write_remote(region, piece.address(), bytes));
  hole.open(piece.host + 3, 1);
  EXPECT_FALSE(bench.vi->write_remote(region, piece.address() + 2, bytes));
  EXPECT_TRUE(bench.vi->read_remote(region, piece.address() + 1, bytes));
  EXPECT_EQ(bytes[0], 'b');
  EXPECT_FALSE(bench.vi->read_remote(region, piece.address() + 2, bytes));
  EXPECT_FALSE(bench.vi->write_remote(region, piece.address() + 3, bytes));  // beyond the region
}

TEST_F(Unmapped, connected_transfer_asks_before_each_access) {
  // impl: an access that did not go through the guard would be one of these fewer.
  const auto sent = bench.send("data"), received = bench.receive(4);
  bench.connect();
  const auto accesses = [&](auto call) {
    hole.accesses = 0;
    call();
    return hole.accesses;
  };
  std::array<std::uint8_t, 4> frame{};
  SendWork sending;
  ReceiveWork receiving;
  EXPECT_EQ(accesses([&] { bench.post_send(sent); }), 2);
  EXPECT_EQ(accesses([&] { bench.post_receive(received); }), 2);
  EXPECT_EQ(accesses([&] { sending = bench.begin(); }), 2);
  EXPECT_EQ(accesses([&] { receiving = bench.claim(4); }), 2);
  EXPECT_EQ(accesses([&] { EXPECT_TRUE(sending.data.gather(frame)); }), 1);
  EXPECT_EQ(accesses([&] { EXPECT_TRUE(receiving.data.scatter(frame)); }), 1);
  EXPECT_EQ(accesses([&] { bench.vi->complete_send(sending, 0); }), 1);
  EXPECT_EQ(accesses([&] { bench.vi->complete_receive(receiving, 0, status::op_receive, 4, std::nullopt); }), 1);
  EXPECT_EQ(received.status(), status::done | status::op_receive);
}

}  // namespace
}  // namespace vi::testing
