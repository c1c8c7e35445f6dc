// Link_Control frames field by field, what is rejected in class 2, and ACKs that the fabric busied (FC-FS; FC-VI 5.5,
// 8.1, 8.4.2 h).
#include <gtest/gtest.h>

#include "tests/support/played_peer.hpp"

namespace fc2 {
namespace {
using wire::RCtl;
namespace f_ctl = wire::f_ctl;

// FC-FS: an answer repeats what F_CTL says of the sequence, inverts the contexts, swaps the addresses, and takes no
// optional header and no preference (FC-VI 5.8.2) from the frame. Only F_BSY says something in TYPE: who is busy, and
// to which Link_Control frame.
TEST(LinkControl, answering_fields_are_its_own) {
  FramePool pool;
  constexpr std::uint32_t echoed = f_ctl::first_sequence | f_ctl::last_sequence | f_ctl::end_sequence |
                                   f_ctl::sequence_initiative | f_ctl::ack_form_mask;
  constexpr std::uint32_t contexts = f_ctl::exchange_responder | f_ctl::sequence_recipient;
  struct Case {
    RCtl r_ctl;
    unsigned type;
  };
  for (const Case& one : {Case{RCtl::ack_1, 0},
                          {RCtl::ack_0, 0},
                          {RCtl::p_rjt, 0},
                          {RCtl::f_rjt, 0},
                          {RCtl::p_bsy, 0},
                          {RCtl::f_bsy_data, 0x10},
                          {RCtl::f_bsy_link, 0x11}})
    for (const std::uint32_t context : {0u, contexts, f_ctl::exchange_responder}) {
      const wire::FcHeader data{.r_ctl = RCtl::solicited_data,
                                .d_id = {0x010203},
                                .cs_ctl = wire::cs_ctl_preference,
                                .s_id = {0x040506},
                                .type = wire::Type::fc_vi,
                                .f_ctl = context | 0x3FFFFF,
                                .seq_id = {7},
                                .df_ctl = 0x22,
                                .seq_cnt = {8},
                                .ox_id = {9},
                                .rx_id = {10},
                                .parameter = 11};
      const FramePtr frame = make_link_control(pool, data, one.r_ctl, 0x12345678, f_ctl::abort_perform_abts);
      ASSERT_EQ(frame->size_bytes, 24);
      const wire::FcHeader expected{.r_ctl = one.r_ctl,
                                    .d_id = {0x040506},
                                    .s_id = {0x010203},
                                    .type = wire::Type{static_cast<std::uint8_t>(one.type)},
                                    .f_ctl = echoed | (contexts & ~context) | f_ctl::abort_perform_abts,
                                    .seq_id = {7},
                                    .seq_cnt = {8},
                                    .ox_id = {9},
                                    .rx_id = {10},
                                    .parameter = 0x12345678};
      EXPECT_EQ(*wire::FcHeader::parse(frame->content()), expected) << static_cast<unsigned>(one.r_ctl);
      EXPECT_EQ(frame->sof, wire::Sof::n2);
    }
}

// FC-FS: what answers the last frame of a sequence ends with EOFt, everything else with EOFn.
TEST(LinkControl, answering_the_last_frame_terminates) {
  FramePool pool;
  const auto eof = [&](std::uint32_t of_data) {
    return make_link_control(pool, {.f_ctl = of_data}, RCtl::ack_1, 1)->eof;
  };
  EXPECT_EQ(eof(f_ctl::end_sequence), wire::Eof::t);
  EXPECT_EQ(eof(0xFFFFFF), wire::Eof::t);
  EXPECT_EQ(eof(0), wire::Eof::n);
  EXPECT_EQ(eof(0xFFFFFF & ~f_ctl::end_sequence), wire::Eof::n);
}

/// With and without class 2.
class Class2Offer : public support::PlayedPeer, public testing::WithParamInterface<bool> {
 public:
  Class2Offer() : PlayedPeer([](NPortConfig& config) { config.end_to_end_credit = GetParam() ? 2 : 0; }) {}
};
INSTANTIATE_TEST_SUITE_P(Offered, Class2Offer, testing::Bool());

// FC-FS P_RJT, FC-VI 5.6, 8.1: a frame of class 2 from a port without login is rejected for that, known or not; by a
// port without class 2 for its class, from whomever. Nobody asks for it again as it is.
TEST_P(Class2Offer, logged_out_frame_is_rejected) {
  const bool offered = GetParam();
  for (const bool known : {false, true}) {
    if (known) static_cast<void>(port.remote_port(peer));
    log.clear();
    put(support::request_header(RCtl::unsolicited_control, type, own, peer, {7}), wire::Sof::i2);
    ASSERT_EQ(log.size(), 1u);
    EXPECT_EQ(sent(RCtl::p_rjt, 0).header.parameter, offered ? 0x02160000u : 0x02050000u);
  }
  EXPECT_TRUE(user.ius.empty());
  EXPECT_EQ(discarded(Discard::NotLoggedIn), offered ? 2u : 0u);
  EXPECT_EQ(discarded(Discard::BadHeader), offered ? 0u : 2u);
  EXPECT_EQ(port.open_exchanges(), 0u);
}

// --- ACKs that the fabric busied ---------------------------------------------------------------------------------

class BusiedAcks : public support::PlayedPeer {
 public:
  BusiedAcks() : PlayedPeer([](NPortConfig& config) { config.end_to_end_credit = 2; }) {}
  /// The fabric gives an ACK back, which the port sent for a frame of this exchange.
  static wire::FcHeader ack(std::uint16_t ox_id, RCtl command = RCtl::ack_1) {
    return {.r_ctl = command,
            .d_id = peer,
            .s_id = own,
            .f_ctl = f_ctl::exchange_responder | f_ctl::sequence_recipient,
            .ox_id = {ox_id},
            .parameter = 1};
  }
  void busy(std::uint16_t ox_id) { answer(ack(ox_id), RCtl::f_bsy_link, 1); }
  [[nodiscard]] std::vector<unsigned> again() const {
    std::vector<unsigned> ox_ids;
    for (const auto& frame : log.frames()) ox_ids.push_back(frame.header.ox_id.value);
    return ox_ids;
  }
  const TimeNs wait = port.e_d_tov() / 64;
};

// impl: an ACK goes again after a 64th of E_D_TOV, not before, and only if it was busied since it went last.
TEST_F(BusiedAcks, busied_goes_again_after_its_while) {
  busy(1);
  run_for(wait - 1);
  EXPECT_EQ(again(), std::vector<unsigned>{});
  run_for(1);
  EXPECT_EQ(again(), std::vector<unsigned>{1});
  busy(2);
  run_for(wait);
  EXPECT_EQ(again(), (std::vector<unsigned>{1, 2}));
  run_for(10 * wait);
  EXPECT_EQ(again().size(), 2u);
}

// FC-FS: nobody waits for an ACK after E_D_TOV: an F_BSY that comes then changes nothing. The boundary belongs to it.
TEST_F(BusiedAcks, busied_after_e_d_tov_goes_no_more) {
  busy(1);
  run_for(port.e_d_tov() - 1);
  EXPECT_EQ(again().size(), 1u);
  busy(1);
  run_for(1);
  busy(1);
  run_for(wait);
  EXPECT_EQ(again().size(), 2u);
  busy(1);
  run_for(wait);
  EXPECT_EQ(again().size(), 2u);
}

// impl: 64 ACKs are kept for twice E_D_TOV, no more; those that are kept are served however many there are.
TEST_F(BusiedAcks, busied_full_serves_what_it_has) {
  for (std::uint16_t i = 0; i < 64; ++i) busy(i);
  run_for(wait);
  EXPECT_EQ(again().size(), 64u);
  busy(5);
  EXPECT_EQ(discarded(Discard::NoResources), 0u);
  run_for(wait);
  ASSERT_EQ(again().size(), 65u);
  EXPECT_EQ(again().back(), 5u);
  run_for(2 * port.e_d_tov() - 2 * wait - 1);
  busy(100);
  EXPECT_EQ(discarded(Discard::NoResources), 1u);
  run_for(1);
  busy(101);
  EXPECT_EQ(discarded(Discard::NoResources), 1u);
  run_for(wait);
  EXPECT_EQ(again().back(), 101u);
}

// FC-FS: F_BSY names the frame by its command code, in TYPE 3-0. Only an ACK goes again.
TEST_F(BusiedAcks, busied_commands_but_ack_are_discarded) {
  for (std::uint8_t code = 0; code < 16; ++code) answer(ack(code, static_cast<RCtl>(0xC0 | code)), RCtl::f_bsy_link, 1);
  EXPECT_EQ(discarded(Discard::BadHeader), 14u);
  run_for(wait);
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(sent(RCtl::ack_1, 0).header.ox_id.value, 0u);
  EXPECT_EQ(sent(RCtl::ack_0, 0).header.ox_id.value, 1u);
}

// FC-VI 8.4.2 h): the demand for an abort goes again with its ACK. What does not belong into an ACK does not, as fill
// bytes of the F_BSY.
TEST_F(BusiedAcks, busied_demand_is_kept) {
  wire::FcHeader f_bsy = *wire::FcHeader::parse(
      make_link_control(pool, ack(1), RCtl::f_bsy_link, 1, f_ctl::abort_perform_abts)->content());
  f_bsy.f_ctl |= 3 | f_ctl::relative_offset_present | f_ctl::retransmitted;
  put(f_bsy, wire::Sof::n2, std::array<std::uint8_t, 4>{});
  run_for(wait);
  ASSERT_EQ(log.size(), 1u);
  wire::FcHeader expected = ack(1);
  expected.f_ctl |= f_ctl::abort_perform_abts;
  EXPECT_EQ(sent(RCtl::ack_1, 0).header, expected);
}

}  // namespace
}  // namespace fc2
