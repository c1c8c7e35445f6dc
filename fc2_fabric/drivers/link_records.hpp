// The protocol of a local fabric's socket (AF_UNIX, stream): records with one header and a body. Both ends are
// processes of one machine, but may be of different builds: the handshake tells the role and the version.
//   octet 0     kind             1       SOF code of a frame, else 0
//   octet 2     EOF code of a frame, else 0      3   reserved, 0
//   octets 4-7  length of the body in bytes, big-endian
//
// Kinds 1 to 3 and the first fields of Hello never change: a program of another version must understand the refusal.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fc2_fabric/frame/frame.hpp"
#include "wire/types.hpp"

namespace fc2::drivers {

enum class RecordKind : std::uint8_t {
  Hello = 1,         // the first record, from the client
  Welcome = 2,       // the first answer
  Refusal = 3,       // or this: a text that says why; the link ends
  Frame = 4,         // header and data field of one Fibre Channel frame
  Request = 5,       // of a control connection: a word
  Reply = 6,         // a part of the answer, in order
  Done = 7,          // the answer is complete; a text if it failed
  Hold = 8,          // from the service: no message data for this N_Port_ID ...
  Proceed = 9,       // ... until this
  PathRequest = 10,  // from a port: it has message data for this N_Port_ID
  Path = 11,         // from the service: memory for frames to and from that port; with three open files
  PathEnd = 12,      // of a path, either way; see PathEnd::Cause
};
std::string_view to_string(RecordKind kind);

inline constexpr std::size_t record_header_bytes = 8;
inline constexpr std::size_t max_record_body_bytes = 4096;  // of every other kind
inline constexpr std::size_t max_record_bytes = record_header_bytes + max_record_body_bytes;
static_assert(max_frame_bytes <= max_record_body_bytes);

struct RecordHeader {
  RecordKind kind{};
  wire::Sof sof{};
  wire::Eof eof{};
  std::uint32_t body_bytes = 0;

  [[nodiscard]] static RecordHeader of(const Frame& frame) {
    return {RecordKind::Frame, frame.sof, frame.eof, frame.size_bytes};
  }
  void write(std::span<std::uint8_t, record_header_bytes> bytes) const;
  [[nodiscard]] static RecordHeader read(std::span<const std::uint8_t, record_header_bytes> bytes);
  /// The fault of the header; nullptr: none.
  [[nodiscard]] static const char* fault(std::span<const std::uint8_t, record_header_bytes> bytes);
};

/// 2: Hold and Proceed; 3: paths; 4: a port ends a path, too; 5: runs of frames in paths.
inline constexpr std::uint16_t protocol_version = 5;

/// The client and its role. Body: magic "FCVI", version (2), role (1), flags (1), process id (4), name (the rest).
/// Flags: bit 0, the two open files of its doorbell come with it (attention, rung), so that it may have paths.
struct Hello {
  enum class Role : std::uint8_t { Port = 1, Control = 2 };
  static constexpr std::size_t max_name_bytes = 64;
  std::uint16_t version = protocol_version;
  Role role = Role::Port;
  bool has_doorbell = false;
  std::uint32_t process_id = 0;
  std::string name;  // of the program, for people

  [[nodiscard]] std::vector<std::uint8_t> write() const;
  /// nullopt if it is no Hello of any version. If it is one of another version, only that field is set.
  [[nodiscard]] static std::optional<Hello> parse(std::span<const std::uint8_t> body);
};

/// Body: magic "FCVI", version (2), reserved (2), process id (4), largest frame (4).
struct Welcome {
  std::uint16_t version = protocol_version;
  std::uint32_t process_id = 0;
  std::uint32_t max_frame_bytes = fc2::max_frame_bytes;

  [[nodiscard]] std::vector<std::uint8_t> write() const;
  [[nodiscard]] static std::optional<Welcome> parse(std::span<const std::uint8_t> body);
};

/// Hold, Proceed and PathRequest. Body: reserved (1), N_Port_ID (3).
struct Destination {
  static constexpr std::size_t size = 4;
  wire::FcId id;

  [[nodiscard]] std::array<std::uint8_t, size> write() const;
  [[nodiscard]] static std::optional<Destination> parse(std::span<const std::uint8_t> body);
};

/// Path. Body: side (1), N_Port_ID of the far end (3), slots of each ring (4), number (4), its process id (4). Open
/// files: the memory of the rings, the far end's attention, the far end's rung (runtime/drivers/doorbell.hpp). No
/// slots: the system carried none of them, and there is no path.
inline constexpr std::size_t files_of_a_path = 3;
struct PathRecord {
  static constexpr std::size_t size = 16;
  wire::FcId peer{};
  std::uint8_t side = 0;  // the ring that the addressee writes
  std::uint32_t slot_count = 0;
  std::uint32_t number = 0;      // of the path, the same for both ends
  std::uint32_t process_id = 0;  // as the far end's Hello told it

  [[nodiscard]] std::array<std::uint8_t, size> write() const;
  [[nodiscard]] static std::optional<PathRecord> parse(std::span<const std::uint8_t> body);
};

/// PathEnd. Body: cause (1), N_Port_ID of the far end (3), number of the path (4).
struct PathEnd {
  enum class Cause : std::uint8_t {
    Service = 0,   // from the service: frames go by it again, the far end is told, too; Released answers it
    PeerGone = 1,  // from the service: the link or the login of an end is gone; no answer
    Refused = 2,   // from a port: it cannot use the path, or uses it no more
    Released = 3,  // from a port: it has no more of the path's memory. Before, the two ports get no other path
  };
  static constexpr std::size_t size = 8;
  wire::FcId peer;
  Cause cause = Cause::Service;
  std::uint32_t number = 0;

  [[nodiscard]] std::array<std::uint8_t, size> write() const;
  [[nodiscard]] static std::optional<PathEnd> parse(std::span<const std::uint8_t> body);
};

}  // namespace fc2::drivers
