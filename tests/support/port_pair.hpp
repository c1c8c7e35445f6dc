// Two N_Ports back to back, in virtual time, with a place in between where frames can be lost, doubled or swapped.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "fc2_fabric/node/n_port.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "tests/support/frame_log.hpp"

namespace support {

/// Stands before a receiver, and does to each frame what `on_frame` says.
class Interposer final : public fc2::FrameReceiver {
 public:
  enum class Action { Pass, Drop, Double, Swap };  // Swap: comes after the next one
  Interposer(fc2::FramePool& pool, fc2::FrameReceiver& behind) : pool_(pool), behind_(behind) {}
  std::function<Action(const LoggedFrame&)> on_frame;
  FrameLog log;  // what was sent, lost or not

  void receive(fc2::FramePtr frame) override {
    log.frame_passed(frame->arrival, *frame, false);
    const Action action = on_frame ? on_frame(log.frames().back()) : Action::Pass;
    if (action == Action::Swap) held_ = std::move(frame);
    if (action == Action::Drop || action == Action::Swap) return;
    fc2::FramePtr copy = action == Action::Double ? pool_.copy(*frame) : nullptr;
    behind_.receive(std::move(frame));
    if (copy != nullptr) behind_.receive(std::move(copy));
    if (held_ != nullptr) behind_.receive(std::move(held_));
  }

 private:
  fc2::FramePool& pool_;
  fc2::FrameReceiver& behind_;
  fc2::FramePtr held_;
};

/// An exchange user that remembers. Stays alive as long as its port.
class RecordingUser final : public fc2::ExchangeUser {
 public:
  struct Iu {
    fc2::Exchange* exchange;
    wire::FcHeader header;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<Iu> ius;
  std::vector<fc2::ExchangeFailure> failures;
  std::function<void(fc2::Exchange&, std::span<const std::uint8_t>)> on_iu;

  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                         std::span<const std::uint8_t> iu) override {
    ius.push_back({&exchange, first, {iu.begin(), iu.end()}});
    if (on_iu) on_iu(exchange, iu);
  }
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure failure) override { failures.push_back(failure); }
};

class PortPair {
 public:
  static constexpr wire::FcId a_id{0x010100}, b_id{0x010200};

  explicit PortPair(const std::function<void(fc2::NPortConfig&)>& adjust = {},
                    fc2::LinkConfig link = {.latency_ns = 1000})
      : a(scheduler, pool, config(0, a_id, adjust)), b(scheduler, pool, config(1, b_id, adjust)), to_a(pool, a),
        to_b(pool, b), a_to_b_(scheduler, link, to_b), b_to_a_(scheduler, link, to_a) {
    a.link_up(a_to_b_);
    b.link_up(b_to_a_);
  }
  void run_for(runtime::TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  /// PLOGI from a to b.
  bool log_in() {
    a.remote_port(b_id).log_in();
    run_for(runtime::millisecond);
    return a.remote_port(b_id).logged_in() && b.remote_port(a_id).logged_in();
  }
  [[nodiscard]] std::uint64_t unexpected_events() const {
    return a.counters().unexpected_events + b.counters().unexpected_events;
  }

  runtime::Scheduler scheduler;
  fc2::FramePool pool;
  fc2::NPort a, b;
  Interposer to_a, to_b;

 private:
  static fc2::NPortConfig config(std::uint64_t index, wire::FcId id,
                                 const std::function<void(fc2::NPortConfig&)>& adjust) {
    fc2::NPortConfig config;
    config.name = index == 0 ? "a" : "b";
    config.port_name = {0x2000'02FC'F000'0001 + index};
    config.node_name = {0x1000'02FC'F000'0001 + index};
    config.fixed_id = id;
    if (adjust) adjust(config);
    return config;
  }
  fc2::Channel a_to_b_, b_to_a_;
};

}  // namespace support
