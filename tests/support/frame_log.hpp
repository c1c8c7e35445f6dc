// Remembers frames: as a tap of a port, or as the far end of a channel.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "fc2_fabric/link/channel.hpp"
#include "wire/els/command.hpp"
#include "wire/fc_header.hpp"

namespace support {

struct LoggedFrame {
  runtime::TimeNs at = 0;
  bool outbound = false;
  wire::Sof sof{};
  wire::Eof eof{};
  wire::FcHeader header;
  std::vector<std::uint8_t> data;  // the data field, fill bytes included

  [[nodiscard]] bool is(wire::RCtl r_ctl) const { return header.r_ctl == r_ctl; }
  [[nodiscard]] bool is_els(wire::els::Command command) const {
    const bool els = is(wire::RCtl::els_request) || is(wire::RCtl::els_reply);
    return els && !data.empty() && data[0] == static_cast<std::uint8_t>(command);
  }
};

class FrameLog final : public fc2::FrameTap, public fc2::FrameReceiver {
 public:
  void frame_passed(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) override { add(at, frame, outbound); }
  void receive(fc2::FramePtr frame) override { add(frame->arrival, *frame, false); }

  [[nodiscard]] const std::deque<LoggedFrame>& frames() const { return frames_; }
  [[nodiscard]] std::size_t size() const { return frames_.size(); }
  void clear() { frames_.clear(); }

  template <class Predicate>
  [[nodiscard]] std::size_t count(const Predicate& matches) const {
    return static_cast<std::size_t>(std::count_if(frames_.begin(), frames_.end(), matches));
  }
  [[nodiscard]] std::size_t count(wire::RCtl r_ctl) const {
    return count([&](const LoggedFrame& frame) { return frame.is(r_ctl); });
  }
  [[nodiscard]] std::size_t sent(wire::els::Command command) const {
    return count([&](const LoggedFrame& frame) { return frame.outbound && frame.is_els(command); });
  }
  [[nodiscard]] std::size_t received(wire::els::Command command) const {
    return count([&](const LoggedFrame& frame) { return !frame.outbound && frame.is_els(command); });
  }
  /// The first that matches; nullptr where there is none.
  template <class Predicate>
  [[nodiscard]] const LoggedFrame* find(const Predicate& matches) const {
    const auto found = std::find_if(frames_.begin(), frames_.end(), matches);
    return found == frames_.end() ? nullptr : &*found;
  }
  [[nodiscard]] const LoggedFrame* find(wire::els::Command command) const {
    return find([&](const LoggedFrame& frame) { return frame.is_els(command); });
  }

 private:
  void add(runtime::TimeNs at, const fc2::Frame& frame, bool outbound) {
    LoggedFrame logged{.at = at, .outbound = outbound, .sof = frame.sof, .eof = frame.eof, .header = {}, .data = {}};
    const auto content = frame.content();
    if (const auto header = wire::FcHeader::parse(content)) {
      logged.header = *header;
      const auto data = content.subspan(wire::FcHeader::size());
      logged.data.assign(data.begin(), data.end());
    }
    frames_.push_back(std::move(logged));
  }
  std::deque<LoggedFrame> frames_;
};

}  // namespace support
