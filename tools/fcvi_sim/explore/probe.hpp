// One end of an explored connection: a VI with its memory and descriptors, which records all that a program can see.
#pragma once
#include <memory>
#include <vector>

#include "tools/fcvi_sim/host/endpoint.hpp"
#include "tools/fcvi_sim/explore/record.hpp"

namespace sim::explore {

class Probe {
 public:
  /// `messages`: those that this end sends; `theirs`: those of the other end. All references outlive the probe.
  Probe(Node& node, const WorkloadSpec& workload, End& record, const std::vector<Message>& theirs);
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  void set_peer(Probe& peer) { peer_ = &peer; }
  [[nodiscard]] Node& node() { return node_; }
  [[nodiscard]] vi::Vi& vi() { return endpoint_->vi(); }
  [[nodiscard]] End& record() { return record_; }
  [[nodiscard]] bool connection_lost() { return endpoint_->lost().is_set(); }

  /// As many as the queue has: those of its depth. At Reliable Reception, where a message that is sent was received,
  /// one more after each that is taken; else all.
  void post_receives();
  /// So many more messages may go, in order: each as soon as the send queue has room.
  void allow_sends(std::size_t messages);
  [[nodiscard]] bool all_sends_completed() const { return sends_completed_ == record_.sends.size(); }
  /// All that may go went, and have completed.
  [[nodiscard]] bool all_allowed_completed() const { return sends_completed_ == sends_allowed_; }
  [[nodiscard]] bool all_receives_completed() const { return receives_completed_ == record_.receives.size(); }
  [[nodiscard]] std::size_t received() const { return receives_completed_; }
  /// Of every message of the peer.
  [[nodiscard]] bool all_received() const { return receives_completed_ == receives_.size(); }
  /// Checks for news: takes completions, notes the state.
  void observe();
  /// The run is over: records the memory and destroys the VI.
  void finish();

 private:
  /// The place of a message in this end's memory: its source, the target of an RDMA Read, a receive's buffer, or the
  /// target of the peer's RDMA.
  struct Slot {
    std::uint64_t offset = 0, size_bytes = 0;
  };
  Slot reserve(std::uint64_t size_bytes);
  static std::vector<Piece> pieces_of(const Slot& slot, std::uint32_t segments);
  void fill(const Slot& slot, const std::vector<std::uint8_t>& content);
  [[nodiscard]] std::vector<std::uint8_t> bytes_of(const Slot& slot) const;
  [[nodiscard]] bool holds(const Slot& slot, const std::vector<std::uint8_t>& content) const;
  [[nodiscard]] bool peer_has(std::size_t message) const;
  [[nodiscard]] bool writes_before_are_in_place(std::size_t receive) const;
  void post_receive();
  void post_send();
  void fill_queues();
  void completed(std::vector<Descriptor>& list, std::size_t& count, const Completion& completion, bool receive);
  void count_stray_bytes();

  Node& node_;
  End& record_;
  const std::vector<Message>& theirs_;
  std::unique_ptr<Endpoint> endpoint_;
  Region memory_;
  std::uint64_t next_offset_ = 0;
  std::vector<Slot> own_, receives_, remote_;    // by message, by receive, by the peer's message
  std::vector<std::uint32_t> receive_segments_;  // by receive
  std::size_t sends_completed_ = 0, receives_completed_ = 0, sends_allowed_ = 0;
  const std::size_t send_depth_, receive_depth_;
  Probe* peer_ = nullptr;
};

/// The messages that `side` sends for the transfers of a workload: its own, and its replies to the other side's, in the
/// order of the transfers. `salt` makes the bytes of each message different.
std::vector<Message> messages_of(const WorkloadSpec& workload, Side side, std::uint32_t salt);

}  // namespace sim::explore
