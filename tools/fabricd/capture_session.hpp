// A control connection that receives frames as pcapng: from now on, until it asks for the end or closes; or those of
// the time until now.
#pragma once
#include "fc2_fabric/frame/capture.hpp"
#include "tools/fabricd/capture_request.hpp"
#include "tools/fabricd/control_session.hpp"
#include "tools/fabricd/history_writer.hpp"
#include "tools/fabricd/recorder.hpp"

namespace fabricd {
class PortSession;

/// A frame is written when it is known what became of it in the switch, at the latest after `patience`.
class CaptureSession final : public Session, private fc2::ByteSink, private RecorderListener {
 public:
  static constexpr runtime::TimeNs patience = 100 * runtime::millisecond;
  /// What a fault has damaged the switch discards when it arrives: at once.
  static constexpr runtime::TimeNs until_discarded = runtime::millisecond;

  CaptureSession(SessionHost& service, std::shared_ptr<FrameStream> stream, const CaptureRequest& request);
  ~CaptureSession() override { end_tapping(); }
  /// A port appeared, or has another name: if it is to be captured, all of its frames go by the service from now on.
  void add(PortSession& port);
  /// A port is about to go.
  void remove(PortSession& port);

 private:
  // The most that the service stores for one slow reader; further frames are not captured, but counted. A capture must
  // not hold back the fabric.
  static constexpr std::size_t max_backlog_bytes = 16u << 20;

  void frames_came() override;
  void history_is_short() override { write_frames(true); }
  [[nodiscard]] fc2::FrameHistory::Number next_frame() const override { return next_; }
  void write(std::span<const std::uint8_t> block) override;
  void frame_received(fc2::FramePtr frame) override;
  void record_received(RecordKind kind, std::span<const std::uint8_t> body) override;
  void stream_closed(const std::string& reason) override;
  void stream_has_room() override { pump(); }
  [[nodiscard]] bool is_live() const { return !request_.last; }
  [[nodiscard]] bool is_full() const { return request_.count != 0 && writer_.frame_count() >= request_.count; }
  [[nodiscard]] std::string what_it_is();
  [[nodiscard]] std::string summary();
  void write_last();
  void write_frames(bool all);
  [[nodiscard]] bool must_wait(fc2::FrameHistory::Number number);
  void write_waiting();
  void end_tapping();
  void finish();
  void pump();

  const CaptureRequest request_;
  Recorder& recorder_;
  AnswerQueue blocks_;
  bool tapping_ = false, ending_ = false, done_ = false;
  const runtime::TimeNs begun_;
  fc2::FrameHistory::Number next_;
  std::vector<PortSession*> watched_;
  runtime::Timer<CaptureSession, &CaptureSession::write_waiting> write_event_{*this};
  runtime::Timer<CaptureSession, &CaptureSession::write_waiting> patience_timer_{*this};
  HistoryWriter writer_;  // last: it writes at once
};

}  // namespace fabricd
