#include "farp/directory_listing.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/node/remote_port.hpp"
#include "wire/message_bytes.hpp"
#include "wire/ct/accept.hpp"
#include "wire/ct/gipp_id.hpp"
#include "wire/ct/gnn_ft.hpp"
#include "wire/ct/gnn_id.hpp"
#include "wire/ct/gpn_ft.hpp"
#include "wire/ct/gsnn_nn.hpp"
#include "wire/ct/reject.hpp"

namespace farp {
using wire::bytes_of;
namespace ct = wire::ct;
void DirectoryListing::start() {
  const fc2::RemotePort* server = port_.find_remote_port(wire::well_known::name_server);
  const bool available = port_.online() && server != nullptr && server->logged_in();
  if (!available) return end(DirectoryFailure::NoNameServer);
  port_.scheduler().schedule_after(*this, config_.timeout);
  tasks_.push_back({.question = Question::Ports});
  send_more();
}

void DirectoryListing::send_more() {
  while (!tasks_.empty() && requests_.size() < config_.max_requests) {
    Request& request = requests_.emplace_back(*this, tasks_.front());
    const std::vector<std::uint8_t> payload = payload_of(request.task);
    request.exchange = port_.request(wire::well_known::name_server, wire::RCtl::unsolicited_control, wire::Type::ct,
                                     payload, request, config_.request_timeout);
    if (request.exchange == nullptr) {  // none is free
      requests_.pop_back();
      if (requests_.empty()) end(DirectoryFailure::TooMany);
      return;
    }
    tasks_.pop_front();
  }
  if (requests_.empty()) end(std::nullopt);
}

std::vector<std::uint8_t> DirectoryListing::payload_of(const Task& task) const {
  switch (task.question) {
    case Question::Ports: return bytes_of(ct::GpnFt{.type = wire::Type::fc_vi});
    case Question::NodeNames: return bytes_of(ct::GnnFt{.type = wire::Type::fc_vi});
    case Question::NodeName: return bytes_of(ct::GnnId{.port_id = ports_[task.port].entry.n_port_id});
    case Question::Addresses: return bytes_of(ct::GippId{.port_id = ports_[task.port].entry.n_port_id});
    case Question::SymbolicNodeName: return bytes_of(ct::GsnnNn{.node_name = ports_[task.port].entry.node_name});
  }
  return {};
}

// --- answers -----------------------------------------------------------------------------------------------------

void DirectoryListing::Request::sequence_received(fc2::Exchange& answered, const wire::FcHeader&, Bytes iu) {
  if (answered.is_open()) listing.port_.release(answered);
  DirectoryListing& its_listing = listing;
  its_listing.answered(its_listing.retire(*this), iu);  // *this is gone
}

void DirectoryListing::Request::exchange_failed(fc2::Exchange&, fc2::ExchangeFailure failure) {
  DirectoryListing& its_listing = listing;
  its_listing.failed(its_listing.retire(*this), failure);  // *this is gone
}

DirectoryListing::Task DirectoryListing::retire(const Request& request) {
  const Task task = request.task;
  requests_.remove_if([&](const Request& other) { return &other == &request; });
  return task;
}

void DirectoryListing::answered(const Task& task, Bytes iu) {
  if (!take(task, iu) && !take_reject(task, iu)) return end(DirectoryFailure::BadAnswer);
  if (ports_.size() > config_.max_ports) return end(DirectoryFailure::TooMany);
  send_more();
}

void DirectoryListing::failed(Task task, fc2::ExchangeFailure failure) {
  if (failure == fc2::ExchangeFailure::PortLoggedOut) return end(DirectoryFailure::NoNameServer);
  if (task.question == Question::NodeNames) {  // unknown to the server, or to a switch on the way
    take_node_names({});
    return send_more();
  }
  if (task.tries++ == config_.retries) return end(DirectoryFailure::NoAnswer);
  tasks_.push_front(task);
  send_more();
}

bool DirectoryListing::take(const Task& task, Bytes iu) {
  switch (task.question) {
    case Question::Ports: return take_ports(iu);
    case Question::NodeNames: return take_node_names(iu), true;
    case Question::NodeName: return take_node_name(task, iu);
    case Question::Addresses: {
      auto addresses = ct::IpAddressListAccept::parse(iu);
      if (!addresses) return false;
      for (wire::IpAddress& address : addresses->ip_addresses) address = address.normalized();
      ports_[task.port].entry.addresses = std::move(addresses->ip_addresses);
      return true;
    }
    case Question::SymbolicNodeName: {
      auto name = ct::SymbolicNameAccept::parse(iu);
      if (!name) return false;
      return node_named(ports_[task.port].entry.node_name, std::move(name->symbolic_name)), true;
    }
  }
  return false;
}

bool DirectoryListing::take_ports(Bytes iu) {
  const auto list = ct::GpnFtAccept::parse(iu);
  if (!list) return false;
  for (const ct::PortEntry& port : list->entries) {
    DirectoryEntry& entry = ports_.emplace_back().entry;
    entry.n_port_id = port.port_id;
    entry.port_name = port.world_wide_name;
  }
  tasks_.push_back({.question = Question::NodeNames});
  return true;
}

// GNN_FT came after GPN_FT: a server that does not answer it, or in another way, does not know it, and is asked for
// each port. So is one whose answer does not name a port.
void DirectoryListing::take_node_names(Bytes iu) {
  const auto list = ct::GpnFtAccept::parse(iu);
  std::map<wire::FcId, wire::Wwn> names;
  if (list)
    for (const ct::PortEntry& port : list->entries) names.emplace(port.port_id, port.world_wide_name);
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const auto name = names.find(ports_[i].entry.n_port_id);
    if (name == names.end())
      tasks_.push_back({.question = Question::NodeName, .port = i});
    else
      set_node(i, name->second);
  }
}

