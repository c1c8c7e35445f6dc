// What befalls the IUs that a test names, on the link of one port: each rule takes the next frames that it matches.
#pragma once
#include <functional>
#include <list>
#include <utility>
#include <vector>

#include "fc2_fabric/link/channel.hpp"
#include "wire/fc_header.hpp"
#include "wire/fcvi/opcode.hpp"

namespace support {

class IuFaults final : public fc2::FrameFault {
 public:
  using Opcode = wire::fcvi::Opcode;
  using Matches = std::function<bool(const wire::FcHeader&, std::span<const std::uint8_t> data_field)>;
  static constexpr int always = 1 << 30;
  explicit IuFaults(fc2::FramePool& pool) : pool_(pool) {}

  void lose(Opcode opcode, int times = 1) { add(of(opcode), times, lost); }
  void lose(wire::RCtl r_ctl, int times = 1) { add(of(r_ctl), times, lost); }
  /// Loses the next one; `data_field` has what it was.
  void capture(Opcode opcode, std::vector<std::uint8_t>& data_field) {
    add(of(opcode), 1, [&data_field](IuFaults&, fc2::Channel&, fc2::FramePtr frame) {
      const auto data = frame->content().subspan(wire::FcHeader::size());
      data_field.assign(data.begin(), data.end());
    });
  }
  /// Comes `delay` later than it would.
  void hold(Opcode opcode, runtime::TimeNs delay) { add(of(opcode), 1, held(delay)); }
  void hold(wire::RCtl r_ctl, runtime::TimeNs delay) { add(of(r_ctl), 1, held(delay)); }
  /// ... of an IU of several frames: the second one.
  void hold_next_but_one(Opcode opcode, runtime::TimeNs delay) {
    add(of(opcode), 1,
        [](IuFaults&, fc2::Channel& channel, fc2::FramePtr frame) { channel.deliver(std::move(frame)); });
    hold(opcode, delay);
  }
  /// Comes as it would, and once more `delay` later.
  void repeat(Opcode opcode, runtime::TimeNs delay) {
    add(of(opcode), 1, [delay](IuFaults& faults, fc2::Channel& channel, fc2::FramePtr frame) {
      fc2::FramePtr copy = faults.pool_.copy(*frame);
      copy->arrival = frame->arrival + delay;
      channel.deliver(std::move(frame));
      channel.deliver(std::move(copy));
    });
  }
  void alter(Opcode opcode, std::function<void(fc2::Frame&)> change) {
    add(of(opcode), 1, [change](IuFaults&, fc2::Channel& channel, fc2::FramePtr frame) {
      change(*frame);
      channel.deliver(std::move(frame));
    });
  }
  /// Everything, from now on.
  void lose_all() {
    add([](const auto&, auto) { return true; }, always, lost);
  }
  void clear() { rules_.clear(); }
  [[nodiscard]] bool all_used() const { return rules_.empty(); }

 private:
  using Deed = std::function<void(IuFaults&, fc2::Channel&, fc2::FramePtr)>;
  struct Rule {
    Matches matches;
    int times;
    Deed deed;
  };
  static void lost(IuFaults&, fc2::Channel&, fc2::FramePtr) {}
  static Deed held(runtime::TimeNs delay) {
    return [delay](IuFaults&, fc2::Channel& channel, fc2::FramePtr frame) {
      frame->arrival += delay;
      channel.deliver(std::move(frame));
    };
  }
  static Matches of(Opcode opcode) {
    return [opcode](const wire::FcHeader& header, std::span<const std::uint8_t> data) {
      return header.type == wire::Type::fc_vi && data.size() >= 16 && data[4] == static_cast<std::uint8_t>(opcode);
    };
  }
  static Matches of(wire::RCtl r_ctl) {
    return [r_ctl](const wire::FcHeader& header, std::span<const std::uint8_t>) { return header.r_ctl == r_ctl; };
  }
  void add(Matches matches, int times, Deed deed) { rules_.push_back({std::move(matches), times, std::move(deed)}); }

  void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
    const auto header = wire::FcHeader::parse(frame->content());
    for (auto rule = rules_.begin(); header && rule != rules_.end(); ++rule) {
      if (!rule->matches(*header, frame->content().subspan(wire::FcHeader::size()))) continue;
      const Deed deed = rule->deed;
      if (--rule->times == 0) rules_.erase(rule);
      return deed(*this, channel, std::move(frame));
    }
    channel.deliver(std::move(frame));
  }

  fc2::FramePool& pool_;
  std::list<Rule> rules_;  // in order: the first that matches acts
};

}  // namespace support
