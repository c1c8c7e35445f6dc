// An N_Port of another process: its link to an F_Port of the switch.
#pragma once
#include <string>
#include <vector>

#include "fc2_fabric/switch/f_port.hpp"
#include "tools/fabricd/session.hpp"

namespace fabricd {

class PortSession final : public Session, private fc2::FrameTap {
 public:
  /// `port`: the F_Port that the stream was attached to.
  PortSession(SessionHost& service, std::shared_ptr<FrameStream> stream, const Hello& hello, fc2::FPort& port);
  ~PortSession() override;

  [[nodiscard]] const Hello& hello() const { return hello_; }
  [[nodiscard]] const fc2::FPort& f_port() const { return *f_port_; }
  [[nodiscard]] runtime::TimeNs since() const { return since_; }
  [[nodiscard]] bool connected() const { return f_port_ != nullptr; }
  /// "name (process N)"
  [[nodiscard]] std::string description() const;
  /// There may be several.
  void add_tap(fc2::FrameTap& tap);
  void remove_tap(fc2::FrameTap& tap);

 private:
  void frame_received(fc2::FramePtr frame) override { f_port_->receive(std::move(frame)); }
  void record_received(RecordKind kind, std::span<const std::uint8_t> body) override;
  void stream_closed(const std::string& reason) override;
  void frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) override;

  const Hello hello_;
  fc2::FPort* f_port_;  // nullptr: the link is down
  const runtime::TimeNs since_;
  std::vector<fc2::FrameTap*> taps_;
};

}  // namespace fabricd
