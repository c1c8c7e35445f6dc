#include "wire/iwarp/ddp/header.hpp"

namespace wire::ddp {

std::string to_string(STag stag) { return text::hex_h(stag.value, 8); }
std::string to_string(Msn msn) { return text::hex_h(msn.value, 8); }

Result<Header> Header::parse(Bytes bytes) {
  constexpr std::uint8_t tagged_bit = 0x80;
  if (bytes.empty()) return ParseError{ParseCode::truncated, "ddp_control"};
  const bool tagged = (bytes[0] & tagged_bit) != 0;
  if (bytes.size() < header_bytes(tagged))
    return ParseError{ParseCode::truncated,
                      tagged ? tagged_layout.field_at(bytes.size()) : untagged_layout.field_at(bytes.size())};
  Header header;
  if (tagged)
    tagged_layout.load(header, bytes.data());
  else
    untagged_layout.load(header, bytes.data());
  return header;
}

void Header::write(MutableBytes to) const {
  assert(to.size() >= size());
  if (tagged)
    tagged_layout.store(*this, to.data());
  else
    untagged_layout.store(*this, to.data());
}

std::string Header::to_string() const {
  std::string line(name);
  line += tagged ? " tagged" : " untagged";
  text::append_flag(line, last, "last");
  text::append(line, "version", std::to_string(version));
  text::append(line, "rsvd_ulp", text::hex_h(rsvd_ulp, 2));
  if (tagged) {
    text::append(line, "stag", ddp::to_string(stag));
    text::append(line, "tagged_offset", text::hex_h(tagged_offset, 16));
    return line;
  }
  text::append(line, "rsvd_ulp_untagged", text::hex_h(rsvd_ulp_untagged, 8));
  text::append(line, "queue", std::to_string(queue_number));
  text::append(line, "msn", ddp::to_string(msn));
  text::append(line, "message_offset", std::to_string(message_offset));
  return line;
}

}  // namespace wire::ddp
