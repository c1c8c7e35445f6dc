// An N_Port whose peer is played by hand, frame by frame: what it sends is there at once; what it receives, and when,
// the test says to the nanosecond.
#pragma once
#include "fc2_fabric/node/class_2.hpp"
#include "tests/support/lone_port.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"

namespace support {

class PlayedPeer : public LonePort {
 public:
  static constexpr auto type = wire::Type::ct;  // any FC-4 whose IUs are assembled
  static constexpr wire::FcId peer{0x0E02};

  explicit PlayedPeer(const Adjust& adjust = {}) : LonePort(adjust) { port.set_user(type, user); }

  /// What is due now.
  void run() { run_for(0); }

  /// The peer sends a frame. In class 3 End_Sequence is EOFt, too.
  void put(const wire::FcHeader& header, wire::Sof sof = wire::Sof::i3, std::span<const std::uint8_t> data = {}) {
    const bool last = header.has(wire::f_ctl::end_sequence);
    port.receive(
        made_frame(pool, header, data, sof, wire::class_of_service(sof) == 3 && last ? wire::Eof::t : wire::Eof::n));
    run();
  }
  /// ACK, reject or busy from the peer.
  void answer(const wire::FcHeader& data, wire::RCtl r_ctl, std::uint32_t parameter = 0, std::uint32_t more_f_ctl = 0) {
    port.receive(fc2::make_link_control(pool, data, r_ctl, parameter, more_f_ctl));
    run();
  }
  /// PLOGI from the peer, which is as the port is.
  void log_in() {
    plogi(peer);
    run();
    ASSERT_TRUE(logged_in(peer));
    log.clear();
  }
  [[nodiscard]] std::uint64_t discarded(fc2::Discard reason) const { return port.counters().discarded(reason); }
  [[nodiscard]] std::size_t sent(wire::RCtl r_ctl) const { return log.count(r_ctl); }
  /// `number` counts from 0.
  [[nodiscard]] const LoggedFrame& sent(wire::RCtl r_ctl, std::size_t number) const {
    for (const LoggedFrame& frame : log.frames())
      if (frame.is(r_ctl) && number-- == 0) return frame;
    throw std::out_of_range("that frame was not sent");
  }
  /// The slot of `former`, which is over, in its next use.
  fc2::Exchange& used_anew(fc2::Exchange& former) {
    for (;;) {
      fc2::Exchange& exchange = *port.originate(peer, type, user);
      if (&exchange == &former) return exchange;
      port.release(exchange);
    }
  }

  RecordingUser user;
};

}  // namespace support
