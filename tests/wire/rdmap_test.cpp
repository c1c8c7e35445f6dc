// DDP and RDMAP: known octets of each header, of messages as RFC 5040 Appendix A draws them, Terminates good and bad.
#include "expect.hpp"
#include "wire/iwarp/ddp/header.hpp"
#include "wire/iwarp/rdmap/opcode.hpp"
#include "wire/iwarp/rdmap/terminate.hpp"

namespace wire::test {
namespace {

using Octets = std::vector<std::uint8_t>;
using ddp::Header;
using rdmap::Cause;
using rdmap::Opcode;
using rdmap::Terminate;

Header tagged(Opcode opcode, std::uint32_t stag, std::uint64_t offset, bool last = true) {
  Header header;
  header.tagged = true;
  header.last = last;
  header.rsvd_ulp = rdmap::Control{1, opcode}.to_rsvd_ulp();
  header.stag = {stag};
  header.tagged_offset = offset;
  return header;
}

Header untagged(Opcode opcode, std::uint32_t queue, std::uint32_t msn, std::uint32_t offset, bool last = true) {
  Header header;
  header.last = last;
  header.rsvd_ulp = rdmap::Control{1, opcode}.to_rsvd_ulp();
  header.queue_number = queue;
  header.msn = {msn};
  header.message_offset = offset;
  return header;
}

// RFC 5041 4.2, RFC 5040 A.1.
TEST(Ddp, rdma_write) {
  expect_known(hex("C1"                  // T, L, DV 1
                   "40"                  // RV 1, RDMA Write
                   "0BADCAFE"            // STag
                   "00007F1234567890"),  // TO
               tagged(Opcode::rdma_write, 0x0BADCAFE, 0x00007F1234567890));
}

// RFC 5041 4.2, RFC 5040 A.3: a segment that is not the last.
TEST(Ddp, rdma_read_response) {
  expect_known(hex("81 42 00000100 8000000000000000"),
               tagged(Opcode::rdma_read_response, 0x100, 0x8000000000000000, false));
}

// RFC 5041 4.3, RFC 5040 A.4: the header of RFC 5044 Figure 5.
TEST(Ddp, send) {
  expect_known(hex("41"          // L, DV 1
                   "43"          // RV 1, Send
                   "00000000"    // RsvdULP
                   "00000000"    // QN
                   "00000001"    // MSN
                   "00000000"),  // MO
               untagged(Opcode::send, rdmap::send_queue, 1, 0));
}

// RFC 5040 4.1, A.5: Invalidate STag stands in RsvdULP. RFC 5041 4.3.
TEST(Ddp, send_with_se_and_invalidate) {
  Header header = untagged(Opcode::send_with_se_and_invalidate, 0, 0xFFFFFFFF, 0x5A4, false);
  header.rsvd_ulp_untagged = 0x00C0FFEE;
  expect_known(hex("01 46 00C0FFEE 00000000 FFFFFFFF 000005A4"), header);
}

// RFC 5041 4.1: reserved bits are not checked; each version is told.
TEST(Ddp, reserved_bits_are_ignored_and_versions_told) {
  EXPECT_EQ(*Header::parse(hex("7D 43 00000000 00000000 00000001 00000000")), untagged(Opcode::send, 0, 1, 0));
  for (std::uint8_t version = 0; version < 4; ++version) {
    Octets octets = hex("40 43 00000000 00000000 00000001 00000000");
    octets[0] |= version;
    EXPECT_EQ(Header::parse(octets)->version, version);
    EXPECT_EQ(written(*Header::parse(octets)), octets);
  }
}

TEST(Ddp, every_prefix_names_the_field_that_is_cut) {
  const Octets write = hex("C1 40 0BADCAFE 00007F1234567890"), send = hex("41 43 01020304 00000000 00000001 00000000");
  const auto field = [](const Octets& octets, std::size_t length) {
    const auto parsed = Header::parse(Octets(octets.begin(), octets.begin() + static_cast<long>(length)));
    EXPECT_EQ(parsed.error().code, ParseCode::truncated);
    return std::string_view(parsed.error().field);
  };
  EXPECT_EQ(field(write, 0), "ddp_control");
  EXPECT_EQ(field(write, 1), "rsvd_ulp");
  for (std::size_t length = 2; length < 6; ++length) EXPECT_EQ(field(write, length), "stag");
  for (std::size_t length = 6; length < 14; ++length) EXPECT_EQ(field(write, length), "tagged_offset");
  for (std::size_t length = 2; length < 6; ++length) EXPECT_EQ(field(send, length), "rsvd_ulp_untagged");
  for (std::size_t length = 6; length < 10; ++length) EXPECT_EQ(field(send, length), "queue_number");
  for (std::size_t length = 10; length < 14; ++length) EXPECT_EQ(field(send, length), "msn");
  for (std::size_t length = 14; length < 18; ++length) EXPECT_EQ(field(send, length), "message_offset");
}

// RFC 5041 4.3: order across the wrap.
TEST(Ddp, msn_wraps) {
  const ddp::Msn last{0xFFFFFFFF};
  EXPECT_EQ(advance(last), ddp::Msn{0});
  EXPECT_EQ(advance(last, 2), ddp::Msn{});
  EXPECT_TRUE(serial_less(last, advance(last)));
  EXPECT_FALSE(serial_less(advance(last), last));
  EXPECT_FALSE(serial_less(last, last));
}

// RFC 5041 7.2.
TEST(Ddp, error_numbers_have_names) {
  for (std::uint8_t type = 0; type <= 3; ++type) EXPECT_NE(to_string(static_cast<ddp::ErrorType>(type)), text::unknown);
  for (std::uint8_t code = 0; code <= 4; ++code)
    EXPECT_NE(to_string(static_cast<ddp::TaggedError>(code)), text::unknown);
  for (std::uint8_t code = 1; code <= 6; ++code)
    EXPECT_NE(to_string(static_cast<ddp::UntaggedError>(code)), text::unknown);
  EXPECT_EQ(to_string(static_cast<ddp::ErrorType>(4)), text::unknown);
  EXPECT_EQ(to_string(static_cast<ddp::TaggedError>(5)), text::unknown);
  EXPECT_EQ(to_string(static_cast<ddp::UntaggedError>(0)), text::unknown);
}

// RFC 5040 4.1: RV, reserved bits, opcode.
TEST(Rdmap, control) {
  expect_known(hex("47"), rdmap::Control{1, Opcode::terminate});
  expect_known(hex("00"), rdmap::Control{0, Opcode::rdma_write});
  EXPECT_EQ(*rdmap::Control::parse(hex("73")), (rdmap::Control{1, Opcode::send}));
  EXPECT_EQ(rdmap::Control::parse(hex("FF"))->to_string(), "RDMAP rdmap_control=3h opcode=Fh");
  for (unsigned octet = 0; octet < 256; ++octet) {
    const auto rsvd_ulp = static_cast<std::uint8_t>(octet);
    EXPECT_EQ(rdmap::Control::of(rsvd_ulp), *rdmap::Control::parse(Octets{rsvd_ulp}));
    EXPECT_EQ(rdmap::Control::of(rsvd_ulp).to_rsvd_ulp(), octet & 0xCF);
  }
}

// RFC 5040 Figures 4 and 5, RFC 7306 Figures 2 and 3. RFC 5040 4.1.
TEST(Rdmap, table_of_opcodes) {
  for (std::uint8_t value = 0; value < 16; ++value) {
    const auto opcode = static_cast<Opcode>(value);
    ASSERT_EQ(is_known(opcode), value < 12);
    if (!is_known(opcode)) {
      EXPECT_EQ(to_string(opcode), text::unknown);
      continue;
    }
    const rdmap::OpcodeInfo& info = info_of(opcode);
    EXPECT_EQ(info.opcode, opcode);
    EXPECT_EQ(info.tagged, value == 0 || value == 2) << info.name;
    EXPECT_EQ(info.invalidates, value == 4 || value == 6) << info.name;
    EXPECT_EQ(info.solicited_event, value == 5 || value == 6 || value == 9) << info.name;
    EXPECT_EQ(info.has_payload, value != 1 && value < 7) << info.name;
    EXPECT_EQ(info.has_payload, info.header == rdmap::RdmaHeader::none) << info.name;
  }
  EXPECT_EQ(info_of(Opcode::send).queue_number, 0U);
  EXPECT_EQ(info_of(Opcode::rdma_read_request).queue_number, 1U);
  EXPECT_EQ(info_of(Opcode::terminate).queue_number, 2U);
  EXPECT_EQ(info_of(Opcode::immediate_data_with_se).queue_number, 0U);
  EXPECT_EQ(info_of(Opcode::atomic_request).queue_number, 1U);
  EXPECT_EQ(info_of(Opcode::atomic_response).queue_number, 3U);
}

const std::string read_request_octets =
    "11223344"           // Data Sink STag
    "0000000000001000"   // Data Sink Tagged Offset
    "00010000"           // RDMA Read Message Size
    "55667788"           // Data Source STag
    "00007F0000002000";  // Data Source Tagged Offset
const rdmap::ReadRequest read_request{{0x11223344}, 0x1000, 0x10000, {0x55667788}, 0x00007F0000002000};

// RFC 5040 4.4.
TEST(Rdmap, read_request) { expect_known(hex(read_request_octets), read_request); }

// RFC 7306 6.2.
TEST(Rdmap, immediate_data) {
  expect_known(hex("0123456789ABCDEF"), rdmap::ImmediateData{0x0123456789ABCDEF});
  expect_error<rdmap::ImmediateData>(hex("01234567"), ParseCode::truncated, "immediate_data");
}

// RFC 5040 4.8: the error of an RDMA Read Request, with all headers.
TEST(Rdmap, terminate_of_a_read_request) {
  Terminate terminate;
  terminate.cause = Cause::of(rdmap::ProtectionError::base_or_bounds);
  terminate.segment_length = 46;
  terminate.ddp_header = untagged(Opcode::rdma_read_request, 1, 3, 0);
  terminate.read_request = read_request;
  expect_known(hex("01"    // RDMA, Remote Protection Error
                   "01"    // Base or bounds violation
                   "E000"  // M, D, R
                   "002E"  // DDP Segment Length
                   "41 41 00000000 00000001 00000003 00000000" +
                   read_request_octets),
               terminate);
  EXPECT_EQ(terminate.size(), Terminate::max_bytes);
}

// RFC 5040 4.8, RFC 5041 7.2: the header of a Tagged segment is four octets shorter.
TEST(Rdmap, terminate_of_a_tagged_segment) {
  Terminate terminate;
  terminate.cause = Cause::of(ddp::TaggedError::invalid_stag);
  terminate.segment_length = 1'454;
  terminate.ddp_header = tagged(Opcode::rdma_write, 0xDEAD, 0x10, false);
  expect_known(hex("11 00 C000 05AE 81 40 0000DEAD 0000000000000010"), terminate);
}

// RFC 5040 Figure 10: LLP errors have no headers. RFC 5044 8: the CRC; ruling M-6: 20h 02h. RFC 5040 4.8.
TEST(Rdmap, terminate_of_a_wrong_crc) {
  Terminate terminate;
  terminate.cause = Cause::of(mpa::ErrorCode::crc_mismatch);
  expect_known(hex("20 02 0000"), terminate);
}

// RFC 5040 4.8: M alone, D alone (the length is there, and not valid), R alone.
TEST(Rdmap, each_header_control_bit_by_itself) {
  Terminate terminate;
  terminate.cause = Cause::of(rdmap::OperationError::unexpected_opcode);
  terminate.segment_length = 18;
  expect_known(hex("02 06 8000 0012"), terminate);
  terminate.segment_length.reset();
  terminate.read_request = read_request;
  expect_known(hex("02 06 2000" + read_request_octets), terminate);
  terminate.read_request.reset();
  terminate.ddp_header = untagged(Opcode::send, 0, 1, 0);
  expect_known(hex("02 06 4000 0000 41 43 00000000 00000000 00000001 00000000"), terminate);
  EXPECT_EQ(*Terminate::parse(hex("02 06 4000 1234 41 43 00000000 00000000 00000001 00000000")), terminate);
}

// RFC 5040 4.8: the 13 reserved bits are ignored.
TEST(Rdmap, terminate_reserved_bits_are_ignored) {
  EXPECT_EQ(*Terminate::parse(hex("20 02 1FFF")), *Terminate::parse(hex("20 02 0000")));
}

// Ruling M-6: what siw sends is read as it stands, and says that it makes no sense; nothing of it is refused.
TEST(Rdmap, terminate_as_siw_sends_it) {
  const auto parsed = Terminate::parse(hex("02 02 0000"));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(to_string(parsed->cause), "RDMA/Remote Operation Error/unknown 02h");
}

TEST(Rdmap, terminate_cut_anywhere) {
  const Octets whole = hex("01 01 E000 002E 41 41 00000000 00000001 00000003 00000000" + read_request_octets);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Octets prefix(whole.begin(), whole.begin() + static_cast<long>(length));
    const auto parsed = Terminate::parse(prefix);
    ASSERT_FALSE(parsed.has_value()) << length;
    EXPECT_EQ(parsed.error().code, ParseCode::truncated);
    const std::string_view field = parsed.error().field;
    EXPECT_EQ(field == "terminate_control", length < 4) << length;
    EXPECT_EQ(field == "ddp_segment_length", length == 4 || length == 5) << length;
    EXPECT_EQ(field == "ddp_control", length == 6) << length;
    EXPECT_EQ(field == "sink_stag", length >= 24 && length < 28) << length;
    EXPECT_EQ(Terminate::cause_of(prefix).code, length < 2 ? 0 : 1);
  }
  EXPECT_EQ(Terminate::cause_of(whole), Cause::of(rdmap::ProtectionError::base_or_bounds));
  EXPECT_EQ(Terminate::cause_of(Bytes{}), Cause::local_catastrophic(rdmap::Layer::rdma));
}

// RFC 5040 Figure 9, RFC 5041 7.2, RFC 5044 8, RFC 6581 8: layer, type and code of each, and its name. RFC 5040 4.8.
TEST(Rdmap, causes) {
  const auto is = [](const Cause& cause, unsigned layer_and_type, unsigned code, std::string_view text) {
    EXPECT_EQ(static_cast<unsigned>(cause.layer) << 4 | cause.type, layer_and_type) << text;
    EXPECT_EQ(cause.code, code) << text;
    EXPECT_EQ(to_string(cause), text);
  };
  using enum rdmap::ProtectionError;
  is(Cause::local_catastrophic(rdmap::Layer::rdma), 0x00, 0, "RDMA/Local Catastrophic Error");
  is(Cause::of(invalid_stag), 0x01, 0x00, "RDMA/Remote Protection Error/Invalid STag");
  is(Cause::of(access_rights), 0x01, 0x02, "RDMA/Remote Protection Error/Access rights violation");
  is(Cause::of(stag_not_associated), 0x01, 0x03, "RDMA/Remote Protection Error/STag not associated with RDMAP Stream");
  is(Cause::of(to_wrap), 0x01, 0x04, "RDMA/Remote Protection Error/TO wrap");
  is(Cause::of(stag_cannot_be_invalidated), 0x01, 0x09, "RDMA/Remote Protection Error/STag cannot be Invalidated");
  is(Cause::of(unspecified), 0x01, 0xFF, "RDMA/Remote Protection Error/Unspecified Error");
  using Operation = rdmap::OperationError;
  is(Cause::of(Operation::invalid_version), 0x02, 0x05, "RDMA/Remote Operation Error/Invalid RDMAP version");
  is(Cause::of(Operation::catastrophic_stream), 0x02, 0x07,
     "RDMA/Remote Operation Error/Catastrophic error, localized to RDMAP Stream");
  is(Cause::of(Operation::catastrophic_global), 0x02, 0x08, "RDMA/Remote Operation Error/Catastrophic error, global");
  is(Cause::local_catastrophic(rdmap::Layer::ddp), 0x10, 0, "DDP/Local Catastrophic");
  is(Cause::of(ddp::TaggedError::to_wrap), 0x11, 0x03, "DDP/Tagged Buffer Error/TO wrap");
  is(Cause::of(ddp::UntaggedError::no_buffer), 0x12, 0x02,
     "DDP/Untagged Buffer Error/Invalid MSN - no buffer available");
  is(Cause::of(mpa::ErrorCode::connection_lost), 0x20, 1, "LLP/MPA/TCP connection closed, terminated, or lost");
  is(Cause::of(mpa::ErrorCode::insufficient_ird), 0x20, 6, "LLP/MPA/Insufficient IRD resources");
  is({static_cast<rdmap::Layer>(9), 4, 7}, 0x94, 7, "unknown 9h/unknown 4h/unknown 07h");
}

TEST(Rdmap, text_tells_what_the_terminate_says) {
  EXPECT_EQ(
      Terminate::parse(hex("11 00 C000 05AE 81 40 0000DEAD 0000000000000010"))->to_string(),
      "TERMINATE cause=DDP/Tagged Buffer Error/Invalid STag segment_length=1454 {DDP tagged version=1 rsvd_ulp=40h "
      "stag=0000DEADh tagged_offset=0000000000000010h}");
  EXPECT_EQ(Header::parse(hex("41 43 00000000 00000000 00000002 00000007"))->to_string(),
            "DDP untagged last version=1 rsvd_ulp=43h rsvd_ulp_untagged=00000000h queue=0 msn=00000002h "
            "message_offset=7");
}

}  // namespace
}  // namespace wire::test
