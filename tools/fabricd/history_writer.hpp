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

/// What is held from `begin` on, in words: "the last 3.200 s of frames", or "no frames".
std::string extent_of(const fc2::FrameHistory& history, fc2::FrameHistory::Number begin);

/// Frames that waited for less than this are none to speak of.
inline constexpr fc2::TimeNs worth_telling = fc2::millisecond;

struct CaptureChoice {
  bool both_ends = false;  // each frame as it was sent, and as it was received
  // Only frames from and to these, see PortNames::is_called, and with these N_Port_IDs, of hosts on Ethernet, too.
  // Empty: all.
  std::vector<std::string> ports;
  [[nodiscard]] bool takes(const NamedPort& port) const;
};

/// S_ID or D_ID of what is kept of a frame, on Ethernet or not, is `address`.
bool has_address(const fc2::PassedFrame& frame, std::span<const std::uint8_t> bytes, wire::FcId address);
/// Those of `choice` that no port is called, and no frame that is held is from or to.
std::vector<std::string> unknown_ports(const CaptureChoice& choice, const fc2::FrameHistory& history,
                                       const PortNames& names);

class HistoryWriter {
 public:
  /// `begin`: the first frame that it will be given. `what`: a comment on the capture as a whole.
  HistoryWriter(fc2::ByteSink& sink, CaptureChoice choice, fc2::FrameHistory::Number begin, std::string_view what);

  /// The interfaces of ports of which no frame has passed yet.
  void describe(const PortNames& names);
  /// Writes that one, which the history holds, if it is chosen.
  void write(const fc2::FrameHistory& history, fc2::FrameHistory::Number number, const PortNames& names);
  [[nodiscard]] std::uint64_t frame_count() const { return capture_.frame_count(); }
  /// That one, if it is chosen, is missing: the next one that is written says so, and the statistics of its interface.
  void miss(const fc2::FrameHistory& history, fc2::FrameHistory::Number number, const PortNames& names);
  /// Behind the last frame, at the end of the capture: tells of those that are missing since.
  void finish(fc2::TimeNs at) {
    tell_missing(at);
    capture_.write_end(at);
  }
  [[nodiscard]] std::uint64_t missing_count() const { return missing_count_; }
  /// Of those written, how many with a comment.
  [[nodiscard]] std::uint64_t comment_count() const { return comment_count_; }

 private:
  [[nodiscard]] bool is_of_interest(const fc2::PassedFrame& frame);
  void told(const fc2::PassedFrame& frame, fc2::FrameHistory::Number number, fc2::FrameHistory::Number oldest);
  struct Entry {
    const fc2::PassedFrame* frame = nullptr;  // nullptr: not of interest
    const fc2::PassedFrame* kept = nullptr;   // of which the bytes are
    std::span<const std::uint8_t> bytes{};
  };
  [[nodiscard]] Entry entry_of(const fc2::FrameHistory& history, fc2::FrameHistory::Number number,
                               const PortNames& names);
  [[nodiscard]] bool is_port_chosen(PortNames::Number number, const PortNames& names) const;
  [[nodiscard]] bool is_chosen(const Entry& entry, const PortNames& names) const;
  void tell_missing(fc2::TimeNs at);
  /// One for a port that comes back when its link was away.
  [[nodiscard]] std::uint32_t interface_of(PortNames::Number number, const PortNames& names);

  const CaptureChoice choice_;
  std::vector<wire::FcId> addresses_;  // of choice_.ports
  const fc2::FrameHistory::Number begin_;
  // Those that are held and were written with their remark, with their fault, or as not arrived: what is known only
  // later of others is written, too.
  std::set<fc2::FrameHistory::Number> remarked_, faulted_, ended_;
  fc2::Capture capture_;
  std::map<PortNames::Number, std::uint32_t> interfaces_;
  std::map<std::string, PortNames::Number> latest_;  // by text
  struct Missing {
    std::uint64_t all = 0, untold = 0;
  };
  std::map<std::uint32_t, Missing> missing_;  // by interface
  std::uint64_t missing_count_ = 0, untold_ = 0;
  std::uint64_t comment_count_ = 0;
};

}  // namespace fabricd
