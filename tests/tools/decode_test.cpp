#include "tools/fcvi_sim/capture/decode.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include "tools/fcvi_sim/capture/printer.hpp"
#include "wire/crc.hpp"
#include "wire/fcoe.hpp"
#include "wire/fcvi/connect_rqst.hpp"
#include "wire/fcvi/send_rqst.hpp"
#include "tests/support/source_dir.hpp"

namespace sim::capture {
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
  std::string decode(const std::string& path, DecodeOptions options = {}) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* stream = open_memstream(&text, &size);
    options.path = path;
    const DecodeResult result = capture::decode(options, stream);
    error = result.error;
    warning = result.warning;
    std::fclose(stream);
    std::string printed(text, size);
    std::free(text);
    return printed;
  }
  std::string folder = testing::TempDir() + "fcvi_decode_" + std::to_string(getpid());
  std::string error, warning;
};

std::string little(std::uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}
std::string pcap(std::uint32_t link_type, const std::string& frames) {
  return little(0xA1B2C3D4) + little(0x00040002) + little(0) + little(0) + little(262'144) + little(link_type) + frames;
}
std::string record(const std::string& frame, std::uint32_t original) {
  return little(1) + little(500'000) + little(static_cast<std::uint32_t>(frame.size())) + little(original) + frame;
}
/// A LOGO request without payload, 24 bytes.
std::string fc_frame() {
  std::string frame("\x22\xFF\xFF\xFE\x00\x01\x01\x00\x01\x29\x00\x00", 12);
  return frame + std::string("\x00\x00\x00\x00\x12\x34\xFF\xFF\x00\x00\x00\x00\x05\x00\x00\x00", 16);
}

/// Of pcapng.
std::string block(std::uint32_t type, const std::string& body) {
  const auto length = static_cast<std::uint32_t>(body.size() + 12);
  return little(type) + little(length) + body + little(length);
}

std::string text_of(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }
wire::Bytes bytes_of(const std::string& text) {
  return {static_cast<const std::uint8_t*>(static_cast<const void*>(text.data())), text.size()};
}

/// SOFi3, the frame, its CRC, EOFt.
std::string delimited(const std::string& frame) {
  return std::string("\xBC\xB5\x56\x56", 4) + frame + little(wire::crc32(bytes_of(frame))) +
         std::string("\xBC\x95\x75\x75", 4);
}
std::string fcoe_frame(const std::string& frame) {
  std::vector<std::uint8_t> bytes(wire::fcoe::frame_size(frame.size()));
  wire::fcoe::encapsulate({{2}}, {{4}}, wire::Sof::i3, bytes_of(frame), wire::Eof::t, bytes);
  return text_of(bytes);
}
wire::fcvi::ConnectRqst some_connect_rqst() {
  wire::fcvi::ConnectRqst request;
  request.payload.handle = {7};
  request.payload.remote_address.discriminator_length = 128;
  return request;
}
template <class Message>
std::string written(const Message& message) {
  std::vector<std::uint8_t> bytes(message.size());
  message.write(bytes);
  return text_of(bytes);
}
/// The frame of a CONNECT_RQST that has these bytes of its payload.
std::string part(const std::string& iu, std::size_t offset, std::size_t size) {
  const bool last = 32 + offset + size == iu.size();
  wire::FcHeader header{
      .r_ctl = wire::RCtl::unsolicited_control, .d_id = {0x010200}, .s_id = {0x010100}, .type = wire::Type::fc_vi};
  header.f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::relative_offset_present |
                 (last ? wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative : 0);
  header.df_ctl = wire::df_ctl::device_header_32;
  header.seq_cnt = {static_cast<std::uint16_t>(offset != 0)};
  header.parameter = static_cast<std::uint32_t>(offset);
  return written(header) + iu.substr(0, 32) + iu.substr(32 + offset, size);
}
std::string fc_record(const std::string& frame) { return record(frame, static_cast<std::uint32_t>(frame.size())); }
std::size_t count_of(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(DecodeTest, capture_of_a_linux_initiator) {
  // Every frame a line, FIP included.
  const std::string text = decode(support::source_dir() + "/tests/data/linux-fabric-login.pcap");
  EXPECT_EQ(error, "");
  EXPECT_GT(lines_of(text), 10u);
  for (const char* name : {"PLOGI", "LS_ACC", "RFT_ID", "SCR"}) EXPECT_NE(text.find(name), std::string::npos) << name;
}

TEST_F(DecodeTest, fibre_channel_with_and_without_delimiters) {
  const std::string bare = decode(write(pcap(224, record(fc_frame(), 28))));
  EXPECT_EQ(error, "");
  EXPECT_NE(bare.find("     1    0.000000000 010100 > FFFFFE LOGO"), std::string::npos) << bare;
  const std::string good = decode(write(pcap(225, record(delimited(fc_frame()), 40))));
  EXPECT_NE(good.find("LOGO"), std::string::npos) << good;
  EXPECT_EQ(good.find(" | "), std::string::npos) << good;  // class, delimiters and F_CTL are the usual ones
  const std::string all = decode(write(pcap(225, record(delimited(fc_frame()), 40))), {.style = Style::tree});
  for (const char* words :
       {"class: 3\n", "sof: SOFi3\n", "eof: EOFt\n", "f_ctl: 290000h first end initiative\n", "crc: good\n"})
    EXPECT_NE(all.find(words), std::string::npos) << words << all;
  std::string bad = delimited(fc_frame());
  bad[10] ^= 1;
  EXPECT_NE(decode(write(pcap(225, record(bad, 40)))).find(" | BAD CRC\n"), std::string::npos);
}

// Behind the bar: class, delimiters and F_CTL that are not the usual ones.
TEST_F(DecodeTest, what_is_unusual_is_shown_and_nothing_else) {
  const std::string good = delimited(fc_frame());
  const auto line_of = [&](const std::string& frame) {
    return decode(write(pcap(225, record(frame, static_cast<std::uint32_t>(frame.size())))));
  };
  const auto with = [&](std::size_t at, const std::string& bytes) {
    std::string frame = good;
    return line_of(frame.replace(at, bytes.size(), bytes));
  };
  EXPECT_EQ(line_of(good).find(" | "), std::string::npos);
  EXPECT_NE(with(0, "\xBC\xB5\x55\x55").find(" | class 2\n"), std::string::npos);
  EXPECT_NE(with(0, "\xBC\xB5\x58\x58").find(" | class F, SOFf\n"), std::string::npos);
  EXPECT_NE(with(0, "\xBC\xB5\x36\x36").find(" | SOFn3\n"), std::string::npos);
  EXPECT_NE(with(36, "\xBC\x95\xD5\xD5").find(" | EOFn\n"), std::string::npos);
  EXPECT_NE(with(36, "\xBC\x95\xF5\xF5").find(" | EOFa\n"), std::string::npos);
  std::string odd = fc_frame();
  odd[9] = '\x09';
  EXPECT_NE(line_of(delimited(odd)).find(" | F_CTL 090000 end initiative\n"), std::string::npos);
}

// A message of a class 3 Exchange without a login in the capture: what is wrong with it is named, in each style.
TEST_F(DecodeTest, violations_are_named) {
  std::string request = written(some_connect_rqst());
  request[16] = 1;  // FCVI_RMT_VA, which a set-up does not use
  const std::string path = write(pcap(224, fc_record(part(request, 0, request.size() - 32))));
  EXPECT_NE(decode(path).find(" | ! reserved_bits"), std::string::npos);
  EXPECT_NE(
      decode(path, {.style = Style::tree}).find("  Violation reserved_bits: Reserved bits are set: FCVI_RMT_VA has "),
      std::string::npos);
  EXPECT_NE(
      decode(path, {.style = Style::json}).find("\"violations\":[{\"name\":\"reserved_bits\",\"text\":\"Reserved "),
      std::string::npos);
}

// Frames of messages that a capture missed: without a word of that they are violations of the standard; where the
// statistics of an interface tell of it they are none, and what follows is judged again.
TEST_F(DecodeTest, missing_frames_are_no_violation) {
  const auto frame = [](std::uint32_t message, std::uint16_t seq_cnt, bool last) {
    wire::FcHeader header{
        .r_ctl = wire::RCtl::solicited_data, .d_id = {0x010200}, .s_id = {0x010100}, .type = wire::Type::fc_vi};
    header.f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::relative_offset_present |
                   (last ? wire::f_ctl::end_sequence | wire::f_ctl::last_sequence : 0);
    header.df_ctl = wire::df_ctl::device_header_32;
    header.ox_id = {static_cast<std::uint16_t>(message)};
    header.seq_cnt = {seq_cnt};
    header.parameter = seq_cnt * 100U;
    const wire::fcvi::SendRqst request{{7}, {message}, std::nullopt, 400};
    return block(6, little(0) + little(0) + little(message) + little(24 + 32 + 100) + little(24 + 32 + 100) +
                        written(header) + written(request) + std::string(100, 'x'));
  };
  const std::string head =
      block(0x0A0D0D0A, little(0x1A2B3C4D) + little(1) + little(~0U) + little(~0U)) + block(1, little(224) + little(0));
  const std::string missing = block(5, little(0) + little(0) + little(0) + little(5 | 8 << 16) + little(3) + little(0));
  const std::string before = head + frame(1, 0, false) + frame(1, 1, false);
  const std::string behind = frame(5, 3, true) + frame(6, 0, false), gap = frame(6, 2, false);
  EXPECT_NE(decode(write(before + behind)).find(" | ! "), std::string::npos);
  const std::string told = decode(write(before + missing + behind));
  EXPECT_EQ(told.find(" | ! "), std::string::npos) << told;
  EXPECT_EQ(lines_of(told), 4U);
  EXPECT_EQ(count_of(decode(write(before + missing + behind + gap)), " | ! seq_cnt_gap"), 1U);
}

// What the end of the capture's file keeps back has no CRC to judge, nor delimiters to show.
TEST_F(DecodeTest, cut_frames_have_no_bad_crc) {
  const std::string whole = fcoe_frame(fc_frame() + std::string(100, 'x'));
  const auto size = static_cast<std::uint32_t>(whole.size());
  EXPECT_EQ(decode(write(pcap(1, record(whole, size)))).find("BAD CRC"), std::string::npos);
  for (const std::uint32_t kept : {60U, 70U, size - 1}) {
    const std::string text = decode(write(pcap(1, record(whole.substr(0, kept), size))));
    EXPECT_EQ(text.find("BAD CRC"), std::string::npos) << text;
    EXPECT_NE(text.find("010100 > FFFFFE"), std::string::npos) << text;
    EXPECT_EQ(text.find("malformed"), std::string::npos) << text;
    EXPECT_NE(text.find(" | cut: " + std::to_string(kept) + " of "), std::string::npos) << text;
    const std::string all = decode(write(pcap(1, record(whole.substr(0, kept), size))), {.style = Style::tree});
    EXPECT_NE(all.find("sof: SOFi3\n"), std::string::npos) << all;
    EXPECT_EQ(all.find("crc:"), std::string::npos) << all;
  }
  const std::string delimited_frame = delimited(fc_frame());
  EXPECT_EQ(decode(write(pcap(225, record(delimited_frame.substr(0, 34), 40)))).find("BAD CRC"), std::string::npos);
}

// FC-FS extended headers: the frame behind VFT_Header is read, with its virtual fabric.
TEST_F(DecodeTest, vft_header_is_shown_and_the_frame_behind_it) {
  const std::string vft("\x50\x00\x00\x0E\x0A\x00\x00\x00", 8);
  const std::string text = decode(write(pcap(224, record(vft + fc_frame(), 36))));
  EXPECT_NE(text.find("010100 > FFFFFE VFT vf_id=7 LOGO"), std::string::npos) << text;
}

TEST_F(DecodeTest, vlan_tag_is_shown) {
  std::string frame = fcoe_frame(fc_frame());
  frame.insert(12, std::string("\x81\x00\x60\x64", 4));
  const std::string text = decode(write(pcap(1, record(frame, static_cast<std::uint32_t>(frame.size())))));
  EXPECT_NE(text.find("010100 > FFFFFE VLAN 100 LOGO"), std::string::npos) << text;
}

// A whole frame of tags, as large as a capture can hold one: the first is shown, and nothing is lost over the rest.
TEST_F(DecodeTest, tags_without_end_are_one_line) {
  std::string frame(12, 'm');
  while (frame.size() < 262'000) frame += std::string("\x81\x00\x00\x05", 4);
  const std::string text = decode(write(pcap(1, record(frame, static_cast<std::uint32_t>(frame.size())))));
  EXPECT_EQ(error, "");
  EXPECT_EQ(lines_of(text), 1U);
  EXPECT_NE(text.find("VLAN 5 Ethernet"), std::string::npos) << text;
}

// A message of several frames is shown whole with the last of them, also where a capture has each frame twice.
TEST_F(DecodeTest, message_of_several_frames_is_read_whole) {
  const std::string request = written(some_connect_rqst());
  const std::string first = part(request, 0, 224), second = part(request, 224, request.size() - 32 - 224);
  const std::string text =
      decode(write(pcap(224, fc_record(first) + fc_record(first) + fc_record(second) + fc_record(second))));
  EXPECT_EQ(text.find("malformed"), std::string::npos) << text;
  EXPECT_EQ(count_of(text, "FCVI_CONNECT_RQST part, 224 bytes at 0"), 2U) << text;
  EXPECT_EQ(count_of(text, "FCVI_CONNECT_RQST id "), 2U) << text;
  const std::string turned = decode(write(pcap(224, fc_record(second) + fc_record(first))));
  EXPECT_EQ(count_of(turned, "FCVI_CONNECT_RQST id "), 1U) << turned;
}

// An ELS and an IU that have the same ids are not put together: nothing is read past the end of either.
TEST_F(DecodeTest, parts_of_different_types_are_not_one_message) {
  const std::string iu = written(some_connect_rqst());
  std::string els = part(iu, 0, 4);
  els[8] = 0x01;   // TYPE: ELS
  els[0] = 0x22;   // R_CTL: its request
  els[13] = 0x00;  // DF_CTL: no Device_Header
  els.resize(24 + 4);
  const std::string end = part(iu, iu.size() - 32, 0);
  std::string short_end = end.substr(0, 24 + 32);
  short_end[20] = short_end[21] = short_end[22] = 0;
  short_end[23] = 4;  // it begins at byte 4
  const std::string path = write(pcap(225, fc_record(delimited(els)) + fc_record(delimited(short_end))));
  for (const Style style : {Style::line, Style::tree, Style::json}) {
    const std::string text = decode(path, {.style = style});
    EXPECT_EQ(error, "");
    EXPECT_EQ(text.find("connect_info"), std::string::npos) << text;
    EXPECT_EQ(text.find("handle: 7"), std::string::npos) << text;
    EXPECT_NE(text.find("CONNECT_RQST"), std::string::npos) << text;
  }
}

// Bits above the link type of a pcap file: packets end with a frame check sequence, which is not of the frame.
TEST_F(DecodeTest, frame_check_sequences_are_left_out) {
  const std::string frame = fcoe_frame(fc_frame());
  const std::string without = decode(write(pcap(1, fc_record(frame))));
  const std::string with = decode(write(pcap(1 | 0x04000000 | 0x20000000, fc_record(frame + "\1\2\3\4"))));
  EXPECT_EQ(error, "");
  EXPECT_EQ(with, without);
  EXPECT_EQ(with.find("BAD CRC"), std::string::npos) << with;
}

// RFC 8259 wants UTF-8; a terminal wants no control characters, of one byte or of two.
TEST(Printable, shows_dots_for_what_a_terminal_should_not_get) {
  EXPECT_EQ(printable("plain \xC3\xA9"), "plain \xC3\xA9");
  EXPECT_EQ(printable(std::string("a\x1B[2J\x7F\x01", 7)), "a.[2J..");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J"),
            ".2J");
  EXPECT_EQ(printable("\xFF\xC3"), "..");
}

TEST_F(DecodeTest, message_that_is_too_short_has_its_own_name) {
  std::string frame = fc_frame();
  frame[24] = 0x03;
  const std::string text = decode(write(pcap(224, record(frame, 28))));
  EXPECT_NE(text.find("PLOGI malformed: truncated"), std::string::npos) << text;
}

TEST_F(DecodeTest, compressed_captures_are_read) {
  const std::string plain = pcap(224, record(fc_frame(), 28)), path = folder + "/c.pcap.gz";
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, plain.data(), static_cast<unsigned>(plain.size()));
  gzclose_w(file);
  EXPECT_EQ(decode(path), decode(write(plain)));
  EXPECT_EQ(error, "");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 12);
  decode(path);
  EXPECT_EQ(error.find(path + ": "), 0U) << error;
}

TEST_F(DecodeTest, frames_that_do_not_parse_are_described) {
  const std::string text = decode(write(pcap(1, record("abc", 3) + record(std::string(60, 'x'), 100))));
  EXPECT_EQ(error, "");
  EXPECT_EQ(lines_of(text), 2u);
  EXPECT_NE(text.find(" | cut: 60 of 100 bytes"), std::string::npos) << text;
  EXPECT_NE(decode(write(pcap(225, record("abc", 3)))).find("truncated"), std::string::npos);
}

// `tcpdump -i any` has a header of Linux' own in place of Ethernet's, in two forms.
TEST_F(DecodeTest, captures_of_all_interfaces_are_read) {
  const std::string address("\x02\0\0\0\0\x01\0\0", 8);
  const std::string first = std::string("\0\0\0\1\0\6", 6) + address + std::string("\x08\0", 2);
  const std::string second = std::string("\x08\0\0\0\0\0\0\1\0\1\0\6", 12) + address;
  const std::string ip("\x45\0\0\x28\0\0\0\0\x40\x06\0\0\x7F\0\0\1\x7F\0\0\2", 20);
  const std::string syn("\x9C\x40\x21\x1A\0\0\0\1\0\0\0\0\x50\x02\0\0\0\0\0\0", 20);
  for (const auto& [type, header] : {std::pair(113U, first), std::pair(276U, second)}) {
    const auto size = static_cast<std::uint32_t>(header.size() + 40);
    const std::string text = decode(write(pcap(type, record(header + ip + syn, size) + record("abc", 3))));
    EXPECT_EQ(error, "");
    EXPECT_NE(text.find("127.0.0.1:40000 > 127.0.0.2:8474 SYN"), std::string::npos) << text;
    EXPECT_NE(text.find("cooked capture truncated: header"), std::string::npos) << text;
  }
}

TEST_F(DecodeTest, broken_files_name_file_and_frame) {
  decode(folder + "/none.pcap");
  EXPECT_EQ(error, folder + "/none.pcap: No such file or directory");
  const std::string garbage = write("this is no capture at all, not even nearly");
  decode(garbage);
  EXPECT_EQ(error, garbage + ": unknown file format, expected a capture (pcap or pcapng)");
  const std::string path = write(pcap(224, record(fc_frame(), 28) + record(fc_frame(), 28).substr(0, 30)));
  EXPECT_EQ(lines_of(decode(path)), 1u);
  EXPECT_EQ(error.find(path + ": frame 2: truncated"), 0u) << error;
  const std::string wifi = write(pcap(105, ""));
  decode(wifi);
  EXPECT_EQ(error, wifi + ": expected Ethernet (FCoE) or Fibre Channel frames, got link type 105");
}

}  // namespace
}  // namespace sim::capture
