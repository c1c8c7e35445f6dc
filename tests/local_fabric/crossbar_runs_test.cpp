// Runs of frames (FrameRun) into and out of the ring of a path, and whole Sequences of one frame.
#include <random>

#include "tests/local_fabric/crossbar_fixture.hpp"

namespace fc2::drivers {
namespace {
using namespace crossbar_test;

/// Frames of 512 bytes behind their headers, each with bytes of its own.
struct MadeRun {
  static constexpr std::size_t header_bytes = frame_header_bytes + 32, data_bytes = 512;
  MadeRun(wire::FcId to, wire::FcId from, std::size_t count) : frames(count), data(count * data_bytes) {
    header = {.r_ctl = wire::RCtl::solicited_data, .d_id = to, .s_id = from, .type = wire::Type::fc_vi};
    header.df_ctl = wire::df_ctl::device_header_32;
    header.seq_cnt = {0xFFFE};  // comes round
    header.parameter = 2080;
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * 7 + i / 512);
    write(0, first.own.data());
    first.size_bytes = header_bytes + data_bytes;
    first.sof = wire::Sof::n3;
    first.eof = wire::Eof::n;
  }
  [[nodiscard]] FrameRun run(const RunReader* reader = nullptr) const {
    return {first, frames, header_bytes, data.data(), data_bytes, data_bytes, reader};
  }
  /// A frame of it, as a single one would be (FC-FS).
  void write(std::size_t number, std::uint8_t* to) const {
    wire::FcHeader of_frame = header;
    of_frame.seq_cnt.value = static_cast<std::uint16_t>(of_frame.seq_cnt.value + number);
    of_frame.parameter += static_cast<std::uint32_t>(number * data_bytes);
    of_frame.write(std::span(to, frame_header_bytes));
    std::memset(to + frame_header_bytes, 0x5A, 32);
    std::memcpy(to + header_bytes, data.data() + number * data_bytes, data_bytes);
  }
  std::size_t frames;
  std::vector<std::uint8_t> data;
  wire::FcHeader header;
  Frame first;
};

// A run stands in one slot and in the slab, with the headers of its first frame; its data may lie apart from each other
// where they come from.
TEST_F(CrossbarTest, run_goes_into_the_ring_as_a_whole) {
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  const MadeRun made({0x020200}, own, 5);
  FrameRun apart = made.run();
  apart.stride_bytes *= 2;
  apart.frames = 3;
  {
    const CoreSection section(machine.core);
    EXPECT_EQ(link.crossbar->send_run(made.run()), 5U);
    EXPECT_EQ(link.crossbar->send_run(apart), 3U);
  }
  std::array<std::uint8_t, MadeRun::header_bytes + MadeRun::data_bytes> first{};
  made.write(0, first.data());
  for (const std::uint32_t frames : {5U, 3U}) {
    ASSERT_TRUE(far.in.ready());
    const auto slot = far.in.next();
    ASSERT_EQ(slot->run_frames, frames);
    EXPECT_EQ(slot->size_bytes, first.size());
    EXPECT_EQ(std::memcmp(slot->bytes.data(), first.data(), MadeRun::header_bytes), 0);
    for (std::size_t i = 0; i < frames; ++i)
      EXPECT_EQ(std::memcmp(far.in.data_of(*slot).data() + i * MadeRun::data_bytes,
                            made.data.data() + i * (frames == 5 ? 1 : 2) * MadeRun::data_bytes, MadeRun::data_bytes),
                0)
          << i;
  }
  EXPECT_FALSE(far.in.ready());
}

// As single frames of message data, it stops where few slots are left; and where its data are gone nothing of it goes.
TEST_F(CrossbarTest, run_stops_where_room_or_data_end) {
  struct OneThere final : RunReader {
    bool read(std::span<std::uint8_t> to, const std::uint8_t* from) const override {
      std::memcpy(to.data(), from, to.size());
      return left-- > 0;
    }
    mutable int left = 1;
  } one_there;
  FarEnd& far = make_open_path(0x020200);
  ASSERT_TRUE(until_direct(1));
  const MadeRun made({0x020200}, own, 60);
  const CoreSection section(machine.core);
  EXPECT_EQ(link.crossbar->send_run(made.run(&one_there)), max_run_frames);
  EXPECT_EQ(link.crossbar->send_run(made.run(&one_there)), 0U);
  EXPECT_EQ(far.read().size(), max_run_frames);
  const std::size_t sent = link.crossbar->send_run(made.run());
  EXPECT_EQ(sent, slots - 15U);
  EXPECT_TRUE(link.crossbar->keeps_back(far.id));
  EXPECT_EQ(link.crossbar->send_run(made.run()), 0U);
}

// Nothing of it goes by the service, behind a mark, or behind frames that wait.
TEST_F(CrossbarTest, run_is_taken_by_an_open_ring_alone) {
  const MadeRun made({0x020200}, own, 5);
  const auto sent = [&] {
    const CoreSection section(machine.core);
    return link.crossbar->send_run(made.run());
  };
  EXPECT_EQ(sent(), 0U);
  FarEnd& far = make_path(0x020200);
  ASSERT_TRUE(machine.run_until([&] { return service.marks[far.id.value] == 1; }));
  EXPECT_EQ(sent(), 0U);
  EXPECT_TRUE(service.frames.empty());
}

// A run from the ring is offered as it is; the rest of it anew, until none is taken: those come singly, each with its
// SEQ_CNT and relative offset, and what threads posted is taken before each.
TEST_F(CrossbarTest, run_from_the_ring_is_offered_and_comes_singly_where_it_is_refused) {
  FarEnd& far = make_open_path(0x020200);
  {
    const CoreSection section(machine.core);
    port.link_up_without_fabric(*link.crossbar, own);
  }
  const MadeRun made(own, far.id, 9);
  std::vector<std::size_t> offered, singly;
  std::deque<std::size_t> takes{4, 2, 0};
  const auto expect_frame = [&](const wire::FcHeader& header, std::size_t number) {
    EXPECT_EQ(header.seq_cnt.value, static_cast<std::uint16_t>(made.header.seq_cnt.value + number));
    EXPECT_EQ(header.parameter, made.header.parameter + number * MadeRun::data_bytes);
  };
  data_user.on_run = [&](const ReceivedFrame& first, const FrameRun& run) {
    offered.push_back(run.frames);
    expect_frame(first.header, made.frames - run.frames);
    EXPECT_EQ(std::memcmp(run.data, made.data.data() + (made.frames - run.frames) * MadeRun::data_bytes,
                          run.frames * MadeRun::data_bytes),
              0);
    const std::size_t taken = takes.front();
    takes.pop_front();
    return taken;
  };
  data_user.on_data = [&](const ReceivedFrame& frame) {
    const std::size_t number = 6 + singly.size();
    expect_frame(frame.header, number);
    EXPECT_EQ(
        std::memcmp(frame.data_field.data() + 32, made.data.data() + number * MadeRun::data_bytes, MadeRun::data_bytes),
        0);
    singly.push_back(static_cast<std::size_t>(guard.looks));
  };
  {
    const CoreSection section(machine.core);
    made.write(0, far.out.place().data());
    const auto to = far.out.run_place(9, MadeRun::data_bytes);
    std::memcpy(to.data(), made.data.data(), to.size());
    far.out.publish_run(made.first.size_bytes, 9);
  }
  EXPECT_TRUE(machine.run_until([&] { return port.counters().frames_received == 9; }));
  EXPECT_EQ(offered, (std::vector<std::size_t>{9, 5, 3}));
  ASSERT_EQ(singly.size(), 3U);
  EXPECT_EQ(singly[1], singly[0] + 1);
  EXPECT_EQ(singly[2], singly[1] + 1);
  EXPECT_TRUE(machine.run_until([&] { return far.out.room(slots) == slots; }));
}

// A hostile far end: a run that cannot be one is counted and passed over; one of another port, or without a
// Device_Header of 32 bytes, is what its frames would be.
TEST_F(CrossbarTest, run_that_is_none_is_discarded) {
  FarEnd& far = make_open_path(0x020200);
  {
    const CoreSection section(machine.core);
    port.link_up_without_fabric(*link.crossbar, own);
  }
  std::size_t offered = 0;
  data_user.on_run = [&](const ReceivedFrame&, const FrameRun& run) { return ++offered, run.frames; };
  const auto write = [&](const MadeRun& made, std::uint8_t frames) {
    const CoreSection section(machine.core);
    const std::uint32_t at = slots - far.out.room(slots);
    made.write(0, far.out.place().data());
    far.out.publish_run(made.first.size_bytes, 3);
    far.rings.outbound().slots[at].eof = frames;
  };
  write(MadeRun(own, far.id, 3), 3);
  EXPECT_TRUE(machine.run_until([&] { return offered == 1; }));
  write(MadeRun(own, {0x020300}, 3), 3);
  EXPECT_TRUE(machine.run_until([&] { return port.counters().discarded(Discard::WrongAddress) == 3; }));
  MadeRun without(own, far.id, 3);
  without.header.df_ctl = 0;
  write(without, 3);
  EXPECT_TRUE(machine.run_until([&] { return data_user.data.size() == 3; }));
  write(MadeRun(own, far.id, 3), max_run_frames + 1);
  EXPECT_TRUE(machine.run_until([&] { return port.counters().discarded(Discard::BadHeader) == 1; }));
  EXPECT_EQ(offered, 1U);
}

// A hostile far end: any octet of a run or a frame, sizes and numbers of frames that are wrong, turns that are not.
// What the port is given lies within the memory; each slot comes back, and an honest run behind them comes whole.
TEST_F(CrossbarTest, any_slots_spoil_nothing_else) {
  FarEnd& far = make_open_path(0x020200);
  const CoreSection section(machine.core);
  port.link_up_without_fabric(*link.crossbar, own);
  const RingView ring = far.rings.outbound();
  std::uint64_t runs = 0, octets = 0;
  bool takes = false;
  data_user.on_run = [&](const ReceivedFrame&, const FrameRun& run) {
    ++runs;
    for (std::size_t i = 0; i < run.frames; ++i)
      for (std::size_t at = 0; at < run.data_bytes; at += 64) octets += run.data[i * run.stride_bytes + at];
    return takes ? run.frames : run.frames / 2;
  };
  std::mt19937 random(15);
  const auto chance = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random()) % below; };
  const MadeRun made(own, far.id, 3);
  // A slot where the reader stands, which the far end knows; `wrong` bits of its headers are others.
  const auto put = [&](std::uint32_t frames, std::uint32_t wrong) {
    const std::uint32_t at = ring.header->given_back.load(), index = at & (slots - 1);
    RingSlot& slot = ring.slots[index];
    const bool single = wrong != 0 && chance(4) == 0, any_size = wrong != 0 && chance(4) == 0;
    made.write(0, slot.bytes);
    slot.size_bytes = any_size ? static_cast<std::uint16_t>(chance(2200)) : made.first.size_bytes;
    slot.sof = single ? static_cast<std::uint8_t>(wire::Sof::n3) : run_mark;
    slot.eof = static_cast<std::uint8_t>(single ? static_cast<std::uint32_t>(wire::Eof::n) : frames);
    for (; wrong != 0; --wrong) slot.bytes[chance(run_header_bytes)] ^= static_cast<std::uint8_t>(1U << chance(8));
    if (index + 1 < slots) ring.slots[index + 1].turn.store(chance(at + 100));
    slot.turn.store(at + 1);
    for (int i = 0; i != 4 && ring.header->given_back.load() == at; ++i) machine.core.read_memory();
    return ring.header->given_back.load() - at;
  };
  for (int i = 0; i != 3000; ++i) {
    const std::uint32_t came_back = put(chance(40), 1 + chance(3));
    ASSERT_TRUE(came_back != 0 && came_back <= max_run_frames) << i;
  }
  EXPECT_GT(runs, 100U);
  while ((ring.header->given_back.load() & (slots - 1)) > slots - 3) put(1, 0);
  takes = true, runs = 0;
  EXPECT_EQ(put(3, 0), 3U);
  EXPECT_EQ(runs, 1U);
  EXPECT_EQ(link.crossbar->path_count(), 1U);
}

