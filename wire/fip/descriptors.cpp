#include "wire/fip/descriptors.hpp"

namespace wire::fip {
namespace {

constexpr std::size_t prefix_size = 2;        // type and length
constexpr std::size_t frame_prefix_size = 4;  // type, length, 2 reserved

void write_prefix(std::uint8_t type, std::size_t size, MutableBytes to) {
  assert(size % word_size == 0 && size / word_size <= 0xFF);
  to[0] = type;
  to[1] = static_cast<std::uint8_t>(size / word_size);
}

/// As T, or unknown where its length is not that of a T.
template <class T>
Result<Descriptor> parse_as(Bytes bytes) {
  if (bytes.size() == T::size())
    if (const auto parsed = T::parse(bytes)) return Descriptor(*parsed);
  const auto unknown = UnknownDescriptor::parse(bytes);
  if (!unknown) return unknown.error();
  return Descriptor(*unknown);
}

template <>
Result<Descriptor> parse_as<EncapsulatedFrame>(Bytes bytes) {
  const auto parsed = EncapsulatedFrame::parse(bytes);
  if (!parsed) return parsed.error();
  return Descriptor(*parsed);
}

template <>
Result<Descriptor> parse_as<UnknownDescriptor>(Bytes bytes) {
  const auto parsed = UnknownDescriptor::parse(bytes);
  if (!parsed) return parsed.error();
  return Descriptor(*parsed);
}

Result<Descriptor> parse_by_type(Bytes bytes) {
  switch (static_cast<DescriptorType>(bytes[0])) {
    case DescriptorType::priority: return parse_as<Priority>(bytes);
    case DescriptorType::mac: return parse_as<Mac>(bytes);
    case DescriptorType::fc_map: return parse_as<FcMap>(bytes);
    case DescriptorType::name_id: return parse_as<NameId>(bytes);
    case DescriptorType::fabric: return parse_as<Fabric>(bytes);
    case DescriptorType::max_fcoe_size: return parse_as<MaxFcoeSize>(bytes);
    case DescriptorType::flogi:
    case DescriptorType::fdisc:
    case DescriptorType::logo:
    case DescriptorType::elp: return parse_as<EncapsulatedFrame>(bytes);
    case DescriptorType::vn_port: return parse_as<VnPort>(bytes);
    case DescriptorType::fka_adv_period: return parse_as<FkaAdvPeriod>(bytes);
    case DescriptorType::vendor_id: return parse_as<VendorId>(bytes);
    case DescriptorType::vlan: return parse_as<Vlan>(bytes);
    case DescriptorType::fc4_features: return parse_as<Fc4Features>(bytes);
  }
  return parse_as<UnknownDescriptor>(bytes);
}

/// The bytes of the descriptor at the start of `bytes`.
Result<Bytes> bounded(Bytes bytes) {
  if (bytes.size() < prefix_size) return ParseError{ParseCode::truncated, "descriptor_length"};
  const std::size_t size = bytes[1] * word_size;
  if (size == 0) return ParseError{ParseCode::bad_length, "descriptor_length"};
  if (size > bytes.size()) return ParseError{ParseCode::truncated, "descriptor"};
  return bytes.first(size);
}

}  // namespace

std::string_view to_string(DescriptorType value) {
  switch (value) {
    case DescriptorType::priority: return "PRIORITY";
    case DescriptorType::mac: return "MAC";
    case DescriptorType::fc_map: return "FC_MAP";
    case DescriptorType::name_id: return "NAME_ID";
    case DescriptorType::fabric: return "FABRIC";
    case DescriptorType::max_fcoe_size: return "MAX_FCOE_SIZE";
    case DescriptorType::flogi: return "FLOGI";
    case DescriptorType::fdisc: return "FDISC";
    case DescriptorType::logo: return "LOGO";
    case DescriptorType::elp: return "ELP";
    case DescriptorType::vn_port: return "VN_PORT";
    case DescriptorType::fka_adv_period: return "FKA_ADV_PERIOD";
    case DescriptorType::vendor_id: return "VENDOR_ID";
    case DescriptorType::vlan: return "VLAN";
    case DescriptorType::fc4_features: return "FC4_FEATURES";
  }
  return text::unknown;
}

std::size_t EncapsulatedFrame::size() const { return frame_prefix_size + fc_frame.size(); }

Result<EncapsulatedFrame> EncapsulatedFrame::parse(Bytes bytes) {
  const auto own = bounded(bytes);
  if (!own) return own.error();
  EncapsulatedFrame frame;
  frame.type = static_cast<DescriptorType>((*own)[0]);
  if (frame.type < DescriptorType::flogi || frame.type > DescriptorType::elp)
    return ParseError{ParseCode::bad_value, "type"};
  frame.fc_frame.assign(own->begin() + frame_prefix_size, own->end());
  return frame;
}

void EncapsulatedFrame::write(MutableBytes to) const {
  write_prefix(static_cast<std::uint8_t>(type), size(), to);
  store_big<2>(to, prefix_size, 0);
  std::copy(fc_frame.begin(), fc_frame.end(), to.begin() + frame_prefix_size);
}

std::string EncapsulatedFrame::to_string() const {
  std::string line(fip::to_string(type));
  text::append(line, "fc_frame_bytes", std::to_string(fc_frame.size()));
  return line;
}

std::size_t UnknownDescriptor::size() const { return prefix_size + content.size(); }

Result<UnknownDescriptor> UnknownDescriptor::parse(Bytes bytes) {
  const auto own = bounded(bytes);
  if (!own) return own.error();
  return UnknownDescriptor{(*own)[0], {own->begin() + prefix_size, own->end()}};
}

void UnknownDescriptor::write(MutableBytes to) const {
  write_prefix(type, size(), to);
  std::copy(content.begin(), content.end(), to.begin() + prefix_size);
}

std::string UnknownDescriptor::to_string() const {
  std::string line(name);
  text::append(line, "type", text::hex_h(type, 2));
  text::append(line, "content", text::bytes(content));
  return line;
}

Result<Descriptor> parse_descriptor(Bytes bytes) {
  const auto own = bounded(bytes);
  if (!own) return own.error();
  return parse_by_type(*own);
}

std::uint8_t type_of(const Descriptor& descriptor) {
  if (const auto* frame = std::get_if<EncapsulatedFrame>(&descriptor)) return static_cast<std::uint8_t>(frame->type);
  if (const auto* unknown = std::get_if<UnknownDescriptor>(&descriptor)) return unknown->type;
  constexpr DescriptorType any{};
  constexpr std::array<DescriptorType, std::variant_size_v<Descriptor>> types{DescriptorType::priority,
                                                                              DescriptorType::mac,
                                                                              DescriptorType::fc_map,
                                                                              DescriptorType::name_id,
                                                                              DescriptorType::fabric,
                                                                              DescriptorType::max_fcoe_size,
                                                                              any,
                                                                              DescriptorType::vn_port,
                                                                              DescriptorType::fka_adv_period,
                                                                              DescriptorType::vendor_id,
                                                                              DescriptorType::vlan,
                                                                              DescriptorType::fc4_features,
                                                                              any};
  return static_cast<std::uint8_t>(types[descriptor.index()]);
}

std::size_t size(const Descriptor& descriptor) {
  return std::visit([](const auto& known) { return known.size(); }, descriptor);
}

void write(const Descriptor& descriptor, MutableBytes to) {
  std::visit([&](const auto& known) { known.write(to); }, descriptor);
}

std::string to_string(const Descriptor& descriptor) {
  return std::visit([](const auto& known) { return known.to_string(); }, descriptor);
}

}  // namespace wire::fip
