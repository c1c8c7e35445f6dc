// Why a port cannot be had, in words: who has it, and what to do.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "streams/stream.hpp"

namespace vitcp_portd {

/// The user whose socket listens at that address, or at one that takes its connections, by the text of /proc/net/tcp or
/// /proc/net/tcp6.
[[nodiscard]] std::optional<unsigned> owner_in(std::string_view table, const streams::Address& address);
/// The same on this host.
[[nodiscard]] std::optional<unsigned> owner_of(const streams::Address& address);

/// "127.0.0.1:8474: the port is in use by a program of user 1001 (bob); ...". `error`: of bind() or listen(). `owner`:
/// who listens there, if that is known; `neighbour`: a service of our own that has the port at another address.
[[nodiscard]] std::string listen_trouble(const streams::Address& address, int error, std::optional<unsigned> owner,
                                         const std::optional<streams::Address>& neighbour);

}  // namespace vitcp_portd
