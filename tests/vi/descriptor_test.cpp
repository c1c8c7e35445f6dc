// Descriptors on their whole way, where only one thing is unusual: what is written back, what memory is asked for, who
// learns of an error (VI-DG 5.2 to 5.5, 3.8.1, 6.3.1).
#include <array>
#include <cstring>

#include "tests/vi/bench.hpp"

namespace vi::testing {
namespace {

using ::testing::ElementsAre;
using enum ReliabilityLevel;

void reconnect(Bench& bench) {
  bench.vi->endpoint_event(endpoint::DisconnectRequested{});
  bench.vi->endpoint_event(endpoint::DisconnectAnswered{});
  std::uint64_t address = 0;
  while (bench.vi->send_done(address), address != 0) {}
  while (bench.vi->receive_done(address), address != 0) {}
  bench.connect();
  bench.signals();
}

/// A region of exactly this descriptor, and another one behind it that nobody registered.
wire::MemHandle narrow_region(Bench& bench, const Posted& posted, std::size_t segments) {
  wire::MemHandle narrow{};
  const std::size_t bytes = sizeof(ControlSegment) + segments * sizeof(Segment);
  EXPECT_EQ(bench.nic.memory().register_region(posted.address(), posted.host, bytes, {}, narrow), Return::Success);
  return narrow;
}

// --- posting

TEST(Posting, errorState_postReceive_lengthIsZero) {
  // VI-ARCH 5.4, ruling 19: a receive that nothing came into has the length 0.
  Bench bench;
  bench.drive_to("Error");
  const auto posted = bench.receive(8);
  posted.control().length_bytes = 9;
  bench.post_receive(posted);
  EXPECT_EQ(posted.control().length_bytes, 0u);
}

TEST(Posting, badAddress_postSend_isToldAsASend) {
  // VI-DG 3.8.1: a descriptor that cannot be read has no operation but that of its queue.
  Bench bench;
  bench.vi->post_send(32, bench.arena_handle);
  EXPECT_EQ(bench.listener.last_op_code, status::op_send);
  EXPECT_EQ(bench.listener.last_descriptor_address, 32u);
}

TEST(Posting, mostSegmentsBeyondTheRegion_isABadAddress) {
  // VI-ARCH 6.1: as many segments as a descriptor may have lie in its region; a higher count is in
  // error when processed.
  Bench bench({.limits = {.max_segments_per_descriptor = 2, .max_completion_queues = 1}});
  bench.connect();
  const auto posted = bench.descriptor(0, 0, {Segment{}, Segment{}});
  bench.vi->post_send(posted.address(), narrow_region(bench, posted, 1));
  EXPECT_THAT(bench.signals(), ElementsAre("Post Descriptor Error", "Connection Lost", "stopped"));
}

TEST(Posting, consumersCount_overrun) {
  // VI-DG 3.8.1 VI Overrun, 6.3.1: each queue, at any level, with the descriptor that was too many. What the consumer
  // has taken counts; what it says of the other queue does not.
  for (const bool receive_queue : {false, true})
    for (const auto level : {UnreliableDelivery, ReliableDelivery}) {
      Bench bench({.level = level});
      const auto waiting = bench.receive(4);
      bench.post_receive(waiting);
      bench.connect();
      bench.signals();
      bench.listener.last_resource = ResourceCode::Nic;
      const std::uint64_t limit = bench.nic.limits().max_descriptors_per_queue;
      (receive_queue ? bench.listener.taken_receives : bench.listener.taken_sends) = limit;
      EXPECT_TRUE(bench.vi->is_full(receive_queue));
      EXPECT_FALSE(bench.vi->is_full(!receive_queue));
      const auto extra = receive_queue ? bench.receive(4) : bench.send("a");
      receive_queue ? bench.post_receive(extra) : bench.post_send(extra);
      EXPECT_THAT(bench.signals(), ElementsAre("VI Overrun", "receive", "Connection Lost", "stopped by the NIC"));
      EXPECT_EQ(bench.listener.last_op_code, receive_queue ? status::op_receive : status::op_send);
      EXPECT_EQ(bench.listener.last_descriptor_address, extra.address());
      EXPECT_EQ(bench.listener.last_resource, ResourceCode::Vi);
      EXPECT_EQ(bench.vi->state(), State::Error);
    }
}

TEST(Posting, anyState_failCatastrophically) {
  // VI-DG 6.3.1: Catastrophic Error of the NIC; the VI is in Error, whichever its level and its state.
  for (const auto* state : {"Idle", "PendingConnect", "Connected"}) {
    Bench bench({.level = UnreliableDelivery});
    bench.drive_to(state);
    bench.signals();
    bench.listener.last_resource = ResourceCode::Cq;
    bench.vi->fail_catastrophically();
    const Log signals = bench.signals();
    EXPECT_EQ(signals.front(), "Catastrophic Error");
    EXPECT_EQ(signals.back(), "stopped by the NIC");
    EXPECT_EQ(bench.listener.last_resource, ResourceCode::Nic);
    EXPECT_EQ(bench.vi->state(), State::Error) << state;
  }
}

/// Memory that is there for so many accesses, and then never again; or not for the first ones, and then it is.
class Fleeting final : public MemoryGuard {
 public:
  bool run(const std::byte*, std::size_t, Body body, void* context) const override {
    const bool there = ++accesses <= gone_from || accesses >= back_from;
    if (there) body(context);
    return there;
  }
  mutable int accesses = 0;
  int gone_from = 1'000'000, back_from = 1'000'000;
};

TEST(Posting, flushedAtOnce_memoryGone_isACompletionError) {
  // VI-DG 3.8.1, 6.3.1: gone between the post and the flush that follows at once. That fails, and nothing later does.
  for (const bool receive : {false, true}) {
    Fleeting guard;
    Bench bench({.guard = &guard});
    if (receive) bench.drive_to("Error");
    const auto posted = receive ? bench.receive(4) : bench.send("a");
    bench.signals();
    guard.gone_from = guard.accesses + 1;
    receive ? bench.post_receive(posted) : bench.post_send(posted);
    const Log signals = bench.signals();
    EXPECT_EQ(signals.front(), "Completion Protection Error");
    EXPECT_EQ(bench.vi->state(), State::Error);
    guard.gone_from = 1'000'000;
    reconnect(bench);
    bench.post_send(bench.send("b"));
    bench.vi->complete_send(bench.begin(), 0);
    EXPECT_EQ(bench.vi->state(), State::Connected) << "an innocent send";
  }
}

// --- sends

TEST(Sending, descriptorGoneAndBack_isAProtectionError) {
  // VI-DG 5.2 bit 2: the descriptor could not be read. What was written of it says so.
  Fleeting guard;
  Bench bench({.guard = &guard});
  bench.connect();
  const auto posted = bench.send("abc");
  bench.post_send(posted);
  guard.gone_from = guard.accesses;
  guard.back_from = guard.accesses + 2;
  EXPECT_FALSE(bench.vi->begin_send().has_value());
  EXPECT_EQ(posted.status(), status::done | status::protection_error | status::op_send);
}

TEST(Sending, operationChangedAfterThePost_statusNamesTheOneProcessed) {
  // VI-DG 5.2 status bits 18:16: the operation that was done.
  Bench bench;
  bench.connect();
  const auto posted = bench.rdma_write("abc");
  posted.control().control = control::op_send_receive;
  bench.post_send(posted);
  posted.control().control = control::op_rdma_write;
  bench.vi->complete_send(bench.begin(), 0);
  EXPECT_EQ(posted.status(), status::done | status::op_rdma_write);
}

TEST(Sending, control_saysNothingOfTheSize) {
  // VI-ARCH 6.1: the descriptor ends behind its last segment, and so may its region.
  Bench bench;
  bench.connect();
  const auto posted = bench.send("abc", control::queue_fence | control::immediate);
  bench.vi->post_send(posted.address(), narrow_region(bench, posted, 1));
  EXPECT_EQ(bench.begin().length_bytes, 3u);
}

TEST(Sending, segmentsBeyondTheRegionAndTooLong_isAProtectionError) {
  // impl: nothing else of a descriptor is judged that does not lie in its region.
  Bench bench;
  bench.connect();
  const auto posted = bench.send("abc");
  bench.vi->post_send(posted.address(), narrow_region(bench, posted, 1));
  posted.control().segment_count = 2;
  posted.control().length_bytes = 5000;  // above the VI's 4096
  EXPECT_FALSE(bench.vi->begin_send().has_value());
  EXPECT_EQ(posted.status(), status::done | status::protection_error | status::op_send);
}

TEST(Sending, rdma_addressSegmentIsOneOfTheCount) {
  // VI-DG 5.3, 5.4: what stands behind the last data segment is not the descriptor's.
  for (const bool read : {false, true}) {
    Bench bench;
    bench.connect();
    const auto posted = read ? bench.rdma_read(bench.allocate(5)) : bench.rdma_write("hello");
    const Piece behind = bench.allocate(sizeof(Segment));
    ASSERT_EQ(behind.host, posted.host + sizeof(ControlSegment) + 2 * sizeof(Segment));
    std::memset(behind.host, 0x5A, behind.size);
    bench.post_send(posted);
    EXPECT_EQ(bench.begin().length_bytes, 5u);
  }
}

TEST(Sending, memoryToBeReadOnly_asTheOperationNeeds) {
  // VI-ARCH 3.2, VI-DG 3.4.3: a Send and an RDMA Write read their data; an RDMA Read writes them.
  Bench bench({.level = ReliableDelivery});
  std::array<std::byte, 8> constant{};
  wire::MemHandle handle{};
  ASSERT_EQ(bench.nic.register_memory(0x4711000, constant.data(), constant.size(), {}, handle, false), Return::Success);
  const Segment data{0x4711000, handle.value, 8}, remote{Bench::remote_address, Bench::remote_handle.value, 0};
  bench.connect();
  bench.post_send(bench.descriptor(control::op_send_receive, 8, {data}));
  EXPECT_EQ(bench.begin().kind, SendKind::Send);
  bench.post_send(bench.descriptor(control::op_rdma_write, 8, {remote, data}));
  SendWork write = bench.begin();
  EXPECT_EQ(write.kind, SendKind::RdmaWrite);
  bench.vi->complete_send(write, 0);
  Bench reader;
  ASSERT_EQ(reader.nic.register_memory(0x4711000, constant.data(), constant.size(), {}, handle, false),
            Return::Success);
  reader.connect();
  const auto read = reader.descriptor(control::op_rdma_read, 8, {remote, {0x4711000, handle.value, 8}});
  reader.post_send(read);
  EXPECT_FALSE(reader.vi->begin_send().has_value());
  EXPECT_EQ(read.status(), status::done | status::protection_error | status::op_rdma_read);
}

TEST(Sending, noImmediateData_areZero) {
  // VI-DG 5.2: the field counts only with its bit.
  Bench bench;
  bench.connect();
  const auto posted = bench.send("a");
  posted.control().immediate_data = 7;
  bench.post_send(posted);
  EXPECT_EQ(bench.begin().immediate_data, 0u);
}

TEST(Sending, partlySentOfAnEarlierConnection_isNotTheNextOnes) {
  // VI-DG 5.2 bit 4: work that was flushed says nothing of the descriptor that has its place in the ring now.
  Bench bench({.level = UnreliableDelivery, .limits = {.max_descriptors_per_queue = 8}});
  bench.connect();
  bench.post_send(bench.send("old"));
  const SendWork old = bench.begin();
  bench.vi->endpoint_event(endpoint::ConnectionLost{});
  reconnect(bench);
  for (int i = 0; i < 8; ++i) bench.post_send(bench.send("new"));
  std::vector<SendWork> works;
  for (int i = 0; i < 8; ++i) works.push_back(bench.begin());
  bench.vi->set_partly_sent(old, true);
  for (const SendWork& work : works) bench.vi->complete_send(work, status::format_error);
  for (const std::uint32_t status : dequeue_sends(bench)) EXPECT_EQ(status, status::done | status::format_error);
}

/// Asks for the next send whenever it hears of one that completed.
struct Eager final : Listener {
  bool completed(Vi& vi, bool receive_queue, std::uint64_t, bool) override {
    ++heard;
    if (!receive_queue) begun = begun || vi.begin_send().has_value();
    return false;
  }
  void asynchronous_error(Vi*, CompletionQueue*, std::uint64_t, std::uint32_t, ResourceCode, ErrorCode) override {}
  int heard = 0;
  bool begun = false;
};

TEST(Sending, flushUnderWay_nothingBegins) {
  // VI-ARCH 5.4: once in Error, no send is processed, whoever asks and when.
  Log log;
  FakeTransport transport{log};
  Eager listener;
  Nic nic{transport, listener};
  alignas(64) std::array<std::byte, 256> memory{};
  wire::MemHandle handle{};
  ASSERT_EQ(nic.register_memory(0x10000, memory.data(), memory.size(), {}, handle), Return::Success);
  Vi* vi = nullptr;
  ASSERT_EQ(nic.create_vi({}, nullptr, nullptr, vi), Return::Success);
  vi->endpoint_event(endpoint::ConnectRequested{});
  vi->endpoint_event(endpoint::SetupSucceeded{});
  for (const std::uint64_t at : {0x10000, 0x10040, 0x10080}) vi->post_send(at, handle);
  vi->endpoint_event(endpoint::ConnectionLost{});
  EXPECT_EQ(listener.heard, 3);
  EXPECT_FALSE(listener.begun);
}

// --- receives

TEST(Receiving, rewound_isReadAnewFromTheBeginning) {
  // VI-ARCH 3.2.1: judged for what the next message touches; its data begin where the first ones began.
  Bench bench;
  const Piece target = bench.allocate(8);
  bench.post_receive(bench.receive(target));
  bench.connect();
  ReceiveWork work = bench.claim(4);
  const std::array<std::uint8_t, 4> first{'o', 'l', 'd', '.'}, second{'n', 'e', 'w', '.'};
  EXPECT_TRUE(work.data.scatter(first));
  bench.vi->rewind_receive(work, 9);
  EXPECT_EQ(work.error_bits, status::length_error);
  bench.vi->rewind_receive(work, 8);
  EXPECT_EQ(work.error_bits, 0u);
  EXPECT_TRUE(work.data.scatter(second));
  EXPECT_EQ(target.text().substr(0, 4), "new.");
}

TEST(Receiving, control_saysNothingOfTheSize) {
  // VI-ARCH 6.1, VI-DG 5.2: fence and immediate bits are ignored.
  Bench bench;
  const auto posted = bench.receive(8);
  posted.control().control = control::queue_fence | control::immediate;
  bench.vi->post_receive(posted.address(), narrow_region(bench, posted, 1));
  bench.connect();
  bench.claim(8);
}

TEST(Receiving, descriptorCannotBeRead_isAProtectionError) {
  // VI-ARCH 3.2.1, VI-DG 5.2 bit 2: whether or not the message has data.
  for (const std::uint64_t message_bytes : {0, 1}) {
    Fleeting guard;
    Bench gone({.guard = &guard}), grown;
    const auto posted = gone.receive(8), larger = grown.receive(8);
    gone.post_receive(posted);
    gone.connect();
    guard.gone_from = guard.accesses;
    EXPECT_EQ(gone.vi->claim_receive(message_bytes)->error_bits, status::protection_error);
    grown.vi->post_receive(larger.address(), narrow_region(grown, larger, 1));
    grown.connect();
    larger.control().segment_count = 2;
    EXPECT_EQ(grown.vi->claim_receive(message_bytes)->error_bits, status::protection_error);
  }
}

TEST(Receiving, completedWellAndDescriptorGone_isACompletionError) {
  // VI-DG 3.8.1, 6.3.1: at any level: told of the descriptor, and the connection ends.
  for (const auto level : {UnreliableDelivery, ReliableDelivery}) {
    Bench bench({.level = level});
    const auto posted = bench.receive(8);
    wire::MemHandle own = narrow_region(bench, posted, 1);
    bench.vi->post_receive(posted.address(), own);
    bench.connect();
    const ReceiveWork work = bench.claim(8);
    bench.nic.memory().deregister(posted.address(), own);
    bench.vi->complete_receive(work, 0, status::op_receive, 8, {});
    EXPECT_THAT(bench.signals(), ElementsAre("Completion Protection Error", "receive", "Connection Lost", "stopped"));
    EXPECT_EQ(bench.listener.last_resource, ResourceCode::Descriptor);
    EXPECT_EQ(bench.listener.last_descriptor_address, posted.address());
    EXPECT_EQ(bench.listener.last_op_code, status::op_receive);
  }
}

TEST(Receiving, refusedEarly_receptionIsOff) {
  // VI-ARCH 5.1: an Idle VI receives nothing, nor does one whose peer withdrew.
  Bench bench;
  bench.post_receive(bench.receive(4));
  bench.vi->endpoint_event(endpoint::AcceptRequested{});
  EXPECT_FALSE(bench.vi->can_receive());
  bench.vi->receive_early();
  EXPECT_TRUE(bench.vi->can_receive());
  bench.vi->withdraw_early_reception();
  bench.vi->endpoint_event(endpoint::SetupRefused{});
  EXPECT_FALSE(bench.vi->can_receive());
  EXPECT_FALSE(bench.vi->claim_receive(0).has_value());
}

// --- the flush

TEST(Flushed, lengths_ofReceivesAreZeroAndOfSendsStay) {
  // Ruling 19; impl: a flushed send can be posted again as it is.
  Bench bench;
  const auto received = bench.receive(8);
  received.control().length_bytes = 9;
  bench.post_receive(received);
  bench.connect();
  const auto sent = bench.send("abc");
  bench.post_send(sent);
  bench.vi->endpoint_event(endpoint::ConnectionLost{});
  EXPECT_EQ(received.control().length_bytes, 0u);
  EXPECT_EQ(sent.control().length_bytes, 3u);
}

TEST(Flushed, descriptorGone_nextConnectionIsWell) {
  // VI-DG 3.8.1: the failure of a flush is over with it.
  Bench bench;
  const auto gone = bench.receive(8);
  const wire::MemHandle own = narrow_region(bench, gone, 1);
  bench.vi->post_receive(gone.address(), own);
  bench.connect();
  bench.nic.memory().deregister(gone.address(), own);
  bench.vi->endpoint_event(endpoint::ConnectionLost{});
  reconnect(bench);
  EXPECT_TRUE(bench.vi->can_receive());
  bench.post_send(bench.send("abc"));
  bench.vi->complete_send(bench.begin(), 0);
  EXPECT_EQ(bench.vi->state(), State::Connected);
  EXPECT_THAT(bench.signals(), ElementsAre("posted", "send"));
}

// --- incoming RDMA

TEST(RemoteAccess, eachDirection_hasItsOwnEnables) {
  // VI-ARCH 3.2.2.2: of the VI and of the region.
  for (const bool write : {false, true})
    for (const bool of_vi : {false, true}) {
      Bench bench;
      const Piece piece = bench.allocate("01234567");
      wire::MemHandle handle{};
      const bool region_writes = of_vi || write, region_reads = of_vi || !write;
      const MemoryAttributes region{.ptag = {}, .enable_rdma_write = region_writes, .enable_rdma_read = region_reads};
      bench.nic.memory().register_region(piece.address(), piece.host, piece.size, region, handle);
      bench.nic.set_vi_attributes(*bench.vi,
                                  {.enable_rdma_write = !of_vi || write, .enable_rdma_read = !of_vi || !write});
      std::array<std::uint8_t, 4> bytes{};
      EXPECT_EQ(bench.vi->read_remote(handle, piece.address(), bytes), !write);
      EXPECT_EQ(bench.vi->write_remote(handle, piece.address(), bytes), write);
    }
}

// --- the cursor over segments in unusual memory

TEST(CursorMemory, segmentsInReadOnlyMemory_areRead) {
  // VI-DG 3.4.3: the segments themselves are only read.
  Bench bench;
  const Piece data = bench.allocate("abc");
  alignas(16) std::array<Segment, 1> segments{bench.segment(data)};
  wire::MemHandle handle{};
  auto* const host = reinterpret_cast<std::byte*>(segments.data());
  ASSERT_EQ(bench.nic.register_memory(0x4711000, host, sizeof segments, {}, handle, false), Return::Success);
  DataCursor cursor(bench.nic.memory(), {}, handle, 0x4711000, 1);
  std::array<std::uint8_t, 3> bytes{};
  EXPECT_TRUE(cursor.gather(bytes));
  EXPECT_EQ(bytes[2], 'c');
}

TEST(CursorMemory, segmentsInMisalignedMemory_areRefused) {
  // impl: a simulator maps an aligned address to odd host memory: an error, no torn read.
  Bench bench;
  const Segment segment = bench.segment(bench.allocate("abc"));
  const Piece odd = bench.allocate(sizeof segment + 1, 64);
  std::memcpy(odd.host + 1, &segment, sizeof segment);
  wire::MemHandle handle{};
  ASSERT_EQ(bench.nic.register_memory(0x4000, odd.host + 1, sizeof segment, {}, handle), Return::Success);
  DataCursor cursor(bench.nic.memory(), {}, handle, 0x4000, 1);
  std::array<std::uint8_t, 3> bytes{};
  EXPECT_FALSE(cursor.gather(bytes));
}

// --- the NIC

TEST(NicGone, withVis_transportForgetsEach) {
  // VI-DG 3.1.2: whatever VIs have under way.
  Log log;
  FakeTransport transport{log};
  LoggingListener listener{log};
  {
    Nic nic{transport, listener};
    Vi* vi = nullptr;
    for (int i = 0; i < 2; ++i) ASSERT_EQ(nic.create_vi({}, nullptr, nullptr, vi), Return::Success);
    log.clear();
  }
  EXPECT_THAT(log, ElementsAre("detach", "detach"));
}

}  // namespace
}  // namespace vi::testing
