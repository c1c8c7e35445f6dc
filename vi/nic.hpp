// One opened VI NIC: memory, tags, VIs, completion queues and their limits, over a transport.
// Not thread-safe: the owner serialises all calls.
#pragma once
#include <memory>
#include <vector>

#include "vi/completion_queue.hpp"
#include "vi/vi.hpp"

namespace vi {

/// Each limit has a name (design rule 5); VipQueryNic reports them (VI-DG 4.5). A NIC has no more than its transport.
struct NicLimits {
  MemoryLimits memory = {};
  std::uint32_t max_vis = 1u << 16;
  std::uint32_t max_descriptors_per_queue = 4096;
  std::uint32_t max_segments_per_descriptor = 1024;  // the address segment included; at least 252 + 1
  std::uint32_t max_completion_queues = 4096;
  std::uint32_t max_completion_queue_entries = 1u << 20;
  std::uint32_t max_transfer_size_bytes = 0xFFFFFFFF;
  bool strict_tags = false;  // ruling 22
};

class Nic {
 public:
  /// All must outlive the NIC. Without a `guard`, memory must stay there while it is registered.
  Nic(Transport& transport, Listener& listener, NicLimits limits = {}, const MemoryGuard* guard = nullptr);
  /// VIs that are left go without a word to the transport or the consumer: disconnect and destroy them
  /// before.
  ~Nic();
  Nic(const Nic&) = delete;
  Nic& operator=(const Nic&) = delete;

  /// VipCreateVi, VI-DG 3.2.1. Errors: InvalidParameter (a completion queue of another NIC),
  /// InvalidReliabilityLevel, InvalidMtu, InvalidPtag, ErrorResource, and what the transport says.
  /// max_transfer_size_bytes 0 means the NIC's maximum.
  Return create_vi(const ViAttributes& attributes, CompletionQueue* send_queue, CompletionQueue* receive_queue,
                   Vi*& vi);
  /// InvalidState unless Idle with both queues empty (VI-DG 3.2.2).
  Return destroy_vi(Vi& vi);
  /// VipSetViAttributes, VI-DG 3.7.2: all or nothing. InvalidState unless Idle; else the errors of create_vi.
  Return set_vi_attributes(Vi& vi, const ViAttributes& attributes);

  /// ErrorResource above a limit. The entries themselves are kept by the consumer.
  Return create_completion_queue(std::uint64_t entry_count, CompletionQueue*& queue);
  Return destroy_completion_queue(CompletionQueue& queue);  // ErrorResource while work queues use it
  /// VI-DG 3.6.1, 3.6.3: whether a completion queue may have so many entries. ErrorResource above the limit.
  [[nodiscard]] Return check_completion_queue(std::uint64_t entry_count) const;

  MemoryTable& memory() { return memory_; }
  [[nodiscard]] const MemoryTable& memory() const { return memory_; }
  /// VipRegisterMem's tag rule on top of MemoryTable: with strict_tags a NULL tag is InvalidPtag.
  Return register_memory(std::uint64_t address, std::byte* host, std::uint64_t length_bytes,
                         MemoryAttributes attributes, wire::MemHandle& handle, bool writable = true);
  /// VipSetMemAttributes, with the same rule.
  Return set_memory_attributes(std::uint64_t address, wire::MemHandle handle, MemoryAttributes attributes);

  Transport& transport() { return transport_; }
  Listener& listener() { return listener_; }
  [[nodiscard]] const NicLimits& limits() const { return limits_; }
  [[nodiscard]] const Capabilities& capabilities() const { return capabilities_; }
  /// Each VI is, and knows its place, and there are no more things than the limits say. Linear: for calls that make or
  /// end them, and for simulators.
  [[nodiscard]] bool is_consistent() const;
  [[nodiscard]] std::size_t vi_count() const { return vis_.size(); }
  [[nodiscard]] std::size_t completion_queue_count() const { return queues_.size(); }

 private:
  Return check(ViAttributes& attributes) const;
  [[nodiscard]] bool is_valid(Ptag tag) const;
  [[nodiscard]] bool owns(const CompletionQueue* queue) const;
  void remove(const Vi& vi);

  Transport& transport_;
  Listener& listener_;
  const Capabilities capabilities_;
  NicLimits limits_;
  MemoryTable memory_;
  std::vector<std::unique_ptr<CompletionQueue>> queues_;
  std::vector<std::unique_ptr<Vi>> vis_;  // each knows its place; declared last, so that it goes first
};

}  // namespace vi
