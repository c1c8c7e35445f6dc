#include "tools/fcvi_sim/picture/ladder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/made_frame.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"
#include "wire/fcvi/send_resp.hpp"
#include "wire/fcvi/send_rqst.hpp"

namespace sim {
namespace {
using testing::HasSubstr;
using testing::Not;

constexpr wire::FcId alice{0x010100}, bob{0x010200};

Scenario two_ports(const std::string& first = "alice") {
  Scenario scenario;
  scenario.name = "test";
  scenario.ports = {{.name = first, .addresses = {wire::IpAddress::v4(10, 0, 0, 1)}},
                    {.name = "bob", .addresses = {wire::IpAddress::v4(10, 0, 0, 2)}}};
  return scenario;
}

class LadderTest : public testing::Test {
 protected:
  Scenario scenario = two_ports();
  Ladder ladder{scenario};
  std::uint16_t next_ox_id = 1;

  wire::FcHeader header(bool from_alice) {
    return {.r_ctl = wire::RCtl::solicited_data,
            .d_id = from_alice ? bob : alice,
            .s_id = from_alice ? alice : bob,
            .type = wire::Type::fc_vi,
            .df_ctl = wire::df_ctl::device_header_32,
            .ox_id = {next_ox_id}};
  }
  /// One SEND_RQST of some frames with 100 bytes each.
  void send(std::uint32_t msg_id, bool from_alice = true, std::uint32_t frames = 1) {
    std::array<std::uint8_t, 132> data{};
    wire::fcvi::SendRqst{.handle = {5}, .msg_id = {msg_id}, .immediate_data = {}, .total_length = 100 * frames}.write(
        data);
    for (std::uint32_t i = 0; i < frames; ++i)
      ladder.frame({.at = runtime::second,
                    .port = from_alice ? 0u : 1u,
                    .outbound = true,
                    .first = i == 0,
                    .last = i + 1 == frames},
                   header(from_alice), data);
    ++next_ox_id;
  }
  /// So that the ladder knows who has which address.
  void introduce() {
    send(1, true);
    send(1, false);
  }
};

TEST_F(LadderTest, frames_of_a_sequence_are_one_row) {
  introduce();
  send(2, true, 32);
  const LadderRow& row = ladder.rows().back();
  EXPECT_EQ(row.shape, LadderRow::Shape::Arrow);
  EXPECT_EQ(row.row_kind, RowKind::Data);
  EXPECT_EQ(row.frames, 32u);
  EXPECT_EQ(row.bytes, 3200u);
  EXPECT_EQ(row.text, "FCVI_SEND_RQST msg 2");
  EXPECT_EQ(row.from, 0u);
  EXPECT_EQ(row.to, 1u);
}

TEST_F(LadderTest, long_runs_collapse_into_one_row_that_counts) {
  introduce();
  const std::size_t before = ladder.rows().size();
  for (std::uint32_t i = 0; i < 200; ++i) send(i, true, 2);
  ASSERT_EQ(ladder.rows().size(), before + 4);  // three shown, one for the rest
  const LadderRow& gap = ladder.rows().back();
  EXPECT_EQ(gap.shape, LadderRow::Shape::Gap);
  EXPECT_EQ(gap.hidden.at("FCVI_SEND_RQST"), 197u);
  EXPECT_EQ(gap.frames, 2 * 197u);
  EXPECT_EQ(gap.bytes, 200 * 197u);
  EXPECT_THAT(to_svg(ladder, "t", runtime::second), HasSubstr("… 197 more FCVI_SEND_RQST · 394 frames, 38.5 KiB …"));
}

TEST_F(LadderTest, runs_of_a_scenario_with_faults_are_longer) {
  // Which message met the fault is what one wants to see.
  scenario.faults.resize(1);
  Ladder with_faults(scenario);
  std::swap(ladder, with_faults);
  for (std::uint32_t i = 0; i < 20; ++i) send(i, true, 2);
  EXPECT_EQ(ladder.rows().size(), 20u);
  EXPECT_EQ(ladder.rows().back().shape, LadderRow::Shape::Arrow);
  send(20, true, 2);
  EXPECT_EQ(ladder.rows().back().shape, LadderRow::Shape::Gap);
}

TEST_F(LadderTest, another_length_ends_a_run) {
  introduce();
  for (std::uint32_t i = 0; i < 50; ++i) send(i, true, 2);
  send(50, true, 1);
  EXPECT_EQ(ladder.rows().back().shape, LadderRow::Shape::Arrow);
}

TEST_F(LadderTest, interleaved_sequences_each_get_their_frames) {
  introduce();
  std::array<std::uint8_t, 132> data{};
  wire::FcHeader first = header(true), second = header(true);
  second.ox_id.value = static_cast<std::uint16_t>(first.ox_id.value + 1);
  wire::fcvi::SendRqst{.handle = {5}, .msg_id = {1}, .immediate_data = {}, .total_length = 500}.write(data);
  ladder.frame({.outbound = true, .first = true}, first, data);
  ladder.frame({.outbound = true, .first = true}, second, data);
  ladder.frame({.outbound = true, .last = true}, first, data);
  ladder.frame({.outbound = true}, second, data);
  ladder.frame({.outbound = true, .last = true}, second, data);
  const auto& rows = ladder.rows();
  EXPECT_EQ(rows[rows.size() - 2].frames, 2u);
  EXPECT_EQ(rows.back().frames, 3u);
}

TEST_F(LadderTest, rows_are_bounded) {
  // A run that never repeats itself.
  introduce();
  for (std::uint32_t i = 1; i < 5000; ++i) send(i, true, i % 50 + 1);
  for (std::uint32_t i = 0; i < 100'000; ++i) ladder.state(runtime::second, 0, "w", "Idle", "Connected");
  EXPECT_LE(ladder.rows().size(), 1501u);
}

TEST_F(LadderTest, broken_frames_are_shown_not_trusted) {
  ladder.frame({.outbound = true, .first = true, .last = true}, header(true), {});
  std::array<std::uint8_t, 3> data{};
  ladder.frame({.outbound = true, .first = true, .last = true}, header(true), data);
  ladder.frame({.outbound = true}, header(true), data);
  EXPECT_EQ(ladder.rows().size(), 2u);
}

TEST_F(LadderTest, state_changes_stand_on_their_lane) {
  ladder.state(runtime::second + 1500, 1, "w", "Idle", "PendingConnect");
  const std::string svg = to_svg(ladder, "t", runtime::second);
  EXPECT_THAT(svg, HasSubstr("w: Idle → PendingConnect"));
  EXPECT_THAT(svg, HasSubstr("1.500 us"));
}

TEST_F(LadderTest, rows_that_the_digits_do_not_tell_apart) {
  for (const runtime::TimeNs at : {0, 1500, 1501, 1501}) ladder.state(10 * runtime::second + at, 1, "w", "a", "b");
  const std::string svg = to_svg(ladder, "t", 0);
  EXPECT_THAT(svg, HasSubstr(">10.000 s<"));
  EXPECT_THAT(svg, HasSubstr(">+1.500 us<"));
  EXPECT_THAT(svg, HasSubstr(">+1 ns<"));
  EXPECT_THAT(svg, HasSubstr(">+0 ns<"));
}

TEST_F(LadderTest, answers_name_their_request) {
  std::array<std::uint8_t, 16> logo{0x05}, accept{0x02};
  const auto request = support::els_request_header(wire::well_known::f_port, alice, {9});
  const auto reply = support::els_reply_header(alice, wire::well_known::f_port, {9});
  ladder.frame({.outbound = true, .first = true, .last = true}, request, logo);
  ladder.frame({.outbound = false, .first = true, .last = true}, reply, accept);
  EXPECT_EQ(ladder.rows()[0].row_kind, RowKind::Teardown);
  EXPECT_EQ(ladder.rows()[1].text, "LS_ACC to LOGO");
  EXPECT_EQ(ladder.lanes().back().title, "F_Port");
  EXPECT_EQ(ladder.rows()[1].from, 2u);
}

TEST_F(LadderTest, acknowledgements_are_no_aborts) {
  introduce();
  wire::FcHeader ack = header(false);
  for (const auto& [r_ctl, kind] :
       {std::pair{wire::RCtl::ack_1, RowKind::Acknowledge}, std::pair{wire::RCtl::ack_0, RowKind::Acknowledge},
        std::pair{wire::RCtl::p_rjt, RowKind::Abort}, std::pair{wire::RCtl::f_bsy_data, RowKind::Abort},
        std::pair{wire::RCtl::abts, RowKind::Abort}}) {
    ack.r_ctl = r_ctl;
    EXPECT_EQ(kind_of(ack, {}), kind) << static_cast<unsigned>(r_ctl);
  }
  EXPECT_THAT(to_svg(ladder, "class 3", 0), Not(HasSubstr("acknowledgement")));
  ack.r_ctl = wire::RCtl::ack_1;
  ladder.frame({.port = 1, .outbound = true, .first = true, .last = true}, ack, {});
  EXPECT_THAT(to_svg(ladder, "class 2", 0), HasSubstr("acknowledgement"));
}

TEST(LadderSvg, text_from_outside_is_escaped) {
  // Port names, workload names and titles may hold anything.
  const Scenario scenario = two_ports("<script>&\"'\x01");
  Ladder ladder(scenario);
  ladder.state(0, 0, "</text>", "a", "b");
  const std::string svg = to_svg(ladder, "<title> & more", 0);
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;&quot;'?"));
  EXPECT_THAT(svg, HasSubstr("&lt;title&gt; &amp; more"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, Not(HasSubstr("</text>:")));
}

TEST(EscapeXml, what_xml_does_not_allow) {
  EXPECT_EQ(escape_xml("a<b>&\"c\n\x7F"), "a&lt;b&gt;&amp;&quot;c??");
  EXPECT_EQ(escape_xml("→ …"), "→ …");
}

}  // namespace
}  // namespace sim
