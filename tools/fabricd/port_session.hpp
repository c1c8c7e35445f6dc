// An N_Port of another process: its link to an F_Port of the switch.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "fc2_fabric/switch/f_port.hpp"
#include "runtime/drivers/doorbell.hpp"
#include "tools/fabricd/live_faults.hpp"
#include "tools/fabricd/local_line.hpp"
#include "tools/fabricd/process_end.hpp"
#include "tools/fabricd/recorder.hpp"
#include "tools/fabricd/session.hpp"

namespace fabricd {

class PortSession final : public Session, public FaultLink, private fc2::FrameTap, private fc2::LoginListener {
 public:
  /// `port`: the F_Port that the line's output was attached to.
  PortSession(SessionHost& service, std::shared_ptr<FrameStream> stream, std::unique_ptr<LocalLine> line,
              const Hello& hello, fc2::FPort& port, runtime::drivers::DoorbellDescriptors doorbell);
  ~PortSession() override;

  [[nodiscard]] const Hello& hello() const { return hello_; }
  [[nodiscard]] const fc2::FPort& f_port() const { return *f_port_; }
  [[nodiscard]] runtime::TimeNs since() const { return since_; }
  [[nodiscard]] bool connected() const { return f_port_ != nullptr; }
  /// "name (process N)"
  [[nodiscard]] std::string description() const;
  /// Frames may go to and from it without passing the service.
  [[nodiscard]] bool may_have_paths() const { return doorbell_ && connected() && watchers_ == 0; }
  /// It reads what it was told of paths before.
  [[nodiscard]] bool may_hear_of_path() const { return untold_paths_ + stream().files_waiting() < max_untold_paths; }
  /// For the far end of a path with this port, in the order of the record. Empty: no more can be opened.
  [[nodiscard]] fc2::drivers::OpenFiles files_of_path(const runtime::drivers::Descriptor& memory) const;
  void tell_path(const fc2::drivers::PathRecord& path, fc2::drivers::OpenFiles files);
  /// False: it has not been told of that path, and will not be.
  bool tell_path_end(const fc2::drivers::PathEnd& end);
  /// Somebody wants to see all of its frames: they go by the service. Or no longer; calls count.
  void watch(bool watched) override;
  [[nodiscard]] bool is_watched() const { return watchers_ != 0; }
  /// At the recorder.
  [[nodiscard]] PortNames::Number number() const { return number_; }
  /// The link goes down, as when the process closes it. It may come back at once.
  void cut();
  [[nodiscard]] const NamedPort& names() const;
  /// As it registered it (FC-GS, RSNN_NN); empty: it did not.
  [[nodiscard]] std::string node_name() const;

  // FaultLink
  void set_faults(fc2::FrameFault* sent, fc2::FrameFault* received) override { line_->set_faults(sent, received); }
  [[nodiscard]] std::size_t in_flight() const override { return line_->in_flight(); }
  void hasten() override { line_->hasten(); }
  [[nodiscard]] bool is_passed_by() const override;
  [[nodiscard]] bool is_called(std::string_view name) const override;
  [[nodiscard]] std::string text() const override { return description(); }
  [[nodiscard]] bool has_address(wire::FcId id) const override;

 private:
  void frame_received(fc2::FramePtr frame) override;
  void record_received(RecordKind kind, std::span<const std::uint8_t> body) override;
  void stream_closed(const std::string& reason) override;
  void stream_has_room() override { tell_waiting(); }
  void frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) override;
  void login_ended(wire::FcId id) override;
  void unlink(const std::string& reason);
  void look_at_names();
  void tell_waiting();

  // What the process is told of paths, in order; waits here while its socket is full.
  struct Telling {
    RecordKind kind;
    std::uint32_t path;
    std::vector<std::uint8_t> body;
    fc2::drivers::OpenFiles files{};
    std::vector<std::uint8_t> without{};
  };
  void tell(Telling telling);

  /// Paths that a process was not told of yet, for which the service keeps files open.
  static constexpr std::size_t max_untold_paths = 16;

  const std::unique_ptr<LocalLine> line_;
  const Hello hello_;
  fc2::FPort* f_port_;  // nullptr: the link is down
  const runtime::TimeNs since_;
  const PortNames::Number number_;
  const WatchedProcess process_;
  unsigned watchers_ = 0;
  const runtime::drivers::DoorbellDescriptors doorbell_;
  std::deque<Telling> telling_;
  runtime::Timer<PortSession, &PortSession::look_at_names> names_event_{*this};  // behind a registration
  std::size_t untold_paths_ = 0;                                                 // in telling_
};

}  // namespace fabricd
