// Frame header, F_CTL, DF_CTL, fill bytes.
#include "wire/fc_header.hpp"

#include "expect.hpp"
#include "wire/header_fields.hpp"

namespace wire::test {
namespace {

// tests/data/linux-fabric-login.pcap, frame 12: LS_ACC to PLOGI from the name server.
const auto header_bytes =
    hex("23 010100"   // R_CTL els_reply, D_ID
        "00 FFFFFC"   // CS_CTL, S_ID
        "01 980000"   // TYPE ELS, F_CTL: responder, last sequence, end of sequence
        "00 00 0000"  // SEQ_ID, DF_CTL, SEQ_CNT
        "0001 1234"   // OX_ID, RX_ID
        "00000000");  // Parameter

FcHeader captured_header() {
  FcHeader header;
  header.r_ctl = RCtl::els_reply;
  header.d_id = FcId{0x010100};
  header.s_id = well_known::name_server;
  header.type = Type::els;
  header.f_ctl = f_ctl::exchange_responder | f_ctl::last_sequence | f_ctl::end_sequence;
  header.ox_id = OxId{1};
  header.rx_id = RxId{0x1234};
  return header;
}

TEST(FcHeader, known_bytes) { expect_known(header_bytes, captured_header()); }

TEST(FcHeader, every_field_has_its_place) {
  const FcHeader header{RCtl::solicited_data, FcId{0x0A0B0C}, 0x80,           FcId{0x0D0E0F}, Type::fc_vi,  0x290009,
                        SeqId{0x11},          0x02,           SeqCnt{0x2233}, OxId{0x4455},   RxId{0x6677}, 0x8899AABB};
  expect_known(hex("01 0A0B0C 80 0D0E0F 58 290009 11 02 2233 4455 6677 8899AABB"), header);
}

TEST(FcHeader, read_is_parse_without_the_check) {
  EXPECT_EQ(FcHeader::read(std::span<const std::uint8_t, 24>(header_bytes)), captured_header());
}

TEST(FcHeader, single_fields_are_those_of_the_whole) {
  const auto bytes = hex("01 0A0B0C 80 0D0E0F 58 290009 11 02 2233 4455 6677 8899AABB");
  const FcHeader header = *FcHeader::parse(bytes);
  EXPECT_EQ(r_ctl_of(bytes), header.r_ctl);
  EXPECT_EQ(d_id_of(bytes), header.d_id);
  EXPECT_EQ(s_id_of(bytes), header.s_id);
  EXPECT_EQ(type_of(bytes), header.type);
  EXPECT_EQ(ox_id_of(bytes), header.ox_id);
}

TEST(FcHeader, single_fields_are_set_as_by_the_whole) {
  auto bytes = hex("01 0A0B0C 80 0D0E0F 58 290009 11 02 2233 4455 6677 8899AABB");
  FcHeader header = *FcHeader::parse(bytes);
  set_seq_cnt(bytes, 0xFEDC);
  set_parameter(bytes, 0x01020304);
  header.seq_cnt = {0xFEDC};
  header.parameter = 0x01020304;
  EXPECT_EQ(*FcHeader::parse(bytes), header);
}

TEST(FcHeader, unknown_r_ctl_and_type_are_kept) {
  auto bytes = header_bytes;
  bytes[0] = 0x5A;
  bytes[8] = 0xE7;
  const auto header = *FcHeader::parse(bytes);
  EXPECT_EQ(written(header), bytes);
  EXPECT_NE(header.to_string().find("r_ctl=5Ah"), std::string::npos);
  EXPECT_NE(header.to_string().find("type=E7h"), std::string::npos);
}

TEST(FCtl, bits) {  // FC-FS; seen: 290000h request, 980000h fabric's reply
  EXPECT_EQ(f_ctl::exchange_responder, 0x800000U);
  EXPECT_EQ(f_ctl::sequence_recipient, 0x400000U);
  EXPECT_EQ(f_ctl::first_sequence, 0x200000U);
  EXPECT_EQ(f_ctl::last_sequence, 0x100000U);
  EXPECT_EQ(f_ctl::end_sequence, 0x080000U);
  EXPECT_EQ(f_ctl::sequence_initiative, 0x010000U);
  EXPECT_EQ(f_ctl::relative_offset_present, 0x000008U);
  EXPECT_EQ(f_ctl::single_frame_request, 0x290000U);
  EXPECT_EQ(f_ctl::single_frame_reply, 0x980000U);
  EXPECT_TRUE(captured_header().has(f_ctl::single_frame_reply));
  EXPECT_FALSE(captured_header().has(f_ctl::first_sequence));
}

TEST(DfCtl, device_header_sizes) {
  EXPECT_EQ(df_ctl::device_header_size(0x00), 0U);
  EXPECT_EQ(df_ctl::device_header_size(0x01), 16U);
  EXPECT_EQ(df_ctl::device_header_size(0x02), 32U);
  EXPECT_EQ(df_ctl::device_header_size(0x03), 64U);
  EXPECT_EQ(df_ctl::device_header_size(0x32), 32U) << "network and association headers are other bits";
  for (const std::size_t size : {0U, 16U, 32U, 64U})
    EXPECT_EQ(df_ctl::device_header_size(df_ctl::with_device_header(size)), size);
}

TEST(FillBytes, bring_the_data_field_to_a_word) {
  EXPECT_EQ(fill_bytes_for(0), 0U);
  EXPECT_EQ(fill_bytes_for(1), 3U);
  EXPECT_EQ(fill_bytes_for(3), 1U);
  EXPECT_EQ(fill_bytes_for(4), 0U);
}

TEST(FcFrameView, leaves_fill_bytes_out) {
  FcHeader header = captured_header();
  header.f_ctl |= 3;
  const auto frame = join(written(header), hex("AA 000000"));
  const auto view = FcFrameView::parse(frame);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->data_field.size(), 1U);
  EXPECT_EQ(view->data_field[0], 0xAA);
}

TEST(FcFrameView, more_fill_bytes_than_data_is_an_error) {
  FcHeader header = captured_header();
  header.f_ctl |= 1;
  const auto view = FcFrameView::parse(written(header));
  ASSERT_FALSE(view.has_value());
  EXPECT_EQ(view.error(), (ParseError{ParseCode::bad_length, "fill_bytes"}));
}

TEST(RCtl, every_value_has_a_name) {
  for (const int code : {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x22, 0x23, 0x80,
                         0x81, 0x84, 0x85, 0xC0, 0xC1, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6})
    EXPECT_NE(to_string(static_cast<RCtl>(code)), text::unknown) << code;
  EXPECT_EQ(to_string(static_cast<RCtl>(0x99)), text::unknown);
  EXPECT_TRUE(is_link_control(RCtl::ack_1));
  EXPECT_TRUE(is_link_control(RCtl::f_bsy_link));
  EXPECT_FALSE(is_link_control(RCtl::abts));
}

TEST(Type, every_value_has_a_name) {
  for (const int code : {0x00, 0x01, 0x05, 0x08, 0x20, 0x58})
    EXPECT_NE(to_string(static_cast<Type>(code)), text::unknown);
  EXPECT_EQ(to_string(static_cast<Type>(0x59)), text::unknown);
}

}  // namespace
}  // namespace wire::test
