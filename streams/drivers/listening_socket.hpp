// TCP sockets as those who listen, or adopt what somebody else accepted, need them.
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/result.hpp>

#include "runtime/drivers/descriptor.hpp"
#include "streams/stream.hpp"

namespace streams::drivers {

[[nodiscard]] boost::asio::ip::tcp::endpoint endpoint_of(const Address& address);
[[nodiscard]] Address address_of(const boost::asio::ip::tcp::endpoint& endpoint);
/// The address that the socket has; nothing: it is not one of IPv4 or IPv6.
[[nodiscard]] std::optional<Address> local_address_of(int socket);
/// That of the other end; nothing also if there is none.
[[nodiscard]] std::optional<Address> remote_address_of(int socket);

/// What errno says of a socket.
[[nodiscard]] Reason reason_of(int error);

/// A socket that listens there: non-blocking, closed on exec, with SO_REUSEADDR and, for those that it accepts, too,
/// SO_OOBINLINE and TCP_NODELAY. At :: it takes IPv4 and IPv6. Or the system's error.
[[nodiscard]] boost::system::result<runtime::drivers::Descriptor> listening_socket(const Address& at);

}  // namespace streams::drivers
