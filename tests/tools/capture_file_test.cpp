// Capture files of either format and byte order; what is wrong with them is said with the place.
#include "tools/fcvi_sim/capture/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tools/fcvi_sim/capture/fields.hpp"
#include "tools/fcvi_sim/capture/printer.hpp"

namespace sim::capture {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

/// Bytes in the byte order of a machine.
class Writer {
 public:
  explicit Writer(bool little) : little_(little) {}
  Writer& put(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
      bytes_.push_back(static_cast<char>(value >> (8 * (little_ ? i : size - 1 - i)) & 0xFF));
    return *this;
  }
  Writer& put(const std::string& text) {
    bytes_ += text;
    while (bytes_.size() % 4 != 0) bytes_ += '\0';
    return *this;
  }
  Writer& option(unsigned code, const std::string& value) { return put(code, 2).put(value.size(), 2).put(value); }
  /// The bytes so far as the body of a block.
  [[nodiscard]] std::string block(std::uint32_t type) const {
    const std::size_t length = bytes_.size() + 12;
    Writer all(little_);
    all.put(type, 4).put(length, 4);
    all.bytes_ += bytes_;
    all.put(length, 4);
    return all.bytes_;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  bool little_;
  std::string bytes_;
};

std::string section(bool little) {
  return Writer(little).put(0x1A2B3C4D, 4).put(1, 2).put(0, 2).put(~std::uint64_t{0}, 8).block(0x0A0D0D0A);
}
std::string interface(bool little, unsigned link_type, const std::string& name) {
  return Writer(little)
      .put(link_type, 2)
      .put(0, 2)
      .put(0, 4)
      .option(2, name)
      .option(9, std::string(1, '\x09'))
      .put(0, 4)
      .block(1);
}
std::string packet(bool little, std::uint32_t interface, std::uint64_t at, const std::string& data,
                   const std::string& comment, std::uint32_t flags) {
  Writer writer(little);
  writer.put(interface, 4).put(at >> 32, 4).put(at & 0xFFFFFFFF, 4).put(data.size(), 4).put(data.size() + 10, 4);
  writer.put(data).option(1, comment).put(2, 2).put(4, 2).put(flags, 4).put(0, 4);
  return writer.block(6);
}

class CaptureFile : public testing::Test {
 protected:
  ~CaptureFile() override { std::filesystem::remove(path); }
  /// Reads to the end.
  std::vector<Packet> read(const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    File file;
    error = file.open(path);
    std::vector<Packet> packets;
    if (!error.empty()) return packets;
    for (Packet next; file.next(next);) packets.push_back(next);
    error = file.error();
    names.clear();
    for (const Interface& each : file.interfaces()) names.push_back(each.name);
    return packets;
  }
  std::string path = testing::TempDir() + "fcvi_capture_file_" + std::to_string(getpid());
  std::string error;
  std::vector<std::string> names;
};

TEST_F(CaptureFile, pcapng_tells_names_times_directions_and_comments) {
  for (const bool little : {true, false}) {
    SCOPED_TRACE(little);
    const auto packets =
        read(section(little) + interface(little, 224, "left") + interface(little, 1, "right") +
             Writer(little).put("statistics").block(5) + packet(little, 1, 5'000'000'007, "abc", "fault: lost", 2) +
             packet(little, 0, 6'000'000'000, "defgh", "x", 1));
    EXPECT_EQ(error, "");
    EXPECT_THAT(names, ElementsAre("left", "right"));
    ASSERT_EQ(packets.size(), 2U);
    EXPECT_EQ(packets[0].number, 1U);
    EXPECT_EQ(packets[0].interface, 1U);
    EXPECT_EQ(packets[0].link_type, LinkType::ethernet);
    EXPECT_EQ(packets[0].at, 5'000'000'007);
    EXPECT_EQ(packets[0].direction, Direction::sent);
    EXPECT_THAT(packets[0].comments, ElementsAre("fault: lost"));
    EXPECT_EQ(packets[0].original_bytes, 13U);
    EXPECT_TRUE(packets[0].is_cut());
    EXPECT_EQ(packets[1].direction, Direction::received);
    EXPECT_EQ(packets[1].link_type, LinkType::fc);
    EXPECT_EQ(packets[1].data.size(), 5U);
  }
}

// Statistics of an interface that count more missing frames than before: the next packet is the first behind a gap.
TEST_F(CaptureFile, pcapng_tells_of_gaps) {
  for (const bool little : {true, false}) {
    SCOPED_TRACE(little);
    const auto statistics = [&](unsigned interface, unsigned missing) {
      Writer writer(little);
      return writer.put(interface, 4).put(0, 8).put(5, 2).put(8, 2).put(missing, 8).put(0, 4).block(5);
    };
    const std::string frame = packet(little, 0, 1, "abc", "", 0);
    const auto packets = read(section(little) + interface(little, 224, "a") + interface(little, 224, "b") +
                              statistics(0, 0) + frame + statistics(1, 7) + frame + statistics(0, 0) +
                              statistics(1, 7) + frame + statistics(1, 8) + statistics(0, 0) + frame);
    ASSERT_EQ(packets.size(), 4U);
    EXPECT_FALSE(packets[0].after_gap);
    EXPECT_TRUE(packets[1].after_gap);
    EXPECT_FALSE(packets[2].after_gap);
    EXPECT_TRUE(packets[3].after_gap);
  }
}

// epb_dropcount of a packet says how many are missing before it.
TEST_F(CaptureFile, a_packet_tells_of_a_gap_before_it) {
  for (const bool little : {true, false}) {
    SCOPED_TRACE(little);
    const auto packet_behind = [&](unsigned missing) {
      Writer writer(little);
      writer.put(0, 4).put(0, 8).put(3, 4).put(3, 4).put("abc").put(4, 2).put(8, 2);
      return writer.put(missing, 8).put(0, 4).block(6);
    };
    const auto packets = read(section(little) + interface(little, 224, "a") + packet_behind(0) + packet_behind(7));
    ASSERT_EQ(packets.size(), 2U);
    EXPECT_FALSE(packets[0].after_gap);
    EXPECT_TRUE(packets[1].after_gap);
  }
}

// A file may have several sections, of machines of either byte order; interfaces count anew in each.
TEST_F(CaptureFile, sections_follow_one_another) {
  const auto packets = read(section(true) + interface(true, 224, "a") + packet(true, 0, 1, "abc", "", 0) +
                            section(false) + interface(false, 225, "b") + packet(false, 0, 2, "abc", "", 0));
  EXPECT_EQ(error, "");
  ASSERT_EQ(packets.size(), 2U);
  EXPECT_EQ(packets[1].link_type, LinkType::fc_with_delimiters);
  EXPECT_EQ(packets[1].interface, 1U);
  EXPECT_THAT(names, ElementsAre("a", "b"));
}

TEST_F(CaptureFile, pcap_of_either_byte_order_and_resolution) {
  for (const bool little : {true, false}) {
    for (const bool nanoseconds : {true, false}) {
      Writer writer(little);
      writer.put(nanoseconds ? 0xA1B23C4D : 0xA1B2C3D4, 4).put(2, 2).put(4, 2).put(0, 8).put(65535, 4).put(224, 4);
      writer.put(3, 4).put(500, 4).put(4, 4).put(4, 4).put("abcd");
      const auto packets = read(writer.bytes());
      EXPECT_EQ(error, "");
      ASSERT_EQ(packets.size(), 1U);
      EXPECT_EQ(packets[0].at, 3'000'000'000 + (nanoseconds ? 500 : 500'000));
      EXPECT_EQ(packets[0].direction, Direction::unknown);
    }
  }
}

TEST_F(CaptureFile, what_is_wrong_is_said_with_the_frame) {
  const std::string good = section(true) + interface(true, 224, "a") + packet(true, 0, 1, "abc", "", 0);
  const std::string next = packet(true, 0, 2, "abc", "", 0);
  const std::pair<std::string, const char*> bad[] = {
      {good + next.substr(0, 5), ": frame 2: truncated block: 5 of 8 bytes"},
      {good + next.substr(0, next.size() - 1), ": frame 2: truncated block: 43 of 44 bytes"},
      {good + packet(true, 7, 2, "abc", "", 0), ": frame 2: interface 7 is not described"},
      {good + Writer(true).put(0, 4).block(6), ": frame 2: a packet block of 16 bytes"},
      {good + Writer(true).put(6, 4).put(13, 4).bytes(), ": frame 2: a block of 13 bytes"},
      {good + Writer(true).put(6, 4).put(0xFFFFFFFC, 4).bytes(), ": frame 2: a block of 4294967292 bytes"},
      {good + next.substr(0, next.size() - 4) + "abcd", ": frame 2: a block with two lengths"},
      {section(true) + interface(true, 114, "lo") + next,
       ": frame 1: expected Ethernet (FCoE) or Fibre Channel frames, got link type 114"},
      {section(true).substr(0, 20), ": truncated section header: 8 of 16 bytes"},
      {"\n\r\r\nxxxxyyyy", ": a section without its byte order"},
      {Writer(true).put(0xA1B2C3D4, 4).put(0, 16).put(224, 4).put(0, 8).put(0x100001, 4).put(0, 4).bytes(),
       ": frame 1: a packet of 1048577 bytes"},
      {"", ": is empty, expected a capture (pcap or pcapng)"}};
  for (const auto& [bytes, words] : bad) {
    read(bytes);
    EXPECT_EQ(error, path + words);
  }
}

TEST(CaptureFields, text_of_wire_becomes_a_tree) {
  const Field field =
      parse_description("RSCN a=1 page={b=2 c={d=The text}} page={b=3} name=\"x y=z}\" e={STATUS f=4} accept");
  EXPECT_EQ(field.name, "RSCN");
  ASSERT_EQ(field.fields.size(), 5U);
  EXPECT_EQ(field.fields[0].value, "1");
  ASSERT_EQ(field.fields[1].fields.size(), 2U);
  EXPECT_EQ(field.fields[1].fields[1].fields.at(0).value, "The text");
  EXPECT_EQ(field.fields[2].fields.at(0).value, "3");
  EXPECT_EQ(field.fields[3].value, "\"x y=z}\"");
  EXPECT_EQ(field.fields[4].value, "STATUS accept");
  const Field fip = parse_description("FIP Discovery Advertisement flags=0001h {PRI priority=128}");
  EXPECT_EQ(fip.value, "Discovery Advertisement");
  EXPECT_EQ(fip.fields.at(1).name, "PRI");
  for (const char* broken : {"", " ", "{", "}", "A {", "A b={", "A b={c=", "A b=\"", "=", "A =b", "A }} c"})
    EXPECT_NO_FATAL_FAILURE(static_cast<void>(parse_description(broken)));
}

TEST(CaptureFields, json_texts_are_escaped) {
  EXPECT_EQ(json_text("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
  EXPECT_EQ(json_text("ä→"), "\"ä→\"");
  EXPECT_EQ(json_text("\xFFz\xC3"), "\"\\ufffdz\\ufffd\"");
  EXPECT_EQ(json_text("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");  // a surrogate is no character
}

}  // namespace
}  // namespace sim::capture
