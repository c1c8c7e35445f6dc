// The common part of the Ethernet drivers: one frame per message of a socket, in batches, nothing blocks.
#pragma once
#include <memory>

#include <boost/asio/io_context.hpp>

#include "runtime/core_guard.hpp"
#include "fc2_fabric/fcoe/ethernet_port.hpp"
#include "fc2_fabric/frame/time.hpp"

namespace fc2::drivers {

/// What a driver needs to enter the core; all of it outlives the driver. One thread, any, runs the io_context.
struct CoreAccess {
  boost::asio::io_context& io;
  runtime::CoreGuard& guard;
  Scheduler& scheduler;
  FramePool& pool;
};

/// Frames to be sent wait until the core settles or the batch is full, and then go to the kernel with one system call,
/// directly from the pooled buffers. While the kernel takes no more the port pauses. Created, used and destroyed
/// inside the core.
class EthernetSocket : public fcoe::EthernetPort {
 public:
  ~EthernetSocket() override;
  void send(fcoe::EthernetFrame frame) final;

  static constexpr std::size_t batch_frames = 64;  // of one system call
  static constexpr std::size_t max_waiting = 256;  // from batch_frames on the port is paused; FIP may still come

 protected:
  /// Takes ownership of the descriptor.
  EthernetSocket(fcoe::EthernetInterface interface, int descriptor, const CoreAccess& access);
  [[nodiscard]] int descriptor() const;
  [[nodiscard]] Scheduler& scheduler() const;
  /// A system call failed for another reason than lack of room, for example ENETDOWN.
  virtual void socket_failed(int error) = 0;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace fc2::drivers
