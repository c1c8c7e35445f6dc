// What a parser returns: the message, or why not and at which field.
#pragma once
#include <boost/system/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace wire {

enum class ParseCode : std::uint8_t {
  truncated = 1,           // fewer bytes than the message has
  bad_value,               // a field that must have one value has another
  bad_length,              // a length field contradicts the bytes present
  bad_device_header_size,  // DF_CTL announces another Device_Header than the IU has (FC-VI Table 1)
  unknown_opcode,          // FCVI_OPCODE not in FC-VI Table 1
  unexpected_opcode,       // an opcode of another IU than the one asked for
  bad_crc,                 // FC CRC does not match
  bad_delimiter,           // SOF or EOF code unknown
};
[[nodiscard]] std::string_view to_string(ParseCode code);

/// `field` is the name of the field in the message's layout; static storage.
struct ParseError {
  ParseCode code{};
  const char* field = "";
  friend bool operator==(const ParseError& left, const ParseError& right) {
    return left.code == right.code && std::string_view(left.field) == right.field;
  }
};
/// "truncated: port_name"
[[nodiscard]] std::string to_string(const ParseError& error);

template <class T>
using Result = boost::system::result<T, ParseError>;

/// Result::value() on an error is a programmer's error, which ends here.
[[noreturn]] void throw_exception_from_error(const ParseError& error, const boost::source_location& location);

}  // namespace wire
