// Which frames a rule means: each part of a match alone, turns, chance, time; flags and fields by name.
#include "tools/faults/rules.hpp"

#include <gtest/gtest.h>

#include "tests/support/made_frame.hpp"
#include "tools/faults/iu_flags.hpp"
#include "wire/messages.hpp"

namespace faults {
namespace {
using fc2::LinkDirection;
namespace fcvi = wire::fcvi;

class RulesTest : public testing::Test {
 protected:
  /// A frame with that Device_Header, from port 0 to port 1.
  const fc2::Frame& fcvi_frame(const fcvi::DeviceHeader& header, std::uint16_t seq_cnt = 0) {
    wire::FcHeader fc{.r_ctl = fcvi::find_iu(header.opcode)->r_ctl,
                      .d_id = {0x010200},
                      .s_id = {0x010100},
                      .type = wire::Type::fc_vi};
    fc.df_ctl = wire::df_ctl::with_device_header(header.size());
    fc.seq_cnt = {seq_cnt};
    header.write(std::span(frame_.bytes).subspan(24));
    return finish(fc, 24 + header.size(), seq_cnt == 0);
  }
  const fc2::Frame& send(std::uint32_t msg_id = 1, std::uint16_t seq_cnt = 0) {
    return fcvi_frame({.opcode = fcvi::Opcode::send_rqst, .msg_id = {msg_id}}, seq_cnt);
  }
  const fc2::Frame& resp1(std::uint8_t flags, fcvi::Reason reason = {}) {
    return fcvi_frame({.opcode = fcvi::Opcode::connect_resp1,
                       .flags = flags,
                       .parameter = fcvi::ConnectionStatus{.reason = reason}.to_parameter()});
  }
  const fc2::Frame& els(wire::els::Command command, bool first = true) {
    frame_.bytes[24] = static_cast<std::uint8_t>(command);
    return finish({.r_ctl = wire::RCtl::els_request, .d_id = {0x010200}, .s_id = {0x010100}, .type = wire::Type::els},
                  28, first);
  }
  const fc2::Frame& finish(const wire::FcHeader& header, std::size_t size, bool first) {
    support::fill_frame(frame_, header, size - 24, first ? wire::Sof::i3 : wire::Sof::n3);
    return frame_;
  }
  RuleSet rules(const Match& match, std::vector<std::uint64_t> turns = {}, double probability = 1) {
    return RuleSet(
        {{.match = match, .turns = std::move(turns), .probability = probability, .action = fc2::FaultAction{}}},
        [this](std::size_t, std::size_t) { return chance_; },
        [](wire::FcId id) {
          return id.area() > 0 && id.area() < 3 ? std::optional<std::size_t>(id.area() - 1) : std::nullopt;
        });
  }
  static bool meets(RuleSet& rules, const fc2::Frame& frame, std::size_t link = 0,
                    LinkDirection direction = LinkDirection::Sent, runtime::TimeNs now = runtime::second) {
    return rules.judge(link, direction, frame, now).action != nullptr;
  }
  bool meets(const Match& match, const fc2::Frame& frame, std::size_t link = 0,
             LinkDirection direction = LinkDirection::Sent) {
    RuleSet set = rules(match);
    return meets(set, frame, link, direction);
  }
  fc2::Frame frame_;
  double chance_ = 0;
};

// Every message by the name that decode gives it; nothing else.
TEST_F(RulesTest, message_by_name) {
  for (const fcvi::IuInfo& row : fcvi::iu_table) {
    const fc2::Frame& frame = fcvi_frame({.opcode = row.opcode});
    EXPECT_TRUE(meets(Match{.message = std::string(row.name)}, frame)) << row.name;
    EXPECT_FALSE(meets(Match{.message = "FLOGI"}, frame)) << row.name;
  }
  EXPECT_TRUE(meets(Match{.message = "PLOGI"}, els(wire::els::Command::plogi)));
  EXPECT_TRUE(meets(Match{.message = "ABTS"}, finish({.r_ctl = wire::RCtl::abts}, 24, true)));
  EXPECT_TRUE(meets(Match{}, els(wire::els::Command::logo)));
}

// Later frames of a FC-VI sequence say what they are; those of a link service do not.
TEST_F(RulesTest, message_of_later_frames) {
  EXPECT_TRUE(meets(Match{.message = "FCVI_SEND_RQST"}, send(1, 5)));
  EXPECT_FALSE(meets(Match{.message = "PLOGI"}, els(wire::els::Command::plogi, false)));
}

TEST_F(RulesTest, port_and_direction) {
  EXPECT_TRUE(meets(Match{.links = {0}}, send(), 0));
  EXPECT_FALSE(meets(Match{.links = {0}}, send(), 1));
  EXPECT_FALSE(meets(Match{}, send(), 0, LinkDirection::Received));
  EXPECT_TRUE(meets(Match{.sent = false, .received = true}, send(), 0, LinkDirection::Received));
  EXPECT_FALSE(meets(Match{.sent = false, .received = true}, send(), 0, LinkDirection::Sent));
  EXPECT_TRUE(meets(Match{.sent = true, .received = true}, send(), 0, LinkDirection::Sent));
}

// The peer is who gets what is sent, and who sent what is received.
TEST_F(RulesTest, peer) {
  EXPECT_TRUE(meets(Match{.peers = {1}}, send(), 0, LinkDirection::Sent));
  EXPECT_FALSE(meets(Match{.peers = {0}}, send(), 0, LinkDirection::Sent));
  EXPECT_TRUE(meets(Match{.peers = {0}, .received = true}, send(), 1, LinkDirection::Received));
  EXPECT_FALSE(meets(Match{.peers = {1}, .received = true}, send(), 1, LinkDirection::Received));
  finish({.d_id = wire::well_known::name_server, .s_id = {0x010100}}, 24, true);
  EXPECT_FALSE(meets(Match{.peers = {0, 1}}, frame_));
}

// FC-VI Tables 7 and 9: RETRY is another bit in requests than in responses.
TEST_F(RulesTest, flags) {
  EXPECT_TRUE(meets(Match{.flags = {"RETRY"}}, resp1(fcvi::connect_response_flag::retry)));
  EXPECT_FALSE(meets(Match{.flags = {"RETRY"}}, resp1(fcvi::connect_response_flag::conn_sts)));
  EXPECT_TRUE(meets(Match{.flags_clear = {"RETRY"}}, resp1(fcvi::connect_response_flag::conn_sts)));
  EXPECT_FALSE(meets(Match{.flags_clear = {"RETRY"}}, resp1(fcvi::connect_response_flag::retry)));
  const fcvi::DeviceHeader rqst{.opcode = fcvi::Opcode::connect_rqst, .flags = fcvi::connect_request_flag::retry | 2};
  EXPECT_TRUE(meets(Match{.flags = {"RETRY", "PEER_TO_PEER"}}, fcvi_frame(rqst)));
  EXPECT_FALSE(meets(Match{.flags = {"CLIENT_SERVER"}}, fcvi_frame(rqst)));
  EXPECT_FALSE(meets(Match{.flags_clear = {"RETRY"}}, els(wire::els::Command::plogi)));
}

// FC-VI Table 12: a Reason Code counts where CONN_STS says that there is one.
TEST_F(RulesTest, reason) {
  const Match match{.reason = fcvi::Reason::connect_timeout};
  EXPECT_TRUE(meets(match, resp1(fcvi::connect_response_flag::conn_sts, fcvi::Reason::connect_timeout)));
  EXPECT_FALSE(meets(match, resp1(fcvi::connect_response_flag::conn_sts, fcvi::Reason::connect_reject)));
  EXPECT_FALSE(meets(match, resp1(0, fcvi::Reason::connect_timeout)));
}

TEST_F(RulesTest, fields) {
  const FrameField *msg_id = find_field("fcvi_msg_id"), *seq_cnt = find_field("seq_cnt");
  const Match match{.fields = {{msg_id, 5, 5}, {seq_cnt, 27, 0xFFFF}}};
  EXPECT_TRUE(meets(match, send(5, 27)));
  EXPECT_FALSE(meets(match, send(5, 26)));
  EXPECT_FALSE(meets(match, send(6, 27)));
  EXPECT_FALSE(meets(Match{.fields = {{msg_id, 0, 0xFFFFFFFF}}}, els(wire::els::Command::plogi)));
}

// The n-th of the frames that match; others do not count.
TEST_F(RulesTest, turns) {
  RuleSet set = rules({.message = "FCVI_SEND_RQST"}, {2, 4});
  std::vector<bool> met;
  for (int i = 0; i < 5; ++i) {
    met.push_back(meets(set, send()));
    EXPECT_FALSE(meets(set, els(wire::els::Command::logo)));
  }
  EXPECT_EQ(met, (std::vector<bool>{false, true, false, true, false}));
  EXPECT_EQ(set.matched(0), 5U);
  EXPECT_EQ(set.fired(0), 2U);
}

// Each third, and no more than two of these.
TEST_F(RulesTest, every_and_limit) {
  RuleSet set(
      {{.match = {.message = "FCVI_SEND_RQST"}, .every = 3, .limit = 2, .action = fc2::FaultAction{}}},
      [](std::size_t, std::size_t) { return 0.0; }, [](wire::FcId) { return std::nullopt; });
  std::vector<int> met;
  for (int i = 1; i <= 12; ++i) {
    if (meets(set, send())) met.push_back(i);
    EXPECT_FALSE(meets(set, els(wire::els::Command::logo)));
  }
  EXPECT_EQ(met, (std::vector<int>{3, 6}));
  EXPECT_EQ(set.matched(0), 12U);
}

// Connections are told apart by who asks for the rules; without such a rule nobody is asked.
TEST_F(RulesTest, connections) {
  int asked = 0;
  const auto connection_of = [&](const FrameFacts&, const fc2::Frame&) {
    return ++asked == 2 ? std::nullopt : std::optional<std::size_t>(asked);
  };
  const auto none = [](wire::FcId) { return std::nullopt; };
  RuleSet set(
      {{.match = {.connections = {1, 4}}, .action = fc2::FaultAction{}}}, [](std::size_t, std::size_t) { return 0.0; },
      none, connection_of);
  std::vector<bool> met;
  for (int i = 0; i < 4; ++i) met.push_back(meets(set, send()));
  EXPECT_EQ(met, (std::vector<bool>{true, false, false, true}));
  RuleSet others(
      {{.match = {}, .action = fc2::FaultAction{}}}, [](std::size_t, std::size_t) { return 0.0; }, none, connection_of);
  EXPECT_TRUE(meets(others, send()));
  EXPECT_EQ(asked, 4);
}

// A rule that nothing matched says which of its conditions the nearest frames did not meet.
TEST_F(RulesTest, near_misses) {
  RuleSet set = rules({.message = "FCVI_SEND_RQST", .links = {0}, .flags = {"IMM_DATA"}});
  EXPECT_EQ(set.near_miss(0).frames, 0U);
  meets(set, send(), 1);
  EXPECT_EQ(to_string(set.near_miss(0).key), "port");
  meets(set, els(wire::els::Command::logo));
  EXPECT_EQ(to_string(set.near_miss(0).key), "message");
  EXPECT_EQ(set.near_miss(0).frames, 1U);
  for (int i = 0; i < 3; ++i) meets(set, send());
  EXPECT_EQ(to_string(set.near_miss(0).key), "flags");
  EXPECT_EQ(set.near_miss(0).frames, 3U);
}

// Chance is handed in: below the probability it happens.
TEST_F(RulesTest, probability) {
  RuleSet set = rules({}, {}, 0.25);
  chance_ = 0.24;
  EXPECT_TRUE(meets(set, send()));
  chance_ = 0.25;
  EXPECT_FALSE(meets(set, send()));
}

// A time window counts from the clock's start; before that it is closed; its end is not in it.
TEST_F(RulesTest, time) {
  RuleSet set = rules({.from = 10, .until = 20});
  const auto at = [&](runtime::TimeNs now) { return meets(set, send(), 0, LinkDirection::Sent, now); };
  EXPECT_FALSE(at(15));
  set.start_clock(1000);
  EXPECT_FALSE(at(1009));
  EXPECT_TRUE(at(1010));
  EXPECT_TRUE(at(1019));
  EXPECT_FALSE(at(1020));
  RuleSet from_start = rules({.from = 0});
  EXPECT_FALSE(meets(from_start, send()));
  from_start.start_clock(1000);
  EXPECT_TRUE(meets(from_start, send(), 0, LinkDirection::Sent, 1000));
}

// The first rule whose turn it is decides; each counts for itself, whatever the others do.
TEST_F(RulesTest, several) {
  const Rule second{.match = {.message = "FCVI_SEND_RQST"}, .turns = {2}, .action = fc2::FaultAction{}};
  const Rule any{.match = {}, .turns = {1, 2}, .action = fc2::FaultAction{}};
  RuleSet set(
      {second, any}, [](std::size_t, std::size_t) { return 0.0; }, [](wire::FcId) { return std::nullopt; });
  std::vector<int> verdicts;
  for (int i = 0; i < 3; ++i) verdicts.push_back(set.judge(0, LinkDirection::Sent, send(), 1).rule);
  EXPECT_EQ(verdicts, (std::vector<int>{2, 1, 0}));
}

// A rule without an action only tells; healed, nothing befalls anyone.
TEST_F(RulesTest, listener_and_heal) {
  RuleSet set(
      {{.match = {}, .turns = {}}}, [](std::size_t, std::size_t) { return 0.0; },
      [](wire::FcId) { return std::nullopt; });
  std::size_t heard = 0;
  set.set_listener(
      [&](std::size_t rule, std::size_t link, LinkDirection, const fc2::Frame&) { heard += 1 + rule + link; });
  EXPECT_FALSE(meets(set, send(), 0));
  EXPECT_EQ(heard, 1U);
  RuleSet dropping = rules({});
  dropping.heal();
  EXPECT_FALSE(meets(dropping, send()));
}

// A frame too short for a header meets no rule.
TEST_F(RulesTest, cut_short) {
  send();
  frame_.size_bytes = 23;
  EXPECT_FALSE(meets(Match{}, frame_));
}

TEST(IuFlags, set_by_name) {
  EXPECT_EQ(flags_set(fcvi::Opcode::disconnect_rqst, 0x07),
            (std::vector<std::string>{"CONN_SETUP_ABORT", "VI_APP_DISCON", "CONN_STS"}));
  EXPECT_EQ(flags_set(fcvi::Opcode::connect_rqst, 0x09), (std::vector<std::string>{"CONN_INFO", "CLIENT_SERVER"}));
  EXPECT_EQ(flags_set(fcvi::Opcode::send_rqst, 0x81), (std::vector<std::string>{"IMM_DATA", "bit 7"}));
  EXPECT_EQ(flags_set(fcvi::Opcode::read_resp, 0x03), (std::vector<std::string>{"DESC_ERR", "RESP_ERR"}));
  EXPECT_EQ(opcode_of("FCVI_WRITE_RESP"), fcvi::Opcode::write_resp);
  EXPECT_EQ(opcode_of("PLOGI"), std::nullopt);
  for (const std::string_view name : reason_names()) EXPECT_EQ(to_string(*find_reason(name)), name);
  EXPECT_EQ(reason_names().size(), 20U);
  EXPECT_EQ(find_reason("unknown"), std::nullopt);
}

// Every field stands where the codecs write it.
TEST(FrameFields, read_what_was_written) {
  std::vector<std::uint8_t> frame(24 + 32 + 12);
  const wire::FcHeader fc{.r_ctl = wire::RCtl::solicited_data,
                          .d_id = {0x010203},
                          .cs_ctl = 4,
                          .s_id = {0x050607},
                          .type = wire::Type::fc_vi,
                          .f_ctl = 0x08090A,
                          .seq_id = {11},
                          .df_ctl = 12,
                          .seq_cnt = {0x0D0E},
                          .ox_id = {0x0F10},
                          .rx_id = {0x1112},
                          .parameter = 0x13141516};
  fc.write(frame);
  fcvi::DeviceHeader header{.handle = {0x21222324}, .opcode = fcvi::Opcode::write_rqst, .flags = 0x25};
  header.msg_id = {0x26272829};
  header.parameter = 0x2A2B2C2D;
  header.rmt_va = 0x3132333435363738;
  header.rmt_va_handle = {0x393A3B3C};
  header.tot_len_or_connection_id = 0x41424344;
  header.write(std::span(frame).subspan(24));
  frame[24 + 32 + 8] = 0x51;
  const std::vector<std::pair<std::string_view, std::uint64_t>> expected{{"r_ctl", 1},
                                                                         {"d_id", 0x010203},
                                                                         {"cs_ctl", 4},
                                                                         {"s_id", 0x050607},
                                                                         {"type", 0x58},
                                                                         {"f_ctl", 0x08090A},
                                                                         {"seq_id", 11},
                                                                         {"df_ctl", 12},
                                                                         {"seq_cnt", 0x0D0E},
                                                                         {"ox_id", 0x0F10},
                                                                         {"rx_id", 0x1112},
                                                                         {"parameter", 0x13141516},
                                                                         {"fcvi_handle", 0x21222324},
                                                                         {"fcvi_opcode", 1},
                                                                         {"fcvi_flags", 0x25},
                                                                         {"fcvi_msg_id", 0x26272829},
                                                                         {"fcvi_parameter", 0x2A2B2C2D},
                                                                         {"fcvi_rmt_va", 0x3132333435363738},
                                                                         {"fcvi_rmt_va_handle", 0x393A3B3C},
                                                                         {"fcvi_tot_len", 0x41424344},
                                                                         {"fcvi_connection_id", 0x41424344},
                                                                         {"fcvi_payload_handle", 0x51000000}};
  EXPECT_EQ(field_names().size(), expected.size());
  for (const auto& [name, value] : expected) EXPECT_EQ(find_field(name)->read(frame), value) << name;
  EXPECT_EQ(find_field("nothing"), nullptr);
  EXPECT_EQ(find_field("fcvi_msg_id")->read(std::span(frame).first(30)), std::nullopt);
  EXPECT_EQ(find_field("seq_cnt")->max(), 0xFFFFU);
  EXPECT_EQ(find_field("fcvi_rmt_va")->max(), ~std::uint64_t{0});
}

}  // namespace
}  // namespace faults
