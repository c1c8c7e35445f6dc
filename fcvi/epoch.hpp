// What an endpoint knows of its responder stream while something is missing on an out-of-order fabric (FC-VI B.2.2,
// B.2.5 rules 4c, 5b, 6e, 7, B.3.2.4): which messages and which of their frames came, and what had to be kept. It
// begins with the first frame that overtakes another, and ends when nothing is missing any more.
//
// A frame is placed as it comes, by relative offset, when its target is known. What has to wait is kept in the port's
// ReorderPool:
//  - data of a Send whose receive descriptor is not known yet: at the reliable levels, because some message before it
//    never showed a frame; at Unreliable Delivery, because another message is in the descriptor at the head of the
//    queue (while there is room);
//  - at Reliable Reception likewise an RDMA Write, which must not pass an RDMA Read (VI-ARCH 6.3.1.1);
//  - the last bytes of an RDMA Write until its turn: who polls for them may rely on all before them.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "fc2_fabric/node/exchange.hpp"
#include "fc2_fabric/frame/frame.hpp"
#include "fcvi/arrivals.hpp"
#include "fcvi/reorder_pool.hpp"
#include "fcvi/scattered_data.hpp"
#include "state_machines/message_responder.hpp"
#include "vi/vi.hpp"
#include "wire/fcvi/device_header.hpp"

namespace fcvi {

/// A Message Request that is received; what is said of it stands in each of its frames.
struct ReceivedMessage {
  enum class Kind : std::uint8_t { Send, Write, WriteImmediate, Read };
  Kind kind = Kind::Send;
  bool has_receive = false;  // `receive` is claimed
  vi::ReceiveWork receive;
  wire::fcvi::DeviceHeader header;
  wire::OxId ox_id{};
  std::uint64_t bytes_received = 0;

  [[nodiscard]] bool consumes_descriptor() const { return kind == Kind::Send || kind == Kind::WriteImmediate; }
  [[nodiscard]] bool is_write() const { return kind == Kind::Write || kind == Kind::WriteImmediate; }
  /// What it puts into the data segments of its receive.
  [[nodiscard]] std::uint64_t receive_bytes() const { return kind == Kind::Send ? length() : 0; }
  /// Of its request's data.
  [[nodiscard]] std::uint32_t length() const { return kind == Kind::Read ? 0 : header.tot_len_or_connection_id; }
};

/// An open message (B.2.2): some frame of it came, and it is not over.
struct OpenMessage {
  struct Held {
    fc2::FramePtr frame;  // what `payload` looks at
    std::uint32_t offset = 0;
    std::span<const std::uint8_t> payload;
  };
  /// What one costs of the pool: with what the map adds, and a frame that is held.
  static constexpr std::size_t pool_bytes();
  static constexpr std::size_t held_bytes =
      kept_frame_bytes + 2 * sizeof(Held);  // the vector may have twice as many places

  ReceivedMessage message;
  Arrivals arrivals;                           // of its bytes; frontier() tells SCexp
  runtime::TimeNs begun = 0, latest = 0;       // when its first and its latest frame came
  runtime::TimeNs overtaken = runtime::never;  // since when a frame of a later message is here: all of it was sent
  bool claimed = false;                        // what it needs was claimed, or refused
  bool has_target = false;                     // where its data goes is known
  std::optional<machines::message_responder::ReceiveError> refused;  // it is told when its turn has come
  ScatteredData data;                                                // of a Send with a target
  std::uintptr_t target = 0;         // of an RDMA Write with one, in this process: what it overlaps
  std::vector<std::uint8_t> parked;  // Unreliable Delivery: its data, while its descriptor served another message
  std::vector<Held> held;
  fc2::ReceivedFrame last;    // its last frame, without data: the response answers that
  std::uint64_t charged = 0;  // of the pool

  [[nodiscard]] bool is_whole() const { return arrivals.is_whole(message.length()); }
  [[nodiscard]] bool is_parked() const { return !parked.empty(); }
  [[nodiscard]] wire::MsgId id() const { return message.header.msg_id; }
  /// It ends its message.
  [[nodiscard]] bool is_end(std::uint32_t end) const { return end == message.length(); }
};
constexpr std::size_t OpenMessage::pool_bytes() { return sizeof(OpenMessage) + 64; }

struct Epoch {
  struct SerialOrder {
    bool operator()(wire::MsgId left, wire::MsgId right) const { return wire::serial_less(left, right); }
  };
  std::map<wire::MsgId, OpenMessage, SerialOrder> open;
  /// Messages by their distance from the first that is not over: those that showed a frame, or are over. Its frontier
  /// is Mexp of rule 4c e); the first that is missing is where the order of delivery stands.
  Arrivals seen;
  /// At most 3 MiB: more gaps among messages than a fabric makes. Each costs those behind it a move.
  static constexpr std::uint64_t most_seen_ranges = 65'536;
  wire::MsgId next_to_claim{};  // reliable levels: descriptors go in order of the messages
  /// Unreliable Delivery: the Sends that are in descriptors and lack frames, in the order of the queue. One, but for a
  /// full pool.
  boost::container::small_vector<wire::MsgId, 2> occupants;

  [[nodiscard]] bool active() const { return !seen.empty(); }
  /// Nothing is missing, or nothing is waited for any more. What was charged to the pool is the caller's to give back.
  void clear() {
    open.clear();
    seen.clear();
    occupants.clear();
  }
  [[nodiscard]] OpenMessage* find(wire::MsgId id) {
    const auto found = open.find(id);
    return found != open.end() ? &found->second : nullptr;
  }

  struct Part {
    std::size_t begin = 0, end = 0;
  };
  using Parts = boost::container::small_vector<Part, 4>;
  /// Of `length` bytes that message `by` writes at `target`, those that no later RDMA Write wrote already: its bytes
  /// stay, as if both had come in order (VI-ARCH 6.3.1.1: RDMA Writes do not pass RDMA Writes).
  [[nodiscard]] Parts not_overwritten(wire::MsgId by, std::uintptr_t target, std::size_t length) const;
};

}  // namespace fcvi
