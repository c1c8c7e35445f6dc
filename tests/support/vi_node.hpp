// A NIC over any transport, with memory of its own, and shorthand for what its consumer does: a VI program without a
// library.
//
//   b.receive(64); a.send("hello");      descriptors; then whatever follows of them
//   EXPECT_EQ(b.received(), "hello");
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vi/nic.hpp"

namespace support {

/// Memory that is not there any more, though it is registered: where `allows` says false. Not of descriptors, nor of
/// data that is as short as their segments. It catches no access, so that it is asked before each.
struct UnmappedMemory final : vi::MemoryGuard {
  std::function<bool(const std::byte* host, std::size_t length_bytes)> allows;
  [[nodiscard]] bool run(const std::byte* host, std::size_t length_bytes, Body body, void* context) const override {
    constexpr std::size_t segment = sizeof(vi::ControlSegment), descriptor = segment + sizeof(vi::Segment);
    const bool is_asked = allows && length_bytes > segment && length_bytes != descriptor;
    if (is_asked && !allows(host, length_bytes)) return false;
    body(context);
    return true;
  }
};

/// A NIC with one registered piece of memory, and the errors that it was told.
class ViNode : private vi::Listener {
 public:
  ViNode(vi::Transport& its_transport, const wire::IpAddress& its_address)
      : address(its_address), transport(its_transport), nic(its_transport, *this, {}, &guard) {
    EXPECT_EQ(nic.register_memory(base(), arena_.get()->bytes, sizeof(Arena),
                                  {.enable_rdma_write = true, .enable_rdma_read = true}, handle),
              vi::Return::Success);
  }
  vi::Vi& create(vi::ReliabilityLevel level, std::uint32_t max_transfer_bytes = 1u << 20) {
    vi::Vi* vi = nullptr;
    const vi::ViAttributes wanted{.reliability = level,
                                  .max_transfer_size_bytes = max_transfer_bytes,
                                  .enable_rdma_write = true,
                                  .enable_rdma_read = is_reliable(level)};
    EXPECT_EQ(nic.create_vi(wanted, nullptr, nullptr, vi), vi::Return::Success);
    vis_.push_back(vi);
    return *vi;
  }
  /// Calls that are still under way end: their operations may go.
  void close() {
    for (vi::Vi* vi : vis_) transport.detach(*vi);
  }
  [[nodiscard]] vi::NetAddress at(std::string_view discriminator) const {
    return vi::NetAddress::make(
        address, std::span(reinterpret_cast<const std::uint8_t*>(discriminator.data()), discriminator.size()));
  }
  /// Zeros.
  std::byte* allocate(std::size_t bytes) {
    std::byte* const piece = arena_->bytes + used_;
    used_ += (bytes + 63) / 64 * 64;
    EXPECT_LE(used_, sizeof(Arena));
    std::memset(piece, 0, bytes);
    return piece;
  }
  /// Called as each descriptor completes.
  std::function<void(bool receive_queue)> on_completed;
  std::vector<vi::ErrorCode> take_errors() { return std::exchange(errors_, {}); }

  const wire::IpAddress address;
  vi::Transport& transport;
  UnmappedMemory guard;
  vi::Nic nic;
  wire::MemHandle handle{};

 private:
  struct Arena {
    alignas(64) std::byte bytes[8u << 20];
  };
  bool completed(vi::Vi&, bool receive_queue, std::uint64_t, bool) override {
    if (on_completed) on_completed(receive_queue);
    return false;
  }
  void asynchronous_error(vi::Vi*, vi::CompletionQueue*, std::uint64_t, std::uint32_t, vi::ResourceCode,
                          vi::ErrorCode error) override {
    errors_.push_back(error);
  }
  [[nodiscard]] std::uint64_t base() const { return reinterpret_cast<std::uint64_t>(arena_->bytes); }

  std::unique_ptr<Arena> arena_ = std::make_unique_for_overwrite<Arena>();
  std::size_t used_ = 0;
  std::vector<vi::ErrorCode> errors_;
  std::vector<vi::Vi*> vis_;
};

inline std::uint64_t address_of(const std::byte* host) { return reinterpret_cast<std::uint64_t>(host); }

/// One VI with the descriptors that it posted.
class ViEnd {
 public:
  ViEnd(ViNode& node, vi::Vi& its_vi) : vi(its_vi), node_(node) {}

