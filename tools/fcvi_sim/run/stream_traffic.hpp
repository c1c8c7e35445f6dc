// Sees all that passes between hosts on TCP: counts it, assigns it to connections, feeds ladder and capture, and has
// the scenario's faults befall it.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/fcvi_sim/network/network.hpp"
#include "tools/fcvi_sim/picture/ladder.hpp"
#include "tools/fcvi_sim/run/fault_injector.hpp"
#include "tools/fcvi_sim/run/results.hpp"
#include "tools/fcvi_sim/run/tcp_capture.hpp"

namespace sim {

class StreamTraffic final : public SegmentWatch, public streams::SegmentTap {
 public:
  /// `ladder` and `capture` may be nullptr. All references outlive it.
  StreamTraffic(RunResult& result, const Scenario& scenario, const Network& network, FaultInjector& faults,
                Ladder* ladder, fc2::Capture* capture);
  /// Times of the results count from here.
  void start_clock(runtime::TimeNs zero);

  // SegmentWatch
  SegmentFate segment_met(const SegmentMet& met) override;
  // streams::SegmentTap
  void segment_sent(runtime::TimeNs now, const streams::SegmentSeen& segment) override;
  void acknowledged(runtime::TimeNs now, const streams::SegmentSeen& segment) override;

 private:
  struct Stream {
    std::optional<std::size_t> workload = {};
    std::uint64_t packets = 0;  // before its workload was known
  };
  /// What faults did in one direction of a stream, for the comments of packets.
  struct Mark {
    std::uint64_t first = 0, end = 0;  // octets
    std::string note;
  };
  using Ends = std::pair<streams::Address, streams::Address>;  // from, to
  [[nodiscard]] Stream& stream(std::size_t number);
  void learn(const SegmentMet& met);
  void learn_rdma(const streams::Address& to, Stream& stream) const;
  void count(const SegmentMet& met);
  void record(const SegmentMet& met);
  void draw(const SegmentMet& met);
  void draw_tcp(runtime::TimeNs now, const streams::SegmentSeen& segment);
  void mark(const SegmentMet& met, const SegmentFate& fate, std::string_view note);
  [[nodiscard]] std::string_view comment_of(const streams::SegmentSeen& segment) const;
  [[nodiscard]] bool is_captured(const streams::SegmentSeen& segment) const;

  RunResult& result_;
  const Scenario& scenario_;
  const Network& network_;
  FaultInjector& faults_;
  Ladder* ladder_;
  std::optional<TcpCapture> capture_;
  runtime::TimeNs zero_ = 0;
  std::vector<Stream> streams_;          // by number
  std::map<Ends, std::size_t> numbers_;  // both directions of the latest between these
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Mark>> marks_;  // by stream and sending host
  std::size_t row_ = 0;                                                     // of the ladder: the latest segment's
};

}  // namespace sim
