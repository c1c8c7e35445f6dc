#include "tools/faults/frame_facts.hpp"

#include "tools/faults/iu_flags.hpp"
#include "wire/describe.hpp"

namespace faults {

std::vector<std::string> FrameFacts::flags() const {
  return device_header ? flags_set(device_header->opcode, device_header->flags) : std::vector<std::string>{};
}

std::optional<wire::fcvi::Reason> FrameFacts::reason() const {
  if (!device_header) return std::nullopt;
  return reason_of(device_header->opcode, device_header->flags, device_header->parameter);
}

std::optional<FrameFacts> facts_of(const fc2::Frame& frame) {
  const auto header = wire::FcHeader::parse(frame.content());
  if (!header) return std::nullopt;
  FrameFacts facts{.message = {}, .header = *header, .device_header = {}};
  const wire::Bytes data_field = frame.content().subspan(wire::FcHeader::size());
  facts.first = frame.sof == wire::Sof::i3 || frame.sof == wire::Sof::i2;
  facts.last = frame.eof == wire::Eof::t;
  if (header->type == wire::Type::fc_vi) {
    if (const auto parsed = wire::fcvi::DeviceHeader::parse(header->device_header_size(), data_field))
      facts.device_header = *parsed;
  }
  const bool named = facts.first || header->type == wire::Type::fc_vi || header->type == wire::Type::bls;
  facts.message = named ? wire::message_name(*header, data_field) : to_string(header->type);
  return facts;
}

}  // namespace faults
