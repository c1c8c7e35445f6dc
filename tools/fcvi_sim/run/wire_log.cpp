#include "tools/fcvi_sim/run/wire_log.hpp"

#include <algorithm>

#include "tools/fcvi_sim/run/wire_check.hpp"

namespace sim {
namespace {

std::uint64_t payload_size(const wire::FcHeader& header, const fc2::Frame& frame) {
  const std::size_t beside = wire::FcHeader::size() + header.device_header_size() + header.fill_bytes();
  return frame.size_bytes > beside ? frame.size_bytes - beside : 0;
}

}  // namespace

void WireLog::start_clock(runtime::TimeNs zero) {
  zero_ = zero;
  for (WireIu& iu : ius_) iu.at -= zero;
}

std::optional<std::size_t> WireLog::port_of(wire::FcId id) const {
  const auto found = ports_.find(id.value);
  return found == ports_.end() ? std::nullopt : std::optional(found->second);
}

void WireLog::sent(runtime::TimeNs at, std::size_t port, const fc2::Frame& frame) {
  constexpr std::size_t bytes_kept = 96, most_ius = 100'000;  // up to the handle in a connection IU's payload
  const auto facts = faults::facts_of(frame);
  if (!facts) return;
  ports_[facts->header.s_id.value] = port;
  const std::uint64_t payload_bytes = payload_size(facts->header, frame);
  const bool begins = facts->first || wire::is_link_control(facts->header.r_ctl);  // an ACK stands for itself
  if (!begins && !scenario_.expectations.wire_frames) {
    if (WireIu* iu = iu_of(facts->header); iu != nullptr) {
      iu->last_f_ctl = facts->header.f_ctl;
      iu->payload_bytes += payload_bytes;
    }
    return;
  }
  if (!counts_on_wire(scenario_.expectations, *facts, frame.content())) return;
  const auto from = scenario_.expectations.wire_from;
  if (ius_.size() == most_ius || (from && (zero_ == 0 || at - zero_ < *from))) return;
  const auto content = frame.content().first(std::min<std::size_t>(bytes_kept, frame.size_bytes));
  ius_.push_back({at - zero_,
                  port,
                  port_of(facts->header.d_id),
                  *facts,
                  {content.begin(), content.end()},
                  facts->header.f_ctl,
                  payload_bytes});
}

// The latest of its sequence, or that very frame: SEQ_IDs come again.
WireIu* WireLog::iu_of(const wire::FcHeader& header) {
  const auto found = std::find_if(ius_.rbegin(), ius_.rend(), [&](const WireIu& iu) {
    const wire::FcHeader& first = iu.facts.header;
    return first.s_id == header.s_id && first.ox_id == header.ox_id && first.seq_id == header.seq_id &&
           first.r_ctl == header.r_ctl && (!scenario_.expectations.wire_frames || first.seq_cnt == header.seq_cnt) &&
           first.has(wire::f_ctl::exchange_responder) == header.has(wire::f_ctl::exchange_responder);
  });
  return found == ius_.rend() ? nullptr : &*found;
}

void WireLog::befell(const fc2::Frame& frame, bool lost, const fc2::Frame* changed) {
  const auto header = wire::FcHeader::parse(frame.content());
  if (!header) return;
  if (WireIu* iu = lost ? iu_of(*header) : nullptr; iu != nullptr) iu->lost = true;
  if (changed != nullptr) rewritten(frame, *changed);
}

/// From there on the wire has another IU.
void WireLog::rewritten(const fc2::Frame& frame, const fc2::Frame& changed) {
  const auto before = faults::facts_of(frame), after = faults::facts_of(changed);
  WireIu* iu = before && (before->first || scenario_.expectations.wire_frames) ? iu_of(before->header) : nullptr;
  if (iu == nullptr || !after) return;
  iu->facts = *after;
  std::copy_n(changed.bytes.begin(), iu->bytes.size(), iu->bytes.begin());
}

// --- notes -------------------------------------------------------------------------------------------------------

namespace {

void put(ByteWriter& to, const fc2::Frame& frame) {
  to.put(frame.sof);
  to.put(frame.eof);
  to.put(frame.size_bytes);
  to.put_bytes(frame.content());
}

fc2::FramePtr frame_of(ByteReader& from, fc2::FramePool& pool) {
  fc2::FramePtr frame = pool.take();
  frame->sof = from.get<wire::Sof>();
  frame->eof = from.get<wire::Eof>();
  frame->size_bytes = from.get<std::uint16_t>();
  const auto content = from.get_bytes(frame->size_bytes);
  std::copy(content.begin(), content.end(), frame->bytes.begin());
  return frame;
}

}  // namespace

void WireNotes::add(Kind kind, std::size_t port, ByteWriter& note) {
  notes_.add(static_cast<OrderedNotes::Place>(kind) << 32 | port, note);
}

void WireNotes::sent(runtime::TimeNs at, std::size_t port, const fc2::Frame& frame) {
  ByteWriter note;
  note.put(Kind::Sent);
  note.put(at);
  note.put(port);
  put(note, frame);
  add(Kind::Sent, port, note);
}

void WireNotes::befell(std::size_t port, const fc2::Frame& frame, bool lost, const fc2::Frame* changed) {
  ByteWriter note;
  note.put(Kind::Befell);
  note.put(lost);
  put(note, frame);
  note.put(changed != nullptr);
  if (changed != nullptr) put(note, *changed);
  add(Kind::Befell, port, note);
}

void WireNotes::enter(WireLog& log, fc2::FramePool& pool, std::span<const std::uint8_t> bytes) {
  ByteReader note(bytes);
  if (note.get<Kind>() == Kind::Sent) {
    const auto at = note.get<runtime::TimeNs>();
    const auto port = note.get<std::size_t>();
    return log.sent(at, port, *frame_of(note, pool));
  }
  const bool lost = note.get<bool>();
  const fc2::FramePtr frame = frame_of(note, pool);
  const fc2::FramePtr changed = note.get<bool>() ? frame_of(note, pool) : nullptr;
  log.befell(*frame, lost, changed.get());
}

}  // namespace sim