// Frames in the ring that go on with one another are offered to the port together, and what it does not take singly.
// One that differs in anything else ends the run, and so does the end of the ring's memory.
TEST_F(CrossbarTest, frames_that_go_on_are_offered_together) {
  FarEnd& far = make_open_path(0x020200);
  {
    const CoreSection section(machine.core);
    port.link_up_without_fabric(*link.crossbar, own);
  }
  std::vector<std::size_t> offered;
  std::vector<std::uint16_t> singly;
  std::size_t takes = 0;
  data_user.on_run = [&](const ReceivedFrame& first, const FrameRun& run) {
    offered.push_back(run.frames);
    const MadeRun made(own, far.id, 30);
    const auto number = static_cast<std::uint16_t>(first.header.seq_cnt.value - made.header.seq_cnt.value);
    for (std::size_t i = 0; i < run.frames; ++i)
      EXPECT_EQ(std::memcmp(run.data + i * run.stride_bytes, made.data.data() + (number + i) * MadeRun::data_bytes,
                            MadeRun::data_bytes),
                0);
    return std::min(takes, run.frames);
  };
  data_user.on_data = [&](const ReceivedFrame& frame) { singly.push_back(frame.header.seq_cnt.value); };
  const auto receive = [&](std::size_t frames, std::size_t other) {
    offered.clear(), singly.clear();
    const MadeRun made(own, far.id, 30);
    const CoreSection section(machine.core);
    for (std::size_t i = 0; i < frames; ++i) {
      ASSERT_NE(far.out.room(), 0U);
      made.write(i, far.out.place().data());
      if (i == other) far.out.place()[frame_header_bytes + 31] ^= 1;
      far.out.publish(made.first.size_bytes, made.first.sof, made.first.eof);
    }
  };
  const auto received = [&](std::uint64_t count) {
    return machine.run_until([&] { return port.counters().frames_received == count; });
  };
  takes = 100;
  receive(5, 99);
  EXPECT_TRUE(received(5));
  EXPECT_EQ(offered, std::vector<std::size_t>{5});
  EXPECT_TRUE(singly.empty());
  receive(5, 2);
  EXPECT_TRUE(received(10));
  EXPECT_EQ(offered, (std::vector<std::size_t>{2, 1, 2}));
  takes = 2;  // the rest is offered anew
  receive(5, 99);
  EXPECT_TRUE(received(15));
  EXPECT_EQ(offered, (std::vector<std::size_t>{5, 3, 1}));
  takes = 0;
  receive(3, 99);
  EXPECT_TRUE(received(18));
  EXPECT_EQ(offered, std::vector<std::size_t>{3}) << "once";
  EXPECT_EQ(singly, (std::vector<std::uint16_t>{0xFFFE, 0xFFFF, 0}));
}

