// The link between the N_Port of a process and its F_Port, with taps and faults as on other links.
#pragma once
#include <memory>

#include "fc2_fabric/drivers/frame_stream.hpp"
#include "fc2_fabric/fcoe/virtual_link.hpp"
#include "fc2_fabric/switch/f_port.hpp"

namespace fabricd {

/// Frames pass at once, in their order, unless a fault is set. Frames that it has delayed wait here while the process
/// takes none; then the F_Port is held as by the socket. Frames for the process that a fault damaged are discarded, as
/// its N_Port would do. Calls are made inside the core.
class LocalLine final : private fc2::FrameReceiver, private fc2::OutputListener {
 public:
  LocalLine(runtime::Scheduler& scheduler, std::shared_ptr<fc2::drivers::FrameStream> stream);
  ~LocalLine();
  LocalLine(const LocalLine&) = delete;
  LocalLine& operator=(const LocalLine&) = delete;

  /// What the F_Port sends to.
  [[nodiscard]] fc2::FrameOutput& output() { return to_process_; }
  /// Who receives what the process sends, and counts what is discarded here; it outlives the line, or the line is told
  /// of nullptr.
  void set_port(fc2::FPort* port) { ingress_.port = port; }
  /// From the process.
  void receive_from_process(fc2::FramePtr frame) { from_process_.send(std::move(frame)); }

  /// The socket has no CRC, and takes whole words only: what the N_Port would discard ends here.
  [[nodiscard]] static bool is_damaged(const fc2::Frame& frame);

  /// As the N_Port sees frames. nullptr removes it.
  void tap(fc2::FrameTap* tap);
  /// Of frames that the N_Port sends, and that it receives.
  void set_faults(fc2::FrameFault* sent, fc2::FrameFault* received);
  /// Delayed frames that have not been handed over.
  [[nodiscard]] std::size_t in_flight() const {
    return to_process_.in_flight() + from_process_.in_flight() + waiting_.size();
  }
  /// They arrive now, in their order.
  void hasten() {
    to_process_.hasten();
    from_process_.hasten();
  }
  /// The link is gone: they are lost.
  void clear();

 private:
  struct Ingress final : fc2::FrameReceiver {
    void receive(fc2::FramePtr frame) override {
      if (port != nullptr) port->receive(std::move(frame));
    }
    fc2::FPort* port = nullptr;
  };
  void receive(fc2::FramePtr frame) override;  // for the process
  void output_resumed() override;
  void pass(fc2::FramePtr frame);

  std::shared_ptr<fc2::drivers::FrameStream> stream_;
  Ingress ingress_;
  fc2::fcoe::LinkOutput to_process_, from_process_;
  fc2::FrameQueue waiting_;
};

}  // namespace fabricd
