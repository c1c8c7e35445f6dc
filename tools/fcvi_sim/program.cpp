#include "tools/fcvi_sim/program.hpp"

#include "tools/fcvi_sim/party.hpp"

namespace sim {
namespace {

vi::NetAddress server_address(Node& server, const WorkloadSpec& workload) {
  const std::string& text = workload.discriminator;
  return vi::NetAddress::make(server.provider().config().address,
                              std::vector<std::uint8_t>(text.begin(), text.end()));
}

/// Moves the data and disconnects, whatever happens on the way. `first`: this side disconnects of its own
/// accord.
Task<> use_connection(Party& party, bool first, WorkloadResult& result,
                      std::optional<vi::Return>& disconnect) {
  bool broken = false;
  try {
    co_await party.transfer();
  } catch (const Broken& error) {
    broken = true;
    if (result.broken.empty()) result.broken = error.why;
  }
  if (!first && !broken) co_await party.endpoint().lost();
  disconnect = co_await party.endpoint().disconnect();
  party.endpoint().dequeue_all();
}

}  // namespace

Task<> server_program(Node& node, const WorkloadSpec& workload, const ContentStore& contents,
                      WorkloadResult& result) {
  Party party(node, workload, Side::Server, contents, result);
  Call<vi::ConnectWaitOperation> wait(node.driver());
  node.provider().connect_wait(server_address(node, workload), workload.connect_timeout, wait);
  co_await wait.finished;
  result.accept = wait.result;
  if (wait.result == vi::Return::Success && workload.reject) {
    Call<vi::Operation> reject(node.driver());
    node.provider().connect_reject(wait.token, reject);
    co_await reject.finished;
    result.accept = reject.result;
  } else if (wait.result == vi::Return::Success) {
    result.accept = co_await party.endpoint().accept(wait.token);
    if (result.accept == vi::Return::Success)
      co_await use_connection(party, workload.disconnect_by == Side::Server, result,
                              result.server_disconnect);
  }
  result.server_state = party.endpoint().vi().state();
  result.server_ended = true;
}

Task<> client_program(Node& node, Node& server, const WorkloadSpec& workload, const ContentStore& contents,
                      WorkloadResult& result) {
  Party party(node, workload, Side::Client, contents, result);
  const fc2::TimeNs start = node.driver().now();
  result.connect =
      co_await party.endpoint().connect(server_address(server, workload), workload.connect_timeout);
  result.setup_duration = node.driver().now() - start;
  if (result.connect == vi::Return::Success)
    co_await use_connection(party, workload.disconnect_by == Side::Client, result, result.disconnect);
  result.client_state = party.endpoint().vi().state();
  result.client_ended = true;
}

}  // namespace sim
