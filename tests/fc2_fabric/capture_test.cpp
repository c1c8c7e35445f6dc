#include "fc2_fabric/frame/capture.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "fc2_fabric/drivers/file_sink.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/fcoe.hpp"

namespace fc2 {
namespace {

struct MemorySink final : ByteSink {
  void write(std::span<const std::uint8_t> data) override { bytes.insert(bytes.end(), data.begin(), data.end()); }
  std::vector<std::uint8_t> bytes;
};

// The blocks of a pcapng file: type and body.
struct Block {
  std::uint32_t type;
  std::vector<std::uint8_t> body;
};
std::uint32_t little(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  return bytes.at(at) | bytes.at(at + 1) << 8 | bytes.at(at + 2) << 16 | std::uint32_t{bytes.at(at + 3)} << 24;
}
std::vector<Block> blocks_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<Block> blocks;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint32_t length = little(bytes, at + 4);
    EXPECT_EQ(length % 4, 0U);
    EXPECT_EQ(little(bytes, at + length - 4), length);
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    blocks.push_back({little(bytes, at), {begin + 8, begin + static_cast<std::ptrdiff_t>(length - 4)}});
    at += length;
  }
  return blocks;
}

// Two ports log in and one with the other; both are tapped.
void record(ByteSink& sink) {
  support::TestFabric fabric(2);
  Capture capture(sink);
  for (std::size_t i = 0; i < 2; ++i) {
    FrameTap& tap = capture.add_interface(fabric.port(i).config().name);
    fabric.attach(i);
    fabric.fabric.tap(fabric.port(i), &tap);
  }
  fabric.run_for(second);
  EXPECT_TRUE(fabric.log_in(0, 1));
  EXPECT_EQ(capture.frame_count(), 8U);
}

// draft-ietf-opsawg-pcapng: a section header, an interface per port, a packet per frame, with its direction.
TEST(Capture, recorded_blocks_are_well_formed) {
  MemorySink sink;
  record(sink);
  const auto blocks = blocks_of(sink.bytes);
  ASSERT_EQ(blocks.size(), 1U + 2U + 8U);
  EXPECT_EQ(blocks[0].type, 0x0A0D0D0AU);
  EXPECT_EQ(little(blocks[0].body, 0), 0x1A2B3C4DU);
  EXPECT_EQ(blocks[1].type, 1U);
  EXPECT_EQ(blocks[1].body.at(0), 1);  // Ethernet
  EXPECT_EQ(blocks[3].type, 6U);
  const std::uint64_t time = std::uint64_t{little(blocks[3].body, 4)} << 32 | little(blocks[3].body, 8);
  EXPECT_EQ(time, static_cast<std::uint64_t>(second));
  const std::uint32_t size = little(blocks[3].body, 12);
  const auto frame = wire::fcoe::decapsulate(std::span(blocks[3].body).subspan(20, size));
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->ethernet.destination, wire::mac_of(wire::well_known::f_port));
  EXPECT_EQ(frame->fc_frame.size(), 24U + 116U);
  const std::size_t flags = 20 + ((size + 3) & ~3U) + 4;
  EXPECT_EQ(little(blocks[3].body, flags), 2U);  // outbound
}

// The same run makes the same bytes.
TEST(Capture, recorded_twice_is_identical) {
  MemorySink first, second_run;
  record(first);
  record(second_run);
  EXPECT_EQ(first.bytes, second_run.bytes);
}

// A sink that lends room: the blocks that it has room for are written there, and the bytes are the same.
TEST(Capture, recorded_in_lent_room_is_identical) {
  struct LendingSink final : ByteSink {
    explicit LendingSink(std::size_t most) : room_bytes(most) {}
    std::span<std::uint8_t> room(std::size_t size) override {
      place.assign(size <= room_bytes ? room_bytes : 0, 0xEE);
      return place;
    }
    void write(std::span<const std::uint8_t> data) override {
      lent += data.data() == place.data();
      bytes.insert(bytes.end(), data.begin(), data.end());
    }
    std::size_t room_bytes;
    std::vector<std::uint8_t> place, bytes;
    int lent = 0;
  } lending(4096), lending_little(150);
  MemorySink own;
  record(own);
  record(lending);
  record(lending_little);
  EXPECT_EQ(lending.bytes, own.bytes);
  EXPECT_EQ(lending.lent, 1 + 2 + 8);
  EXPECT_EQ(lending_little.bytes, own.bytes);
  EXPECT_EQ(lending_little.lent, 1 + 2);  // logins are larger
}

