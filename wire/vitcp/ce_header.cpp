#include "wire/vitcp/ce_header.hpp"

namespace wire::vitcp {
namespace {

std::optional<ParseError> error_in(const CeHeader::Fixed& fixed) {
  if (to_string(fixed.level) == text::unknown) return ParseError{ParseCode::bad_value, "reliability_level"};
  if (fixed.calling_length > Discriminator::max_bytes)
    return ParseError{ParseCode::bad_length, "calling_discriminator_length"};
  if (fixed.mtu_size == 0) return ParseError{ParseCode::bad_value, "mtu_size"};
  if (fixed.called_length > Discriminator::max_bytes)
    return ParseError{ParseCode::bad_length, "called_discriminator_length"};
  return std::nullopt;
}

CeHeader from(const CeHeader::Fixed& fixed) {
  CeHeader header;
  header.level = fixed.level;
  header.rdma_write_enable = fixed.rdma_write_enable;
  header.rdma_read_enable = fixed.rdma_read_enable;
  header.descriptor_flow_control = fixed.descriptor_flow_control;
  header.peer_to_peer = fixed.peer_to_peer;
  header.mtu_size_bytes = fixed.mtu_size;
  header.rdma_read_window = fixed.rdma_read_window;
  header.calling = Discriminator::of(Bytes(fixed.calling).first(fixed.calling_length));
  header.called = Discriminator::of(Bytes(fixed.called).first(fixed.called_length));
  return header;
}

CeHeader::Fixed to_fixed(const CeHeader& header) {
  CeHeader::Fixed fixed;
  fixed.peer_to_peer = header.peer_to_peer;
  fixed.descriptor_flow_control = header.descriptor_flow_control;
  fixed.rdma_read_enable = header.rdma_read_enable;
  fixed.rdma_write_enable = header.rdma_write_enable;
  fixed.level = header.level;
  fixed.calling_length = header.calling.length_bytes;
  fixed.called_length = header.called.length_bytes;
  fixed.rdma_read_window = header.rdma_read_window;
  fixed.mtu_size = header.mtu_size_bytes;
  fixed.calling = header.calling.octets;
  fixed.called = header.called.octets;
  return fixed;
}

}  // namespace

std::string_view to_string(ReliabilityLevel level) {
  switch (level) {
    case ReliabilityLevel::unreliable: return "Unreliable";
    case ReliabilityLevel::reliable_delivery: return "Reliable Delivery";
    case ReliabilityLevel::reliable_reception: return "Reliable Reception";
  }
  return text::unknown;
}

Discriminator Discriminator::of(Bytes octets) {
  assert(octets.size() <= max_bytes);
  Discriminator discriminator;
  discriminator.length_bytes = static_cast<std::uint16_t>(octets.size());
  std::copy(octets.begin(), octets.end(), discriminator.octets.begin());
  return discriminator;
}

Result<CeHeader> CeHeader::parse(Bytes bytes) {
  if (bytes.size() < ce_header_bytes) return ParseError{ParseCode::truncated, layout.field_at(bytes.size())};
  Fixed fixed;
  layout.load(fixed, bytes.data());
  if (const auto error = error_in(fixed)) return *error;
  auto options = Options::parse(bytes.subspan(ce_header_bytes));
  if (!options) return options.error();
  CeHeader header = from(fixed);
  header.options = std::move(*options);
  return header;
}

void CeHeader::write(MutableBytes to) const {
  assert(to.size() >= size());
  layout.store(to_fixed(*this), to.data());
  options.write(to.subspan(ce_header_bytes));
}

std::string CeHeader::to_string() const {
  std::string line(name);
  text::append(line, "reliability", vitcp::to_string(level));
  text::append_flag(line, rdma_write_enable, "rdma_write");
  text::append_flag(line, rdma_read_enable, "rdma_read");
  text::append_flag(line, descriptor_flow_control, "flow_control");
  text::append_flag(line, peer_to_peer, "peer_to_peer");
  text::append(line, "mtu", std::to_string(mtu_size_bytes));
  text::append(line, "read_window", std::to_string(rdma_read_window));
  text::append(line, "calling", text::quoted(calling.view()));
  text::append(line, "called", text::quoted(called.view()));
  text::append(line, "options", "{" + options.to_string() + "}");
  return line;
}

}  // namespace wire::vitcp
