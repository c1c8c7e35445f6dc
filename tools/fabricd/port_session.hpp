// An N_Port of another process: its link to an F_Port of the switch.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "fc2_fabric/drivers/frame_ring.hpp"
#include "fc2_fabric/switch/f_port.hpp"
#include "runtime/drivers/doorbell.hpp"
#include "tools/fabricd/session.hpp"

namespace fabricd {

class PortSession final : public Session, private fc2::FrameTap {
 public:
  /// `port`: the F_Port that the stream was attached to.
  PortSession(SessionHost& service, std::shared_ptr<FrameStream> stream, const Hello& hello, fc2::FPort& port,
              runtime::drivers::DoorbellDescriptors doorbell);
  ~PortSession() override;

  [[nodiscard]] const Hello& hello() const { return hello_; }
  [[nodiscard]] const fc2::FPort& f_port() const { return *f_port_; }
  [[nodiscard]] runtime::TimeNs since() const { return since_; }
  [[nodiscard]] bool connected() const { return f_port_ != nullptr; }
  /// "name (process N)"
  [[nodiscard]] std::string description() const;
  /// Its N_Port is logged in with that N_Port_ID.
  [[nodiscard]] bool has_address(wire::FcId id) const;
  /// Frames may go to and from it without passing the service.
  [[nodiscard]] bool may_have_paths() const { return doorbell_ && connected() && taps_.empty(); }
  [[nodiscard]] bool has_path_to(const PortSession& other) const;
  /// Tells its process of the rings that it shares with `other`, which hears of them too.
  void add_path(PortSession& other, const runtime::drivers::Descriptor& memory, fc2::drivers::PathRecord path);
  /// There may be several.
  void add_tap(fc2::FrameTap& tap);
  void remove_tap(fc2::FrameTap& tap);

 private:
  void frame_received(fc2::FramePtr frame) override { f_port_->receive(std::move(frame)); }
  void record_received(RecordKind kind, std::span<const std::uint8_t> body) override;
  void stream_closed(const std::string& reason) override;
  void stream_has_room() override { tell_waiting(); }
  void frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) override;
  void end_paths(fc2::drivers::PathEnd::Cause cause);
  void path_ended(wire::FcId address, fc2::drivers::PathEnd::Cause cause);
  void tell(RecordKind kind, std::span<const std::uint8_t> body,
            std::vector<runtime::drivers::Descriptor> descriptors = {});
  void tell_waiting();

  // What the process is told of paths, in order; waits here while its socket is full.
  struct Telling {
    RecordKind kind;
    std::vector<std::uint8_t> body;
    std::vector<runtime::drivers::Descriptor> descriptors;
  };

  const Hello hello_;
  fc2::FPort* f_port_;  // nullptr: the link is down
  const runtime::TimeNs since_;
  std::vector<fc2::FrameTap*> taps_;
  const runtime::drivers::DoorbellDescriptors doorbell_;
  std::vector<PortSession*> paths_;  // to these ports
  std::deque<Telling> telling_;
};

}  // namespace fabricd
