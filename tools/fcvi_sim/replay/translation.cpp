#include "tools/fcvi_sim/replay/translation.hpp"

#include <algorithm>

#include "wire/bls/ba_acc.hpp"
#include "wire/fcvi/device_header.hpp"

namespace sim::replay {
namespace {
using Kind = Translation::Kind;
using Choice = Translation::Choice;
using wire::fcvi::Opcode;

constexpr std::size_t header_bytes = wire::FcHeader::size(), seq_id_at = 12, ox_id_at = 16, rx_id_at = 18;
constexpr std::size_t handle_at = header_bytes, memory_at = header_bytes + 24, connection_id_at = header_bytes + 28;
constexpr std::size_t own_handle_at = header_bytes + 32 + 8;  // of CONNECT_RQST and RESP1: in the payload
constexpr std::uint32_t unassigned_id = 0xFFFF, unassigned = 0xFFFFFFFF;

std::uint32_t load(wire::Bytes frame, std::size_t offset, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | frame[offset + i];
  return value;
}

void store(std::vector<std::uint8_t>& frame, std::size_t offset, std::size_t size, std::uint32_t value) {
  for (std::size_t i = size; i-- > 0; value >>= 8) frame[offset + i] = static_cast<std::uint8_t>(value);
}

class Choices {
 public:
  Choices(wire::Bytes frame, bool sent) : frame_(frame), sent_(sent), header_(*wire::FcHeader::parse(frame)) {}
  std::vector<Choice> find() {
    exchange_ids();
    sequence_id();
    if (header_.type == wire::Type::fc_vi && (static_cast<unsigned>(header_.r_ctl) & 0xF0) == 0) device_header();
    if (header_.r_ctl == wire::RCtl::ba_acc) accepted_abort();
    return std::move(found_);
  }

 private:
  void add(Kind kind, std::size_t offset, std::size_t size, std::uint32_t none, std::uint32_t scope = 0) {
    if (offset + size > frame_.size() || load(frame_, offset, size) == none) return;
    found_.push_back({kind, offset, size, scope});
  }
  [[nodiscard]] bool port_is_originator() const { return sent_ != header_.has(wire::f_ctl::exchange_responder); }
  void exchange_ids() {
    if (port_is_originator())
      add(Kind::ox_id, ox_id_at, 2, unassigned_id);
    else
      add(Kind::rx_id, rx_id_at, 2, unassigned_id);
  }
  /// Link control answers name the other's Sequence.
  void sequence_id() {
    const bool answer = wire::is_link_control(header_.r_ctl);
    if (sent_ != answer) found_.push_back({Kind::seq_id, seq_id_at, 1, (sent_ ? header_.d_id : header_.s_id).value});
  }
  /// OX_ID and RX_ID stand in the payload, too.
  void accepted_abort() {
    constexpr std::size_t at = header_bytes + 4;
    if (port_is_originator())
      add(Kind::ox_id, at, 2, unassigned_id);
    else
      add(Kind::rx_id, at + 2, 2, unassigned_id);
  }
  void device_header();
  void connection_id(Opcode opcode);

