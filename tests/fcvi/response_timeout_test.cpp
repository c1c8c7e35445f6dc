// Rule 9 (FC-VI 8.4.1 a, B.2.6.2) for several messages at once: FCVI_ULP_TIMEOUT counts from the end of each request
// IU, which in class 2 is when its last ACK came, and those need not come in the order of the messages.
#include "tests/fcvi/class_2_nodes.hpp"

namespace {
using support::late;
using support::Level;
using support::lose;
using support::MessageFrame;
using support::pass;

class ResponseTimeout : public support::Class2Nodes {
 public:
  /// No answer ever comes, nor an ABTS of the server; the ACK of the first of two messages comes a second late.
  void send_two_unanswered() {
    faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : lose; };
    faults.on_basic = [](const wire::FcHeader&) { return lose; };
    faults.on_link_control = [this](const wire::FcHeader& ack) {
      if (ack.s_id != server->port.n_port_id()) return pass;
      if (!first) first = ack.ox_id;
      return *first == ack.ox_id ? late(runtime::second) : pass;
    };
    receive(2), send(2, 100);
  }
  std::optional<wire::OxId> first;
};

// VI-ARCH 2.5.3, Annex E: the second runs out of time first. Its failure waits for the first, which fails in
// its own time.
TEST_F(ResponseTimeout, acknowledgedInAnotherOrder_bothFail) {
  begin(Level::ReliableReception);
  send_two_unanswered();
  fabric.run_for(10 * runtime::second + 500 * runtime::millisecond);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  EXPECT_EQ(sent(0), 0u);
  EXPECT_EQ(sent(1), 0u) << "not before the first";
  fabric.run_for(runtime::second);
  EXPECT_EQ(sent(0), send_failed);
  EXPECT_NE(sent(1) & vi::status::error_mask, 0u);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

}  // namespace