// A frame that a fault cut short is captured all the same.
TEST(Capture, short_frame_is_recorded) {
  MemorySink sink;
  Capture capture(sink);
  FramePool pool;
  capture.add_interface("x").frame_passed(second, *support::raw_frame(pool, support::zeros(8)), true);
  EXPECT_EQ(blocks_of(sink.bytes).size(), 3U);
}

class TsharkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("tshark --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "tshark is not installed";
  }
  static std::string output_of(const std::string& command) {
    std::string text;
    std::array<char, 4096> buffer;
    FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
    while (pipe != nullptr && std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr)
      text += buffer.data();
    if (pipe != nullptr) pclose(pipe);
    return text;
  }
};

// tshark reads the capture: FLOGI, PLOGI and their accepts, no frame malformed, no CRC wrong.
TEST_F(TsharkTest, recorded_file_is_decoded) {
  const auto path =
      std::filesystem::temp_directory_path() / ("fc2_capture_test_" + std::to_string(getpid()) + ".pcapng");
  drivers::FileSink sink;
  ASSERT_TRUE(sink.open(path.string())) << sink.error();
  record(sink);
  ASSERT_TRUE(sink.commit()) << sink.error();
  const std::string tshark = "tshark -r " + path.string() + " -o fc.reassemble:FALSE ";
  EXPECT_EQ(output_of(tshark + "-Y '_ws.malformed || fcoe.crc.status==0'"), "");
  const std::string all = output_of(tshark);
  EXPECT_NE(all.find("FLOGI"), std::string::npos) << all;
  EXPECT_NE(all.find("PLOGI"), std::string::npos) << all;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 8);
  std::filesystem::remove(path);
}

