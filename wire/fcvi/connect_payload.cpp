#include "wire/fcvi/connect_payload.hpp"

namespace wire::fcvi {

Result<ConnectPayload> ConnectPayload::parse(Bytes bytes, bool with_info) {
  auto payload = codec::parse<ConnectPayload>(bytes);
  if (!payload || !with_info) return payload;
  if (bytes.size() < size_with_info) return ParseError{ParseCode::truncated, "connect_info"};
  payload->connect_info.emplace();
  std::memcpy(payload->connect_info->data(), bytes.data() + size_without_info, sizeof(ConnectInfo));
  return payload;
}

void ConnectPayload::write(MutableBytes to) const {
  assert(to.size() >= size());
  codec::write(*this, to);
  if (connect_info) std::memcpy(to.data() + size_without_info, connect_info->data(), sizeof(ConnectInfo));
}

std::string ConnectPayload::to_string() const {
  std::string line = codec::describe(*this);
  text::append_flag(line, connect_info.has_value(), "connect_info");
  return line;
}

}  // namespace wire::fcvi
