// Writes frames of a history into a capture, each with a comment that says in words what became of it.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fc2_fabric/frame/capture.hpp"
#include "fc2_fabric/frame/frame_history.hpp"
#include "tools/fabricd/port_names.hpp"

namespace fabricd {

/// What happened to a frame; empty: nothing that one would not expect. `bytes`: what is kept of it.
std::string comment_on(const fc2::PassedFrame& frame, std::span<const std::uint8_t> bytes, const PortNames& names);

/// Frames that waited for less than this are none to speak of.
inline constexpr fc2::TimeNs worth_telling = fc2::millisecond;

struct CaptureChoice {
  bool both_ends = false;          // each frame as it was sent, and as it was received
  std::vector<std::string> ports;  // only frames from and to these, see PortNames::is_called; empty: all
  [[nodiscard]] bool takes(const NamedPort& port) const;
};

class HistoryWriter {
 public:
  /// `begin`: the first frame that it will be given. `what`: a comment on the capture as a whole.
  HistoryWriter(fc2::ByteSink& sink, CaptureChoice choice, fc2::FrameHistory::Number begin, std::string_view what)
      : choice_(std::move(choice)), begin_(begin), capture_(sink, what) {}

  /// The interfaces of ports of which no frame has passed yet.
  void describe(const PortNames& names);
  /// Writes that one, which the history holds, if it is chosen.
  void write(const fc2::FrameHistory& history, fc2::FrameHistory::Number number, const PortNames& names);
  [[nodiscard]] std::uint64_t frame_count() const { return capture_.frame_count(); }
  /// Of those, how many with a comment.
  [[nodiscard]] std::uint64_t comment_count() const { return comment_count_; }

 private:
  [[nodiscard]] bool is_of_interest(const fc2::PassedFrame& frame);
  [[nodiscard]] bool chosen(PortNames::Number number, const PortNames& names);
  [[nodiscard]] std::uint32_t interface_of(PortNames::Number number, const PortNames& names);

  // Frames that were written while they waited: what becomes of them is written, too.
  static constexpr std::size_t max_waiting = 65'536;

  const CaptureChoice choice_;
  const fc2::FrameHistory::Number begin_;
  std::set<fc2::FrameHistory::Number> waiting_;
  fc2::Capture capture_;
  std::map<PortNames::Number, std::uint32_t> interfaces_;
  std::uint64_t comment_count_ = 0;
};

}  // namespace fabricd
