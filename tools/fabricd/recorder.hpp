// Keeps the last frames that passed the service, with what became of each, for captures: those that begin now, and
// those of what was.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fc2_fabric/frame/frame_history.hpp"
#include "fc2_fabric/frame/frame_receiver.hpp"
#include "tools/fabricd/port_names.hpp"

namespace fabricd {

/// What the recorder tells of; inside the core, at any frame: the listener must not destroy anything then.
class RecorderListener {
 public:
  /// Something is in the history that was not.
  virtual void frames_came() = 0;
  /// A frame that it may not have written yet is soon displaced by newer ones.
  virtual void history_is_short() = 0;
  /// It writes frames in the order of their numbers; this is the next one.
  [[nodiscard]] virtual fc2::FrameHistory::Number next_frame() const = 0;

 protected:
  ~RecorderListener() = default;
};

/// Port: its process was killed, or its link broke. Frame: the switch discarded it. Host: on Ethernet.
enum class FailureKind : std::uint8_t { Port, Frame, Host };
inline constexpr std::size_t failure_kinds = 3;

/// Hears what is a failure in a fabric that does what it should.
class FailureListener {
 public:
  /// False: the next of that kind is only counted, its name is not asked for.
  [[nodiscard]] virtual bool names_more(FailureKind kind) const = 0;
  /// `what`: a sentence; empty: not told. `frame`: the newest that it concerns; 0: none.
  virtual void failed(FailureKind kind, const std::string& what, fc2::FrameHistory::Number frame) = 0;
  /// A frame was kept.
  virtual void frame_kept() = 0;

 protected:
  ~FailureListener() = default;
};

/// Every call is made inside the core. Per frame nothing is allocated, and nothing but a copy is made while nobody
/// captures.
class Recorder final : public fc2::FrameWitness {
 public:
  explicit Recorder(fc2::HistoryLimits limits = {}) : history_(limits) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  void set_failure_listener(FailureListener* listener) { failures_ = listener; }

  // --- ports
  PortNames::Number add_port(NamedPort port);
  void set_more_names(PortNames::Number port, std::vector<std::string> names) {
    names_.set_more_names(port, std::move(names));
  }
  /// Its link is gone: `end` says how, in words. `signal`: what killed its process; 0: nothing did. Whom its last frame
  /// was shown is told of it again.
  void port_gone(PortNames::Number port, fc2::TimeNs at, std::string end, bool orderly, int signal);
  /// As a tap of that port would hear it.
  void frame_passed(PortNames::Number port, fc2::TimeNs at, const fc2::Frame& frame, bool outbound);
  /// A fault rule befell a frame that a tap had heard: `what` it does, as the note of the rule says. Whom the frame was
  /// shown is told of it again.
  void fault_befell(unsigned rule, std::string_view what, fc2::TimeNs at, const fc2::Frame& frame);
  /// PassedFrame::fault is the rule's number, this one also for all higher ones. PassedFrame::remark: the signal that
  /// killed the sender's process.
  static constexpr unsigned last_fault = 65'535;
  void ethernet_passed(PortNames::Number port, fc2::TimeNs at, const fc2::fcoe::EthernetFrame& frame, bool outbound);
  /// Something at a host on Ethernet failed: a sentence.
  void failed(const std::string& what) {
    if (failures_ != nullptr) failures_->failed(FailureKind::Host, what, history_.end() - 1);
  }

  // --- from the switch
  void frame_waits(fc2::TimeNs at, const fc2::Frame& frame) override;
  void frame_discarded(fc2::TimeNs at, const fc2::Frame& frame, fc2::Discard reason) override;
  void frame_lost(fc2::TimeNs at, const fc2::Frame& frame) override;

  // --- captures. While there is a listener frames are kept whole
  void add(RecorderListener& listener);
  void remove(RecorderListener& listener);
  [[nodiscard]] const fc2::FrameHistory& history() const { return history_; }
  [[nodiscard]] const PortNames& names() const { return names_; }

 private:
  void frame_left(PortNames::Number port, fc2::TimeNs at, const fc2::Frame& frame);
  static fc2::PassedFrame& seen(fc2::PassedFrame& entry, PortNames::Number port, bool outbound);
  static PortNames::Number left(fc2::PassedFrame* first, PortNames::Number to, fc2::TimeNs at,
                                PortNames::Number unless);
  [[nodiscard]] PortNames::Number sender_of(const fc2::Frame& frame) const;
  [[nodiscard]] PortNames::Number addressee_of(const fc2::Frame& frame) const;
  void kept();
  void mark_last(PortNames::Number port, fc2::TimeNs at, int signal);
  void show_again(fc2::TimeNs at, fc2::FrameHistory::Number number);
  fc2::PassedFrame& end_of(fc2::TimeNs at, const fc2::Frame& frame, fc2::PassedFrame::Outcome outcome);
  [[nodiscard]] bool was_shown(fc2::FrameHistory::Number number) const;

  fc2::FrameHistory history_;
  PortNames names_;
  std::vector<RecorderListener*> listeners_;
  FailureListener* failures_ = nullptr;
};

}  // namespace fabricd