class FileSinkTest : public testing::Test {
 protected:
  FileSinkTest() {
    std::string name = (std::filesystem::temp_directory_path() / "fc2_file_sink_XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  ~FileSinkTest() override { std::filesystem::remove_all(folder); }
  static std::string content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(drivers::FileSink& sink, std::string_view text) {
    sink.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  std::filesystem::path folder;
};

// A FIFO stays one, and its reader gets the bytes.
TEST_F(FileSinkTest, fifo_is_written_to) {
  const auto path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  drivers::FileSink sink;
  ASSERT_TRUE(sink.open(path.string())) << sink.error();
  write(sink, "frames");
  EXPECT_TRUE(sink.commit()) << sink.error();
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  std::array<char, 100> text{};
  EXPECT_EQ(::read(reader, text.data(), text.size()), 6);
  EXPECT_STREQ(text.data(), "frames");
  ::close(reader);
}

// A symbolic link stays one; what it leads to is replaced when all is there, and not before.
TEST_F(FileSinkTest, symbolic_link_is_followed) {
  std::ofstream(folder / "file") << "a longer text";
  std::filesystem::create_symlink("file", folder / "link");
  drivers::FileSink sink;
  ASSERT_TRUE(sink.open((folder / "link").string())) << sink.error();
  write(sink, "frames");
  EXPECT_EQ(content(folder / "file"), "a longer text");
  EXPECT_TRUE(sink.commit()) << sink.error();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(content(folder / "file"), "frames");
}

// Pieces of any size, in lent room and not, lie in the file as they were written, over the ends of the buffer.
TEST_F(FileSinkTest, pieces_of_all_sizes_lie_one_after_another) {
  drivers::FileSink sink;
  ASSERT_TRUE(sink.open((folder / "file").string(), drivers::FileSink::simulation_buffer_bytes)) << sink.error();
  std::string expected;
  std::size_t size = 1;
  for (int i = 0; expected.size() < (7u << 20); ++i, size = (size * 5 + 3) % 300'007) {
    const std::string piece(size, static_cast<char>('a' + i % 26));
    expected += piece;
    const auto room = i % 3 == 0 ? std::span<std::uint8_t>() : sink.room(size);
    if (!room.empty()) std::ranges::copy(piece, room.begin());
    sink.write(room.empty() ? std::span<const std::uint8_t>(reinterpret_cast<const std::uint8_t*>(piece.data()), size)
                            : room.first(size));
  }
  EXPECT_TRUE(sink.room(8u << 20).empty());  // more than the buffer
  EXPECT_TRUE(sink.commit()) << sink.error();
  EXPECT_TRUE(content(folder / "file") == expected);
}

// No room on the device: said at the end, and what is written after it is no second error.
TEST_F(FileSinkTest, full_device_is_an_error) {
  drivers::FileSink sink;
  if (!sink.open("/dev/full")) GTEST_SKIP() << sink.error();
  for (int i = 0; i < 100; ++i) sink.write(std::vector<std::uint8_t>(1000));
  EXPECT_FALSE(sink.commit());
  EXPECT_NE(sink.error().find("cannot write /dev/full: No space left on device"), std::string::npos) << sink.error();
}

// A device is written to and stays one.
TEST_F(FileSinkTest, device_stays_one) {
  const auto path = folder / "null";
  if (::mknod(path.c_str(), S_IFCHR | 0600, ::makedev(1, 3)) != 0) GTEST_SKIP() << "a device cannot be made here";
  drivers::FileSink sink;
  if (!sink.open(path.string())) GTEST_SKIP() << sink.error();
  write(sink, "frames");
  EXPECT_TRUE(sink.commit()) << sink.error();
  EXPECT_TRUE(std::filesystem::is_character_file(path));
}

// Two write one file at a time: each is whole, and the last that is complete stays.
TEST_F(FileSinkTest, two_of_one_name_do_not_mix) {
  const auto path = folder / "a.pcapng";
  drivers::FileSink one, other;
  ASSERT_TRUE(one.open(path.string()) && other.open(path.string()));
  write(one, "the frames of one");
  write(other, "of the other");
  EXPECT_TRUE(one.commit()) << one.error();
  EXPECT_EQ(content(path), "the frames of one");
  EXPECT_TRUE(other.commit()) << other.error();
  EXPECT_EQ(content(path), "of the other");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

// A file that was not committed is not there; neither is what it was written under.
TEST(FileSink, written_not_committed_leaves_nothing) {
  const auto folder = std::filesystem::temp_directory_path() / ("fc2_file_sink_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  {
    drivers::FileSink sink;
    ASSERT_TRUE(sink.open((folder / "a.pcapng").string())) << sink.error();
    sink.write(std::vector<std::uint8_t>(10));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  drivers::FileSink sink;
  EXPECT_FALSE(sink.open((folder / "missing" / "a.pcapng").string()));
  EXPECT_NE(sink.error(), "");
  std::filesystem::remove_all(folder);
}

// A packet says how many of its interface are missing before it (epb_dropcount), the next one nothing of them.
TEST(Capture, missing_frames_are_told_of_once) {
  MemorySink sink;
  Capture capture(sink);
  const std::uint32_t id = capture.describe_interface("a");
  const std::vector<std::uint8_t> bytes(24);
  const KeptFrame frame{bytes, bytes.size(), wire::Sof::i3, wire::Eof::t, false};
  capture.set_missing_before(7);
  capture.write_frame(id, 1, frame, true, "");
  capture.write_frame(id, 2, frame, true, "");
  const auto blocks = blocks_of(sink.bytes);
  ASSERT_EQ(blocks.size(), 4U);
  constexpr std::size_t end_bytes = 4, drop_bytes = 4 + 8;
  const auto& body = blocks[2].body;
  EXPECT_EQ(body.size(), blocks[3].body.size() + drop_bytes);
  const std::size_t drop = body.size() - end_bytes - drop_bytes;
  EXPECT_EQ(little(body, drop), 4U | 8U << 16);
  EXPECT_EQ(little(body, drop + 4), 7U);
  EXPECT_EQ(little(body, drop + 8), 0U);
}

}  // namespace
}  // namespace fc2
