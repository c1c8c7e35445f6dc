#include "fc2_fabric/name_server.hpp"

#include <algorithm>

#include "fc2_fabric/remote_port.hpp"
#include "wire/messages.hpp"

namespace fc2 {
namespace ct = wire::ct;
using Reason = ct::RejectReason;
using Explanation = ct::RejectExplanation;

namespace {
using Bytes = std::span<const std::uint8_t>;
using Reply = std::vector<std::uint8_t>;

template <class Message>
Reply reply(const Message& message) {
  Reply bytes(message.size());
  message.write(bytes);
  return bytes;
}
Reply accept() { return reply(ct::CtAccept{}); }
Reply reject(Reason reason, Explanation why = Explanation::none) { return reply(ct::CtReject::of(reason, why)); }
// Most rejects: unable to perform, and what is missing.
Reply missing(Explanation what) { return reject(Reason::unable_to_perform, what); }
Reply full() { return reject(Reason::unable_to_perform); }

Reply id_list(std::vector<wire::FcId> ids, Explanation if_empty) {
  if (ids.empty()) return missing(if_empty);
  ct::PortIdListAccept list;
  list.port_ids = std::move(ids);
  return reply(list);
}
Reply name(wire::Wwn world_wide_name) {
  ct::NameAccept answer;
  answer.world_wide_name = world_wide_name;
  return reply(answer);
}
Reply symbolic_name(const std::string& text, Explanation if_empty) {
  if (text.empty()) return missing(if_empty);
  ct::SymbolicNameAccept answer;
  answer.symbolic_name = text;
  return reply(answer);
}

// Carries out one request. A port registers only what is its own or its node's.
class Clerk {
 public:
  Clerk(NameDatabase& database, AddressStandIn* stand_in, wire::FcId source)
      : database_(database), stand_in_(stand_in), source_(source) {}

  // --- registrations by N_Port_ID
  // FC-GS has one address per port; a FC-VI port that has several registers each: they add up, zeros remove all.
  Reply operator()(const ct::RippId& r) {
    return registration(r.port_id, [&] {
      return added(database_.add_address(source_, r.ip_address.normalized()), r.ip_address.normalized());
    });
  }
  Reply operator()(const ct::RnnId& r) {
    return registration(r.port_id, [&] { return database_.set_node_name(source_, r.node_name), accept(); });
  }
  // The fabric login gave the Port_Name; another one would hide the port from those who know it.
  Reply operator()(const ct::RpnId& r) {
    return registration(r.port_id, [&] {
      return r.port_name == database_.find(source_)->port_name ? accept() : missing(Explanation::access_denied);
    });
  }
  Reply operator()(const ct::RspnId& r) {
    return registration(r.port_id, [&] { return database_.change(source_).symbolic_name = r.symbolic_name, accept(); });
  }
  Reply operator()(const ct::RftId& r) {
    return registration(r.port_id, [&] { return database_.change(source_).types = r.types, accept(); });
  }
  Reply operator()(const ct::RffId& r) {
    return registration(r.port_id, [&] { return database_.change(source_).features[r.type] = r.features, accept(); });
  }
  Reply operator()(const ct::DaId& r) {
    return registration(r.port_id, [&] { return database_.remove(source_), accept(); });
  }

  // --- registrations by Node_Name
  Reply operator()(const ct::RipNn& r) {
    return node_registration(r.node_name, [&] {
      return added(database_.add_node_address(r.node_name, r.ip_address.normalized()), r.ip_address.normalized());
    });
  }
  Reply operator()(const ct::RsnnNn& r) {
    return node_registration(r.node_name, [&] {
      return database_.change_node(r.node_name).symbolic_name = r.symbolic_name, accept();
    });
  }

  // --- queries
  Reply operator()(const ct::GidIpp& r) {
    const wire::IpAddress address = r.ip_address.normalized();
    auto ids = database_.ports_with(address);
    const auto stand_in = ids.empty() && stand_in_ != nullptr ? stand_in_->port_for(address) : std::nullopt;
    if (stand_in) ids.push_back(*stand_in);
    return id_list(std::move(ids), Explanation::ip_address_port_not_registered);
  }
  Reply operator()(const ct::GidFt& r) {
    return id_list(in_scope(r.domain_scope, r.area_scope, r.type), Explanation::fc4_types_not_registered);
  }
  Reply operator()(const ct::GidPn& r) {
    const wire::FcId* id = database_.find_port_name(r.port_name);
    if (id == nullptr) return missing(Explanation::port_name_not_registered);
    ct::PortIdAccept answer;
    answer.port_id = *id;
    return reply(answer);
  }
  Reply operator()(const ct::GidNn& r) {
    const auto* node = database_.find_node(r.node_name);
    if (node == nullptr) return missing(Explanation::node_name_not_registered);
    return id_list({node->ports.begin(), node->ports.end()}, Explanation::node_name_not_registered);
  }
  Reply operator()(const ct::GpnId& r) {
    const auto* port = database_.find(r.port_id);
    return port == nullptr ? missing(Explanation::n_port_id_not_registered) : name(port->port_name);
  }
  Reply operator()(const ct::GnnId& r) {
    const auto* port = database_.find(r.port_id);
    return port == nullptr ? missing(Explanation::n_port_id_not_registered) : name(port->node_name);
  }
  Reply operator()(const ct::GippId& r) {
    const auto* port = database_.find(r.port_id);
    if (port == nullptr) return missing(Explanation::n_port_id_not_registered);
    if (port->addresses.empty()) return missing(Explanation::ip_address_port_not_registered);
    ct::IpAddressListAccept answer;
    answer.ip_addresses = port->addresses;
    return reply(answer);
  }
  Reply operator()(const ct::GspnId& r) {
    const auto* port = database_.find(r.port_id);
    if (port == nullptr) return missing(Explanation::n_port_id_not_registered);
    return symbolic_name(port->symbolic_name, Explanation::symbolic_port_name_not_registered);
  }
  Reply operator()(const ct::GsnnNn& r) {
    const auto* node = database_.find_node(r.node_name);
    if (node == nullptr) return missing(Explanation::node_name_not_registered);
    return symbolic_name(node->symbolic_name, Explanation::symbolic_node_name_not_registered);
  }
  Reply operator()(const ct::GpnFt& r) {
    ct::GpnFtAccept list;
    for (const wire::FcId id : in_scope(r.domain_scope, r.area_scope, r.type))
      list.entries.push_back({.control = 0, .port_id = id, .port_name = database_.find(id)->port_name});
    return list.entries.empty() ? missing(Explanation::fc4_types_not_registered) : reply(list);
  }

