// Answers RDMA Reads (FC-VI 5.2.4, 6.7): registered memory into FCVI_READ_RESP IUs.
#pragma once
#include <array>
#include <deque>

#include "fc2_fabric/sequence_sender.hpp"
#include "fc2_fabric/transmitter.hpp"
#include "wire/fcvi/device_header.hpp"

namespace fcvi {
class Connection;

class ReadResponder final : public fc2::FrameSource {
 public:
  explicit ReadResponder(Connection& connection) : connection_(connection) {}
  ~ReadResponder() override;

  /// A granted request; `exchange` is open and ours to send on. Requests are answered in order (VI-ARCH 6.3.1.1).
  void add(fc2::Exchange& exchange, const wire::fcvi::DeviceHeader& request);
  /// The connection is over: everything open is aborted.
  void clear();
  [[nodiscard]] bool owns(const fc2::Exchange& exchange) const;
  /// The exchange is gone already (aborted by the peer, or logged out).
  void forget(const fc2::Exchange& exchange);

 private:
  struct Response {
    fc2::Exchange* exchange;
    wire::fcvi::DeviceHeader request;
    std::uint64_t bytes_sent;
  };
  Next next_frame(fc2::Frame& frame) override;
  bool begin_sequence();
  bool fill(fc2::Frame& frame);

  Connection& connection_;
  std::deque<Response> responses_;  // the first is being sent
  fc2::SequenceSender sequence_;
  std::uint64_t iu_bytes_left_ = 0;
  std::array<std::uint8_t, 32> device_header_{};
};

}  // namespace fcvi
