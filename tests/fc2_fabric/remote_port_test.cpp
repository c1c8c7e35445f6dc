// What an N_Port knows of another one, and when it is of use (FC-VI 4.1, 5.5, 5.6, 7.7; FC-FS, FC-LS).
#include "fc2_fabric/node/remote_port.hpp"

#include <gtest/gtest.h>

#include "tests/support/fc4.hpp"
#include "tests/support/lone_port.hpp"
#include "tests/support/port_pair.hpp"

namespace fc2 {
namespace {
using wire::els::Login;
constexpr wire::FcId peer{0x0E02};

class RemotePortTest : public support::LonePort {
 protected:
  explicit RemotePortTest(const Adjust& adjust = {}, TimeNs start = second) : LonePort(adjust, start) {}
  RemotePort& remote() { return port.remote_port(peer); }

  /// Has work, but waits for something.
  struct Waiting final : FrameSource {
    Next next_frame(Frame&) override {
      if (!may_go()) return Next::Blocked;
      gone = true;
      return Next::Exhausted;
    }
    std::function<bool()> may_go;
    bool gone = false;
  } source;
  /// It waits, and goes when `give` gives what it waits for.
  template <class Give>
  void expect_resumed(Give give) {
    port.transmitter().submit(source);
    run_for(millisecond);
    EXPECT_FALSE(source.gone);
    give();
    run_for(millisecond);
    EXPECT_TRUE(source.gone);
  }
};

// FC-LS: the receive data field size is a multiple of 4 from 256 on; nobody sends more than the one says, nor than
// it takes itself.
TEST_F(RemotePortTest, logged_in_data_field_is_a_multiple_of_4) {
  EXPECT_EQ(remote().send_data_field_bytes(), 2112U) << "no login: nothing is known";
  struct Case {
    std::uint16_t told;
    std::size_t sent;
  };
  for (const Case& one : {Case{256, 256}, {258, 256}, {2003, 2000}, {2110, 2108}, {2112, 2112}, {0xFFFF, 2112}}) {
    plogi(peer, [&](Login& login) { login.class_3.receive_data_field_size = one.told; });
    EXPECT_EQ(remote().send_data_field_bytes(), one.sent) << one.told;
  }
}

// --- in use ------------------------------------------------------------------------------------------------------

// FC-FS: the fabric's own addresses, FFFC00h and above, and ourselves are always in use; others are not for being
// known, or logged in.
TEST_F(RemotePortTest, known_in_use_by_its_address) {
  for (const std::uint32_t id : {0xFFFC00U, 0xFFFC01U, 0xFFFFFCU, own.value})
    EXPECT_TRUE(port.remote_port({id}).in_use()) << id;
  EXPECT_FALSE(port.remote_port({0xFFFBFF}).in_use());
  EXPECT_FALSE(remote().in_use());
  plogi(peer);
  ASSERT_TRUE(remote().logged_in());
  run_for(millisecond);
  EXPECT_FALSE(remote().in_use());
}

// Whoever counts on it keeps it: a user, a sequence that is open, an exchange that the peer opened.
TEST_F(RemotePortTest, logged_in_in_use_as_long_as_somebody_counts_on_it) {
  plogi(peer);
  run_for(millisecond);
  {
    const PortUse use(remote());
    EXPECT_TRUE(remote().in_use());
  }
  EXPECT_FALSE(remote().in_use());
  const auto seq_id = remote().take_seq_id();
  EXPECT_TRUE(remote().in_use());
  remote().give_back_seq_id(*seq_id);
  EXPECT_FALSE(remote().in_use());
  support::RecordingUser user;
  port.set_user(wire::Type::ct, user);
  receive(support::request_header(wire::RCtl::unsolicited_control, wire::Type::ct, own, peer, {9}), support::zeros(16));
  ASSERT_EQ(user.ius.size(), 1U);
  EXPECT_TRUE(remote().in_use());
  port.release(*user.ius[0].exchange);
  EXPECT_FALSE(remote().in_use());
}

// FC-LS LS_RJT "logical busy": the login is asked for again after a while. Until then no exchange is open, but
// somebody wants it.
TEST_F(RemotePortTest, retry_pending_in_use) {
  remote().log_in();
  run_for(0);
  reject_plogi(peer, wire::els::RejectReason::logical_busy);
  EXPECT_EQ(port.open_exchanges(), 0U);
  EXPECT_TRUE(remote().logging_in());
  EXPECT_TRUE(remote().in_use());
}

// --- the login's end ---------------------------------------------------------------------------------------------

struct RemoteClass2Port : RemotePortTest {
  RemoteClass2Port()
      : RemotePortTest([](NPortConfig& config) {
          config.end_to_end_credit = 2;
          config.ack_0 = true;
        }) {}
};

// FC-VI 5.6, FC-FS: what the peer said of itself counts as long as its login lasts.
TEST_F(RemoteClass2Port, logged_out_supports_nothing) {
  plogi(peer);
  EXPECT_TRUE(remote().supports(support::fc4));
  EXPECT_TRUE(remote().supports_class_2());
  logo(peer);
  EXPECT_FALSE(remote().supports(support::fc4));
  EXPECT_FALSE(remote().supports_class_2());
}

// FC-LS 6.6.5 Recipient Control: what is reserved there says nothing of ACK_0.
TEST_F(RemoteClass2Port, logged_in_ack_0_is_one_bit) {
  plogi(peer, [](Login& login) { login.class_2.recipient_control = 0x7FFF; });
  EXPECT_FALSE(remote().uses_ack_0());
  plogi(peer, [](Login& login) { login.class_2.recipient_control = 0x8000; });
  EXPECT_TRUE(remote().uses_ack_0());
}

// FC-VI 7.7: the link goes, and comes too late: the login that waited for it is over, and the next one
// waits for nothing.
TEST_F(RemotePortTest, suspended_login_ends_next_one_is_not_suspended) {
  plogi(peer);
  port.link_interrupted();
  EXPECT_TRUE(remote().suspended());
  run_for(port.r_a_tov());
  EXPECT_FALSE(remote().logged_in());
  EXPECT_FALSE(remote().suspended());
  port.link_up_without_fabric(to_wire, own);
  plogi(peer);
  EXPECT_TRUE(remote().logged_in());
  EXPECT_FALSE(remote().suspended());
}

/// From the very first nanosecond on.
struct Denial : RemotePortTest {
  Denial() : RemotePortTest({}, 0) {}
};

// FC-FS LOGO to a port that sends without a login: once per E_D_TOV. A login tells it the same: after that, at once.
TEST_F(Denial, denied_again_after_e_d_tov) {
  EXPECT_TRUE(remote().may_be_denied());
  EXPECT_FALSE(remote().may_be_denied());
  plogi(peer);
  logo(peer);
  EXPECT_TRUE(remote().may_be_denied()) << "the login made up for it";
  run_for(port.e_d_tov() - 1);
  EXPECT_FALSE(remote().may_be_denied());
  run_for(1);
  EXPECT_TRUE(remote().may_be_denied());
  EXPECT_FALSE(remote().may_be_denied());
}

// --- SEQ_IDs: FC-VI 4.1, 5.5 -------------------------------------------------------------------------------------

// The SEQ_ID of a sequence that is open is not given again until it is closed.
TEST_F(RemotePortTest, open_sequence_has_its_seq_id_alone) {
  const auto held = remote().take_seq_id();
  ASSERT_TRUE(held);
  for (int round = 0; round < 2; ++round)
    for (int i = 1; i < 256; ++i)
      ASSERT_EQ(remote().control_seq_id().value, static_cast<std::uint8_t>(held->value + i));
  remote().give_back_seq_id(*held);
  EXPECT_EQ(remote().control_seq_id(), *held);
}

// FC-VI 4.1: 254 sequences of message data are open at most. Who has to wait for one goes on as soon as another
// one is closed.
TEST_F(RemotePortTest, all_seq_ids_open_one_closed_who_waits_goes_on) {
  for (int i = 0; i < 254; ++i) ASSERT_TRUE(remote().take_seq_id()) << i;
  EXPECT_FALSE(remote().take_seq_id());
  source.may_go = [this] { return remote().take_seq_id().has_value(); };
  expect_resumed([this] { remote().give_back_seq_id({3}); });
}

// FC-VI 7.7.3: nothing goes to a port that is suspended; as soon as it is not, who waits goes on.
TEST_F(RemotePortTest, suspended_resumed_who_waits_goes_on) {
  remote().suspend();
  source.may_go = [this] { return !remote().suspended(); };
  expect_resumed([this] { remote().resume(); });
}

// FC-FS end-to-end credit: who waits for it goes on with an ACK.
TEST_F(RemoteClass2Port, all_credit_taken_given_back_who_waits_goes_on) {
  plogi(peer);
  for (int i = 0; i < 2; ++i) remote().take_credit();
  source.may_go = [this] { return remote().has_credit(); };
  expect_resumed([this] { remote().give_back_credit(1); });
}

}  // namespace
}  // namespace fc2
