#include "wire/types.hpp"

#include <string>

#include "wire/text.hpp"

namespace wire {

std::string to_string(FcId id) { return text::hex(id.value, 6); }
std::string to_string(OxId id) { return text::hex_h(id.value, 4); }
std::string to_string(RxId id) { return text::hex_h(id.value, 4); }
std::string to_string(SeqId id) { return text::hex_h(id.value, 2); }
std::string to_string(SeqCnt count) { return text::hex_h(count.value, 4); }
std::string to_string(FcviHandle handle) { return text::hex_h(handle.value, 8); }
std::string to_string(MsgId id) { return text::hex_h(id.value, 8); }
std::string to_string(MemHandle handle) { return text::hex_h(handle.value, 8); }
std::string to_string(ConnectionId id) { return text::hex_h(id.value, 8); }

std::string to_string(Wwn name) {
  std::string out;
  for (unsigned shift = 64; shift != 0;) {
    shift -= 8;
    constexpr std::string_view digits = "0123456789abcdef";
    out += digits[name.value >> (shift + 4) & 0xF];
    out += digits[name.value >> shift & 0xF];
    if (shift != 0) out += ':';
  }
  return out;
}

}  // namespace wire