  wire::Bytes frame_;
  bool sent_;
  wire::FcHeader header_;
  std::vector<Choice> found_;
};

void Choices::device_header() {
  const auto fields = wire::fcvi::DeviceHeader::parse(header_.device_header_size(), frame_.subspan(header_bytes));
  if (!fields) return;
  const bool first = header_.seq_cnt.value == 0;
  if (!sent_) add(Kind::handle, handle_at, 4, unassigned);
  const bool tells = fields->opcode == Opcode::connect_rqst || fields->opcode == Opcode::connect_resp1;
  if (sent_ && tells && first) add(Kind::handle, own_handle_at, 4, unassigned);
  const bool reaches = fields->opcode == Opcode::write_rqst || fields->opcode == Opcode::read_rqst;
  if (!sent_ && reaches) add(Kind::memory, memory_at, 4, 0, fields->handle.value);
  if (sent_ && fields->opcode == Opcode::read_resp) add(Kind::memory, memory_at, 4, 0);
  connection_id(fields->opcode);
}

/// The originator of the set-up gave it.
void Choices::connection_id(Opcode opcode) {
  const bool request = opcode == Opcode::connect_rqst || opcode == Opcode::connect_resp2;
  const bool answer = opcode == Opcode::connect_resp1 || opcode == Opcode::connect_resp3;
  if ((sent_ && request) || (!sent_ && answer)) add(Kind::connection_id, connection_id_at, 4, unassigned);
}

}  // namespace

std::vector<Choice> Translation::choices_in(wire::Bytes frame, bool sent) { return Choices(frame, sent).find(); }

std::optional<std::uint32_t> Translation::now_of(const Choice& choice, std::uint32_t captured) const {
  if (choice.kind == Kind::memory) {
    const auto found = memory_.find(std::uint64_t{choice.scope} << 32 | captured);
    return found == memory_.end() ? std::nullopt : std::optional(found->second);
  }
  const auto found = to_now_.find(key_of(choice.kind, choice.scope, captured));
  return found == to_now_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::uint8_t> Translation::to_now(const CapturedFrame& captured) const {
  std::vector<std::uint8_t> frame = captured.bytes;
  for (const Choice& choice : choices_in(captured.bytes, false))
    if (const auto now = now_of(choice, load(captured.bytes, choice.offset, choice.size)))
      store(frame, choice.offset, choice.size, *now);
  return frame;
}

/// What the choice was before does not count.
bool Translation::is_new(const Choice& choice, const CapturedFrame& expected) {
  switch (choice.kind) {
    case Kind::ox_id: return expected.begins_exchange;
    case Kind::rx_id: return expected.first_answer;
    case Kind::seq_id: return expected.begins_sequence;
    default: return false;
  }
}

std::optional<std::uint32_t> Translation::captured_of(const Choice& choice, std::uint32_t now,
                                                      const CapturedFrame& expected, const std::vector<Choice>& there,
                                                      std::vector<Pair>& learned) const {
  const bool fresh = is_new(choice, expected);
  const auto known = to_captured_.find(key_of(choice.kind, choice.scope, now));
  if (!fresh && known != to_captured_.end()) return known->second;
  const auto same = std::find_if(there.begin(), there.end(), [&](const Choice& other) {
    return other.kind == choice.kind && other.offset == choice.offset && other.scope == choice.scope;
  });
  if (same == there.end() || choice.kind == Kind::memory) return std::nullopt;
  const std::uint32_t captured = load(expected.bytes, same->offset, same->size);
  if (!fresh && to_now_.contains(key_of(choice.kind, choice.scope, captured))) return std::nullopt;
  learned.push_back({choice.kind, choice.scope, captured, now});
  return captured;
}

std::vector<std::uint8_t> Translation::to_captured(wire::Bytes now, const CapturedFrame& expected,
                                                   std::vector<Pair>& learned) const {
  std::vector<std::uint8_t> frame(now.begin(), now.end());
  const std::vector<Choice> there = choices_in(expected.bytes, true);
  for (const Choice& choice : choices_in(now, true)) {
    const std::uint32_t value = load(now, choice.offset, choice.size);
    if (const auto captured = captured_of(choice, value, expected, there, learned))
      store(frame, choice.offset, choice.size, *captured);
  }
  return frame;
}

void Translation::learn(const Pair& pair) {
  if (pair.kind == Kind::memory) {
    memory_[std::uint64_t{pair.scope} << 32 | pair.captured] = pair.now;
    to_captured_[key_of(pair.kind, 0, pair.now)] = pair.captured;
    return;
  }
  to_now_[key_of(pair.kind, pair.scope, pair.captured)] = pair.now;
  to_captured_[key_of(pair.kind, pair.scope, pair.now)] = pair.captured;
}

}  // namespace sim::replay
