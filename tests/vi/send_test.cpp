// The send queue: what a descriptor may say (VI-DG 5.2 to 5.4), in which order it is begun and
// completed (VI-ARCH 6.3.1).
#include "tests/vi/bench.hpp"

namespace vi::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum ReliabilityLevel;

std::string gathered(SendWork& work) {
  std::string text(work.length_bytes, '?');
  EXPECT_TRUE(work.data.gather({reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  return text;
}

TEST(Send, connected_begin_send) {
  // VI-DG 5.2: a Send with immediate data.
  Bench bench;
  bench.connect();
  const auto posted = bench.send("hello", control::immediate);
  posted.control().immediate_data = 0x12345678;
  bench.post_send(posted);
  SendWork work = bench.begin();
  EXPECT_EQ(work.kind, SendKind::Send);
  EXPECT_TRUE(work.has_immediate);
  EXPECT_EQ(work.immediate_data, 0x12345678u);
  EXPECT_EQ(gathered(work), "hello");
  EXPECT_TRUE(bench.vi->is_open(work));
  EXPECT_FALSE(bench.vi->begin_send().has_value());
}

TEST(Send, connected_begin_rdma_write) {
  // VI-DG 5.3: the address segment tells the remote end.
  Bench bench;
  bench.connect();
  bench.post_send(bench.rdma_write("hello"));
  SendWork work = bench.begin();
  EXPECT_EQ(work.kind, SendKind::RdmaWrite);
  EXPECT_FALSE(work.has_immediate);
  EXPECT_EQ(work.remote_address, Bench::remote_address);
  EXPECT_EQ(work.remote_handle, Bench::remote_handle);
  EXPECT_EQ(gathered(work), "hello");
}

TEST(Send, connected_begin_rdma_read) {
  // VI-DG 5.2, FC-VI 6.6.2: immediate data are ignored in an RDMA Read.
  Bench bench;
  bench.connect();
  bench.post_send(bench.rdma_read(bench.allocate(9), control::immediate));
  const SendWork work = bench.begin();
  EXPECT_EQ(work.kind, SendKind::RdmaRead);
  EXPECT_FALSE(work.has_immediate);
  EXPECT_EQ(work.length_bytes, 9u);
}

TEST(Send, connected_begin_nothing_at_all) {
  // VI-DG 5.4, VI-ARCH 6.1.1.1: no segment and no immediate data is a message too.
  Bench bench;
  bench.connect();
  bench.post_send(bench.descriptor(0, 0, {}));
  EXPECT_EQ(bench.begin().length_bytes, 0u);
  bench.post_send(bench.descriptor(control::op_rdma_write, 0, {Segment{Bench::remote_address, 1, 0}}));
  EXPECT_EQ(bench.begin().length_bytes, 0u);
}

TEST(Send, connected_complete_send) {
  // VI-DG 5.2, wild 11: length and status are written; immediate data, control and Next stay.
  Bench bench;
  bench.connect();
  const auto posted = bench.send("hello", control::immediate);
  posted.control().next = 99;
  posted.control().immediate_data = 5;
  bench.post_send(posted);
  const SendWork work = bench.begin();
  posted.control().length_bytes = 0;
  bench.signals();
  bench.vi->complete_send(work, 0);
  EXPECT_EQ(posted.status(), status::done | status::op_send);
  EXPECT_EQ(posted.control().length_bytes, 5u);
  EXPECT_EQ(posted.control().immediate_data, 5u);
  EXPECT_EQ(posted.control().control, control::immediate);
  EXPECT_EQ(posted.control().next, 99u);
  EXPECT_THAT(bench.signals(), ElementsAre("send"));
  std::uint64_t address = 0;
  EXPECT_EQ(bench.vi->send_done(address), Return::Success);
  EXPECT_EQ(address, posted.address());
  EXPECT_TRUE(bench.vi->send_queue_empty());
}

// --- descriptors in error

struct BadSend {
  const char* name;
  std::uint32_t status;
  void (*spoil)(const Posted&);
  std::uint16_t control = 0;  // operation
};
class SendBad : public ::testing::TestWithParam<BadSend> {
 protected:
  Posted post(Bench& bench) {
    const auto operation = GetParam().control & control::op_mask;
    const auto posted = operation == control::op_rdma_write  ? bench.rdma_write("hello")
                        : operation == control::op_rdma_read ? bench.rdma_read(bench.allocate(5))
                                                             : bench.send("hello");
    GetParam().spoil(posted);
    bench.post_send(posted);
    return posted;
  }
};

TEST_P(SendBad, connected_begin_reliable) {
  // VI-ARCH 2.5.2, 2.5.3: the status tells, the VI goes to Error, the rest is flushed.
  for (const auto level : {ReliableDelivery, ReliableReception}) {
    Bench bench({.level = level});
    bench.post_receive(bench.receive(1));
    bench.connect();
    const auto posted = post(bench);
    const auto next = bench.send("next");
    bench.post_send(next);
    bench.signals();
    EXPECT_FALSE(bench.vi->begin_send().has_value());
    EXPECT_EQ(posted.status(), GetParam().status | status::done);
    EXPECT_EQ(next.status(), status::done | status::flushed | status::op_send);
    EXPECT_EQ(bench.vi->state(), State::Error);
    EXPECT_THAT(bench.signals(), ElementsAre("send", "send", "receive", "Connection Lost", "stopped"));
    EXPECT_EQ(bench.vi->unexpected_events(), 0u);
  }
}

TEST_P(SendBad, connected_begin_unreliable) {
  // VI-ARCH 2.5.1: the status tells, and the VI goes on with the next descriptor.
  if ((GetParam().control & control::op_mask) == control::op_rdma_read) return;  // always a format error here
  Bench bench({.level = UnreliableDelivery});
  bench.connect();
  const auto posted = post(bench);
  bench.post_send(bench.send("next"));
  SendWork work = bench.begin();
  EXPECT_EQ(gathered(work), "next");
  EXPECT_EQ(posted.status(), GetParam().status | status::done);
  EXPECT_EQ(bench.vi->state(), State::Connected);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, SendBad,
    ::testing::Values(
        BadSend{"reserved_control_bit_4", status::format_error, [](const Posted& p) { p.control().control |= 0x10; }},
        BadSend{"reserved_control_bit_15", status::format_error,
                [](const Posted& p) { p.control().control |= 0x8000; }},
        BadSend{"reserved_word", status::format_error, [](const Posted& p) { p.control().reserved = 1; }},
        BadSend{"operation_11b", status::format_error, [](const Posted& p) { p.control().control |= 3; }},
        BadSend{"write_without_address_segment", status::format_error | status::op_rdma_write,
                [](const Posted& p) { p.control().segment_count = 0; }, control::op_rdma_write},
        BadSend{"read_without_address_segment", status::format_error | status::op_rdma_read,
                [](const Posted& p) { p.control().segment_count = 0; }, control::op_rdma_read},
        BadSend{"write_address_segment_reserved", status::format_error | status::op_rdma_write,
                [](const Posted& p) { p.segment(0).length_or_reserved = 1; }, control::op_rdma_write},
        BadSend{"read_address_segment_reserved", status::format_error | status::op_rdma_read,
                [](const Posted& p) { p.segment(0).length_or_reserved = 1; }, control::op_rdma_read},
        BadSend{"segment_count_above_limit", status::length_error,
                [](const Posted& p) { p.control().segment_count = 1025; }},
        BadSend{"segment_count_65535", status::length_error,
                [](const Posted& p) { p.control().segment_count = 0xFFFF; }},
        BadSend{"length_below_sum", status::length_error, [](const Posted& p) { p.control().length_bytes = 4; }},
        BadSend{"length_above_sum", status::length_error, [](const Posted& p) { p.control().length_bytes = 6; }},
        BadSend{"write_length_not_sum", status::length_error | status::op_rdma_write,
                [](const Posted& p) { p.control().length_bytes = 4; }, control::op_rdma_write},
        BadSend{"read_length_not_sum", status::length_error | status::op_rdma_read,
                [](const Posted& p) { p.control().length_bytes = 4; }, control::op_rdma_read},
        BadSend{"length_above_max_transfer", status::length_error,
                [](const Posted& p) { p.control().length_bytes = p.segment(0).length_or_reserved = 4097; }},
        BadSend{"data_handle", status::protection_error, [](const Posted& p) { ++p.segment(0).handle; }},
        BadSend{"data_address", status::protection_error, [](const Posted& p) { p.segment(0).address = 16; }},
        BadSend{"data_bounds", status::protection_error, [](const Posted& p) { p.segment(0).address += (1 << 20); }},
        BadSend{"write_data_handle", status::protection_error | status::op_rdma_write,
                [](const Posted& p) { ++p.segment(1).handle; }, control::op_rdma_write},
        BadSend{"read_data_handle", status::protection_error | status::op_rdma_read,
                [](const Posted& p) { ++p.segment(1).handle; }, control::op_rdma_read}),
    [](const auto& test_case) { return std::string(test_case.param.name); });

TEST(Send, connected_begin_rdma_read_unreliable) {
  // VI-ARCH 2.5.1: RDMA Read is a format error here.
  Bench bench({.level = UnreliableDelivery});
  bench.connect();
  const auto posted = bench.rdma_read(bench.allocate(1));
  bench.post_send(posted);
  EXPECT_FALSE(bench.vi->begin_send().has_value());
  EXPECT_EQ(posted.status(), status::done | status::format_error | status::op_rdma_read);
}

TEST(Send, connected_begin_sum_beyond_32_bits) {
  // VI-DG 5.2: sums are exact; four segments of 1 GiB do not make a length of zero.
  Bench bench({.level = UnreliableDelivery});
  bench.connect();
  wire::MemHandle huge{};
  bench.nic.memory().register_region(0x10000, bench.allocate(64).host, std::uint64_t{1} << 32, {}, huge);
  const Segment piece{0x10000, huge.value, 1u << 30};
  const auto posted = bench.descriptor(0, 0, {piece, piece, piece, piece});
  bench.post_send(posted);
  EXPECT_FALSE(bench.vi->begin_send().has_value());
  EXPECT_EQ(posted.status(), status::done | status::length_error | status::op_send);
}

TEST(Send, connected_begin_most_segments) {
  // VI-ARCH 6.1.1.1: as many segments as the NIC takes, the address segment included; one more is too many.
  Bench bench({.level = UnreliableDelivery, .limits = {.max_segments_per_descriptor = 3}});
  bench.connect();
  const Segment remote{Bench::remote_address, 1, 0};
  const Segment piece = bench.segment(bench.allocate("x"));
  bench.post_send(bench.descriptor(control::op_rdma_write, 2, {remote, piece, piece}));
  EXPECT_EQ(bench.begin().length_bytes, 2u);
  const auto posted = bench.descriptor(control::op_rdma_write, 3, {remote, piece, piece, piece});
  bench.post_send(posted);
  EXPECT_FALSE(bench.vi->begin_send().has_value());
}

TEST(Send, connected_begin_wrong_data_tag) {
  // VI-ARCH 3.2.2.1: data need the VI's tag.
  Bench bench;
  Ptag mine, other;
  bench.nic.memory().create_ptag(mine);
  bench.nic.memory().create_ptag(other);
  const std::uint64_t arena = bench.allocate(1).address();  // its first piece
  const auto posted = bench.send("a");
  wire::MemHandle data{};
  const Piece piece = bench.allocate("a");
  bench.nic.memory().register_region(piece.address(), piece.host, 1, {.ptag = other}, data);
  posted.segment(0) = {piece.address(), data.value, 1};
  EXPECT_EQ(bench.nic.memory().set_attributes(arena, bench.arena_handle, {.ptag = mine}), Return::Success);
  bench.nic.set_vi_attributes(*bench.vi, {.ptag = mine});
  bench.connect();
  bench.post_send(posted);
  EXPECT_FALSE(bench.vi->begin_send().has_value());
  EXPECT_EQ(posted.status(), status::done | status::protection_error | status::op_send);
}

TEST(Send, connected_begin_segment_count_grown) {
  // impl: a consumer that adds segments beyond the region to a posted descriptor gets a protection error.
  Bench bench;
  bench.connect();
  const auto posted = bench.send("abc");
  wire::MemHandle narrow{};
  bench.nic.memory().register_region(posted.address(), posted.host, 48, {}, narrow);
  bench.vi->post_send(posted.address(), narrow);
  posted.control().segment_count = 2;
  EXPECT_FALSE(bench.vi->begin_send().has_value());
  EXPECT_EQ(posted.status(), status::done | status::protection_error | status::op_send);
}

TEST(Send, connected_begin_descriptor_deregistered) {
  // VI-ARCH 3.2.1, VI-DG 3.8.1: no status can be written: Completion Protection Error, Error at any level.
  for (const auto level : {UnreliableDelivery, ReliableDelivery}) {
    Bench bench({.level = level});
    bench.connect();
    const auto posted = bench.send("abc");
    wire::MemHandle own{};
    bench.nic.memory().register_region(posted.address(), posted.host, 64, {}, own);
    bench.vi->post_send(posted.address(), own);
    bench.nic.memory().deregister(posted.address(), own);
    bench.signals();
    EXPECT_FALSE(bench.vi->begin_send().has_value());
    EXPECT_EQ(posted.status(), 0u);
    EXPECT_THAT(bench.signals(), ElementsAre("Completion Protection Error", "send", "Connection Lost", "stopped"));
    EXPECT_EQ(bench.vi->state(), State::Error);
    std::uint64_t address = 0;
    EXPECT_EQ(bench.vi->send_done(address), Return::DescriptorError);
    EXPECT_EQ(address, posted.address());
  }
}

TEST(Send, connected_complete_descriptor_deregistered) {
  // VI-DG 3.8.1: deregistered after it was read, before it was completed.
  Bench bench({.level = UnreliableDelivery});
  bench.connect();
  const auto posted = bench.send("abc");
  bench.post_send(posted);
  const SendWork work = bench.begin();
  bench.nic.memory().deregister(posted.address(), bench.arena_handle);
  bench.signals();
  bench.vi->complete_send(work, 0);
  EXPECT_THAT(bench.signals(), ElementsAre("Completion Protection Error", "send", "Connection Lost", "stopped"));
  EXPECT_EQ(posted.status(), 0u);
  EXPECT_EQ(bench.vi->state(), State::Error);
}

// --- errors that the transport tells

struct SendError {
  ReliabilityLevel level;
  std::uint32_t bits;
  State state;
};
class SendCompleted : public ::testing::TestWithParam<SendError> {};

TEST_P(SendCompleted, connected_complete_send_in_error) {
  // VI-ARCH 2.5, 7.2, 7.3, VI-DG 6.2: at a reliable level any error breaks the connection, and that is
  // told asynchronously too.
  const SendError& param = GetParam();
  Bench bench({.level = param.level});
  bench.connect();
  const auto posted = bench.rdma_write("abc");
  bench.post_send(posted);
  const SendWork work = bench.begin();
  bench.signals();
  bench.vi->complete_send(work, param.bits);
  EXPECT_EQ(posted.status(), status::done | status::op_rdma_write | param.bits);
  EXPECT_EQ(bench.vi->state(), param.state);
  Log expected{"send"};
  if (param.state == State::Error) expected.insert(expected.end(), {"Connection Lost", "stopped"});
  EXPECT_EQ(bench.signals(), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Levels, SendCompleted,
    ::testing::Values(SendError{ReliableReception, status::remote_descriptor_error, State::Error},
                      SendError{ReliableReception, status::transport_error, State::Error},
                      SendError{ReliableReception, status::transport_error | status::partial_error, State::Error},
                      SendError{ReliableReception, status::rdma_protection_error, State::Error},
                      SendError{ReliableDelivery, status::protection_error | status::partial_error, State::Error},
                      SendError{UnreliableDelivery, status::protection_error | status::partial_error,
                                State::Connected}));

// --- order

TEST(Order, connected_sends_begin_together) {
  // VI-ARCH 6.3.1.1: sends and writes begin in order without waiting for completion.
  for (const auto level : {UnreliableDelivery, ReliableDelivery, ReliableReception}) {
    Bench bench({.level = level});
    bench.connect();
    bench.post_send(bench.send("a"));
    bench.post_send(bench.rdma_write("b"));
    bench.post_send(bench.send("c"));
    SendWork a = bench.begin(), b = bench.begin(), c = bench.begin();
    EXPECT_EQ(gathered(a) + gathered(b) + gathered(c), "abc");
  }
}

struct Passing {
  ReliabilityLevel level;
  bool passes;
};
class OrderByLevel : public ::testing::TestWithParam<Passing> {};

TEST_P(OrderByLevel, reading_begin_send_and_write) {
  // VI-ARCH 6.3.1.1: Sends and RDMA Writes pass RDMA Reads on Reliable Delivery, and not on Reliable Reception.
  for (const bool write : {false, true}) {
    Bench bench({.level = GetParam().level});
    bench.connect();
    bench.post_send(bench.rdma_read(bench.allocate(1)));
    bench.post_send(write ? bench.rdma_write("w") : bench.send("s"));
    const SendWork read = bench.begin();
    EXPECT_EQ(bench.vi->begin_send().has_value(), GetParam().passes);
    bench.vi->complete_send(read, 0);
    EXPECT_EQ(bench.vi->begin_send().has_value(), !GetParam().passes);
  }
}

TEST_P(OrderByLevel, reading_begin_read) {
  // VI-ARCH 6.3.1.1: reads do not pass reads; Reliable Reception begins one at a time (2.5.3).
  Bench bench({.level = GetParam().level});
  bench.connect();
  bench.post_send(bench.rdma_read(bench.allocate(1)));
  bench.post_send(bench.rdma_read(bench.allocate(1)));
  const SendWork first = bench.begin();
  EXPECT_EQ(bench.vi->begin_send().has_value(), GetParam().passes);
  bench.vi->complete_send(first, 0);
  EXPECT_EQ(bench.vi->begin_send().has_value(), !GetParam().passes);
}

INSTANTIATE_TEST_SUITE_P(Levels, OrderByLevel,
                         ::testing::Values(Passing{ReliableDelivery, true}, Passing{ReliableReception, false}));

TEST(Order, sending_begin_fenced) {
  // VI-ARCH 6.3.1.2: a fence waits for all earlier descriptors, sends included, and holds all later ones.
  for (const auto level : {UnreliableDelivery, ReliableDelivery, ReliableReception}) {
    Bench bench({.level = level});
    bench.connect();
    bench.post_send(bench.send("a"));
    bench.post_send(bench.send("b"));
    bench.post_send(bench.send("c", control::queue_fence));
    bench.post_send(bench.send("d"));
    const SendWork a = bench.begin(), b = bench.begin();
    EXPECT_FALSE(bench.vi->begin_send().has_value());
    bench.vi->complete_send(a, 0);
    EXPECT_FALSE(bench.vi->begin_send().has_value());
    bench.vi->complete_send(b, 0);
    SendWork c = bench.begin();
    EXPECT_EQ(gathered(c), "c");
    EXPECT_TRUE(bench.vi->begin_send().has_value());
  }
}

TEST(Order, reading_begin_fenced) {
  // VI-DG 5.2: the fence waits for RDMA Reads, also where later sends have completed.
  Bench bench;
  bench.connect();
  bench.post_send(bench.rdma_read(bench.allocate(1)));
  bench.post_send(bench.send("a"));
  bench.post_send(bench.send("b", control::queue_fence));
  const SendWork read = bench.begin(), a = bench.begin();
  bench.vi->complete_send(a, 0);
  EXPECT_FALSE(bench.vi->begin_send().has_value());
  bench.vi->complete_send(read, 0);
  EXPECT_TRUE(bench.vi->begin_send().has_value());
}

TEST(Order, empty_begin_fenced) {
  // VI-ARCH 6.3.1.2: nothing before it, nothing to wait for.
  Bench bench;
  bench.connect();
  bench.post_send(bench.send("a", control::queue_fence));
  EXPECT_TRUE(bench.vi->begin_send().has_value());
}

TEST(Order, sending_begin_bad) {
  // VI-ARCH 6.3.1.1: completions are FIFO, so an error waits for the sends before it, and does not flush them.
  Bench bench;
  bench.connect();
  const auto good = bench.send("a"), bad = bench.send("b");
  bad.control().length_bytes = 9;
  bench.post_send(good);
  bench.post_send(bad);
  const SendWork work = bench.begin();
  EXPECT_FALSE(bench.vi->begin_send().has_value());
  EXPECT_EQ(bad.status(), 0u);
  EXPECT_EQ(bench.vi->state(), State::Connected);
  bench.vi->complete_send(work, 0);
  EXPECT_FALSE(bench.vi->begin_send().has_value());
  EXPECT_EQ(good.status(), status::done | status::op_send);
  EXPECT_EQ(bad.status(), status::done | status::length_error | status::op_send);
  EXPECT_EQ(bench.vi->state(), State::Error);
}

TEST(Order, reading_send_completes_first) {
  // VI-ARCH 6.3.1.1, VI-DG 6.1: the send's status shows, but queue and completion queue keep the posting order.
  Bench bench({.send_to_queue = true});
  bench.connect();
  const Piece target = bench.allocate(4);
  const auto read_posted = bench.rdma_read(target), send_posted = bench.send("s");
  bench.post_send(read_posted);
  bench.post_send(send_posted);
  SendWork read = bench.begin();
  bench.signals();
  bench.vi->complete_send(bench.begin(), 0);
  EXPECT_EQ(send_posted.status(), status::done | status::op_send);
  EXPECT_THAT(bench.signals(), IsEmpty());
  std::uint64_t address = 0;
  EXPECT_EQ(bench.vi->send_done(address), Return::NotDone);
  EXPECT_TRUE(read.data.scatter(std::array<std::uint8_t, 4>{'r', 'e', 'a', 'd'}));
  bench.vi->complete_send(read, 0);
  EXPECT_EQ(target.text(), "read");
  EXPECT_EQ(read_posted.control().length_bytes, 4u);
  EXPECT_THAT(bench.signals(), ElementsAre("send", "send"));
  EXPECT_THAT(dequeue_sends(bench), ElementsAre(status::done | status::op_rdma_read, status::done | status::op_send));
}

TEST(Order, queues_share_completion_queue) {
  // VI-ARCH 2.4: the completions of several queues are told in their order, for the entries of the completion queue.
  Bench bench({.send_to_queue = true, .receive_to_queue = true});
  bench.post_receive(bench.receive(4));
  bench.connect();
  bench.post_send(bench.send("a"));
  bench.signals();
  bench.vi->complete_receive(bench.claim(), 0, status::op_receive, 1, std::nullopt);
  bench.vi->complete_send(bench.begin(), 0);
  EXPECT_THAT(bench.signals(), ElementsAre("receive", "send"));
}

TEST(Order, taken_isOffTheQueue) {
  // impl: a consumer that keeps completed descriptors itself gets each with its outcome, and dequeues none here.
  Bench bench({.level = UnreliableDelivery});
  bench.connect();
  bench.listener.takes = true;
  const auto good = bench.send("a"), bad = bench.send("b");
  for (const auto& posted : {good, bad}) bench.post_send(posted);
  const SendWork first = bench.begin(), second = bench.begin();
  bench.vi->complete_send(first, 0);
  EXPECT_EQ(bench.listener.last_completed, good.address());
  EXPECT_FALSE(bench.listener.last_in_error);
  EXPECT_FALSE(bench.vi->send_queue_empty());
  bench.vi->complete_send(second, status::transport_error);
  EXPECT_EQ(bench.listener.last_completed, bad.address());
  EXPECT_TRUE(bench.listener.last_in_error);
  EXPECT_TRUE(bench.vi->send_queue_empty());
  std::uint64_t address = 1;
  EXPECT_EQ(bench.vi->send_done(address), Return::DescriptorError);
  EXPECT_EQ(address, 0u);
  EXPECT_TRUE(bench.vi->is_consistent());
}

}  // namespace
}  // namespace vi::testing
