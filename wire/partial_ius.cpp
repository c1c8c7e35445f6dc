#include "wire/partial_ius.hpp"

#include <algorithm>
#include <iterator>

#include "wire/fcvi/device_header.hpp"

namespace wire {
namespace {

/// Others carry data: nothing of theirs needs the rest of the Sequence.
bool may_span_frames(const FcHeader& header, Bytes data_field) {
  if (header.type == Type::els || header.type == Type::ct) return header.r_ctl < RCtl::nop;
  if (header.type != Type::fc_vi) return false;
  const auto device_header = fcvi::DeviceHeader::parse(header.device_header_size(), data_field);
  const auto iu = device_header ? fcvi::find_iu(device_header->opcode) : nullptr;
  return iu != nullptr && iu->payload == fcvi::Payload::connect_info;
}

bool is_part(const FcHeader& header) {
  return !header.has(f_ctl::end_sequence) || (header.has(f_ctl::relative_offset_present) && header.parameter != 0);
}

}  // namespace

void PartialIus::Sequence::add(std::size_t offset, Bytes part) {
  const std::size_t end = offset + part.size();
  bytes.resize(std::max(bytes.size(), end));
  std::copy(part.begin(), part.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  merge(offset, end);
}

void PartialIus::Sequence::merge(std::size_t begin, std::size_t end) {
  auto next = parts.upper_bound(begin);
  if (next != parts.begin() && std::prev(next)->second >= begin) --next;
  while (next != parts.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = parts.erase(next);
  }
  parts.emplace(begin, end);
}

bool PartialIus::Sequence::is_complete() const {
  return size && !parts.empty() && parts.begin()->first == 0 && parts.begin()->second >= *size;
}

PartialIus::Sequence& PartialIus::find(const FcHeader& header) {
  const Key key{header.s_id.value,
                header.d_id.value,
                header.ox_id.value,
                header.seq_id.value,
                header.has(f_ctl::exchange_responder),
                header.type};
  const auto [found, is_new] = sequences_.try_emplace(key);
  if (!is_new) return found->second;
  if (in_order_.size() == max_sequences) {
    sequences_.erase(in_order_.front());
    in_order_.erase(in_order_.begin());
  }
  in_order_.push_back(key);
  return found->second;
}

PartialIus::Seen PartialIus::add(const FcFrameView& frame) {
  const bool spans = is_part(frame.header) && may_span_frames(frame.header, frame.data_field);
  if (!spans) return {frame.header, frame.data_field, true};
  const auto iu = add_part(frame.header, frame.data_field);
  if (!iu) return {frame.header, frame.data_field, false};
  FcHeader whole = frame.header;
  whole.parameter = 0;
  whole.f_ctl &= ~f_ctl::fill_bytes_mask;
  return {whole, *iu, true};
}

/// The IU, with the Device_Header of its first frame in front, if this frame's Sequence is complete now.
std::optional<Bytes> PartialIus::add_part(const FcHeader& header, Bytes data_field) {
  const std::size_t offset = header.has(f_ctl::relative_offset_present) ? header.parameter : 0;
  const std::size_t before = std::min(header.device_header_size(), data_field.size());
  const Bytes part = data_field.subspan(before);
  if (offset > max_iu_bytes - std::min(part.size(), max_iu_bytes)) return std::nullopt;
  Sequence& sequence = find(header);
  if (offset == 0 && sequence.is_complete())
    sequence = {};  // its numbers are used again, or the frame passed a second tap
  if (offset == 0)
    sequence.device_header.assign(data_field.begin(), data_field.begin() + static_cast<std::ptrdiff_t>(before));
  sequence.add(offset, part);
  if (header.has(f_ctl::end_sequence)) sequence.size = offset + part.size();
  if (!sequence.is_complete()) return std::nullopt;
  sequence.whole = sequence.device_header;
  sequence.whole.insert(sequence.whole.end(), sequence.bytes.begin(),
                        sequence.bytes.begin() + static_cast<std::ptrdiff_t>(*sequence.size));
  return Bytes(sequence.whole);
}

}  // namespace wire
