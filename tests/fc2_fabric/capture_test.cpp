#include "fc2_fabric/frame/capture.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

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

}  // namespace
}  // namespace fc2
