#include "vitcp/port_service/records.hpp"

#include <algorithm>

namespace vitcp::port_service {
using wire::vitcp::Discriminator;

namespace {
constexpr std::array<std::uint8_t, 4> magic{'V', 'I', 'T', 'C'};
constexpr std::size_t hello_bytes = 8, id_bytes = 4;
constexpr std::size_t flags_at = 4, called_length_at = 5, calling_length_at = 6, called_at = 8,
                      calling_at = called_at + Discriminator::max_bytes,
                      from_at = calling_at + Discriminator::max_bytes, at_at = from_at + sizeof(wire::IpAddress::bytes),
                      wait_bytes = at_at + sizeof(wire::IpAddress::bytes);
constexpr std::uint8_t peer_to_peer_flag = 1, calling_flag = 2, from_flag = 4, at_flag = 8;

Record begin(RecordKind kind, std::size_t body_bytes) {
  Record record(1 + body_bytes);
  record[0] = static_cast<std::uint8_t>(kind);
  return record;
}

void append(Record& record, std::string_view text, std::size_t most) {
  const std::string_view cut = text.substr(0, most);
  record.insert(record.end(), cut.begin(), cut.end());
}

void put(const Discriminator& from, wire::MutableBytes body, std::size_t length_at, std::size_t at) {
  body[length_at] = static_cast<std::uint8_t>(from.length_bytes);
  std::copy(from.octets.begin(), from.octets.end(), body.begin() + static_cast<std::ptrdiff_t>(at));
}

std::optional<Discriminator> get(wire::Bytes body, std::size_t length_at, std::size_t at) {
  const std::size_t length = body[length_at];
  if (length > Discriminator::max_bytes) return std::nullopt;
  return Discriminator::of(body.subspan(at, length));
}

void put(const std::optional<wire::IpAddress>& address, wire::MutableBytes body, std::size_t at) {
  if (address) std::copy(address->bytes.begin(), address->bytes.end(), body.begin() + static_cast<std::ptrdiff_t>(at));
}

wire::IpAddress get(wire::Bytes body, std::size_t at) {
  wire::IpAddress address;
  std::copy_n(body.begin() + static_cast<std::ptrdiff_t>(at), address.bytes.size(), address.bytes.begin());
  return address;
}
}  // namespace

std::string_view to_string(RecordKind kind) {
  switch (kind) {
    case RecordKind::hello: return "Hello";
    case RecordKind::welcome: return "Welcome";
    case RecordKind::refusal: return "Refusal";
    case RecordKind::wait: return "Wait";
    case RecordKind::cancel: return "Cancel";
    case RecordKind::hand_over: return "HandOver";
    case RecordKind::give_back: return "GiveBack";
    case RecordKind::port_state: return "PortState";
    case RecordKind::request: return "Request";
    case RecordKind::reply: return "Reply";
    case RecordKind::done: return "Done";
    case RecordKind::take: return "Take";
  }
  return wire::text::unknown;
}

Record Hello::write() const {
  Record record = begin(RecordKind::hello, hello_bytes);
  const auto body = wire::MutableBytes(record).subspan(1);
  std::copy(magic.begin(), magic.end(), body.begin());
  wire::store_big<2>(body, 4, version);
  body[6] = static_cast<std::uint8_t>(role);
  append(record, name, max_name_bytes);
  return record;
}

std::optional<Hello> Hello::parse(wire::Bytes body) {
  if (body.size() < hello_bytes || !std::equal(magic.begin(), magic.end(), body.begin())) return std::nullopt;
  Hello hello{.version = wire::load_big<2>(body, 4), .role = static_cast<Role>(body[6])};
  if (hello.role != Role::client && hello.role != Role::control) return std::nullopt;
  hello.name = text_of(body.subspan(hello_bytes, std::min(body.size() - hello_bytes, max_name_bytes)));
  return hello;
}

Record PortState::write(RecordKind kind) const {
  Record record = begin(kind, 1);
  record[1] = listens ? 1 : 0;
  append(record, trouble, max_text_bytes);
  return record;
}

std::optional<PortState> PortState::parse(wire::Bytes body) {
  if (body.empty() || body[0] > 1) return std::nullopt;
  return PortState{.listens = body[0] == 1, .trouble = text_of(body.subspan(1))};
}

Record Wait::write() const {
  Record record = begin(RecordKind::wait, wait_bytes);
  const auto body = wire::MutableBytes(record).subspan(1);
  wire::store_big<4>(body, 0, id);
  put(wanted.called, body, called_length_at, called_at);
  if (wanted.calling) put(*wanted.calling, body, calling_length_at, calling_at);
  put(wanted.from, body, from_at);
  put(wanted.at, body, at_at);
  body[flags_at] =
      static_cast<std::uint8_t>((wanted.peer_to_peer ? peer_to_peer_flag : 0) | (wanted.calling ? calling_flag : 0) |
                                (wanted.from ? from_flag : 0) | (wanted.at ? at_flag : 0));
  return record;
}

std::optional<Wait> Wait::parse(wire::Bytes body) {
  if (body.size() != wait_bytes) return std::nullopt;
  const std::uint8_t flags = body[flags_at];
  const auto called = get(body, called_length_at, called_at), calling = get(body, calling_length_at, calling_at);
  if (!called || !calling) return std::nullopt;
  Wait wait{.id = wire::load_big<4>(body, 0), .wanted = {.called = *called}};
  wait.wanted.peer_to_peer = (flags & peer_to_peer_flag) != 0;
  if ((flags & calling_flag) != 0) wait.wanted.calling = calling;
  if ((flags & from_flag) != 0) wait.wanted.from = get(body, from_at);
  if ((flags & at_flag) != 0) wait.wanted.at = get(body, at_at);
  return wait;
}

Record id_record(RecordKind kind, WaitId id) {
  Record record = begin(kind, id_bytes);
  wire::store_big<4>(wire::MutableBytes(record), 1, id);
  return record;
}

std::optional<WaitId> parse_id(wire::Bytes body) {
  return body.size() == id_bytes ? std::optional(wire::load_big<4>(body, 0)) : std::nullopt;
}

Record take_record(bool may_take) {
  Record record = begin(RecordKind::take, 1);
  record[1] = may_take ? 1 : 0;
  return record;
}

std::optional<bool> parse_take(wire::Bytes body) {
  return body.size() == 1 && body[0] <= 1 ? std::optional(body[0] == 1) : std::nullopt;
}

Record text_record(RecordKind kind, std::string_view text) {
  Record record = begin(kind, 0);
  append(record, text, max_text_bytes);
  return record;
}

std::string text_of(wire::Bytes body) { return {body.begin(), body.end()}; }

}  // namespace vitcp::port_service
