// What a capture tells of FC-VI: connections, Exchanges, set-ups, messages; made by the tracker frame by frame.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/violations/violations.hpp"
#include "wire/fcvi/connect_payload.hpp"
#include "wire/fcvi/device_header.hpp"

namespace sim::capture {

using Time = std::int64_t;  // nanoseconds

/// Where a frame was seen. A capture of both ends of a link has most frames twice: what can be missing or out of
/// order is followed for each view by itself.
enum class View : std::uint8_t { sent, received, unknown };
inline constexpr std::size_t views = 3;

/// Of a message, or of its answer, in one view.
struct Flow {
  std::uint32_t id = 0, total = 0;  // FCVI_MSG_ID; FCVI_TOT_LEN, bytes
  Time time = 0;                    // of the latest frame
  bool headless = false;            // its beginning was not captured
  bool broken = false;              // a gap was told of
  bool ended = false, complete = false;
  bool in_sequence = false;            // the Sequence goes on
  std::optional<std::uint16_t> count;  // SEQ_CNT of the latest frame
  std::uint64_t offset = 0;            // that the next frame should have
  std::uint8_t seq_id = 0;
  std::uint64_t bytes = 0, frames = 0;
};

struct Connection;
struct Message;

/// One end of a connection, as the other one addresses it.
struct Endpoint {
  std::uint32_t port = 0, handle = 0;  // N_Port_ID, FCVI_HANDLE
  Connection* connection = nullptr;
  Endpoint* peer = nullptr;                          // nullptr: not known
  std::optional<wire::fcvi::Attributes> attributes;  // its own; of connections whose set-up was captured
  std::optional<wire::fcvi::NetAddress> address;
  std::map<std::uint32_t, std::shared_ptr<Message>> messages;  // the latest sent to it, by number
  struct Next {
    std::optional<std::uint32_t> id;  // of the message that should begin next
    std::shared_ptr<Flow> message;    // the one before
  };
  std::array<std::optional<Next>, views> next;
  std::uint64_t open = 0;    // messages sent to it that wait for their response
  std::uint64_t closed = 0;  // the frame with its Disconnect; 0: none
};

struct Connection {
  std::uint64_t index = 0;  // from 1
  bool implied = false;     // its set-up was not captured
  Endpoint* originator = nullptr;
  Endpoint* responder = nullptr;
  std::optional<wire::fcvi::ReliabilityLevel> level;
  bool without_response = false;        // unreliable or reliable delivery: the frames do not tell
  std::optional<std::uint64_t> window;  // messages that may be open
};

struct Message {
  std::uint64_t index = 0;  // from 1, of the capture
  std::uint32_t id = 0;
  wire::fcvi::Opcode opcode{};
  const wire::fcvi::IuInfo* iu = nullptr;
  Endpoint* to = nullptr;
  std::uint64_t number = 0;  // of its first frame
  Time time = 0;
  std::uint32_t total = 0;  // bytes
  wire::fcvi::DeviceHeader fields;
  std::string header;  // the bytes of its Device_Header
  bool begun = false;  // with its first byte
  std::array<std::shared_ptr<Flow>, views> flows, answer_flows;
  std::uint64_t answered = 0;  // the frame with the response
  std::string answer_header;
  const wire::fcvi::IuInfo* answer_iu = nullptr;
};

/// One try of a set-up: an Exchange.
struct Setup {
  std::uint32_t id = 0;  // FCVI_CONNECTION_ID
  bool retry = false;
  std::uint32_t from = 0, to = 0;  // N_Port_IDs
  std::uint64_t number = 0;        // of CONNECT_RQST
  std::optional<wire::fcvi::ConnectPayload> payload;
  std::uint32_t handle = 0, resp_handle = 0;
  bool accepted = false, has_answer = false, refused_by_originator = false, ended = false;
  std::uint64_t resp1 = 0, resp2 = 0, resp3 = 0;  // frames
  Connection* connection = nullptr;
};

struct Disconnect {
  std::uint8_t flags = 0;
  std::uint32_t id = 0;
  bool aborts = false;  // a set-up
  Endpoint* to = nullptr;
  std::uint64_t answered = 0;
};

struct Exchange {
  std::uint64_t number = 0;  // of its first frame
  Time time = 0;
  const wire::fcvi::IuInfo* iu = nullptr;
  std::shared_ptr<Message> message;
  std::shared_ptr<Setup> setup;
  std::optional<Disconnect> disconnect;
  bool unknown = false;        // of a message whose receiver is not known
  std::uint64_t response = 0;  // frame
  std::string words;           // what it began with, for ABTS
  /// Frames of a payload that came in several, by relative offset.
  struct Parts {
    std::map<std::uint32_t, std::vector<std::uint8_t>> by_offset;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> size;
  };
  std::map<wire::fcvi::Opcode, Parts> parts;
  /// The latest frame of a set-up or Disconnect that one side sent.
  struct Side {
    std::uint16_t count = 0;   // SEQ_CNT
    std::uint64_t offset = 0;  // that the next frame of the IU should have
    std::uint8_t seq_id = 0;
    bool in_sequence = false;  // the IU goes on
  };
  std::array<std::optional<Side>, 2> sides;  // originator, responder
};

struct Note {
  violations::Violation violation;
  std::string text;  // what exactly; may be empty
  /// "Wrong RETRY: set, but not in the request"
  [[nodiscard]] std::string sentence() const;
};

/// What was found out about one frame.
struct Record {
  std::uint64_t number = 0;
  Time time = 0;
  std::array<bool, views> seen{};
  std::shared_ptr<Message> message;
  std::shared_ptr<Exchange> exchange;
  std::shared_ptr<Setup> setup;
  Connection* connection = nullptr;
  std::shared_ptr<Flow> flow;
  bool answers = false;  // the message is not its own, but what it answers
  std::uint64_t request = 0;
  Time request_time = 0;
  std::uint64_t retry_of = 0, same = 0, aborts = 0;  // frames
  std::uint64_t open = 0;
  std::optional<wire::fcvi::ConnectPayload> payload;
  std::vector<Note> notes;
  std::size_t own_notes = 0;  // of those: not of a view, but of the frame wherever it is seen
  bool has_own_notes = false;

  [[nodiscard]] Connection* connection_of() const {
    if (message) return message->to->connection;
    return connection != nullptr ? connection : setup ? setup->connection : nullptr;
  }
  void note(violations::Violation violation, std::string text = {}) { notes.push_back({violation, std::move(text)}); }
};

}  // namespace sim::capture
