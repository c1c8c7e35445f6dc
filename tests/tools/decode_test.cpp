#include "tools/fcvi_sim/decode.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

namespace sim {
namespace {

class DecodeTest : public testing::Test {
 protected:
  DecodeTest() { std::filesystem::create_directories(folder); }
  ~DecodeTest() override { std::filesystem::remove_all(folder); }
  std::string write(const std::string& bytes) {
    const std::string path = folder + "/c.pcap";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  /// What it prints; `error` gets what it returns.
  std::string decode(const std::string& path) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* stream = open_memstream(&text, &size);
    error = decode_capture(path, stream);
    std::fclose(stream);
    std::string printed(text, size);
    std::free(text);
    return printed;
  }
  std::string folder = testing::TempDir() + "fcvi_decode_" + std::to_string(getpid());
  std::string error;
};

std::string little(std::uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}
std::string pcap(std::uint32_t link_type, const std::string& frames) {
  return little(0xA1B2C3D4) + little(0x00040002) + little(0) + little(0) + little(65535) + little(link_type) +
         frames;
}
std::string record(const std::string& frame, std::uint32_t original) {
  return little(1) + little(500'000) + little(static_cast<std::uint32_t>(frame.size())) + little(original) +
         frame;
}
/// A LOGO request without payload, 24 bytes.
std::string fc_frame() {
  std::string frame("\x22\xFF\xFF\xFE\x00\x01\x01\x00\x01\x29\x00\x00", 12);
  return frame + std::string("\x00\x00\x00\x00\x12\x34\xFF\xFF\x00\x00\x00\x00\x05\x00\x00\x00", 16);
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(DecodeTest, capture_of_a_linux_initiator) {
  // Every frame a line, FIP included.
  const std::string text = decode(std::string(FCVI_SOURCE_DIR) + "/tests/data/linux-fabric-login.pcap");
  EXPECT_EQ(error, "");
  EXPECT_GT(lines_of(text), 10u);
  for (const char* name : {"PLOGI", "LS_ACC", "RFT_ID", "SCR"})
    EXPECT_NE(text.find(name), std::string::npos) << name;
}

TEST_F(DecodeTest, fibre_channel_with_and_without_delimiters) {
  const std::string bare = decode(write(pcap(224, record(fc_frame(), 28))));
  EXPECT_EQ(error, "");
  EXPECT_NE(bare.find("     1 1.500000000 "), std::string::npos) << bare;
  EXPECT_NE(bare.find("LOGO"), std::string::npos) << bare;
  const std::string whole = std::string(4, 'S') + fc_frame() + std::string(4, 'C') + std::string(4, 'E');
  EXPECT_EQ(decode(write(pcap(225, record(whole, 40)))), bare);
}

TEST_F(DecodeTest, frames_that_do_not_parse_are_described) {
  const std::string text = decode(write(pcap(1, record("abc", 3) + record(std::string(60, 'x'), 100))));
  EXPECT_EQ(error, "");
  EXPECT_EQ(lines_of(text), 2u);
  EXPECT_NE(text.find("(cut: 60 of 100 bytes)"), std::string::npos) << text;
  EXPECT_NE(decode(write(pcap(225, record("abc", 3)))).find("truncated"), std::string::npos);
}

TEST_F(DecodeTest, broken_files_name_file_and_frame) {
  decode(folder + "/none.pcap");
  EXPECT_EQ(error, folder + "/none.pcap: No such file or directory");
  const std::string garbage = write("this is no capture at all, not even nearly");
  decode(garbage);
  EXPECT_EQ(error, garbage + ": unknown file format");
  const std::string path = write(pcap(224, record(fc_frame(), 28) + record(fc_frame(), 28).substr(0, 30)));
  EXPECT_EQ(lines_of(decode(path)), 1u);
  EXPECT_EQ(error.find(path + ": frame 2: truncated"), 0u) << error;
  const std::string wifi = write(pcap(105, ""));
  decode(wifi);
  EXPECT_EQ(error, wifi + ": expected Ethernet (FCoE) or Fibre Channel frames, got link type 105");
}

}  // namespace
}  // namespace sim
