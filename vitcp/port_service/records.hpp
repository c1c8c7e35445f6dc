// The protocol between the service and a process (AF_UNIX, SOCK_SEQPACKET): each packet is a record, the first octet
// its kind, the rest its body, numbers big-endian. Both ends are of one machine, but may be of different builds: the
// handshake tells the version. Kinds 1 to 3 and the first fields of Hello never change: a program of another version
// must understand the refusal. A service serves the versions from `oldest_version` on, each as it speaks, and a process
// that is refused speaks the next older one: so neither need be ended when the other is of another build.
#pragma once
#include <string>

#include "vitcp/port_service/waiters.hpp"

namespace vitcp::port_service {

enum class RecordKind : std::uint8_t {
  hello = 1,       // the first record, of the process; may have a copy of the listening socket
  welcome = 2,     // the first answer, from when the port listens on with a copy of the listening socket
  refusal = 3,     // or this: a text that says why; the link ends
  wait = 4,        // a process waits for a ConnectRequest
  cancel = 5,      // no longer for that one
  hand_over = 6,   // it came: the stream, of which nothing was read; the wait is over
  give_back = 7,   // the stream comes too late: to the next that waits
  port_state = 8,  // as in Welcome, when it changes
  request = 9,     // of a control link: a word
  reply = 10,      // a part of the answer, in order
  done = 11,       // the answer is complete
  take = 12,       // from version 3 on: the process is the only one that waits: it may accept streams itself, and give
                   // back those that it does not wait for; or no longer
};
[[nodiscard]] std::string_view to_string(RecordKind kind);

inline constexpr std::uint16_t protocol_version = 3, oldest_version = 2, first_with_take = 3;
inline constexpr std::size_t max_record_bytes = 4096, max_text_bytes = 2048;
using Record = std::vector<std::uint8_t>;

/// Body: magic "VITC", version (2), role (1), reserved (1), name (the rest).
struct Hello {
  enum class Role : std::uint8_t { client = 1, control = 2 };
  static constexpr std::size_t max_name_bytes = 64;
  std::uint16_t version = protocol_version;
  Role role = Role::client;
  std::string name{};  // of the program, for people
  [[nodiscard]] Record write() const;
  [[nodiscard]] static std::optional<Hello> parse(wire::Bytes body);
};

/// Whether the port listens. Body: 1 or 0 (1), why it does not (the rest).
struct PortState {
  bool listens = false;
  std::string trouble{};
  [[nodiscard]] Record write(RecordKind kind) const;
  [[nodiscard]] static std::optional<PortState> parse(wire::Bytes body);
  friend bool operator==(const PortState&, const PortState&) = default;
};

/// Body: id (4), flags (1: bit 0 peer-to-peer, bit 1 calling, bit 2 from, bit 3 at), length of called (1), of calling
/// (1), reserved (1), called (64), calling (64), from (16), at (16); what is not there is zero.
struct Wait {
  WaitId id = 0;
  Wanted wanted{};
  [[nodiscard]] Record write() const;
  [[nodiscard]] static std::optional<Wait> parse(wire::Bytes body);
};

/// Cancel, HandOver and GiveBack. Body: id (4).
[[nodiscard]] Record id_record(RecordKind kind, WaitId id);
[[nodiscard]] std::optional<WaitId> parse_id(wire::Bytes body);

/// Take. Body: 1 or 0 (1).
[[nodiscard]] Record take_record(bool may_take);
[[nodiscard]] std::optional<bool> parse_take(wire::Bytes body);

/// A body that is text, cut to max_text_bytes.
[[nodiscard]] Record text_record(RecordKind kind, std::string_view text);
[[nodiscard]] std::string text_of(wire::Bytes body);

}  // namespace vitcp::port_service
