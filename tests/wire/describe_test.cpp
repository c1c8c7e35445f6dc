// Names and one-line texts of frames.
#include "wire/describe.hpp"

#include "expect.hpp"
#include "samples.hpp"

namespace wire::test {
namespace {

std::vector<std::uint8_t> frame(RCtl r_ctl, Type type, std::uint8_t df_ctl, const std::vector<std::uint8_t>& data_field,
                                std::uint32_t parameter = 0, std::uint32_t f_ctl = 0) {
  FcHeader header;
  header.r_ctl = r_ctl;
  header.type = type;
  header.df_ctl = df_ctl;
  header.d_id = FcId{0x010200};
  header.s_id = FcId{0x010100};
  header.ox_id = OxId{0x12};
  header.parameter = parameter;
  header.f_ctl = f_ctl | static_cast<std::uint32_t>(fill_bytes_for(data_field.size()));
  return join(written(header), data_field, zeros(fill_bytes_for(data_field.size())));
}

std::string_view name_of(const std::vector<std::uint8_t>& bytes) {
  const auto view = FcFrameView::parse(bytes);
  return message_name(view->header, view->data_field);
}
const std::string who = "010100 > 010200 ox_id=0012h rx_id=FFFFh seq=00/0 ";

TEST(Describe, every_els_request) {
  for_each_message<ElsRequests>([]<class Message>(std::type_identity<Message>) {
    const auto bytes = frame(RCtl::els_request, Type::els, 0, SampleOf<Message>::make().bytes);
    EXPECT_EQ(name_of(bytes), to_string(Message::commands[0]));
    EXPECT_EQ(describe(bytes).find(who + std::string(Message::name)), 0U) << describe(bytes);
  });
}

TEST(Describe, every_ct_request) {
  for_each_message<CtRequests>([]<class Message>(std::type_identity<Message>) {
    const auto bytes = frame(RCtl::unsolicited_control, Type::ct, 0, SampleOf<Message>::make().bytes);
    EXPECT_EQ(name_of(bytes), Message::name);
    EXPECT_EQ(describe(bytes).find(who + std::string(Message::name)), 0U) << describe(bytes);
  });
}

TEST(Describe, every_fc_vi_iu) {
  for_each_message<FcviIus>([]<class Message>(std::type_identity<Message>) {
    const std::size_t size = fcvi::device_header_size(Message::opcode);
    const auto bytes =
        frame(RCtl::solicited_data, Type::fc_vi, df_ctl::with_device_header(size), SampleOf<Message>::make().bytes);
    EXPECT_EQ(name_of(bytes), Message::name);
    EXPECT_EQ(describe(bytes).find(who + std::string(Message::name)), 0U) << describe(bytes);
    EXPECT_EQ(describe(bytes).find("malformed"), std::string::npos) << describe(bytes);
  });
}

TEST(Describe, connect_resp1) {
  fcvi::ConnectResp1 resp{ConnectionId{42}, false, std::nullopt, {}};
  resp.payload.handle = FcviHandle{5};
  const std::string text =
      describe(frame(RCtl::solicited_control, Type::fc_vi, df_ctl::device_header_32, written(resp)));
  EXPECT_EQ(text.find(who + "FCVI_CONNECT_RESP1 conn=0000002Ah accept handle=00000005h"), 0U) << text;
}

TEST(Describe, send_rqst_with_data) {
  const fcvi::SendRqst send{FcviHandle{42}, MsgId{7}, std::nullopt, 4096};
  const auto bytes = frame(RCtl::solicited_data, Type::fc_vi, df_ctl::device_header_32, join(written(send), zeros(99)),
                           2080, f_ctl::relative_offset_present);
  EXPECT_EQ(describe(bytes),
            who + "FCVI_SEND_RQST handle=0000002Ah msg_id=00000007h total_length=4096 offset=2080 data_bytes=99");
}

TEST(Describe, replies) {
  EXPECT_EQ(name_of(frame(RCtl::els_reply, Type::els, 0, hex("02000000"))), "LS_ACC");
  EXPECT_EQ(name_of(frame(RCtl::els_reply, Type::els, 0, written(els::LsRjt{}))), "LS_RJT");
  EXPECT_EQ(name_of(frame(RCtl::solicited_control, Type::ct, 0, written(ct::CtAccept{}))), "CT_ACC");
  EXPECT_EQ(name_of(frame(RCtl::solicited_control, Type::ct, 0, written(ct::CtReject{}))), "CT_RJT");
  els::Login accept;
  accept.command = els::Command::ls_acc;
  EXPECT_EQ(describe(frame(RCtl::els_reply, Type::els, 0, written(accept))).find(who + "LS_ACC LOGIN command=LS_ACC"),
            0U);
}

TEST(Describe, basic_link_services_and_link_control) {
  EXPECT_EQ(name_of(frame(RCtl::abts, Type::bls, 0, {})), "ABTS");
  EXPECT_EQ(name_of(frame(RCtl::ba_acc, Type::bls, 0, written(bls::BaAcc{}))), "BA_ACC");
  EXPECT_EQ(name_of(frame(RCtl::ack_1, Type::fc_vi, 0, {}, 1)), "ACK_1");
  EXPECT_EQ(describe(frame(RCtl::p_rjt, Type::fc_vi, 0, {}, 0x01160000)),
            who + "P_RJT action=retryable reason=login_required vendor_unique=00h");
  EXPECT_EQ(describe(frame(RCtl::p_bsy, Type::fc_vi, 0, {}, 0x02010000)),
            who + "P_BSY action=02h reason=n_port_busy vendor_unique=00h");
}

TEST(Describe, malformed) {
  EXPECT_EQ(describe({}), "malformed: truncated: r_ctl");
  EXPECT_EQ(describe(frame(RCtl::els_request, Type::els, 0, hex("52000000"))),
            who + "ADISC malformed: truncated: hard_address");
  EXPECT_EQ(describe(frame(RCtl::solicited_data, Type::fc_vi, 0, zeros(32))),
            who + "FCVI_SEND_RQST malformed: bad Device_Header size: df_ctl");
}

TEST(Describe, unknown) {
  EXPECT_EQ(describe(frame(RCtl::els_request, Type::els, 0, hex("99000000"))), who + "ELS 99h data=99000000");
  EXPECT_EQ(describe(frame(RCtl::unsolicited_command, Type::fcp, 0, zeros(32))), who + "FCP data_bytes=32");
  EXPECT_EQ(name_of(frame(RCtl::uncategorized, static_cast<Type>(0xE0), 0, {})), "FC");
  EXPECT_EQ(name_of(frame(RCtl::solicited_data, Type::fc_vi, 2, {})), "FC-VI");
}

TEST(Describe, continuation_frame_is_not_read_as_a_message) {
  EXPECT_EQ(describe(frame(RCtl::solicited_control, Type::ct, 0, zeros(64), 2112, f_ctl::relative_offset_present)),
            who + "CT offset=2112 data_bytes=64");
}

TEST(Describe, ethernet) {
  EXPECT_EQ(describe_ethernet(zeros(60)), "Ethernet 0000h");
  EXPECT_EQ(describe_ethernet(zeros(3)), "malformed: truncated: destination");
  EXPECT_NE(describe_ethernet(join(hex("011018010002 525400FC0E01 8914"), SampleOf<fip::FipMessage>::make().bytes))
                .find("FIP Discovery Solicitation flags=8000h {MAC address=52:54:00:fc:0e:01}"),
            std::string::npos);
}

}  // namespace
}  // namespace wire::test
