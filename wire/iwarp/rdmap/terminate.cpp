#include "wire/iwarp/rdmap/terminate.hpp"

namespace wire::rdmap {
namespace {

/// Terminate Control, all bits as they lie.
struct Fixed {
  Layer layer{};
  std::uint8_t type = 0, code = 0;
  bool has_length = false, has_ddp_header = false, has_rdma_header = false;
  static constexpr auto layout = codec::layout<Terminate::control_bytes>(codec::word<0, 4>(
      codec::part<31, 28>(&Fixed::layer, "terminate_control"), codec::part<27, 24>(&Fixed::type, "etype"),
      codec::part<23, 16>(&Fixed::code, "error_code"), codec::part<15, 15>(&Fixed::has_length, "m"),
      codec::part<14, 14>(&Fixed::has_ddp_header, "d"), codec::part<13, 13>(&Fixed::has_rdma_header, "r")));
};

/// Puts the header of a type that can be read behind the others, and takes its octets away.
template <class Header>
std::optional<ParseError> take(std::optional<Header>& header, Bytes& left) {
  const auto parsed = Header::parse(left);
  if (!parsed) return parsed.error();
  header = *parsed;
  left = left.subspan(header->size());
  return std::nullopt;
}

std::optional<ParseError> take_length(Terminate& terminate, const Fixed& fixed, Bytes& left) {
  if (!fixed.has_length && !fixed.has_ddp_header) return std::nullopt;
  if (left.size() < Terminate::segment_length_bytes) return ParseError{ParseCode::truncated, "ddp_segment_length"};
  if (fixed.has_length) terminate.segment_length = load_big<2>(left, 0);
  left = left.subspan(Terminate::segment_length_bytes);
  return std::nullopt;
}

std::string_view type_name(const Cause& cause) {
  switch (cause.layer) {
    case Layer::rdma: return to_string(static_cast<ErrorType>(cause.type));
    case Layer::ddp: return ddp::to_string(static_cast<ddp::ErrorType>(cause.type));
    case Layer::llp: return cause.type == 0 ? std::string_view("MPA") : text::unknown;
  }
  return text::unknown;
}

std::string_view rdma_code_name(ErrorType type, std::uint8_t code) {
  switch (type) {
    case ErrorType::local_catastrophic: break;
    case ErrorType::remote_protection: return to_string(static_cast<ProtectionError>(code));
    case ErrorType::remote_operation: return to_string(static_cast<OperationError>(code));
  }
  return text::unknown;
}

std::string_view ddp_code_name(ddp::ErrorType type, std::uint8_t code) {
  switch (type) {
    case ddp::ErrorType::local_catastrophic: break;
    case ddp::ErrorType::tagged_buffer: return ddp::to_string(static_cast<ddp::TaggedError>(code));
    case ddp::ErrorType::untagged_buffer: return ddp::to_string(static_cast<ddp::UntaggedError>(code));
    case ddp::ErrorType::llp: break;
  }
  return text::unknown;
}

std::string_view code_name(const Cause& cause) {
  switch (cause.layer) {
    case Layer::rdma: return rdma_code_name(static_cast<ErrorType>(cause.type), cause.code);
    case Layer::ddp: return ddp_code_name(static_cast<ddp::ErrorType>(cause.type), cause.code);
    case Layer::llp: return cause.type == 0 ? mpa::to_string(static_cast<mpa::ErrorCode>(cause.code)) : text::unknown;
  }
  return text::unknown;
}

std::string or_value(std::string_view name, unsigned value, unsigned digits) {
  return name == text::unknown ? "unknown " + text::hex_h(value, digits) : std::string(name);
}

}  // namespace

std::string_view to_string(Layer layer) {
  switch (layer) {
    case Layer::rdma: return "RDMA";
    case Layer::ddp: return "DDP";
    case Layer::llp: return "LLP";
  }
  return text::unknown;
}

std::string_view to_string(ErrorType type) {
  switch (type) {
    case ErrorType::local_catastrophic: return "Local Catastrophic Error";
    case ErrorType::remote_protection: return "Remote Protection Error";
    case ErrorType::remote_operation: return "Remote Operation Error";
  }
  return text::unknown;
}

std::string_view to_string(ProtectionError code) {
  switch (code) {
    case ProtectionError::invalid_stag: return "Invalid STag";
    case ProtectionError::base_or_bounds: return "Base or bounds violation";
    case ProtectionError::access_rights: return "Access rights violation";
    case ProtectionError::stag_not_associated: return "STag not associated with RDMAP Stream";
    case ProtectionError::to_wrap: return "TO wrap";
    case ProtectionError::stag_cannot_be_invalidated: return "STag cannot be Invalidated";
    case ProtectionError::unspecified: return "Unspecified Error";
  }
  return text::unknown;
}

std::string_view to_string(OperationError code) {
  switch (code) {
    case OperationError::invalid_version: return "Invalid RDMAP version";
    case OperationError::unexpected_opcode: return "Unexpected OpCode";
    case OperationError::catastrophic_stream: return "Catastrophic error, localized to RDMAP Stream";
    case OperationError::catastrophic_global: return "Catastrophic error, global";
    case OperationError::stag_cannot_be_invalidated: return "STag cannot be Invalidated";
    case OperationError::unspecified: return "Unspecified Error";
  }
  return text::unknown;
}

std::string to_string(const Cause& cause) {
  std::string line = or_value(to_string(cause.layer), static_cast<unsigned>(cause.layer), 1);
  line += "/" + or_value(type_name(cause), cause.type, 1);
  if (cause.type == 0 && (cause.layer == Layer::rdma || cause.layer == Layer::ddp)) return line;  // has no code
  return line + "/" + or_value(code_name(cause), cause.code, 2);
}

Result<Terminate> Terminate::parse(Bytes bytes) {
  if (bytes.size() < control_bytes) return ParseError{ParseCode::truncated, "terminate_control"};
  Fixed fixed;
  Fixed::layout.load(fixed, bytes.data());
  Terminate terminate;
  terminate.cause = {fixed.layer, fixed.type, fixed.code};
  Bytes left = bytes.subspan(control_bytes);
  if (const auto error = take_length(terminate, fixed, left)) return *error;
  if (fixed.has_ddp_header)
    if (const auto error = take(terminate.ddp_header, left)) return *error;
  if (fixed.has_rdma_header)
    if (const auto error = take(terminate.read_request, left)) return *error;
  return terminate;
}

Cause Terminate::cause_of(Bytes bytes) {
  std::array<std::uint8_t, control_bytes> there{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), there.size()), there.begin());
  Fixed fixed;
  Fixed::layout.load(fixed, there.data());
  return {fixed.layer, fixed.type, fixed.code};
}

