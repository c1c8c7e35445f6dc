// Answers RDMA Reads (FC-VI 5.2.4, 6.7): registered memory into FCVI_READ_RESP IUs.
#pragma once
#include <array>
#include <boost/circular_buffer.hpp>

#include "runtime/scheduler.hpp"
#include "fc2_fabric/node/sequence_sender.hpp"
#include "fc2_fabric/node/transmitter.hpp"
#include "fcvi/endpoint.hpp"

namespace fcvi {
class ReadResponder final : public fc2::FrameSource {
 public:
  explicit ReadResponder(Endpoint& endpoint) : endpoint_(endpoint) {}
  ~ReadResponder() override;

  /// A granted request. Requests are answered in order (VI-ARCH 6.3.1.1), each in its own exchange, which is opened
  /// when its turn comes: what waits holds none. False when no window is that large.
  [[nodiscard]] bool add(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& request);
  /// The connection is over: everything open is aborted.
  void clear();
  /// ABTS of a request that waits.
  bool abort_received(wire::OxId ox_id);
  /// That of the first, which is gone already.
  void exchange_failed(fc2::ExchangeFailure failure);
  /// Read data is still to be sent.
  [[nodiscard]] bool is_busy() const { return !responses_.empty(); }
  [[nodiscard]] bool is_consistent() const;

 private:
  struct Response {
    wire::FcHeader frame;
    wire::fcvi::DeviceHeader request;
    bool class_2 = false;  // as it was asked, so it is answered
    bool lost = false;     // its memory was deregistered meanwhile
    std::uint64_t bytes_sent = 0;
  };
  static constexpr std::size_t max_waiting =
      4096;  // FC-VI 7.3 leaves FCVI_PIPELINE_DEPTH open: we keep to 4095 and one
  static constexpr std::size_t first_capacity = 8;
  Next next_frame(fc2::Frame& frame) override;
  [[nodiscard]] wire::FcId destination() const override { return endpoint_.peer_port; }
  bool begin_sequence();
  bool open_exchange();
  void retry();
  bool fill(fc2::Frame& frame);
  void finish_first();
  void fail();

  [[nodiscard]] const Services& services() const { return endpoint_.services; }

  Endpoint& endpoint_;
  boost::circular_buffer<Response> responses_;  // the first is being sent
  fc2::Exchange* exchange_ = nullptr;           // of the first
  fc2::SequenceSender sequence_;
  std::uint64_t iu_bytes_left_ = 0;
  std::array<std::uint8_t, 32> device_header_{};
  runtime::Timer<ReadResponder, &ReadResponder::retry> retry_{*this};
};

}  // namespace fcvi