// FC-FS: SOFi3 and EOFt, so a Sequence by itself; a short one is offered whole, and comes singly where nobody takes it.
TEST_F(CrossbarTest, short_sequence_of_one_frame_is_offered_whole) {
  FarEnd& far = make_open_path(0x020200);
  const CoreSection section(machine.core);
  port.link_up_without_fabric(*link.crossbar, own);
  std::size_t offered = 0, singly = 0;
  bool takes = true;
  data_user.on_whole = [&](const Frame& frame) {
    EXPECT_EQ(frame.only_from, far.id);
    ++offered;
    return takes;
  };
  data_user.on_data = [&](const ReceivedFrame&) { ++singly; };
  const auto received = [&](wire::Sof sof, wire::Eof eof, std::uint16_t size_bytes) {
    offered = singly = 0;
    const FramePtr made = frame(own, 0, wire::RCtl::solicited_data, far.id);
    std::memset(far.out.place().data(), 0, size_bytes);
    std::memcpy(far.out.place().data(), made->bytes.data(), frame_header_bytes);
    far.out.publish(size_bytes, sof, eof);
    machine.core.read_memory();
    return std::pair(offered, singly);
  };
  using Count = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(received(wire::Sof::i3, wire::Eof::t, 64), Count(1, 0));
  EXPECT_EQ(received(wire::Sof::i3, wire::Eof::t, 256), Count(1, 0));
  EXPECT_EQ(received(wire::Sof::i3, wire::Eof::t, 260), Count(0, 1));
  EXPECT_EQ(received(wire::Sof::i3, wire::Eof::n, 64), Count(0, 1));
  EXPECT_EQ(received(wire::Sof::n3, wire::Eof::t, 64), Count(0, 1));
  takes = false;
  EXPECT_EQ(received(wire::Sof::i3, wire::Eof::t, 64), Count(1, 1));
}

