// One end of a socket against raw bytes at the other: what is whole passes, what is not ends the link with a reason.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <deque>
#include <random>

#include "fc2_fabric/drivers/frame_stream.hpp"
#include "tests/local_fabric/raw_node.hpp"
#include "tests/support/made_frame.hpp"

namespace fc2::drivers {
namespace {
using support::Machine;
using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

struct User final : StreamUser {
  void frame_received(FramePtr frame) override {
    frames.emplace_back(frame->bytes.begin(), frame->bytes.begin() + frame->size_bytes);
    delimiters.emplace_back(frame->sof, frame->eof);
    if (hold_after != 0 && frames.size() == hold_after) stream->hold();
  }
  void record_received(RecordKind kind, std::span<const std::uint8_t> body) override {
    records.emplace_back(kind, Bytes(body.begin(), body.end()));
  }
  void stream_closed(const std::string& why) override { reason = why; }
  void stream_has_room() override { has_room = true; }
  std::deque<Bytes> frames;
  std::vector<std::pair<wire::Sof, wire::Eof>> delimiters;
  std::vector<std::pair<RecordKind, Bytes>> records;
  std::optional<std::string> reason;
  bool has_room = false;
  std::size_t hold_after = 0;
  FrameStream* stream = nullptr;
};

Bytes record(RecordKind kind, std::size_t body, std::uint8_t sof = 0, std::uint8_t eof = 0, std::uint8_t fill = 0) {
  Bytes bytes(record_header_bytes + body, fill);
  bytes[0] = static_cast<std::uint8_t>(kind);
  bytes[1] = sof;
  bytes[2] = eof;
  bytes[3] = 0;
  for (std::size_t i = 0; i < 4; ++i) bytes[4 + i] = static_cast<std::uint8_t>(body >> (8 * (3 - i)));
  return bytes;
}
Bytes frame_record(std::size_t body, std::uint8_t fill = 0) {
  return record(RecordKind::Frame, body, 0x2E, 0x42, fill);
}

class FrameStreamTest : public testing::Test {
 public:
  FrameStreamTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    far = ends[1];
    const runtime::CoreSection section(machine.core);
    stream = FrameStream::make(machine.io, machine.core, machine.core.scheduler(), machine.core.pool(), user, ends[0]);
    user.stream = stream.get();
  }
  ~FrameStreamTest() override {
    {
      const runtime::CoreSection section(machine.core);
      stream->close();
    }
    if (far >= 0) ::close(far);
    EXPECT_EQ(machine.core.pool().outstanding(), 0U);
  }
  void write(const Bytes& bytes) {
    ASSERT_EQ(::send(far, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  /// As many bytes as come within a while, at most `count`.
  Bytes read(std::size_t count) {
    Bytes bytes(count);
    std::size_t here = 0;
    machine.run_until([&] {
      const ssize_t got = ::recv(far, bytes.data() + here, count - here, MSG_DONTWAIT);
      if (got > 0) here += static_cast<std::size_t>(got);
      return here == count;
    });
    bytes.resize(here);
    return bytes;
  }
  void hang_up() { ::close(std::exchange(far, -1)); }
  /// What makes the link end.
  std::string fault(const Bytes& bytes) {
    write(bytes);
    machine.run_until([&] { return user.reason.has_value(); }, 10s);
    return user.reason.value_or("nothing");
  }
  void send_frame(std::uint32_t number, std::size_t size = max_frame_bytes) {
    FramePtr frame = support::raw_frame(machine.core.pool(), support::zeros(size));
    std::memcpy(frame->bytes.data(), &number, sizeof number);
    stream->send(std::move(frame));
  }

  Machine machine;
  User user;
  std::shared_ptr<FrameStream> stream;
  int far = -1;
};

// --- what comes in

// Smallest and largest frames, cut into single bytes and all at once.
TEST_F(FrameStreamTest, whole_records_pass_however_they_are_cut) {
  Bytes bytes;
  for (const std::size_t size : {std::size_t{24}, std::size_t{28}, std::size_t{2112}, max_frame_bytes}) {
    const Bytes one = frame_record(size, static_cast<std::uint8_t>(size));
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  for (const std::uint8_t byte : bytes) {
    write({byte});
    machine.io.poll();
  }
  write(bytes);
  ASSERT_TRUE(machine.run_until([&] { return user.frames.size() == 8; }));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(user.frames[i], user.frames[i + 4]);
  EXPECT_EQ(user.frames[3], Bytes(max_frame_bytes, static_cast<std::uint8_t>(max_frame_bytes)));
  EXPECT_EQ(user.delimiters[0], std::pair(wire::Sof::i3, wire::Eof::t));
}

TEST_F(FrameStreamTest, record_of_other_kind_passes) {
  write(record(RecordKind::Request, 5, 0, 0, 'x'));
  ASSERT_TRUE(machine.run_until([&] { return user.records.size() == 1; }));
  EXPECT_EQ(user.records[0], std::pair(RecordKind::Request, Bytes(5, 'x')));
}

// Every malformed header ends the link, and says why.
TEST_F(FrameStreamTest, unknown_kind_ends_the_link) {
  EXPECT_EQ(fault(record(static_cast<RecordKind>(0), 0)), "the other end sent a record of unknown kind");
}
TEST_F(FrameStreamTest, reserved_octet_ends_the_link) {
  Bytes bytes = frame_record(24);
  bytes[3] = 1;
  EXPECT_EQ(fault(bytes), "the other end sent a record whose reserved octet is not 0");
}
TEST_F(FrameStreamTest, frame_below_header_ends_the_link) {
  EXPECT_EQ(fault(frame_record(20)), "the other end sent a frame shorter than its header");
}
TEST_F(FrameStreamTest, frame_above_limit_ends_the_link) {
  EXPECT_EQ(fault(frame_record(max_frame_bytes + 4)), "the other end sent a frame that is too long");
}
TEST_F(FrameStreamTest, frame_of_odd_length_ends_the_link) {
  EXPECT_EQ(fault(frame_record(26)), "the other end sent a frame that is not a multiple of 4 bytes");
}
TEST_F(FrameStreamTest, huge_length_ends_the_link) {
  Bytes bytes = frame_record(24);
  bytes[4] = 0xFF;
  EXPECT_EQ(fault(bytes), "the other end sent a frame that is too long");
}
TEST_F(FrameStreamTest, unknown_sof_ends_the_link) {
  EXPECT_EQ(fault(record(RecordKind::Frame, 24, 0x01, 0x42)), "the other end sent a frame with an unknown SOF or EOF");
}
TEST_F(FrameStreamTest, unknown_eof_ends_the_link) {
  EXPECT_EQ(fault(record(RecordKind::Frame, 24, 0x2E, 0x00)), "the other end sent a frame with an unknown SOF or EOF");
}
TEST_F(FrameStreamTest, long_record_ends_the_link) {
  EXPECT_EQ(fault(record(RecordKind::Hello, max_record_body_bytes + 1)),
            "the other end sent a record that is too long");
}
TEST_F(FrameStreamTest, delimiter_of_no_frame_ends_the_link) {
  EXPECT_EQ(fault(record(RecordKind::Hello, 4, 0x2E, 0)),
            "the other end sent a record with delimiters that is no frame");
}

// What came before the end is told before it.
TEST_F(FrameStreamTest, end_comes_after_what_was_sent) {
  for (int i = 0; i < 40; ++i) write(frame_record(2136));
  hang_up();
  ASSERT_TRUE(machine.run_until([&] { return user.reason.has_value(); }));
  EXPECT_EQ(user.frames.size(), 40U);
  EXPECT_EQ(*user.reason, "closed by the other end");
}
TEST_F(FrameStreamTest, end_within_a_record_is_told_so) {
  const Bytes bytes = frame_record(64);
  write(Bytes(bytes.begin(), bytes.end() - 1));
  hang_up();
  ASSERT_TRUE(machine.run_until([&] { return user.reason.has_value(); }));
  EXPECT_TRUE(user.frames.empty());
  EXPECT_EQ(*user.reason, "closed by the other end within a record");
}

// Held: exactly the frames up to that one come, the others wait, none is lost.
TEST_F(FrameStreamTest, held_stream_delivers_nothing_until_it_proceeds) {
  user.hold_after = 3;
  for (std::uint8_t i = 0; i < 10; ++i) write(frame_record(64, i));
  machine.run_until([] { return false; }, 50ms);
  EXPECT_EQ(user.frames.size(), 3U);
  {
    const runtime::CoreSection section(machine.core);
    stream->proceed();
  }
  ASSERT_TRUE(machine.run_until([&] { return user.frames.size() == 10; }));
  for (std::uint8_t i = 0; i < 10; ++i) EXPECT_EQ(user.frames[i].back(), i);
}

// --- what goes out

// A hundred thousand frames through full sockets: none lost, none out of order.
TEST_F(FrameStreamTest, full_socket_loses_and_reorders_nothing) {
  constexpr std::uint32_t count = 100'000;
  User receiver;
  const auto other = [&] {
    const runtime::CoreSection section(machine.core);
    return FrameStream::make(machine.io, machine.core, machine.core.scheduler(), machine.core.pool(), receiver,
                             std::exchange(far, -1));
  }();
  std::uint32_t next = 0, expected = 0, pauses = 0;
  std::mt19937 chance(7);
  while (expected < count) {
    {
      const runtime::CoreSection section(machine.core);
      while (next < count && !stream->paused()) send_frame(next++, 24 + 4 * (chance() % 529));
    }
    pauses += stream->paused();
    machine.io.poll_one();
    for (; !receiver.frames.empty(); receiver.frames.pop_front(), ++expected) {
      std::uint32_t number = 0;
      std::memcpy(&number, receiver.frames.front().data(), sizeof number);
      ASSERT_EQ(number, expected);
    }
    receiver.delimiters.clear();
    ASSERT_FALSE(receiver.reason) << *receiver.reason;
  }
  EXPECT_GT(pauses, 0U);
  const runtime::CoreSection section(machine.core);
  other->close();
}

// Nobody reads: the stream pauses after a bounded number of frames, and goes on when somebody does.
TEST_F(FrameStreamTest, full_socket_pauses) {
  std::uint32_t sent = 0;
  {
    const runtime::CoreSection section(machine.core);
    while (!stream->paused() && sent < 10'000) send_frame(sent++);
    EXPECT_FALSE(stream->send_record(RecordKind::Reply, "no room"));
  }
  EXPECT_TRUE(stream->paused());
  EXPECT_LT(sent, 1000U);
  machine.run_until([] { return false; }, 20ms);
  EXPECT_TRUE(stream->paused());
  ::fcntl(far, F_SETFL, O_NONBLOCK);
  Bytes sink(1u << 20);
  EXPECT_TRUE(machine.run_until([&] {
    while (::recv(far, sink.data(), sink.size(), 0) > 0) {}
    return !stream->paused();
  }));
  EXPECT_TRUE(user.has_room);
}

// What is held for one destination is told by a record of its own.
TEST_F(FrameStreamTest, held_destination_is_told) {
  {
    const runtime::CoreSection section(machine.core);
    EXPECT_TRUE(stream->holds_by_destination());
    stream->hold_for({0x010203});
    stream->proceed_for({0x010203});
    stream->proceed_for({0x040506});  // was not held
  }
  EXPECT_EQ(read(24), (Bytes{8, 0, 0, 0, 0, 0, 0, 4, 0, 1, 2, 3, 9, 0, 0, 0, 0, 0, 0, 4, 0, 1, 2, 3}));
  EXPECT_TRUE(user.frames.empty());
}

// Nobody reads for a while: what is held then is told when there is room, the last word of each alone; frames that wait
// do not keep it from being told.
TEST_F(FrameStreamTest, full_socket_held_destinations_are_told_in_the_end) {
  std::uint32_t sent = 0;
  {
    const runtime::CoreSection section(machine.core);
    while (!stream->paused()) send_frame(sent++);
    for (std::uint32_t i = 0; i < 10'000; ++i) {
      stream->hold_for({i});
      if (i != 7) stream->proceed_for({i});
    }
  }
  read(sent * (record_header_bytes + max_frame_bytes));
  EXPECT_EQ(read(12), (Bytes{8, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 7}));
  EXPECT_FALSE(stream->paused());
}

// The other end is gone while frames go out: told once, from outside of send().
TEST_F(FrameStreamTest, broken_socket_is_told_later) {
  hang_up();
  {
    const runtime::CoreSection section(machine.core);
    for (std::uint32_t i = 0; i < 1000 && !stream->paused(); ++i) send_frame(i);
    EXPECT_FALSE(user.reason);
  }
  EXPECT_TRUE(machine.run_until([&] { return user.reason.has_value(); }));
}

// A process sends its last frames and ends. What we had for it cannot be sent any more; what it sent comes
// all the same.
TEST_F(FrameStreamTest, what_was_sent_before_the_end_comes_though_nobody_hears_us) {
  for (int i = 0; i < 40; ++i) write(frame_record(2136));
  hang_up();
  {
    const runtime::CoreSection section(machine.core);
    for (std::uint32_t i = 0; i < 1000; ++i) {
      ASSERT_FALSE(stream->paused()) << "nobody is there to make room again";
      send_frame(i);
    }
  }
  ASSERT_TRUE(machine.run_until([&] { return user.reason.has_value(); }));
  EXPECT_EQ(user.frames.size(), 40U);
  EXPECT_EQ(*user.reason, "closed by the other end");
}

// The same, where the output waits for room when the other end goes.
TEST_F(FrameStreamTest, pause_ends_when_nobody_hears_us_any_more) {
  {
    const runtime::CoreSection section(machine.core);
    for (std::uint32_t i = 0; !stream->paused(); ++i) send_frame(i);
    EXPECT_FALSE(stream->send_record(RecordKind::Reply, "no room"));
    stream->hold();
  }
  write(frame_record(64));
  hang_up();
  EXPECT_TRUE(machine.run_until([&] { return !stream->paused(); }));
  EXPECT_TRUE(user.has_room);
  EXPECT_FALSE(user.reason);
  {
    const runtime::CoreSection section(machine.core);
    stream->proceed();
  }
  ASSERT_TRUE(machine.run_until([&] { return user.reason.has_value(); }));
  EXPECT_EQ(user.frames.size(), 1U);
}

// Chance bytes never do more than end the link.
TEST_F(FrameStreamTest, chance_bytes_end_the_link) {
  std::mt19937 chance(11);
  for (int i = 0; i < 200 && !user.reason; ++i) {
    Bytes bytes(1 + chance() % 300);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(chance());
    if (chance() % 2 == 0) {  // a header that is nearly right
      const Bytes nearly = frame_record(24 + 4 * (chance() % 600));
      bytes.insert(bytes.begin(), nearly.begin(), nearly.begin() + static_cast<std::ptrdiff_t>(record_header_bytes));
    }
    if (::send(far, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) break;
    machine.io.poll();
  }
  EXPECT_TRUE(machine.run_until([&] { return user.reason.has_value(); }));
}

// --- open files

/// What `user` gets with its records, in order: how many open files.
struct FilesUser final : StreamUser {
  void frame_received(FramePtr) override {}
  void record_received(RecordKind, std::span<const std::uint8_t> body) override {
    bodies.emplace_back(body.begin(), body.end());
    files.push_back(body[0] == 'f' ? stream->take_files().size() : 0);
  }
  void stream_closed(const std::string& why) override { reason = why; }
  FrameStream* stream = nullptr;
  std::vector<Bytes> bodies;
  std::vector<std::size_t> files;
  std::string reason;
};

class OpenFilesTest : public FrameStreamTest {
 public:
  OpenFilesTest() {
    const runtime::CoreSection section(machine.core);
    other = FrameStream::make(machine.io, machine.core, machine.core.scheduler(), machine.core.pool(), got,
                              std::exchange(far, -1));
    got.stream = other.get();
  }
  ~OpenFilesTest() override {
    const runtime::CoreSection section(machine.core);
    other->close();
  }
  static OpenFiles make(std::size_t count) {
    OpenFiles files;
    for (std::size_t i = 0; i < count; ++i) files.emplace_back(::dup(0));
    return files;
  }
  void send_files(std::size_t count) {
    stream->send_record(RecordKind::Path, Bytes{'f', 1}, make(count), Bytes{'-', 1});
  }
  FilesUser got;
  std::shared_ptr<FrameStream> other;
};

// Many records with open files behind one another, and others between: each has its own, at the time when it is told.
TEST_F(OpenFilesTest, come_with_their_records) {
  {
    const runtime::CoreSection section(machine.core);
    for (std::size_t i = 0; i < 200; ++i) {
      send_files(1 + i % 3);
      if (i % 5 == 0) stream->send_record(RecordKind::Path, Bytes{'x', 2});
    }
  }
  ASSERT_TRUE(machine.run_until([&] { return got.bodies.size() == 240 || !got.reason.empty(); })) << got.bodies.size();
  EXPECT_EQ(got.reason, "");
  std::size_t number = 0;
  for (std::size_t i = 0; i < got.bodies.size(); ++i)
    if (got.bodies[i][0] == 'f') {
      EXPECT_EQ(got.files[i], 1 + number++ % 3) << i;
    }
  EXPECT_EQ(number, 200U);
  EXPECT_EQ(stream->files_waiting(), 0U);
}

// The other end may have no more: it gets the record, with fewer, and the link lives.
TEST_F(OpenFilesTest, are_fewer_where_the_process_can_have_no_more) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  {
    const runtime::CoreSection section(machine.core);
    send_files(3);
    send_files(3);
    stream->drain(100ms);
  }
  const int next = ::dup(0);
  ::close(next);
  const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  machine.run_until([&] { return got.bodies.size() == 2 || !got.reason.empty(); });
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(got.reason, "");
  EXPECT_EQ(got.files, (std::vector<std::size_t>{0, 0}));
  {
    const runtime::CoreSection section(machine.core);
    send_files(3);
  }
  ASSERT_TRUE(machine.run_until([&] { return got.bodies.size() == 3; }));
  EXPECT_EQ(got.files[2], 3U);
}

// unix(7), ETOOMANYREFS: the system carries no more open files of this user. The record goes alone, as agreed.
TEST_F(OpenFilesTest, stay_where_the_system_carries_no_more) {
  support::Child child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return 77;
    int many[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, many) != 0) return 1;
    std::shared_ptr<FrameStream> filler;
    FilesUser nobody;
    const runtime::CoreSection section(machine.core);
    filler =
        FrameStream::make(machine.io, machine.core, machine.core.scheduler(), machine.core.pool(), nobody, many[0]);
    const rlimit few{64, 64};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return 2;
    for (int i = 0; i < 60; ++i) {  // on their way, and nobody takes them
      filler->send_record(RecordKind::Path, Bytes{'f', 1}, make(3), Bytes{'-', 1});
      filler->drain(0ms);
    }
    Bytes last(10);
    for (ssize_t size; (size = ::recv(many[1], last.data(), last.size(), MSG_WAITALL | MSG_DONTWAIT)) == 10;)
      if (last[8] == '-') return 0;
    return 3;
  });
  const int status = child.wait();
  if (status == 77) GTEST_SKIP() << "this user can become no other, and root may send as many as it likes";
  EXPECT_EQ(status, 0);
}

// More than the records asked for: that ends the link.
TEST_F(OpenFilesTest, that_nobody_takes_end_the_link) {
  const runtime::CoreSection section(machine.core);
  for (std::size_t i = 0; i <= FrameStream::max_untaken; ++i)
    stream->send_record(RecordKind::Path, Bytes{'x', 1}, make(1), Bytes{'-', 1});
  stream->drain(100ms);
  while (other->read_now()) {}
  machine.core.scheduler().run_until(machine.core.now());
  EXPECT_EQ(got.reason, "the other end sent open files that nobody asked for");
}

// From the end of the handshake on a link to the service has none: the first ends it, also one that came before.
TEST_F(OpenFilesTest, that_nobody_expects_end_the_link) {
  const runtime::CoreSection section(machine.core);
  other->expect_no_files();
  stream->send_record(RecordKind::Path, Bytes{'x', 1}, make(1), Bytes{'-', 1});
  stream->drain(100ms);
  while (other->read_now()) {}
  machine.core.scheduler().run_until(machine.core.now());
  EXPECT_EQ(got.reason, "the other end sent open files that nobody asked for");
}

// --- handshake

// The child of a fork() that lives on does not keep its parent's link open: the other end notices at once
// when that ends.
TEST_F(FrameStreamTest, child_of_a_fork_does_not_keep_the_link) {
  int closed[2];
  ASSERT_EQ(::pipe2(closed, O_CLOEXEC), 0);
  const support::Child child([&] {
    runtime::drivers::LinkDescriptor::close_all_in_child();
    const bool told = ::write(closed[1], "x", 1) == 1;
    ::pause();
    return told ? 0 : 1;
  });
  char told = 0;
  ASSERT_EQ(::read(closed[0], &told, 1), 1);
  for (const int end : closed) ::close(end);
  {
    const runtime::CoreSection section(machine.core);
    stream->close();
  }
  char none = 0;
  ASSERT_EQ(::fcntl(far, F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(::read(far, &none, 1), 0);
}

// However many streams, listeners and links the process has: the one that came last, too; and places are used again.
TEST(LinkDescriptorTest, child_of_a_fork_closes_all_of_many) {
  std::deque<runtime::drivers::Descriptor> files;
  std::deque<runtime::drivers::LinkDescriptor> known;
  for (int i = 0; i < 300; ++i)
    known.emplace_back(files.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC)).number());
  const runtime::drivers::Descriptor stays = files.back().duplicate();
  for (int i = 0; i < 150; ++i) {
    known.pop_front();
    files.pop_front();
  }
  for (int i = 0; i < 200; ++i)
    known.emplace_back(files.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC)).number());
  support::Child child([&] {
    runtime::drivers::LinkDescriptor::close_all_in_child();
    int open = 0;
    for (const auto& file : files)
      if (::fcntl(file.number(), F_GETFD) >= 0) ++open;
    return ::fcntl(stays.number(), F_GETFD) < 0 ? 255 : std::min(open, 254);
  });
  EXPECT_EQ(child.wait(), 0);
}

// Hold and Proceed: any N_Port_ID; of another length, or with the reserved octet, it is none.
TEST(Destination, round_trip_and_bad_values) {
  for (const std::uint32_t id : {0U, 0x010203U, 0xFFFFFFU})
    EXPECT_EQ(Destination::parse(Destination{{id}}.write())->id.value, id);
  EXPECT_FALSE(Destination::parse(Bytes{1, 1, 2, 3}));
  EXPECT_FALSE(Destination::parse(Bytes{0, 1, 2}));
  EXPECT_FALSE(Destination::parse(Bytes{0, 1, 2, 3, 4}));
}

TEST(PathRecord, round_trip_prefixes_and_bad_values) {
  const PathRecord path{
      .peer = {0x010203}, .side = 1, .slot_count = 512, .number = 0x04050607, .process_id = 0x08090A0B};
  const auto bytes = path.write();
  EXPECT_EQ(Bytes(bytes.begin(), bytes.end()), (Bytes{1, 1, 2, 3, 0, 0, 2, 0, 4, 5, 6, 7, 8, 9, 10, 11}));
  const auto parsed = PathRecord::parse(bytes);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->write(), bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(PathRecord::parse(std::span(bytes).first(size))) << size;
  auto wrong = bytes;
  wrong[0] = 2;
  EXPECT_FALSE(PathRecord::parse(wrong));
}

TEST(PathEnd, round_trip_prefixes_and_bad_values) {
  const auto bytes = PathEnd{{0x010203}, PathEnd::Cause::Released, 0x04050607}.write();
  EXPECT_EQ(Bytes(bytes.begin(), bytes.end()), (Bytes{3, 1, 2, 3, 4, 5, 6, 7}));
  const auto parsed = PathEnd::parse(bytes);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->write(), bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(PathEnd::parse(std::span(bytes).first(size))) << size;
  auto wrong = bytes;
  wrong[0] = 4;
  EXPECT_FALSE(PathEnd::parse(wrong));
}

TEST(Hello, round_trip) {
  Hello hello;
  hello.role = Hello::Role::Control;
  hello.process_id = 4711;
  hello.name = "prog";
  const auto parsed = Hello::parse(hello.write());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->role, Hello::Role::Control);
  EXPECT_EQ(parsed->process_id, 4711U);
  EXPECT_EQ(parsed->name, "prog");
}
TEST(Hello, prefixes_and_bad_values_are_refused) {
  const Bytes whole = Hello{}.write();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(Hello::parse(std::span(whole).first(size))) << size;
  Bytes bytes = whole;
  bytes[6] = 9;
  EXPECT_FALSE(Hello::parse(bytes));
  bytes = whole;
  bytes.resize(whole.size() + Hello::max_name_bytes + 1, 'n');
  EXPECT_FALSE(Hello::parse(bytes));
}
// A name with control characters must not reach a log or a terminal.
TEST(Hello, name_is_made_printable) {
  Hello hello;
  hello.name = "a\n\x1B[31mb";
  EXPECT_EQ(Hello::parse(hello.write())->name, "a??[31mb");
}
// Of another version only that is known, whatever follows.
TEST(Hello, other_version_is_recognised) {
  Bytes bytes{'F', 'C', 'V', 'I', 0, 9};
  const auto hello = Hello::parse(bytes);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->version, 9);
}

}  // namespace
}  // namespace fc2::drivers
