#include "wire/result.hpp"

#include <boost/throw_exception.hpp>
#include <stdexcept>

#include "wire/text.hpp"

namespace wire {

std::string_view to_string(ParseCode code) {
  switch (code) {
    case ParseCode::truncated: return "truncated";
    case ParseCode::bad_value: return "bad value";
    case ParseCode::bad_length: return "bad length";
    case ParseCode::bad_device_header_size: return "bad Device_Header size";
    case ParseCode::unknown_opcode: return "unknown opcode";
    case ParseCode::unexpected_opcode: return "unexpected opcode";
    case ParseCode::bad_crc: return "bad CRC";
    case ParseCode::bad_delimiter: return "bad delimiter";
  }
  return text::unknown;
}

std::string to_string(const ParseError& error) { return std::string(to_string(error.code)) + ": " + error.field; }

void throw_exception_from_error(const ParseError& error, const boost::source_location& location) {
  boost::throw_with_location(std::logic_error("value of a message that does not parse: " + to_string(error)), location);
}

}  // namespace wire
