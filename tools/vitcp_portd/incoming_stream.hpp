// An accepted stream until a process has it. Its octets are looked at and left where they are: whoever gets it reads
// them.
#pragma once
#include <boost/asio/posix/stream_descriptor.hpp>

#include <memory>

#include "runtime/drivers/descriptor.hpp"
#include "runtime/drivers/real_time_core.hpp"
#include "vitcp/port_service/port.hpp"

namespace vitcp_portd {
using runtime::drivers::Descriptor;
using vitcp::port_service::ConnectionId;
using vitcp::port_service::Port;

/// Used inside the core; tells the Port what happens. Lives as long as its handlers.
class IncomingStream : public std::enable_shared_from_this<IncomingStream> {
 public:
  IncomingStream(runtime::drivers::RealTimeCore& core, Port& port, ConnectionId id, Descriptor socket,
                 const wire::IpAddress& from);
  IncomingStream(const IncomingStream&) = delete;
  IncomingStream& operator=(const IncomingStream&) = delete;

  /// Tells the Port what is there, and waits for more if that is wanted. A socket that the system cannot watch is
  /// broken.
  void look();
  [[nodiscard]] const wire::IpAddress& from() const { return from_; }
  /// For the process that gets it: nothing of what was set here is left.
  int prepared_socket();
  /// Sends the segment, and then the end; reads and forgets what comes, until the other end closes.
  void refuse(wire::vitcp::SegmentType type);
  void close();

 private:
  void await();
  void wait_for(std::size_t octets);
  void drain();
  void woken() { refused_ ? drain() : look(); }

  runtime::drivers::RealTimeCore& core_;
  Port& port_;
  const ConnectionId id_;
  const wire::IpAddress from_;
  boost::asio::posix::stream_descriptor socket_;
  bool open_ = true, refused_ = false;
  std::size_t seen_octets_ = 0;
  runtime::Timer<IncomingStream, &IncomingStream::await> pause_{*this};
};

}  // namespace vitcp_portd