 private:
  Reply added(bool done, const wire::IpAddress& address) {
    if (done && stand_in_ != nullptr && !address.is_unspecified()) stand_in_->address_registered(address);
    return done ? accept() : full();
  }
  template <class Action>
  Reply registration(wire::FcId id, Action action) {
    if (id != source_) return missing(Explanation::access_denied);
    if (database_.find(id) == nullptr) return missing(Explanation::n_port_id_not_registered);
    return action();
  }
  template <class Action>
  Reply node_registration(wire::Wwn node_name, Action action) {
    const auto* node = database_.find_node(node_name);
    if (node == nullptr) return missing(Explanation::node_name_not_registered);
    return node->ports.contains(source_) ? action() : missing(Explanation::access_denied);
  }
  // Scope 0: everywhere; a domain, or an area of it (FC-GS).
  [[nodiscard]] std::vector<wire::FcId> in_scope(std::uint8_t domain, std::uint8_t area, wire::Type type) const {
    auto ids = database_.ports_with(type);
    std::erase_if(ids, [&](wire::FcId id) {
      return (domain != 0 && id.domain() != domain) || (domain != 0 && area != 0 && id.area() != area);
    });
    return ids;
  }

  NameDatabase& database_;
  AddressStandIn* stand_in_;
  const wire::FcId source_;
};

template <class Request>
Reply carry_out(Clerk& clerk, Bytes iu) {
  const auto request = Request::parse(iu);
  return request ? clerk(*request) : reject(Reason::invalid_size);
}

// Every request that wire/ct has a message for.
Reply dispatch(Clerk& clerk, ct::Command command, Bytes iu) {
  const bool known = ct::to_string(command) != "unknown";
  Reply answer = reject(known ? Reason::not_supported : Reason::invalid_command);
  wire::for_each_message<wire::CtRequests>([&]<class Request>(std::type_identity<Request>) {
    if (Request::command == command) answer = carry_out<Request>(clerk, iu);
  });
  return answer;
}

// The requester takes this many words at most, 0: any number; the rest is told as residual (FC-GS 4.3).
void limit(Reply& answer, std::uint16_t max_words) {
  const std::size_t words = (answer.size() - ct::CtHeader::size() + 3) / 4;
  if (max_words == 0 || words <= max_words) return;
  const std::size_t residual = std::min<std::size_t>(words - max_words, 0xFFFF);
  answer.resize(ct::CtHeader::size() + std::size_t{4} * max_words);
  wire::store_big<2>(std::span(answer), 10, static_cast<std::uint16_t>(residual));
}
}  // namespace

NameServer::NameServer(NPort& port) : port_(port) { port_.set_user(wire::Type::ct, *this); }

std::vector<std::uint8_t> NameServer::answer(wire::FcId source, Bytes iu) {
  const auto preamble = ct::CtHeader::parse(iu);
  if (!preamble) return reject(Reason::invalid_size);
  if (preamble->revision == 0) return reject(Reason::invalid_version);
  if (!preamble->is_name_server()) return reject(Reason::server_not_available);
  if (!is_logged_in(source)) return missing(Explanation::access_denied);
  Clerk clerk(*database_, stand_in_, source);
  Reply answer = dispatch(clerk, preamble->command, iu);
  limit(answer, preamble->max_residual_size);
  return answer;
}

bool NameServer::is_logged_in(wire::FcId source) {
  const RemotePort* remote = port_.find_remote_port(source);
  return remote != nullptr && remote->logged_in();
}

void NameServer::sequence_received(Exchange& exchange, const wire::FcHeader& first, Bytes iu) {
  if (first.r_ctl != wire::RCtl::unsolicited_control || !exchange.has_initiative()) {
    port_.counters().discard(Discard::UnexpectedIu);
    return port_.release(exchange);
  }
  port_.send(exchange, wire::RCtl::solicited_control, {}, answer(exchange.peer(), iu),
             {.last_of_exchange = true, .transfer_initiative = true});
}

}  // namespace fc2
