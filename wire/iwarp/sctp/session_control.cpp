#include "wire/iwarp/sctp/session_control.hpp"

namespace wire::sctp {
namespace {

bool is_known(std::uint16_t code) { return code >= 1 && code <= 7; }

std::optional<ParseError> error_in(FunctionCode function, std::size_t data_bytes) {
  if (data_bytes > SessionControl::max_private_data_bytes) return ParseError{ParseCode::bad_length, "private_data"};
  if (function == FunctionCode::terminate && data_bytes != 0) return ParseError{ParseCode::bad_length, "private_data"};
  if (is_enhanced(function) && data_bytes < mpa::EnhancedData::size())
    return ParseError{ParseCode::truncated, "enhanced_data"};
  return std::nullopt;
}

}  // namespace

std::string_view to_string(FunctionCode code) {
  switch (code) {
    case FunctionCode::initiate: return "Initiate";
    case FunctionCode::accept: return "Accept";
    case FunctionCode::reject: return "Reject";
    case FunctionCode::terminate: return "Terminate";
    case FunctionCode::enhanced_initiate: return "Enhanced Initiate";
    case FunctionCode::enhanced_accept: return "Enhanced Accept";
    case FunctionCode::enhanced_reject: return "Enhanced Reject";
  }
  return text::unknown;
}

Result<SessionControl> SessionControl::parse(Bytes chunk) {
  if (chunk.size() < ChunkHeader::size()) return ParseError{ParseCode::truncated, "ddp_ssn"};
  if (chunk.size() < header_bytes) return ParseError{ParseCode::truncated, "function_code"};
  const std::uint16_t code = load_big<2>(chunk.data() + ChunkHeader::size());
  if (!is_known(code)) return ParseError{ParseCode::bad_value, "function_code"};
  SessionControl message;
  message.ssn = load_big<2>(chunk.data());
  message.function = static_cast<FunctionCode>(code);
  Bytes data = chunk.subspan(header_bytes);
  if (const auto error = error_in(message.function, data.size())) return *error;
  if (is_enhanced(message.function)) {
    message.enhanced = *mpa::EnhancedData::parse(data);
    data = data.subspan(mpa::EnhancedData::size());
  }
  message.private_data.assign(data.begin(), data.end());
  return message;
}

std::size_t SessionControl::size() const {
  return header_bytes + (enhanced ? mpa::EnhancedData::size() : 0) + private_data.size();
}

void SessionControl::write(MutableBytes to) const {
  assert(size() <= max_bytes && to.size() >= size() && enhanced.has_value() == is_enhanced(function));
  assert(function != FunctionCode::terminate || private_data.empty());
  store_big<2>(to.data(), ssn);
  store_big<2>(to.data() + ChunkHeader::size(), static_cast<std::uint16_t>(function));
  MutableBytes behind = to.subspan(header_bytes);
  if (enhanced) {
    enhanced->write(behind);
    behind = behind.subspan(mpa::EnhancedData::size());
  }
  std::copy(private_data.begin(), private_data.end(), behind.begin());
}

std::string SessionControl::to_string() const {
  std::string line(name);
  text::append(line, "ddp_ssn", std::to_string(ssn));
  text::append(line, "function", sctp::to_string(function));
  if (enhanced) line += " {" + enhanced->to_string() + "}";
  text::append(line, "private_data", text::bytes(private_data));
  return line;
}

}  // namespace wire::sctp