std::size_t Terminate::size() const {
  return control_bytes + (segment_length || ddp_header ? segment_length_bytes : 0) +
         (ddp_header ? ddp_header->size() : 0) + (read_request ? ReadRequest::size() : 0);
}

void Terminate::write(MutableBytes to) const {
  assert(to.size() >= size());
  Fixed fixed{cause.layer,
              cause.type,
              cause.code,
              segment_length.has_value(),
              ddp_header.has_value(),
              read_request.has_value()};
  Fixed::layout.store(fixed, to.data());
  MutableBytes left = to.subspan(control_bytes);
  if (segment_length || ddp_header) {
    store_big<2>(left.data(), segment_length.value_or(0));
    left = left.subspan(segment_length_bytes);
  }
  if (ddp_header) {
    ddp_header->write(left);
    left = left.subspan(ddp_header->size());
  }
  if (read_request) read_request->write(left);
}

std::string Terminate::to_string() const {
  std::string line(name);
  text::append(line, "cause", rdmap::to_string(cause));
  if (segment_length) text::append(line, "segment_length", std::to_string(*segment_length));
  if (ddp_header) line += " {" + ddp_header->to_string() + "}";
  if (read_request) line += " {" + read_request->to_string() + "}";
  return line;
}

}  // namespace wire::rdmap
