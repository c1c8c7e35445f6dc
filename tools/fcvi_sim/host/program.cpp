#include "tools/fcvi_sim/host/program.hpp"

#include "tools/fcvi_sim/host/party.hpp"

namespace sim {

vi::NetAddress address_of(const WorkloadSpec& workload, Side side) {
  const std::string& text = workload.discriminator;
  const wire::IpAddress& host = side == Side::Client ? workload.client_address : workload.server_address;
  return vi::NetAddress::make(host, std::vector<std::uint8_t>(text.begin(), text.end()));
}

vi::NetAddress nameless_address_of(const WorkloadSpec& workload, Side side) {
  return vi::NetAddress::make(address_of(workload, side).host, {});
}

namespace {
bool disconnects(const WorkloadSpec& workload, Side side) {
  return workload.disconnect_by_both || workload.disconnect_by == side;
}

/// Moves the data and disconnects, whatever happens on the way. `first`: this side disconnects of its own
/// accord.
Task<> use_connection(Party& party, const WorkloadSpec& workload, bool first, WorkloadResult& result,
                      std::optional<vi::Return>& disconnect) {
  bool broken = false;
  try {
    co_await party.transfer();
  } catch (const Broken& error) {
    broken = true;
    result.give_up(error.why, party.endpoint().node().driver().now());
  }
  if (!first && !broken) co_await party.endpoint().lost();
  co_await party.endpoint().node().driver().sleep(first || broken ? workload.hold : workload.second_hold);
  disconnect = co_await party.endpoint().disconnect();
  party.endpoint().dequeue_all();
}

/// What a program does about a connection that was not made.
Task<> clean_up(Party& party, const WorkloadSpec& workload, std::optional<vi::Return>& disconnect) {
  if (!workload.clean_up || party.endpoint().vi().state() == vi::State::Idle) co_return;
  disconnect = co_await party.endpoint().disconnect();
  party.endpoint().dequeue_all();
}

}  // namespace

Task<> server_program(Node& node, const WorkloadSpec& workload, const ContentStore& contents, WorkloadResult& result) {
  Party party(node, workload, Side::Server, contents, result);
  Call<vi::ConnectWaitOperation> wait(node.driver());
  node.transport().connect_wait(address_of(workload, Side::Server), workload.connect_timeout, wait);
  co_await wait.finished;
  result.accept = wait.result;
  const runtime::TimeNs start = node.driver().now();
  if (wait.result == vi::Return::Success && workload.reject) {
    Call<vi::Operation> reject(node.driver());
    node.transport().connect_reject(wait.token, reject);
    co_await reject.finished;
    result.accept = reject.result;
  } else if (wait.result == vi::Return::Success) {
    result.accept = co_await party.endpoint().accept(wait.token);
    result.accept_duration = node.driver().now() - start;
    if (result.accept == vi::Return::Success)
      co_await use_connection(party, workload, disconnects(workload, Side::Server), result, result.server_disconnect);
    else
      co_await clean_up(party, workload, result.server_disconnect);
  }
  result.server_state = party.endpoint().vi().state();
  result.server_ended = true;
}

Task<> client_program(Node& node, const WorkloadSpec& workload, const ContentStore& contents, WorkloadResult& result) {
  Party party(node, workload, Side::Client, contents, result);
  const runtime::TimeNs start = node.driver().now();
  result.connect = co_await party.endpoint().connect(address_of(workload, Side::Client),
                                                     address_of(workload, Side::Server), workload.connect_timeout);
  result.setup_duration = node.driver().now() - start;
  if (result.connect == vi::Return::Success)
    co_await use_connection(party, workload, disconnects(workload, Side::Client), result, result.disconnect);
  else
    co_await clean_up(party, workload, result.disconnect);
  result.client_state = party.endpoint().vi().state();
  result.client_ended = true;
}

Task<> peer_program(Node& node, const WorkloadSpec& workload, Side side, const ContentStore& contents,
                    WorkloadResult& result) {
  Party party(node, workload, side, contents, result);
  const bool client = side == Side::Client;
  std::optional<vi::Return>& connected = client ? result.connect : result.accept;
  const runtime::TimeNs start = node.driver().now();
  connected = co_await party.endpoint().connect_peer(nameless_address_of(workload, side),
                                                     address_of(workload, other(side)), workload.connect_timeout);
  (client ? result.setup_duration : result.accept_duration) = node.driver().now() - start;
  std::optional<vi::Return>& disconnect = client ? result.disconnect : result.server_disconnect;
  if (connected == vi::Return::Success)
    co_await use_connection(party, workload, disconnects(workload, side), result, disconnect);
  else
    co_await clean_up(party, workload, disconnect);
  (client ? result.client_state : result.server_state) = party.endpoint().vi().state();
  (client ? result.client_ended : result.server_ended) = true;
}

}  // namespace sim