  /// The descriptors' places are kept for status_of() and received().
  void receive(std::size_t bytes) {
    receives_.push_back(write(vi::control::op_send_receive, bytes, {segment(node_.allocate(bytes), bytes)}));
    vi.post_receive(address_of(receives_.back()), node_.handle);
  }
  void send(std::string_view text, std::uint16_t control = vi::control::op_send_receive) {
    post_send(control, text.size(), {data(text)});
  }
  void rdma_write(std::string_view text, const std::byte* target, std::uint16_t control = 0) {
    post_send(control | vi::control::op_rdma_write, text.size(), {remote(target), data(text)});
  }
  std::byte* rdma_read(const std::byte* source, std::size_t bytes) {
    std::byte* const target = node_.allocate(bytes);
    post_send(vi::control::op_rdma_read, bytes, {remote(source), segment(target, bytes)});
    return target;
  }
  /// The error bits, or no value while it is under way.
  [[nodiscard]] std::optional<std::uint32_t> send_error(std::size_t index = 0) const { return error(sends_[index]); }
  [[nodiscard]] std::optional<std::uint32_t> receive_error(std::size_t index = 0) const {
    return error(receives_[index]);
  }
  [[nodiscard]] const vi::ControlSegment& received_control(std::size_t index = 0) const {
    return *reinterpret_cast<const vi::ControlSegment*>(receives_[index]);
  }
  [[nodiscard]] std::string received(std::size_t index = 0) const {
    const auto* segment = reinterpret_cast<const vi::Segment*>(receives_[index] + sizeof(vi::ControlSegment));
    return {reinterpret_cast<const char*>(segment->address), received_control(index).length_bytes};
  }
  /// The first data segment of a descriptor that was posted.
  [[nodiscard]] vi::Segment& receive_segment(std::size_t index = 0) {
    return *reinterpret_cast<vi::Segment*>(receives_[index] + sizeof(vi::ControlSegment));
  }
  [[nodiscard]] vi::Segment& send_segment(std::size_t index = 0) {
    return *reinterpret_cast<vi::Segment*>(sends_[index] + sizeof(vi::ControlSegment));
  }
  void forbid_remote() { remote_handle_ = wire::MemHandle{0}; }
  void set_remote(wire::MemHandle handle) { remote_handle_ = handle; }

  vi::Vi& vi;

 private:
  [[nodiscard]] vi::Segment segment(const std::byte* host, std::size_t bytes) const {
    return {address_of(host), node_.handle.value, static_cast<std::uint32_t>(bytes)};
  }
  [[nodiscard]] vi::Segment remote(const std::byte* host) const { return {address_of(host), remote_handle_.value, 0}; }
  vi::Segment data(std::string_view text) {
    std::byte* const piece = node_.allocate(text.size());
    std::memcpy(piece, text.data(), text.size());
    return segment(piece, text.size());
  }
  std::byte* write(std::uint16_t control, std::size_t bytes, const std::vector<vi::Segment>& segments) {
    std::byte* const host = node_.allocate(sizeof(vi::ControlSegment) + segments.size() * sizeof(vi::Segment));
    const vi::ControlSegment head{.segment_count = static_cast<std::uint16_t>(segments.size()),
                                  .control = control,
                                  .immediate_data = 77,
                                  .length_bytes = static_cast<std::uint32_t>(bytes)};
    std::memcpy(host, &head, sizeof head);
    std::memcpy(host + sizeof head, segments.data(), segments.size() * sizeof(vi::Segment));
    return host;
  }
  void post_send(int control, std::size_t bytes, const std::vector<vi::Segment>& segments) {
    sends_.push_back(write(static_cast<std::uint16_t>(control), bytes, segments));
    vi.post_send(address_of(sends_.back()), node_.handle);
  }
  static std::optional<std::uint32_t> error(const std::byte* descriptor) {
    const std::uint32_t status = reinterpret_cast<const vi::ControlSegment*>(descriptor)->status;
    return (status & vi::status::done) == 0 ? std::nullopt : std::optional(status & vi::status::error_mask);
  }

  ViNode& node_;
  wire::MemHandle remote_handle_{};
  std::vector<std::byte*> sends_, receives_;
};

}  // namespace support
