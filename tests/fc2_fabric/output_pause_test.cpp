// A link that takes no message data for one address (NPort::pause_output): that waits, all else goes on.
#include <gtest/gtest.h>

#include "fc2_fabric/node/sequence_sender.hpp"
#include "tests/support/played_peer.hpp"

namespace fc2 {
namespace {

constexpr wire::FcId slow = support::PlayedPeer::peer, fast{0x0E03}, stranger{0x0E04};

class OutputPauseTest : public support::PlayedPeer {
 protected:
  /// Message data for one port, a frame each of 4 bytes.
  class Stream final : public FrameSource {
   public:
    Stream(OutputPauseTest& test, wire::FcId to) : exchange_(*test.port.originate(to, type, test.user)) {}
    ~Stream() override { sequence_.abandon(); }
    Next next_frame(Frame& frame) override {
      if (left == 0) return Next::Exhausted;
      if (!sequence_.is_open() && !sequence_.begin(exchange_, wire::RCtl::solicited_data, 0)) return Next::Blocked;
      if (!sequence_.may_send()) return Next::Blocked;
      sequence_.stamp(frame, 4, 0, nullptr);
      --left;
      return Next::Made;
    }
    int left = 0;

   private:
    Exchange& exchange_;
    SequenceSender sequence_;
  };
  void submit(Stream& stream, int frames) {
    stream.left += frames;
    port.transmitter().submit(stream);
    run();
  }
  [[nodiscard]] std::size_t frames_to(wire::FcId id) const {
    return log.count([&](const support::LoggedFrame& frame) {
      return frame.is(wire::RCtl::solicited_data) && frame.header.d_id == id;
    });
  }
};

// Nothing goes to the one, all to the other; what waited goes when the pause is over.
TEST_F(OutputPauseTest, paused_destination_stops_no_other) {
  Stream to_slow(*this, slow), to_fast(*this, fast);
  submit(to_slow, 2);
  port.pause_output(slow);
  submit(to_slow, 5);
  submit(to_fast, 5);
  EXPECT_EQ(frames_to(slow), 2U);
  EXPECT_EQ(frames_to(fast), 5U);
  EXPECT_FALSE(port.transmitter().idle());
  port.resume_output(slow);
  run();
  EXPECT_EQ(frames_to(slow), 7U);
  EXPECT_TRUE(port.transmitter().idle());
}

// A sequence that is not begun does not begin: it would hold a SEQ_ID.
TEST_F(OutputPauseTest, paused_destination_begins_no_sequence) {
  Stream first(*this, slow), second(*this, slow);
  submit(first, 1);
  port.pause_output(slow);
  submit(second, 1);
  EXPECT_EQ(frames_to(slow), 1U);
  EXPECT_EQ(second.left, 1);
  port.resume_output(slow);
  run();
  EXPECT_EQ(second.left, 0);
}

// Link services and answers go: they are few, and logins must not end for a pause.
TEST_F(OutputPauseTest, paused_destination_gets_whole_ius) {
  port.remote_port(slow);
  port.pause_output(slow);
  Exchange& exchange = *port.originate(slow, type, user);
  const std::array<std::uint8_t, 4> payload{};
  port.send(exchange, wire::RCtl::unsolicited_control, {}, payload, {});
  run();
  EXPECT_EQ(sent(wire::RCtl::unsolicited_control), 1U);
}

// Of who is not known nothing is kept: the table is no longer for it.
TEST_F(OutputPauseTest, unknown_destination_paused_is_ignored) {
  const std::size_t known = port.known_ports();
  port.pause_output(stranger);
  port.resume_output(stranger);
  EXPECT_EQ(port.known_ports(), known);
}

// The next link knows of no pause; nor does one begin without a link.
TEST_F(OutputPauseTest, paused_destination_link_down_forgets) {
  port.remote_port(slow);
  port.pause_output(slow);
  ASSERT_TRUE(port.remote_port(slow).output_paused());
  port.link_down();
  EXPECT_FALSE(port.remote_port(slow).output_paused());
  port.pause_output(slow);
  EXPECT_FALSE(port.remote_port(slow).output_paused());
}
TEST_F(OutputPauseTest, paused_destination_link_interrupted_forgets) {
  port.remote_port(slow);
  port.pause_output(slow);
  port.link_interrupted();
  EXPECT_FALSE(port.remote_port(slow).output_paused());
}

}  // namespace
}  // namespace fc2
