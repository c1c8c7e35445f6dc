// Where the VI model changes its answer: the largest that is still allowed, memory that may only be read, one queue of
// two; and the words for each value (VI-DG 3.2, 3.4, 3.6, 5.2; VI-ARCH 3.2).
#include <array>

#include "tests/vi/bench.hpp"
#include "vi/consumer_memory.hpp"

namespace vi::testing {
namespace {

// Every value has its own words: what a person reads of an error.
TEST(Names, everyValueHasItsOwn) {
  const auto expect = [](auto last, const std::vector<std::string_view>& words) {
    using Enum = decltype(last);
    std::vector<std::string_view> found;
    for (int value = 0; value <= static_cast<int>(last); ++value)
      if (const auto word = to_string(static_cast<Enum>(value)); word != "?") found.push_back(word);
    EXPECT_EQ(found, words);
  };
  expect(Return::NotReachable, {"Success", "NotDone", "InvalidParameter", "ErrorResource", "Timeout", "Reject",
                                "InvalidReliabilityLevel", "InvalidMtu", "InvalidQos", "InvalidPtag", "InvalidRdmaRead",
                                "DescriptorError", "InvalidState", "ErrorNameservice", "NoMatch", "NotReachable"});
  expect(ReliabilityLevel::ReliableReception, {"Unreliable Delivery", "Reliable Delivery", "Reliable Reception"});
  expect(State::Error, {"Idle", "Connected", "Pending Connect", "Error"});
  expect(ErrorCode::Catastrophic,
         {"Post Descriptor Error", "Connection Lost", "Receive Queue Empty", "VI Overrun",
          "RDMA Write Protection Error", "RDMA Write Data Error", "RDMA Write Packet Abort",
          "RDMA Read Protection Error", "Completion Protection Error", "RDMA Transport Error", "Catastrophic Error"});
  expect(ResourceCode::Descriptor, {"NIC", "VI", "Completion Queue", "Descriptor"});
}

// VI-ARCH 4.1: an address has both of what it is made of.
TEST(Names, addressIsMadeOfHostAndDiscriminator) {
  const std::array<std::uint8_t, 3> discriminator{7, 8, 9};
  const NetAddress address = NetAddress::make(wire::IpAddress::v4(10, 0, 0, 1), discriminator);
  EXPECT_EQ(address.host, wire::IpAddress::v4(10, 0, 0, 1));
  EXPECT_EQ(address.discriminator_length, 3);
  EXPECT_EQ(address.discriminator[2], 9);
}

class Limits : public ::testing::Test {
 protected:
  std::array<std::byte, 256> host{};
  Log log;
  FakeTransport transport{log};
  LoggingListener listener{log};
  Nic nic{transport, listener, {.max_completion_queue_entries = 8, .max_transfer_size_bytes = 1000}};
  Vi* vi = nullptr;
  CompletionQueue* queue = nullptr;
};

// VI-DG 3.2.1, 3.6.3: the NIC's largest is allowed.
TEST_F(Limits, largest_isAllowed) {
  EXPECT_EQ(nic.create_vi({.max_transfer_size_bytes = 1000}, nullptr, nullptr, vi), Return::Success);
  EXPECT_EQ(vi->attributes().max_transfer_size_bytes, 1000u);
  ASSERT_EQ(nic.create_completion_queue(8, queue), Return::Success);
  EXPECT_EQ(nic.check_completion_queue(8), Return::Success);
  EXPECT_EQ(nic.check_completion_queue(9), Return::ErrorResource);
}

// VI-DG 3.2.1: either completion queue must be of this NIC.
TEST_F(Limits, createVi_oneForeignQueue_isRefused) {
  CompletionQueue foreign;
  ASSERT_EQ(nic.create_completion_queue(8, queue), Return::Success);
  EXPECT_EQ(nic.create_vi({}, &foreign, queue, vi), Return::InvalidParameter);
  EXPECT_EQ(nic.create_vi({}, queue, &foreign, vi), Return::InvalidParameter);
  EXPECT_EQ(nic.create_vi({}, &foreign, nullptr, vi), Return::InvalidParameter);
  EXPECT_EQ(nic.create_vi({}, nullptr, &foreign, vi), Return::InvalidParameter);
  EXPECT_EQ(nic.create_vi({}, queue, nullptr, vi), Return::Success);
}

// VI-DG 3.4.3, VI-ARCH 3.2: memory that the process may only read takes no RDMA Write, not when it is registered and
// not later; an RDMA Read it may serve.
TEST_F(Limits, readOnlyMemory_takesNoRdmaWrite) {
  wire::MemHandle handle{};
  const auto add = [&](MemoryAttributes attributes) {
    return nic.register_memory(0x1000, host.data(), host.size(), attributes, handle, false);
  };
  EXPECT_EQ(add({.enable_rdma_write = true}), Return::InvalidParameter);
  EXPECT_EQ(add({.enable_rdma_write = true, .enable_rdma_read = true}), Return::InvalidParameter);
  ASSERT_EQ(add({.enable_rdma_read = true}), Return::Success);
  EXPECT_EQ(nic.set_memory_attributes(0x1000, handle, {.enable_rdma_write = true}), Return::InvalidParameter);
  EXPECT_EQ(nic.set_memory_attributes(0x1000, handle, {}), Return::Success);
  EXPECT_EQ(nic.set_memory_attributes(0x1000, handle, {.enable_rdma_read = true}), Return::Success);
  wire::MemHandle writable{};
  ASSERT_EQ(nic.register_memory(0x1000, host.data(), host.size(), {}, writable), Return::Success);
  EXPECT_EQ(nic.set_memory_attributes(0x1000, writable, {.enable_rdma_write = true}), Return::Success);
}

// VI-DG 3.4.3, 3.7.5: no memory is no region; an address in front of the region, or behind it, is not in it.
TEST_F(Limits, region_itsEnds) {
  wire::MemHandle handle{};
  EXPECT_EQ(nic.register_memory(0x1000, host.data(), 0, {}, handle), Return::InvalidParameter);
  EXPECT_EQ(nic.register_memory(0, host.data(), 0, {}, handle), Return::InvalidParameter);
  EXPECT_EQ(nic.register_memory(0x1000, nullptr, 16, {}, handle), Return::InvalidParameter);
  ASSERT_EQ(nic.register_memory(0x1000, host.data(), host.size(), {}, handle), Return::Success);
  EXPECT_EQ(nic.memory().deregister(0xFFF, handle), Return::InvalidParameter);
  EXPECT_EQ(nic.memory().deregister(0x0, handle), Return::InvalidParameter);
  EXPECT_EQ(nic.memory().deregister(0x1100, handle), Return::InvalidParameter);
  EXPECT_EQ(nic.memory().deregister(0x10FF, handle), Return::Success);
}

// VI-DG 3.4.3: what is deregistered may be registered again, as often as one likes, within MaxRegisterBytes.
TEST(MemoryLimit, deregistered_isFreeAgain) {
  std::array<std::byte, 256> host{};
  MemoryTable table({.max_registered_bytes = 400});
  wire::MemHandle handle{}, second{};
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(table.register_region(0x10000, host.data(), 256, {}, handle), Return::Success) << i;
    EXPECT_EQ(table.register_region(0x20000, host.data(), 145, {}, second), Return::ErrorResource);
    ASSERT_EQ(table.register_region(0x20000, host.data(), 144, {}, second), Return::Success);
    ASSERT_EQ(table.deregister(0x10000, handle), Return::Success);
    ASSERT_EQ(table.deregister(0x20000, second), Return::Success);
  }
}

// VI-DG 5.2, 3.2.1: as many segments, and as many bytes, as the NIC and the VI allow, in either queue.
TEST(DescriptorLimit, largest_isTaken) {
  Bench bench({.limits = {.max_segments_per_descriptor = 3}, .max_transfer_size_bytes = 300});
  bench.connect();
  const Piece piece = bench.allocate(100), more = bench.allocate(101);
  const auto descriptor = [&](std::uint32_t length, const Piece& last) {
    return bench.descriptor(0, length, {bench.segment(piece), bench.segment(piece), bench.segment(last)});
  };
  const Posted send = descriptor(300, piece), receive = descriptor(300, piece), longer = descriptor(301, more);
  ASSERT_EQ(bench.post_send(send), Return::Success);
  const SendWork work = bench.begin();
  EXPECT_EQ(work.length_bytes, 300u);
  bench.vi->complete_send(work, 0);
  ASSERT_EQ(bench.post_receive(receive), Return::Success);
  EXPECT_EQ(bench.claim(300).error_bits, 0u);
  ASSERT_EQ(bench.post_send(longer), Return::Success);
  EXPECT_FALSE(bench.vi->begin_send().has_value());
  EXPECT_NE(longer.status() & status::length_error, 0u);
}

DataCursor cursor(Bench& bench, const Posted& posted) {
  return {bench.nic.memory(),
          {},
          bench.arena_handle,
          posted.address() + sizeof(ControlSegment),
          posted.control().segment_count};
}

// VI-ARCH 6.1.1.1: any number of bytes is passed over, within a segment and over several; not more than there are.
TEST(CursorLimit, skipped_goesOnBehind) {
  Bench bench;
  const Posted posted = bench.descriptor(
      0, 0,
      {bench.segment(bench.allocate("ab")), bench.segment(bench.allocate("")), bench.segment(bench.allocate("cdefg"))});
  const std::string_view text = "abcdefg";
  for (std::size_t first = 0; first <= text.size(); ++first)
    for (std::size_t second = 0; first + second <= text.size(); ++second) {
      DataCursor walk = cursor(bench, posted);
      ASSERT_TRUE(walk.skip(first));
      ASSERT_TRUE(walk.skip(second));
      std::string rest(text.size() - first - second, '?');
      ASSERT_TRUE(walk.gather({reinterpret_cast<std::uint8_t*>(rest.data()), rest.size()}));
      EXPECT_EQ(rest, text.substr(first + second)) << first << " " << second;
      EXPECT_FALSE(walk.skip(1)) << "that was all";
    }
  DataCursor walk = cursor(bench, posted);
  EXPECT_FALSE(walk.skip(text.size() + 1));
}

// VI-ARCH 3.2, VI-DG 3.4.3: data may be sent from memory that may only be read, and not received into it.
TEST(CursorLimit, readOnlyMemory_isGatheredAndNotScattered) {
  Bench bench;
  std::array<std::byte, 16> constant{};
  constant[3] = std::byte{'d'};
  wire::MemHandle handle{};
  ASSERT_EQ(bench.nic.register_memory(0x4711000, constant.data(), constant.size(), {}, handle, false), Return::Success);
  const Posted posted = bench.descriptor(0, 0, {Segment{0x4711000, handle.value, 16}});
  std::array<std::uint8_t, 16> bytes{};
  EXPECT_TRUE(cursor(bench, posted).gather(bytes));
  EXPECT_EQ(bytes[3], 'd');
  EXPECT_FALSE(cursor(bench, posted).scatter(bytes));
}

// VI-ARCH 3.2: one segment without a right is enough to refuse all of it, whichever it is.
TEST(CursorLimit, reach_anyRefusedSegment_isRefused) {
  Bench bench;
  const Piece piece = bench.allocate(8);
  Segment bad = bench.segment(piece);
  bad.handle += 1;
  const Segment good = bench.segment(piece);
  for (int which = 0; which < 3; ++which) {
    const Posted posted =
        bench.descriptor(0, 0, {which == 0 ? bad : good, which == 1 ? bad : good, which == 2 ? bad : good});
    EXPECT_EQ(cursor(bench, posted).reach(24, Access::LocalWrite), DataCursor::Reach::Refused) << which;
  }
}

// VI-DG 3.2.2: a VI goes only when both of its queues are empty: Idle again, and one of them not yet dequeued.
TEST(DestroyVi, eitherQueueNotEmpty_isRefused) {
  for (const bool of_receives : {false, true}) {
    Bench bench;
    bench.connect();
    ASSERT_EQ(of_receives ? bench.post_receive(bench.receive(10)) : bench.post_send(bench.send("x")), Return::Success);
    (void)bench.vi->endpoint_event(endpoint::DisconnectRequested{});
    (void)bench.vi->endpoint_event(endpoint::DisconnectAnswered{});
    ASSERT_EQ(bench.vi->state(), State::Idle);
    EXPECT_EQ(bench.nic.destroy_vi(*bench.vi), Return::InvalidState) << of_receives;
    EXPECT_EQ(dequeue_sends(bench).size() + dequeue_receives(bench).size(), 1u);
    EXPECT_EQ(bench.nic.destroy_vi(*bench.vi), Return::Success) << of_receives;
  }
}

}  // namespace
}  // namespace vi::testing
