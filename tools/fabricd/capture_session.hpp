// A control connection that receives the frames of every port, as pcapng, until it asks for the end or closes.
#pragma once
#include <deque>

#include "fc2_fabric/frame/capture.hpp"
#include "tools/fabricd/control_session.hpp"

namespace fabricd {
class PortSession;
class TappedEthernet;

class CaptureSession final : public Session, private fc2::ByteSink {
 public:
  CaptureSession(SessionHost& service, std::shared_ptr<FrameStream> stream);
  ~CaptureSession() override { stop_tapping(); }
  /// A port appeared, or is about to go.
  void add(PortSession& port);
  /// Captures all on the wire, FIP too.
  void add(TappedEthernet& port);
  void remove(PortSession& port);
  void stop_tapping();

 private:
  struct Interface {
    PortSession* port;
    fc2::FrameTap* tap;
  };
  struct EthernetInterface {
    TappedEthernet* port;
    fc2::fcoe::EthernetTap* tap;
  };
  // The most that the service stores for one slow reader; further frames are not captured, but counted. A capture must
  // not hold back the fabric.
  static constexpr std::size_t max_backlog_bytes = 16u << 20;
  static constexpr std::size_t max_interfaces = 65'536;

  void write(std::span<const std::uint8_t> block) override;
  void frame_received(fc2::FramePtr frame) override;
  void record_received(RecordKind kind, std::span<const std::uint8_t> body) override;
  void stream_closed(const std::string& reason) override;
  void stream_has_room() override { pump(); }
  void pump();

  AnswerQueue blocks_;
  bool describing_ = true;  // section and interfaces: without them the rest could not be read
  bool ending_ = false, done_ = false;
  std::uint64_t frames_missed_ = 0;
  std::size_t interface_count_ = 0;
  runtime::Timer<CaptureSession, &CaptureSession::pump> pump_event_{*this};
  std::deque<Interface> interfaces_;
  std::deque<EthernetInterface> ethernet_interfaces_;
  fc2::Capture capture_;  // last: it writes at once
};

}  // namespace fabricd
