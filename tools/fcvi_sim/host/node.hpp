// One simulated host: a NIC, the transport below it, and the memory of its programs.
#pragma once
#include <string>
#include <vector>

#include "tools/fcvi_sim/host/driver.hpp"
#include "tools/fcvi_sim/host/host_transport.hpp"
#include "tools/fcvi_sim/host/memory.hpp"
#include "vi/nic.hpp"

namespace sim {
class Endpoint;

class Node final : private vi::Listener, private TransportListener {
 public:
  /// `index`: of all hosts, tells their memory apart. The transport outlives the node.
  Node(Driver& driver, HostTransport& transport, std::size_t index);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() = default;

  [[nodiscard]] const std::string& name() const { return host_.name(); }
  [[nodiscard]] Driver& driver() { return driver_; }
  HostTransport& host_transport() { return host_; }
  vi::Transport& transport() { return host_.transport(); }
  vi::Nic& nic() { return nic_; }
  Region allocate(std::uint64_t size_bytes, vi::MemoryAttributes attributes) {
    return addresses_.allocate(nic_, size_bytes, attributes);
  }
  /// What its transport and its NIC keep.
  [[nodiscard]] std::vector<HostTransport::Held> held() const;
  /// Of its transport and its NIC, between events.
  [[nodiscard]] bool is_consistent() const { return host_.is_consistent() && nic_.is_consistent(); }
  /// co_await: others can find this host.
  Signal& ready() { return ready_; }
  /// In the order of their making.
  [[nodiscard]] const std::vector<Endpoint*>& endpoints() const { return endpoints_; }
  struct Error {
    runtime::TimeNs at;
    vi::ErrorCode code;
  };
  /// Of its transport and its VIs. nullptr: nobody hears.
  void set_row_listener(FiredRowListener* listener) {
    rows_ = listener;
    host_.set_row_listener(listener);
  }
  /// Asynchronous ones, in the order of time.
  [[nodiscard]] const std::vector<Error>& errors() const { return errors_; }

 private:
  friend class Endpoint;
  // vi::Listener
  bool completed(vi::Vi& vi, bool receive_queue, std::uint64_t descriptor_address, bool error) override;
  [[nodiscard]] std::uint64_t taken_count(const vi::Vi& vi, bool receive_queue) const override;
  void asynchronous_error(vi::Vi* vi, vi::CompletionQueue* queue, std::uint64_t descriptor_address,
                          std::uint32_t op_code, vi::ResourceCode resource, vi::ErrorCode error) override;
  void row_fired(vi::Vi& vi, const fsm::Row& row) override;
  // TransportListener
  void transport_ready() override { ready_.set(); }

  Driver& driver_;
  HostTransport& host_;
  Signal ready_;
  FiredRowListener* rows_ = nullptr;
  std::vector<Error> errors_;
  std::vector<Endpoint*> endpoints_;
  vi::Nic nic_;
  AddressSpace addresses_;
};

}  // namespace sim
