// From power-on until others find a port: whatever befalls one frame on the way, the port gets its service in the end.
#include "tests/fcvi/two_nodes.hpp"

namespace {

/// The frame of this number on a link, either way, is lost or shortened; the CRC does not tell.
class Damage final : public fc2::FrameFault {
 public:
  Damage(int which, std::uint16_t bytes) : which_(which), bytes_(bytes) {}
  void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
    if (++frames == which_) {
      if (bytes_ == 0) return;
      frame->size_bytes = std::min(frame->size_bytes, bytes_);
    }
    channel.deliver(std::move(frame));
  }
  int frames = 0;

 private:
  const int which_;
  const std::uint16_t bytes_;  // that are left; 0: lost
};

/// How long until the address is registered, and how many frames passed; nothing where it never is.
std::optional<int> power_on(int which, std::uint16_t bytes) {
  support::TestFabric fabric(1);
  support::Host host(fabric, 0);
  Damage damage(which, bytes);
  fabric.attach(0);
  fabric.fabric.set_fault(host.port, &damage);
  const bool ready = fabric.run_until([&] { return host.resolver.ready(); }, 200 * runtime::second);
  fabric.fabric.set_fault(host.port, nullptr);
  fabric.detach(0);
  EXPECT_EQ(host.port.counters().unexpected_events, 0u);
  return ready ? std::optional(damage.frames) : std::nullopt;
}

// FC-LS FLOGI, PLOGI, FC-GS: each frame of them and of their answers lost once, cut once to a header, a word, a part.
TEST(PowerOn, any_frame_damaged_port_gets_its_service) {
  const auto frames = power_on(0, 0);
  ASSERT_TRUE(frames);
  EXPECT_GE(*frames, 8);  // FLOGI, PLOGI to the name server, RIPP_ID, RFT_ID, and their answers
  for (int which = 1; which <= *frames; ++which)
    for (const std::uint16_t bytes : std::initializer_list<std::uint16_t>{0, 24, 28, 60})
      EXPECT_TRUE(power_on(which, bytes)) << "frame " << which << " cut to " << bytes;
}

// A fabric that does not answer for long: the port asks on.
TEST(PowerOn, fabric_silent_for_minutes_port_gets_its_service) {
  support::TestFabric fabric(1);
  support::Host host(fabric, 0);
  fabric.attach(0);
  fabric.silence(0);
  fabric.run_for(300 * runtime::second);
  EXPECT_FALSE(host.port.online());
  fabric.fabric.set_fault(host.port, nullptr);
  EXPECT_TRUE(fabric.run_until([&] { return host.resolver.ready(); }, 60 * runtime::second));
  fabric.detach(0);
}

}  // namespace
