#include "tools/fcvi_sim/run/stream_traffic.hpp"

#include <algorithm>

#include "tools/fcvi_sim/picture/rdma_rows.hpp"
#include "tools/fcvi_sim/picture/vitcp_rows.hpp"

namespace sim {
namespace {

using Kind = streams::SegmentSeen::Kind;
using wire::vitcp::SegmentType;

/// Messages are alike when who, to whom, what and how long are the same.
std::string signature_of(const SegmentMet& met) {
  return std::to_string(met.stream) + " " + std::to_string(met.from) + " " + std::string(met.name) + " " +
         std::to_string(met.octets.size());
}

}  // namespace

StreamTraffic::StreamTraffic(RunResult& result, const Scenario& scenario, const Network& network, FaultInjector& faults,
                             Ladder* ladder, fc2::Capture* capture)
    : result_(result), scenario_(scenario), network_(network), faults_(faults), ladder_(ladder) {
  if (capture != nullptr) capture_.emplace(*capture, "network");
}

void StreamTraffic::start_clock(runtime::TimeNs zero) {
  zero_ = zero;
  for (SeenSegment& segment : result_.segments) segment.at -= zero;
}

StreamTraffic::Stream& StreamTraffic::stream(std::size_t number) {
  if (streams_.size() <= number) streams_.resize(number + 1);
  return streams_[number];
}

// --- VI segments -------------------------------------------------------------------------------------------------

SegmentFate StreamTraffic::segment_met(const SegmentMet& met) {
  learn(met);
  count(met);
  if (ladder_ != nullptr) draw(met);
  const FaultSpec* fault = nullptr;
  const SegmentFate fate = faults_.befall(met, stream(met.stream).workload, fault);
  if (fault != nullptr) mark(met, fate, fault->rule.note);
  record(met);
  return fate;
}

/// ConnectRequest tells whom a connection is for.
void StreamTraffic::learn(const SegmentMet& met) {
  if (met.vi == nullptr || met.vi->header.type != SegmentType::connect_request) return;
  const wire::Bytes called = met.vi->ce.called.view();
  const auto is_for = [&](const WorkloadSpec& workload) {
    const bool waits = workload.server == met.to || (workload.peer_to_peer && workload.client == met.to);
    return waits &&
           std::ranges::equal(called, wire::Bytes(reinterpret_cast<const std::uint8_t*>(workload.discriminator.data()),
                                                  workload.discriminator.size()));
  };
  const auto found = std::ranges::find_if(scenario_.workloads, is_for);
  if (found == scenario_.workloads.end()) return;
  Stream& own = stream(met.stream);
  own.workload = static_cast<std::size_t>(found - scenario_.workloads.begin());
  result_.workloads[*own.workload].traffic.frames += std::exchange(own.packets, 0);
}

/// The port tells it of a stream of RDMA.
void StreamTraffic::learn_rdma(const streams::Address& to, Stream& stream) const {
  for (std::size_t i = 0; i < scenario_.workloads.size(); ++i) {
    const WorkloadSpec& workload = scenario_.workloads[i];
    if (workload.rdma && workload.rdma->tcp_port == to.port && network_.host_at(to.ip) == workload.server)
      stream.workload = i;
  }
}

void StreamTraffic::count(const SegmentMet& met) {
  ++result_.iu_count;
  ++result_.ius[met.name];
  result_.byte_count += met.stream_octets;
  if (const auto workload = stream(met.stream).workload) ++result_.workloads[*workload].traffic.ius;
}

// As a fault left it.
void StreamTraffic::record(const SegmentMet& met) {
  constexpr std::size_t bytes_kept = 192, most = 100'000;
  const Expectations& expected = scenario_.expectations;
  if (!expected.wire || result_.segments.size() == most) return;
  if (expected.wire_from && (zero_ == 0 || met.at - zero_ < *expected.wire_from)) return;
  const auto is_wanted = [&](const WireMessage& wanted) {
    const auto holds = [&](const SegmentFieldRange& range) { return range.holds(met.form, met.octets); };
    return wanted.message == met.name && std::ranges::all_of(wanted.segment_fields, holds);
  };
  if (!expected.wire_messages.empty() && std::ranges::none_of(expected.wire_messages, is_wanted)) return;
  const wire::Bytes kept = met.octets.first(std::min(bytes_kept, met.octets.size()));
  result_.segments.push_back({.at = met.at - zero_,
                              .stream = met.stream,
                              .from = met.from,
                              .to = met.to,
                              .form = met.form,
                              .name = met.name,
                              .octets = {kept.begin(), kept.end()},
                              .payload_bytes = met.payload_bytes});
}

void StreamTraffic::draw(const SegmentMet& met) {
  const LadderRow row = met.vi != nullptr ? row_of(*met.vi, met.at, met.from, met.to)
                                          : row_of(met.form, met.octets, met.at, met.from, met.to);
  row_ = ladder_->arrow(row, signature_of(met), met.name);
}

void StreamTraffic::mark(const SegmentMet& met, const SegmentFate& fate, std::string_view note) {
  if (ladder_ != nullptr) ladder_->note(row_, note);
  if (!capture_) return;
  const bool ends = fate.kind == SegmentFate::Kind::Reset || fate.kind == SegmentFate::Kind::Close;
  const std::uint64_t first = met.first_octet + (ends ? fate.octets : 0);
  marks_[{met.stream, met.from}].push_back({first, met.first_octet + met.stream_octets, "fault: " + std::string(note)});
}

// --- TCP segments ------------------------------------------------------------------------------------------------

void StreamTraffic::segment_sent(runtime::TimeNs now, const streams::SegmentSeen& segment) {
  if (segment.kind == Kind::syn) {
    const std::size_t number = ++result_.stream_count;
    numbers_[{segment.from, segment.to}] = numbers_[{segment.to, segment.from}] = number;
  }
  if (segment.kind == Kind::syn) learn_rdma(segment.to, stream(result_.stream_count));
  ++result_.frame_count;
  Stream& own = stream(numbers_[{segment.from, segment.to}]);
  ++(own.workload ? result_.workloads[*own.workload].traffic.frames : own.packets);
  if (ladder_ != nullptr && segment.kind != Kind::data) draw_tcp(now, segment);
  if (capture_ && is_captured(segment)) capture_->sent(now, segment, comment_of(segment));
}

void StreamTraffic::acknowledged(runtime::TimeNs now, const streams::SegmentSeen& segment) {
  if (capture_ && is_captured(segment)) capture_->acknowledged(now, segment);
}

bool StreamTraffic::is_captured(const streams::SegmentSeen& segment) const {
  for (const streams::Address& end : {segment.from, segment.to})
    if (const auto host = network_.host_at(end.ip); host && scenario_.ports[*host].capture) return true;
  return false;
}

std::string_view StreamTraffic::comment_of(const streams::SegmentSeen& segment) const {
  const auto number = numbers_.find({segment.from, segment.to});
  const auto host = network_.host_at(segment.from.ip);
  if (number == numbers_.end() || !host) return {};
  const auto marks = marks_.find({number->second, *host});
  if (marks == marks_.end()) return {};
  const std::uint64_t end = segment.at + std::max<std::size_t>(segment.first.size() + segment.rest.size(), 1);
  for (const Mark& mark : marks->second)
    if (segment.at < mark.end && end > mark.first) return mark.note;
  return {};
}

void StreamTraffic::draw_tcp(runtime::TimeNs now, const streams::SegmentSeen& segment) {
  const auto from = network_.host_at(segment.from.ip), to = network_.host_at(segment.to.ip);
  if (!from || !to) return;
  std::string_view name = "SYN";
  if (segment.kind == Kind::syn_ack) name = "SYN ACK";
  if (segment.kind == Kind::fin) name = "FIN";
  if (segment.kind == Kind::rst) name = "RST";
  const bool begins = segment.kind == Kind::syn || segment.kind == Kind::syn_ack;
  (void)ladder_->arrow({.row_kind = begins ? RowKind::Login : RowKind::Teardown,
                        .at = now,
                        .from = *from,
                        .to = *to,
                        .text = std::string(name),
                        .frames = 1},
                       std::string(name), name);
}

}  // namespace sim
