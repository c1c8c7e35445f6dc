// What the service tells of itself.
#pragma once
#include <string>
#include <vector>

#include "streams/stream.hpp"
#include "vitcp/port_service/port.hpp"
#include "vitcp/port_service/records.hpp"

namespace vitcp_portd {

struct Status {
  struct Client {
    vitcp::port_service::ClientId id = 0;
    std::uint32_t process_id = 0;
    std::string name{};
    std::size_t waits = 0;
  };
  streams::Address listen{};
  vitcp::port_service::PortState state{};
  std::uint32_t process_id = 0;
  runtime::TimeNs now = 0, started_at = 0;
  vitcp::port_service::PortLimits limits{};
  vitcp::port_service::Counters counters{};
  std::vector<vitcp::port_service::Port::HalfOpen> half_open{};
  std::vector<Client> clients{};
  std::vector<vitcp::port_service::Waiter> waiters{};
};

/// One object; times in seconds. Discriminators are hexadecimal.
[[nodiscard]] std::string to_json(const Status& status);
/// For people, of what to_json() made, or a NIC of a process; empty: it is something else.
[[nodiscard]] std::string to_text(const std::string& json);

}  // namespace vitcp_portd
