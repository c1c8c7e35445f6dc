// The tracker: SEQ_CNT, relative offsets and the order of messages, in each view by itself.
#include "tools/fcvi_sim/capture/tracker.hpp"
#include "wire/text.hpp"

namespace sim::capture {
namespace {
using violations::Violation;

std::string progress(const Flow& flow) {
  return "message " + std::to_string(flow.id) + " had " + std::to_string(flow.bytes) + " of " +
         std::to_string(flow.total) + " bytes";
}

}  // namespace

std::string expected(std::uint64_t wanted, std::uint64_t got) {
  return "expected " + std::to_string(wanted) + ", got " + std::to_string(got);
}

void Tracker::begin_flow(Flow& flow, const IuFrame& iu, Record& record, bool headless) const {
  if (headless) {
    flow.broken = true;
  } else if (in_order_ && iu.header.seq_cnt.value != 0 && !iu.responder()) {
    record.note(Violation::seq_cnt_gap, expected(0, iu.header.seq_cnt.value));
    flow.broken = true;
  } else if (in_order_ && iu.header.parameter != 0) {
    record.note(Violation::offset_gap, expected(0, iu.header.parameter));
    flow.broken = true;
  }
}

void Tracker::continue_flow(Flow& flow, const IuFrame& iu, Record& record) {
  const auto wanted = static_cast<std::uint16_t>(*flow.count + 1);
  if (iu.header.seq_cnt.value != wanted) {
    record.note(Violation::seq_cnt_gap, expected(wanted, iu.header.seq_cnt.value));
    flow.broken = true;
  } else if (iu.header.parameter != flow.offset) {
    record.note(Violation::offset_gap, expected(flow.offset, iu.header.parameter));
    flow.broken = true;
  } else if (flow.in_sequence && iu.header.seq_id.value != flow.seq_id) {
    record.note(Violation::wrong_seq_id, wire::text::hex_h(iu.header.seq_id.value, 2) + ", without End_Sequence of " +
                                             wire::text::hex_h(flow.seq_id, 2));
  }
}

void Tracker::follow(Flow& flow, const IuFrame& iu, Record& record, bool headless) const {
  if (!flow.count)
    begin_flow(flow, iu, record, headless);
  else if (in_order_)
    continue_flow(flow, iu, record);
  flow.count = iu.header.seq_cnt.value;
  flow.offset = std::uint64_t{iu.header.parameter} + iu.payload;
  flow.seq_id = iu.header.seq_id.value;
  flow.in_sequence = !iu.ends_sequence();
  flow.bytes += iu.payload;
  flow.time = record.time;
  ++flow.frames;
}

/// `total`: bytes of data; `is_end`: this frame ends request or response.
void Tracker::measure(Flow& flow, const IuFrame& iu, Record& record, std::uint64_t total, bool is_end) const {
  const std::uint64_t last = std::uint64_t{iu.header.parameter} + iu.payload;
  const std::string of = std::to_string(last) + " of " + std::to_string(total) + " bytes";
  if (last > total)
    record.note(Violation::beyond_length, of);
  else if (is_end && last != total)
    record.note(Violation::wrong_payload_length, "the message ends after " + of);
  else if (!is_end && last == total && in_order_)
    record.note(Violation::wrong_f_ctl, "the last bytes of the message, but it goes on");
  if (is_end) flow.ended = true;
  if (flow.ended && flow.bytes >= total) flow.complete = true;
}

void Tracker::judge_order(Endpoint::Next& awaited, const Message& message, Record& record) const {
  const std::int32_t steps = awaited.id ? wire::serial_distance(wire::MsgId{*awaited.id}, {message.id}) : 0;
  if (steps != 0) record.note(Violation::message_order, expected(*awaited.id, message.id));
  const Flow* before = awaited.message.get();
  if (before != nullptr && !before->complete && !before->broken && steps >= 0)
    record.note(Violation::message_incomplete, progress(*before));
  if (steps >= 0) awaited.id = message.id + 1;
}

/// Out of order a message may be completed as long as frames live.
void Tracker::judge_late(const Endpoint::Next& awaited, Record& record) const {
  Flow* before = awaited.message.get();
  if (before == nullptr || before->complete || record.time - before->time <= r_a_tov_) return;
  record.note(Violation::message_incomplete, progress(*before) + " after R_A_TOV");
  before->complete = true;  // said once
}

/// A message is new in a view: after which one. What a sender began was captured where it left: else the capture
/// began later.
std::shared_ptr<Flow> Tracker::begin_in_view(const Message& message, View view, bool begins, Record& record) const {
  auto& next = message.to->next[static_cast<std::size_t>(view)];
  // Of a connection that was set up in the capture the first message is 1 (FC-VI 5.9.6).
  if (!next) next.emplace(message.to->connection->implied ? std::nullopt : std::optional<std::uint32_t>(1), nullptr);
  Endpoint::Next& awaited = *next;
  const std::shared_ptr<Flow> before = awaited.message;
  if (in_order_)
    judge_order(awaited, message, record);
  else
    judge_late(awaited, record);
  auto flow = std::make_shared<Flow>();
  flow->id = message.id;
  flow->total = message.total;
  flow->time = record.time;
  const bool began_earlier = !message.begun || (view == View::sent && !begins);
  flow->headless = !before && message.to->connection->implied && began_earlier;
  // Out of order an incomplete message stays the one that is waited for.
  if (in_order_ || !before || before->complete) awaited.message = flow;
  return flow;
}

void Tracker::request_in_view(Message& message, const IuFrame& iu, View view, Record& record) const {
  std::shared_ptr<Flow>& flow = message.flows[static_cast<std::size_t>(view)];
  const bool begins = iu.header.seq_cnt.value == 0 && iu.header.parameter == 0;
  if (!flow) flow = begin_in_view(message, view, begins, record);
  follow(*flow, iu, record, flow->headless);
  record.flow = flow;
  if (message.iu->payload != wire::fcvi::Payload::message_data) {
    flow->complete = true;
    return;
  }
  const bool is_end = iu.ends_sequence() && (iu.last_sequence() || iu.gives_initiative());
  measure(*flow, iu, record, message.total, is_end);
}

void Tracker::response_in_view(Message& message, const IuFrame& iu, View view, Record& record) const {
  std::shared_ptr<Flow>& flow = message.answer_flows[static_cast<std::size_t>(view)];
  if (!flow) {
    flow = std::make_shared<Flow>();
    flow->id = message.id;
    flow->total = message.total;
  }
  follow(*flow, iu, record, false);
  record.flow = flow;
  if (!iu.resp_err()) measure(*flow, iu, record, message.total, iu.last_sequence() && iu.ends_sequence());
}

}  // namespace sim::capture
