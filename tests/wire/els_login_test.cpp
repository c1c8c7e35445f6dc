// PLOGI, FLOGI and their accepts.
#include "expect.hpp"
#include "wire/els/login.hpp"

namespace wire::test {
namespace {

els::ClassParameters class_3_of(std::uint16_t receive_size, std::uint16_t sequences, std::uint16_t open) {
  els::ClassParameters parameters;
  parameters.service_options = els::class_option::valid | els::class_option::sequential_delivery;
  parameters.receive_data_field_size = receive_size;
  parameters.concurrent_sequences = sequences;
  parameters.open_sequences_per_exchange = open;
  return parameters;
}

// tests/data/linux-fabric-login.pcap, frame 11.
TEST(Login, captured_plogi) {
  els::Login plogi;
  plogi.command = els::Command::plogi;
  plogi.bb_credit = 10;
  plogi.features = els::feature::continuously_increasing_relative_offset;
  plogi.receive_data_field_size = 2112;
  plogi.total_concurrent_sequences = 255;
  plogi.relative_offset_by_category = 0x001F;
  plogi.e_d_tov = 2000;
  plogi.port_name = Wwn{0x2000525400FC0E01};
  plogi.node_name = Wwn{0x1000525400FC0E01};
  plogi.class_3 = class_3_of(2112, 255, 1);
  expect_known(join(hex("03 000000"           // PLOGI
                        "2020 000A"           // version, BB_Credit
                        "8000 0840"           // features, BB_SC_N and receive data field size
                        "00FF 001F"           // concurrent sequences, relative offset by category
                        "000007D0"            // E_D_TOV 2000 ms
                        "2000525400FC0E01"    // Port_Name
                        "1000525400FC0E01"),  // Node_Name
                    zeros(32),                // class 1, class 2
                    hex("8800 0000"           // class 3: valid, sequential delivery; initiator control
                        "0000 0840"           // recipient control, receive data field size
                        "00FF 0000"           // concurrent sequences, credit
                        "0001 0000"),         // open sequences per exchange
                    zeros(32)),               // class 4, vendor version
               plogi);
}

// tests/data/linux-fabric-login.pcap, frame 10.
TEST(Login, captured_flogi_accept) {
  els::Login accept;
  accept.command = els::Command::ls_acc;
  accept.bb_credit = 10;
  accept.features = els::feature::f_port;
  accept.receive_data_field_size = 2112;
  accept.set_r_a_tov_ms(10'000);
  accept.e_d_tov = 2000;
  accept.port_name = Wwn{0x200002FCF0000001};
  accept.node_name = Wwn{0x100002FCF0000001};
  accept.class_3 = class_3_of(2112, 255, 1);
  expect_known(join(hex("02 000000 2020 000A 1000 0840"
                        "00002710"  // R_A_TOV 10000 ms
                        "000007D0 200002FCF0000001 100002FCF0000001"),
                    zeros(32), hex("8800 0000 0000 0840 00FF 0000 0001 0000"), zeros(32)),
               accept);
  EXPECT_EQ(accept.r_a_tov_ms(), 10'000U);
}

TEST(Login, other_commands_are_refused) {
  auto bytes = written(els::Login{});
  bytes[0] = 0x05;
  expect_error<els::Login>(bytes, ParseCode::bad_value, "command");
}

TEST(Login, bb_sc_n_and_receive_size_share_a_half_word) {
  els::Login login;
  login.bb_sc_n = 0xA;
  login.receive_data_field_size = 0x840;
  EXPECT_EQ(written(login)[10], 0xA8);
  EXPECT_EQ(written(login)[11], 0x40);
}

TEST(Login, features) {  // FC-LS; ruling 12: word 1 bit 31 and bit 17 of the common service parameters
  EXPECT_EQ(els::feature::continuously_increasing_relative_offset, 0x8000);
  EXPECT_EQ(els::feature::f_port, 0x1000);
  EXPECT_EQ(els::feature::e_d_tov_ns, 0x0400);
  EXPECT_EQ(els::feature::seq_cnt, 0x0002);
  els::Login login;
  login.features = els::feature::continuously_increasing_relative_offset | els::feature::seq_cnt;
  EXPECT_EQ(load_big<4>(written(login).data() + 8) >> 31, 1U);
  EXPECT_EQ(load_big<4>(written(login).data() + 8) >> 17 & 1, 1U);
  EXPECT_TRUE(login.has(els::feature::seq_cnt));
}

TEST(Login, e_d_tov_in_either_unit) {
  els::Login login;
  login.e_d_tov = 2000;
  EXPECT_EQ(login.e_d_tov_ms(), 2000U);
  login.features = els::feature::e_d_tov_ns;
  login.e_d_tov = 2'000'000'000;
  EXPECT_EQ(login.e_d_tov_ms(), 2000U);
}

TEST(ClassParameters, valid) {
  EXPECT_TRUE(class_3_of(2112, 1, 1).valid());
  EXPECT_FALSE(els::ClassParameters{}.valid());
}

}  // namespace
}  // namespace wire::test
