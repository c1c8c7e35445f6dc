// Basic link services and link control parameters.
#include "expect.hpp"
#include "wire/bls/abts.hpp"
#include "wire/bls/ba_acc.hpp"
#include "wire/bls/ba_rjt.hpp"
#include "wire/link_control.hpp"

namespace wire::test {
namespace {

TEST(Abts, has_no_payload) { expect_known({}, bls::Abts{}); }

TEST(BaAcc, known_bytes) {
  expect_known(hex("80"      // SEQ_ID validity
                   "05"      // SEQ_ID
                   "0000"    // reserved
                   "1234"    // OX_ID
                   "5678"    // RX_ID
                   "0000"    // low SEQ_CNT
                   "FFFF"),  // high SEQ_CNT
               bls::BaAcc{bls::BaAcc::seq_id_valid, SeqId{5}, OxId{0x1234}, RxId{0x5678}, SeqCnt{0}, SeqCnt{0xFFFF}});
}

TEST(BaRjt, known_bytes) {
  expect_known(hex("00"    // reserved
                   "03"    // reason: logical error
                   "03"    // explanation: invalid OX_ID-RX_ID
                   "77"),  // vendor unique
               bls::BaRjt{bls::RejectReason::logical_error, bls::RejectExplanation::invalid_ox_id_rx_id, 0x77});
}

TEST(BaRjt, reasons_and_explanations_have_names) {
  for (const int code : {0x01, 0x03, 0x05, 0x07, 0x09, 0xFF})
    EXPECT_NE(to_string(static_cast<bls::RejectReason>(code)), text::unknown);
  for (const int code : {0x00, 0x03, 0x05})
    EXPECT_NE(to_string(static_cast<bls::RejectExplanation>(code)), text::unknown);
}

TEST(LinkReject, known_bytes_and_parameter) {
  const LinkReject reject{RejectAction::retryable, LinkRejectReason::login_required, 0x55};
  expect_known(hex("01"    // action: retryable
                   "16"    // reason: login required
                   "00"    // reserved
                   "55"),  // vendor unique
               reject);
  EXPECT_EQ(reject.to_parameter(), 0x01160055U);
  EXPECT_EQ(LinkReject::from_parameter(0x0116FF55), reject);
}

TEST(LinkBusy, known_bytes_and_parameter) {
  const LinkBusy busy{LinkBusy::sequence_active, LinkBusyReason::n_port_busy, 0};
  expect_known(hex("02 01 00 00"), busy);
  EXPECT_EQ(busy.to_parameter(), 0x02010000U);
  EXPECT_EQ(LinkBusy::from_parameter(0x02010000), busy);
}

TEST(LinkControl, codes_have_names) {
  int named = 0;
  for (int code = 0; code < 256; ++code)
    named += to_string(static_cast<LinkRejectReason>(code)) != text::unknown ? 1 : 0;
  EXPECT_EQ(named, 36);
  for (const int code : {1, 2}) EXPECT_NE(to_string(static_cast<RejectAction>(code)), text::unknown);
  for (const int code : {1, 3, 0xFF}) EXPECT_NE(to_string(static_cast<LinkBusyReason>(code)), text::unknown);
}

}  // namespace
}  // namespace wire::test
