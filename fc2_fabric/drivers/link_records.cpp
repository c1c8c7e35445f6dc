#include "fc2_fabric/drivers/link_records.hpp"

#include <algorithm>

#include "wire/bytes.hpp"

namespace fc2::drivers {
namespace {
constexpr std::array<std::uint8_t, 4> magic{'F', 'C', 'V', 'I'};
constexpr std::size_t hello_bytes = 12, welcome_bytes = 16;

bool has_magic(std::span<const std::uint8_t> body) {
  return body.size() >= magic.size() && std::equal(magic.begin(), magic.end(), body.begin());
}

std::vector<std::uint8_t> begin(std::size_t size, std::uint16_t version) {
  std::vector<std::uint8_t> body(size);
  std::copy(magic.begin(), magic.end(), body.begin());
  wire::store_big<2>(std::span(body), 4, version);
  return body;
}
}  // namespace

std::string_view to_string(RecordKind kind) {
  switch (kind) {
    case RecordKind::Hello: return "Hello";
    case RecordKind::Welcome: return "Welcome";
    case RecordKind::Refusal: return "Refusal";
    case RecordKind::Frame: return "Frame";
    case RecordKind::Request: return "Request";
    case RecordKind::Reply: return "Reply";
    case RecordKind::Done: return "Done";
    case RecordKind::Hold: return "Hold";
    case RecordKind::Proceed: return "Proceed";
    case RecordKind::PathRequest: return "PathRequest";
    case RecordKind::Path: return "Path";
    case RecordKind::PathEnd: return "PathEnd";
  }
  return "?";
}

void RecordHeader::write(std::span<std::uint8_t, record_header_bytes> bytes) const {
  bytes[0] = static_cast<std::uint8_t>(kind);
  bytes[1] = static_cast<std::uint8_t>(sof);
  bytes[2] = static_cast<std::uint8_t>(eof);
  bytes[3] = 0;
  wire::store_big<4>(std::span<std::uint8_t>(bytes), 4, body_bytes);
}

RecordHeader RecordHeader::read(std::span<const std::uint8_t, record_header_bytes> bytes) {
  return {static_cast<RecordKind>(bytes[0]), static_cast<wire::Sof>(bytes[1]), static_cast<wire::Eof>(bytes[2]),
          static_cast<std::uint32_t>(wire::load_big<4>(bytes.data() + 4))};
}

const char* RecordHeader::fault(std::span<const std::uint8_t, record_header_bytes> bytes) {
  const RecordHeader header = read(bytes);
  if (to_string(header.kind) == "?") return "a record of unknown kind";
  if (bytes[3] != 0) return "a record whose reserved octet is not 0";
  if (header.kind != RecordKind::Frame) {
    if (bytes[1] != 0 || bytes[2] != 0) return "a record with delimiters that is no frame";
    return header.body_bytes > max_record_body_bytes ? "a record that is too long" : nullptr;
  }
  if (!wire::is_known(header.sof) || !wire::is_known(header.eof)) return "a frame with an unknown SOF or EOF";
  if (header.body_bytes < frame_header_bytes) return "a frame shorter than its header";
  if (header.body_bytes > max_frame_bytes) return "a frame that is too long";
  return header.body_bytes % 4 != 0 ? "a frame that is not a multiple of 4 bytes" : nullptr;
}

std::vector<std::uint8_t> Hello::write() const {
  auto body = begin(hello_bytes, version);
  body[6] = static_cast<std::uint8_t>(role);
  body[7] = has_doorbell ? 1 : 0;
  wire::store_big<4>(std::span(body), 8, process_id);
  body.insert(body.end(), name.begin(),
              name.begin() + static_cast<std::ptrdiff_t>(std::min(name.size(), max_name_bytes)));
  return body;
}

std::optional<Hello> Hello::parse(std::span<const std::uint8_t> body) {
  if (!has_magic(body) || body.size() < 6) return std::nullopt;
  Hello hello;
  hello.version = static_cast<std::uint16_t>(wire::load_big<2>(body.data() + 4));
  if (hello.version != protocol_version) return hello;
  if (body.size() < hello_bytes || body.size() > hello_bytes + max_name_bytes) return std::nullopt;
  hello.role = static_cast<Role>(body[6]);
  if (hello.role != Role::Port && hello.role != Role::Control) return std::nullopt;
  hello.has_doorbell = (body[7] & 1) != 0;
  hello.process_id = static_cast<std::uint32_t>(wire::load_big<4>(body.data() + 8));
  for (const std::uint8_t octet : body.subspan(hello_bytes))
    hello.name += octet >= 0x20 && octet < 0x7F ? static_cast<char>(octet) : '?';  // goes to logs and terminals
  return hello;
}

std::vector<std::uint8_t> Welcome::write() const {
  auto body = begin(welcome_bytes, version);
  wire::store_big<4>(std::span(body), 8, process_id);
  wire::store_big<4>(std::span(body), 12, max_frame_bytes);
  return body;
}

std::optional<Welcome> Welcome::parse(std::span<const std::uint8_t> body) {
  if (!has_magic(body) || body.size() != welcome_bytes) return std::nullopt;
  Welcome welcome;
  welcome.version = static_cast<std::uint16_t>(wire::load_big<2>(body.data() + 4));
  welcome.process_id = static_cast<std::uint32_t>(wire::load_big<4>(body.data() + 8));
  welcome.max_frame_bytes = static_cast<std::uint32_t>(wire::load_big<4>(body.data() + 12));
  return welcome;
}

std::array<std::uint8_t, Destination::size> Destination::write() const {
  std::array<std::uint8_t, size> body{};
  wire::store_big<3>(std::span(body), 1, id.value);
  return body;
}

std::optional<Destination> Destination::parse(std::span<const std::uint8_t> body) {
  if (body.size() != size || body[0] != 0) return std::nullopt;
  return Destination{{wire::load_big<3>(body.data() + 1)}};
}

std::array<std::uint8_t, PathRecord::size> PathRecord::write() const {
  std::array<std::uint8_t, size> body{side};
  wire::store_big<3>(std::span(body), 1, peer.value);
  wire::store_big<4>(std::span(body), 4, slot_count);
  wire::store_big<4>(std::span(body), 8, number);
  wire::store_big<4>(std::span(body), 12, process_id);
  return body;
}

std::optional<PathRecord> PathRecord::parse(std::span<const std::uint8_t> body) {
  if (body.size() != size || body[0] > 1) return std::nullopt;
  PathRecord path;
  path.side = body[0];
  path.peer = {wire::load_big<3>(body.data() + 1)};
  path.slot_count = static_cast<std::uint32_t>(wire::load_big<4>(body.data() + 4));
  path.number = static_cast<std::uint32_t>(wire::load_big<4>(body.data() + 8));
  path.process_id = static_cast<std::uint32_t>(wire::load_big<4>(body.data() + 12));
  return path;
}

std::array<std::uint8_t, PathEnd::size> PathEnd::write() const {
  std::array<std::uint8_t, size> body{static_cast<std::uint8_t>(cause)};
  wire::store_big<3>(std::span(body), 1, peer.value);
  wire::store_big<4>(std::span(body), 4, number);
  return body;
}

std::optional<PathEnd> PathEnd::parse(std::span<const std::uint8_t> body) {
  if (body.size() != size || body[0] > static_cast<std::uint8_t>(Cause::Released)) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(wire::load_big<4>(body.data() + 4));
  return PathEnd{{wire::load_big<3>(body.data() + 1)}, static_cast<Cause>(body[0]), number};
}

}  // namespace fc2::drivers
