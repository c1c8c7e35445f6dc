// Two nodes in one process come to be connected: one waits, the other asks.
#pragma once
#include "runtime/core_guard.hpp"
#include "tests/support/operations.hpp"
#include "vi/nic.hpp"

namespace support {

/// Machine and Node as in tests/local_fabric/raw_node.hpp. False: they did not come to be.
template <class Machine, class Node>
bool meet(Machine& machine, Node& client, vi::Vi& client_vi, Node& server, vi::Vi& server_vi) {
  Wait waited;
  Connect connected;
  Done accepted;
  {
    const runtime::CoreSection section(machine.core);
    server.provider.connect_wait(server.net("service"), runtime::never, waited);
    client.provider.connect_request(client_vi, client.net("client"), server.net("service"), 60 * runtime::second,
                                    connected);
  }
  if (!machine.run_until([&] { return waited.result || connected.result; }) || !waited.result) return false;
  {
    const runtime::CoreSection section(machine.core);
    server.provider.connect_accept(waited.token, server_vi, accepted);
  }
  machine.run_until([&] { return connected.result && accepted.result; });
  return connected.result == vi::Return::Success && accepted.result == vi::Return::Success;
}

}  // namespace support
