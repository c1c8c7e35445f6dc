// What the tests of the VI model share: a consumer's memory with descriptors in it, a transport that does
// nothing, and a log of every signal that the model gives.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vi/nic.hpp"

namespace vi::testing {

namespace endpoint = machines::vi_endpoint;
using Log = std::vector<std::string>;

class FakeTransport : public Transport {
 public:
  explicit FakeTransport(Log& log) : log_(log) {}
  Return attach(Vi&) override {
    log_.push_back("attach");
    return attach_result;
  }
  void detach(Vi&) override { log_.push_back("detach"); }
  void connect_request(Vi&, const NetAddress&, const NetAddress&, TimeNs, ConnectOperation&) override {}
  void connect_wait(const NetAddress&, TimeNs, ConnectWaitOperation&) override {}
  void connect_accept(ConnectionToken, Vi&, Operation&) override {}
  void connect_reject(ConnectionToken, Operation&) override {}
  Return connect_peer_request(Vi&, const NetAddress&, const NetAddress&, TimeNs, ConnectOperation&) override {
    return Return::ErrorResource;
  }
  void withdraw(ConnectWaitOperation&) override {}
  void disconnect(Vi&, Operation&) override {}
  void send_posted(Vi&) override { log_.push_back("posted"); }
  void receive_posted(Vi&) override { ++receives_posted; }
  [[nodiscard]] Capabilities capabilities() const override { return can; }
  [[nodiscard]] std::string_view pending_state_name(const Vi&) const override { return pending_name; }
  void stopped(Vi&, StopCause cause) override {
    log_.push_back(cause == StopCause::Descriptor ? "stopped" : "stopped by the NIC");
  }

  Return attach_result = Return::Success;
  int receives_posted = 0;
  Capabilities can = {};
  std::string_view pending_name;

 private:
  Log& log_;
};

class LoggingListener : public Listener {
 public:
  explicit LoggingListener(Log& log) : log_(log) {}
  bool completed(Vi&, bool receive_queue, std::uint64_t descriptor_address, bool error) override {
    log_.push_back(receive_queue ? "receive" : "send");
    last_completed = descriptor_address;
    last_in_error = error;
    return takes;
  }
  [[nodiscard]] std::uint64_t taken_count(const Vi&, bool receive_queue) const override {
    return receive_queue ? taken_receives : taken_sends;
  }
  void asynchronous_error(Vi*, CompletionQueue*, std::uint64_t descriptor_address, std::uint32_t op_code,
                          ResourceCode resource, ErrorCode error) override {
    log_.push_back(std::string(to_string(error)));
    if (error == ErrorCode::ConnLost) {  // may follow another one, which the tests ask about
      lost_resource = resource;
      return;
    }
    last_descriptor_address = descriptor_address;
    last_op_code = op_code;
    last_resource = resource;
  }
  bool takes = false;  // what completes is off the queue at once
  std::uint64_t taken_sends = 0, taken_receives = 0;
  std::uint64_t last_completed = 0;
  bool last_in_error = false;
  std::uint64_t last_descriptor_address = 0;
  std::uint32_t last_op_code = 0;
  ResourceCode last_resource = ResourceCode::Nic, lost_resource = ResourceCode::Nic;

 private:
  Log& log_;
};

/// A piece of a consumer's memory; addresses are host addresses, as in a real process.
struct Piece {
  std::byte* host = nullptr;
  std::size_t size = 0;
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(host); }
  [[nodiscard]] std::string text() const { return {reinterpret_cast<const char*>(host), size}; }
  [[nodiscard]] std::span<std::uint8_t> bytes() const { return {reinterpret_cast<std::uint8_t*>(host), size}; }
};

/// A descriptor in such memory.
struct Posted {
  std::byte* host = nullptr;
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(host); }
  [[nodiscard]] ControlSegment& control() const { return *reinterpret_cast<ControlSegment*>(host); }
  [[nodiscard]] Segment& segment(std::size_t index) const {
    return reinterpret_cast<Segment*>(host + sizeof(ControlSegment))[index];
  }
  [[nodiscard]] std::uint32_t status() const { return control().status; }
};

struct BenchOptions {
  ReliabilityLevel level = ReliabilityLevel::ReliableDelivery;
  NicLimits limits = {};
  bool send_to_queue = false;  // completions of the send queue go to `completions`
  bool receive_to_queue = false;
  std::uint32_t queue_entries = 64;
  std::uint32_t max_transfer_size_bytes = 4096;
  const MemoryGuard* guard = nullptr;
};

/// One NIC with one VI, a registered arena, and shorthand for what a consumer does.
class Bench {
 public:
  explicit Bench(BenchOptions options = {});

  Piece allocate(std::size_t size, std::size_t alignment = 8);
  Piece allocate(std::string_view text);
  /// A descriptor with these segments, control and length; all else zero.
  Posted descriptor(std::uint16_t control, std::uint32_t length_bytes, std::initializer_list<Segment> segments);
  Segment segment(const Piece& piece) const {
    return {piece.address(), arena_handle.value, static_cast<std::uint32_t>(piece.size)};
  }
  Posted send(std::string_view text, std::uint16_t control = 0);
  Posted rdma_write(std::string_view text, std::uint16_t control = 0);
  Posted rdma_read(const Piece& target, std::uint16_t control = 0);
  Posted receive(const Piece& target);
  Posted receive(std::size_t capacity_bytes) { return receive(allocate(capacity_bytes)); }

  Return post_send(const Posted& posted) { return vi->post_send(posted.address(), arena_handle); }
  Return post_receive(const Posted& posted) { return vi->post_receive(posted.address(), arena_handle); }
  void connect();
  /// Pending Connect, and receiving already.
  void accept_early();
  /// Idle, PendingConnect, Connected, Error, or Disconnecting: Error, and a VipDisconnect waits.
  void drive_to(std::string_view state);
  /// Begins the next send, which must be possible.
  SendWork begin();
  /// Claims the next receive for a message of this length, which must be possible.
  ReceiveWork claim(std::uint64_t message_bytes = 0);
  /// Claims the next receive, which must be bad for this message, and completes it as it says.
  void claim_bad(std::uint32_t op_code = status::op_receive, std::uint64_t message_bytes = 1);
  /// The signals since the last call.
  Log signals() { return std::exchange(log, {}); }

  Log log;
  FakeTransport transport{log};
  LoggingListener listener{log};
  Nic nic;
  wire::MemHandle arena_handle{};
  CompletionQueue* completions = nullptr;
  Vi* vi = nullptr;
  static constexpr std::uint64_t remote_address = 0x7000;
  static constexpr wire::MemHandle remote_handle{77};

 private:
  struct AlignedDelete {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };
  static constexpr std::size_t arena_bytes = std::size_t{1} << 20;
  std::unique_ptr<std::byte[], AlignedDelete> arena_;
  std::size_t used_ = 0;
};

/// Dequeues all that is completed, as the statuses that the consumer finds.
std::vector<std::uint32_t> dequeue_sends(Bench& bench);
std::vector<std::uint32_t> dequeue_receives(Bench& bench);

}  // namespace vi::testing
