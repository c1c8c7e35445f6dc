#include "wire/fcvi/opcode.hpp"

namespace wire::fcvi {

std::string_view to_string(Opcode opcode) {
  const IuInfo* row = find_iu(opcode);
  return row != nullptr ? row->name : text::unknown;
}

std::string_view to_string(Category value) {
  switch (value) {
    case Category::message_request: return "message_request";
    case Category::message_response: return "message_response";
    case Category::connect_request: return "connect_request";
    case Category::connect_response: return "connect_response";
  }
  return text::unknown;
}

std::string_view to_string(Payload value) {
  switch (value) {
    case Payload::none: return "none";
    case Payload::message_data: return "message_data";
    case Payload::connect_info: return "connect_info";
  }
  return text::unknown;
}

}  // namespace wire::fcvi