bool DirectoryListing::take_node_name(const Task& task, Bytes iu) {
  const auto name = ct::NameAccept::parse(iu);
  if (!name) return false;
  set_node(task.port, name->world_wide_name);
  return true;
}

void DirectoryListing::set_node(std::size_t port, wire::Wwn node_name) {
  ports_[port].entry.node_name = node_name;
  ports_[port].has_node = true;
  const auto [node, first] = nodes_.try_emplace(node_name);
  if (first) return tasks_.push_back({.question = Question::SymbolicNodeName, .port = port});
  if (node->second && owner_.wants_addresses_of(*node->second))
    tasks_.push_back({.question = Question::Addresses, .port = port});
}

void DirectoryListing::node_named(wire::Wwn node_name, std::string name) {
  const bool wanted = owner_.wants_addresses_of(name);
  nodes_[node_name] = std::move(name);
  if (!wanted) return;
  for (std::size_t i = 0; i < ports_.size(); ++i)
    if (ports_[i].has_node && ports_[i].entry.node_name == node_name)
      tasks_.push_back({.question = Question::Addresses, .port = i});
}

// What a port did not register is not there; a port that the server does not know any more has gone.
bool DirectoryListing::take_reject(const Task& task, Bytes iu) {
  using Why = ct::RejectExplanation;
  const auto reject = ct::CtReject::parse(iu);
  if (!reject) return false;
  const Why why = reject->preamble.explanation;
  switch (task.question) {
    case Question::Ports: return why == Why::fc4_types_not_registered || why == Why::database_empty;
    case Question::NodeNames: break;  // take_node_names() takes any answer
    case Question::NodeName: ports_[task.port].gone = true; break;
    case Question::Addresses:
      if (why == Why::n_port_id_not_registered) ports_[task.port].gone = true;
      break;
    case Question::SymbolicNodeName: node_named(ports_[task.port].entry.node_name, {}); break;
  }
  return true;
}

// --- the end -----------------------------------------------------------------------------------------------------

void DirectoryListing::abort_all() {
  for (Request& request : requests_) port_.abort(*request.exchange);
  requests_.clear();
}

void DirectoryListing::end(std::optional<DirectoryFailure> failure) {
  port_.scheduler().cancel(*this);
  abort_all();
  owner_.listing_ended(failure);
}

/// While it is under way something is asked, and it ends in time; then nothing is.
bool DirectoryListing::is_consistent() const {
  const auto is_asked = [](const Request& request) { return request.exchange != nullptr; };
  return under_way() == !requests_.empty() && requests_.size() <= config_.max_requests &&
         std::all_of(requests_.begin(), requests_.end(), is_asked);
}

std::vector<DirectoryEntry> DirectoryListing::entries() const {
  std::vector<DirectoryEntry> list;
  for (const Port& port : ports_) {
    if (port.gone) continue;
    DirectoryEntry& entry = list.emplace_back(port.entry);
    const auto node = nodes_.find(entry.node_name);
    if (node != nodes_.end()) entry.symbolic_node_name = node->second.value_or("");
  }
  return list;
}

}  // namespace farp
