// DDP over SCTP: adaptation indication, DDP-SSN, session control messages of both RFCs, each wrong.
#include <optional>

#include "expect.hpp"
#include "wire/iwarp/sctp/session_control.hpp"

namespace wire::test {
namespace {
using mpa::EnhancedData;
using sctp::AdaptationIndication;
using sctp::ChunkHeader;
using sctp::FunctionCode;
using sctp::SessionControl;

// RFC 5043 5.1: type C006h, indication 1.
TEST(SctpAdaptation, indication_of_ddp) {
  expect_known(hex("C006 0008 00000001"), AdaptationIndication{});
  AdaptationIndication other;
  other.indication = 7;
  expect_known(hex("C006 0008 00000007"), other);
}

TEST(SctpAdaptation, another_parameter_is_refused) {
  EXPECT_EQ(AdaptationIndication::parse(hex("C005 0008 00000001")).error().code, ParseCode::bad_value);
  EXPECT_EQ(AdaptationIndication::parse(hex("C006 000C 00000001")).error().code, ParseCode::bad_value);
  const auto octets = hex("C006 0008 00000001");
  for (std::size_t cut = 0; cut < octets.size(); ++cut)
    EXPECT_EQ(AdaptationIndication::parse(Bytes(octets).first(cut)).error().code, ParseCode::truncated);
}

// RFC 5043 5.2, 5.2.1: a segment chunk is the DDP-SSN and the segment; the identifiers.
TEST(SctpChunk, ssn) {
  expect_known(hex("0102"), ChunkHeader{0x0102});
  EXPECT_EQ(sctp::segment_chunk, 16u);
  EXPECT_EQ(sctp::session_control_chunk, 17u);
  EXPECT_TRUE(sctp::ssn_less(0, 1));
  EXPECT_TRUE(sctp::ssn_less(0xFFFF, 0));
  EXPECT_FALSE(sctp::ssn_less(1, 1));
  EXPECT_FALSE(sctp::ssn_less(1, 0));
}

// RFC 5043 5.2.3: each function code; Private Data may be of no octets.
TEST(SctpSessionControl, each_function) {
  expect_known(hex("0000 0001 CAFE"), SessionControl{0, FunctionCode::initiate, {}, hex("CAFE")});
  expect_known(hex("0000 0002"), SessionControl{0, FunctionCode::accept, {}, {}});
  expect_known(hex("0000 0003 07"), SessionControl{0, FunctionCode::reject, {}, hex("07")});
  expect_known(hex("0105 0004"), SessionControl{0x0105, FunctionCode::terminate, {}, {}});
}

// RFC 6581 7: the enhanced ones begin with IRD and ORD; Private Data follows.
TEST(SctpSessionControl, each_enhanced_function) {
  const EnhancedData data{.peer_to_peer = true, .ird = 16, .rdma_write_rtr = true, .ord = 1};
  expect_known(hex("0000 0005 8010 8001 AB"), SessionControl{0, FunctionCode::enhanced_initiate, data, hex("AB")});
  expect_known(hex("0000 0006 8010 8001"), SessionControl{0, FunctionCode::enhanced_accept, data, {}});
  expect_known(hex("0000 0007 8010 8001 AB"), SessionControl{0, FunctionCode::enhanced_reject, data, hex("AB")});
}

// RFC 5043 5.2.3: at most 512 octets of Private Data; none of Terminate. RFC 6581 7: the enhanced data counts.
TEST(SctpSessionControl, wrong_length_is_refused) {
  for (const std::uint8_t code : {std::uint8_t{1}, std::uint8_t{5}}) {
    std::vector<std::uint8_t> octets = hex("0000 0000");
    octets[3] = code;
    octets.resize(SessionControl::max_bytes);
    ASSERT_TRUE(SessionControl::parse(octets).has_value());
    EXPECT_EQ(SessionControl::parse(octets)->private_data.size(), code == 1 ? 512u : 508u);
    octets.push_back(0);
    EXPECT_EQ(SessionControl::parse(octets).error(), (ParseError{ParseCode::bad_length, "private_data"}));
  }
  EXPECT_EQ(SessionControl::parse(hex("0000 0004 01")).error(), (ParseError{ParseCode::bad_length, "private_data"}));
}

TEST(SctpSessionControl, unknown_function_is_refused) {
  for (const char* const text : {"0000 0000", "0000 0008", "0000 0101", "0000 FFFF"})
    EXPECT_EQ(SessionControl::parse(hex(text)).error(), (ParseError{ParseCode::bad_value, "function_code"}));
}

TEST(SctpSessionControl, every_prefix_is_truncated) {
  const auto octets = hex("0000 0005 8010 8001");
  for (std::size_t cut = 0; cut < octets.size(); ++cut) {
    const auto parsed = SessionControl::parse(Bytes(octets).first(cut));
    ASSERT_FALSE(parsed.has_value()) << cut;
    EXPECT_EQ(parsed.error(), (ParseError{ParseCode::truncated, cut < 2   ? "ddp_ssn"
                                                                : cut < 4 ? "function_code"
                                                                          : "enhanced_data"}));
  }
}

TEST(SctpSessionControl, text_tells_what_it_is) {
  const SessionControl message{3, FunctionCode::enhanced_accept, EnhancedData{.ird = 1, .ord = 2}, hex("AB")};
  EXPECT_EQ(message.to_string(),
            "SESSION_CONTROL ddp_ssn=3 function=Enhanced Accept {ENHANCED ird=1 ord=2} private_data=AB");
}

}  // namespace
}  // namespace wire::test