// Of each length, to its last octet (FC-FS: a multiple of 4).
TEST_F(CrossbarTest, short_frame_is_offered_as_it_stands_in_its_slot) {
  FarEnd& far = make_open_path(0x020200);
  const CoreSection section(machine.core);
  port.link_up_without_fabric(*link.crossbar, own);
  std::vector<std::uint8_t> written;
  std::size_t same = 0;
  data_user.on_whole = [&](const Frame& frame) {
    same += std::equal(written.begin(), written.end(), frame.content().begin(), frame.content().end()) ? 1 : 0;
    return true;
  };
  const FramePtr made = frame(own, 0, wire::RCtl::solicited_data, far.id);
  for (std::size_t size_bytes = frame_header_bytes; size_bytes <= 256; size_bytes += 4) {
    written.resize(size_bytes);
    for (std::size_t at = 0; at != written.size(); ++at) written[at] = static_cast<std::uint8_t>(7 * at + size_bytes);
    std::memcpy(written.data(), made->bytes.data(), frame_header_bytes);
    std::memcpy(far.out.place().data(), written.data(), written.size());
    far.out.publish(static_cast<std::uint16_t>(size_bytes), wire::Sof::i3, wire::Eof::t);
    machine.core.read_memory();
  }
  EXPECT_EQ(same, 59u);
}

}  // namespace
}  // namespace fc2::drivers
