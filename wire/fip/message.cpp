#include "wire/fip/message.hpp"

namespace wire::fip {
namespace {

std::size_t list_size(const std::vector<Descriptor>& descriptors) {
  std::size_t size = 0;
  for (const Descriptor& descriptor : descriptors) size += fip::size(descriptor);
  return size;
}

struct Name {
  Operation operation;
  std::uint8_t subcode;
  std::string_view name;
};
constexpr std::array<Name, 13> names{
    Name{Operation::discovery, subcode::discovery_solicitation, "Discovery Solicitation"},
    Name{Operation::discovery, subcode::discovery_advertisement, "Discovery Advertisement"},
    Name{Operation::link_service, subcode::link_service_request, "Link Service Request"},
    Name{Operation::link_service, subcode::link_service_reply, "Link Service Reply"},
    Name{Operation::control, subcode::keep_alive, "Keep-Alive"},
    Name{Operation::control, subcode::clear_virtual_links, "Clear Virtual Links"},
    Name{Operation::vlan, subcode::vlan_request, "VLAN Request"},
    Name{Operation::vlan, subcode::vlan_notification, "VLAN Notification"},
    Name{Operation::vn2vn, subcode::probe_request, "Probe Request"},
    Name{Operation::vn2vn, subcode::probe_reply, "Probe Reply"},
    Name{Operation::vn2vn, subcode::claim_notification, "Claim Notification"},
    Name{Operation::vn2vn, subcode::claim_response, "Claim Response"},
    Name{Operation::vn2vn, subcode::beacon, "Beacon"},
};
}  // namespace

std::size_t FipMessage::size() const { return FipHeader::size() + list_size(descriptors) + padding.size(); }

Result<FipMessage> FipMessage::parse(Bytes bytes) {
  const auto header = FipHeader::parse(bytes);
  if (!header) return header.error();
  if (header->version != FipHeader{}.version) return ParseError{ParseCode::bad_value, "version"};
  FipMessage message{header->operation, header->subcode, header->flags, {}, {}};
  Bytes rest = bytes.subspan(FipHeader::size());
  const std::size_t length = header->descriptor_words * word_size;
  if (length > rest.size()) return ParseError{ParseCode::truncated, "descriptors"};
  message.padding.assign(rest.begin() + static_cast<std::ptrdiff_t>(length), rest.end());
  for (rest = rest.first(length); !rest.empty();) {
    auto descriptor = parse_descriptor(rest);
    // The list says that there is more than the last descriptor has.
    if (!descriptor) return ParseError{ParseCode::bad_length, descriptor.error().field};
    rest = rest.subspan(fip::size(*descriptor));
    message.descriptors.push_back(*std::move(descriptor));
  }
  return message;
}

void FipMessage::write(MutableBytes to) const {
  assert(to.size() >= size());
  const std::size_t length = list_size(descriptors);
  assert(length / word_size <= 0xFFFF);
  FipHeader{operation, subcode, static_cast<std::uint16_t>(length / word_size), flags}.write(to);
  MutableBytes rest = to.subspan(FipHeader::size());
  for (const Descriptor& descriptor : descriptors) {
    fip::write(descriptor, rest);
    rest = rest.subspan(fip::size(descriptor));
  }
  std::copy(padding.begin(), padding.end(), rest.begin());
}

std::string_view FipMessage::message_name() const {
  for (const Name& row : names)
    if (row.operation == operation && row.subcode == subcode) return row.name;
  return name;
}

std::string FipMessage::to_string() const {
  std::string line = "FIP " + std::string(message_name());
  text::append(line, "flags", text::hex_h(flags, 4));
  for (const Descriptor& descriptor : descriptors) line += " {" + fip::to_string(descriptor) + "}";
  return line;
}

std::vector<std::uint8_t> FipMessage::to_ethernet(const MacAddress& destination, const MacAddress& source) const {
  std::vector<std::uint8_t> frame(EthernetHeader::size() + size());
  EthernetHeader{destination, source, EtherType::fip}.write(frame);
  write(MutableBytes(frame).subspan(EthernetHeader::size()));
  return frame;
}

}  // namespace wire::fip
