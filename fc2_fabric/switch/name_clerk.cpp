#include "fc2_fabric/switch/name_clerk.hpp"

#include "fc2_fabric/switch/name_server.hpp"
#include "wire/message_bytes.hpp"
#include "wire/messages.hpp"

namespace fc2 {
namespace ct = wire::ct;
using Reason = ct::RejectReason;
using Explanation = ct::RejectExplanation;

std::vector<std::uint8_t> reject(Reason reason, Explanation why) {
  return wire::bytes_of(ct::CtReject::of(reason, why));
}

namespace {
using Bytes = std::span<const std::uint8_t>;
using Reply = std::vector<std::uint8_t>;

Reply accept() { return wire::bytes_of(ct::CtAccept{}); }
// Most rejects: unable to perform, and what is missing.
Reply missing(Explanation what) { return reject(Reason::unable_to_perform, what); }
Reply full() { return reject(Reason::unable_to_perform); }

Reply id_list(std::vector<wire::FcId> ids, Explanation if_empty) {
  if (ids.empty()) return missing(if_empty);
  ct::PortIdListAccept list;
  list.port_ids = std::move(ids);
  return wire::bytes_of(list);
}
Reply name(wire::Wwn world_wide_name) {
  ct::NameAccept answer;
  answer.world_wide_name = world_wide_name;
  return wire::bytes_of(answer);
}
Reply addresses(const std::vector<wire::IpAddress>& list, Explanation if_empty) {
  if (list.empty()) return missing(if_empty);
  ct::IpAddressListAccept answer;
  answer.ip_addresses = list;
  return wire::bytes_of(answer);
}
Reply symbolic_name(const std::string& text, Explanation if_empty) {
  if (text.empty()) return missing(if_empty);
  ct::SymbolicNameAccept answer;
  answer.symbolic_name = text;
  return wire::bytes_of(answer);
}

// What each request does.
class Requests {
 public:
  Requests(NameDatabase& database, AddressStandIn* stand_in, wire::FcId source)
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
  Reply operator()(const ct::RptId& r) {
    return registration(r.port_id, [&] { return database_.change(source_).type = r.port_type, accept(); });
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
    return node_registration(
        r.node_name, [&] { return database_.change_node(r.node_name).symbolic_name = r.symbolic_name, accept(); });
  }

  // --- queries
  Reply operator()(const ct::GidIpp& r) {
    const wire::IpAddress address = r.ip_address.normalized();
    auto ids = database_.ports_with(address);
    const auto stand_in = ids.empty() && stand_in_ != nullptr ? stand_in_->port_for(address) : std::nullopt;
    if (stand_in) ids.push_back(*stand_in);
    return id_list(std::move(ids), Explanation::ip_address_port_not_registered);
  }
  Reply operator()(const ct::GidFt& r) { return id_list(of_type(r), Explanation::fc4_types_not_registered); }
  Reply operator()(const ct::GidPn& r) {
    const wire::FcId* id = database_.find_port_name(r.port_name);
    if (id == nullptr) return missing(Explanation::port_name_not_registered);
    ct::PortIdAccept answer;
    answer.port_id = *id;
    return wire::bytes_of(answer);
  }
  Reply operator()(const ct::GidNn& r) {
    return of_node(r.node_name, [&](const auto& node) {
      return id_list({node.ports.begin(), node.ports.end()}, Explanation::node_name_not_registered);
    });
  }
  Reply operator()(const ct::GpnId& r) {
    return of_port(r.port_id, [&](const auto& port) { return name(port.port_name); });
  }
  Reply operator()(const ct::GnnId& r) {
    return of_port(r.port_id, [&](const auto& port) { return name(port.node_name); });
  }
  Reply operator()(const ct::GippId& r) {
    return of_port(r.port_id, [&](const auto& port) {
      return addresses(port.addresses, Explanation::ip_address_port_not_registered);
    });
  }
  Reply operator()(const ct::GippPn& r) {
    const wire::FcId* id = database_.find_port_name(r.port_name);
    if (id == nullptr) return missing(Explanation::port_name_not_registered);
    return addresses(database_.find(*id)->addresses, Explanation::ip_address_port_not_registered);
  }
  Reply operator()(const ct::GipNn& r) {
    return of_node(r.node_name, [&](const auto& node) {
      return addresses(node.addresses, Explanation::ip_address_node_not_registered);
    });
  }
  Reply operator()(const ct::GipaNn& r) {
    return of_node(r.node_name, [&](const auto&) { return missing(Explanation::ipa_not_registered); });
  }
  Reply operator()(const ct::GnnIp& r) {
    const wire::Wwn* node_name = database_.find_node_with(r.ip_address.normalized());
    return node_name == nullptr ? missing(Explanation::ip_address_node_not_registered) : name(*node_name);
  }
  Reply operator()(const ct::GspnId& r) {
    return of_port(r.port_id, [&](const auto& port) {
      return symbolic_name(port.symbolic_name, Explanation::symbolic_port_name_not_registered);
    });
  }
  Reply operator()(const ct::GsnnNn& r) {
    return of_node(r.node_name, [&](const auto& node) {
      return symbolic_name(node.symbolic_name, Explanation::symbolic_node_name_not_registered);
    });
  }
  Reply operator()(const ct::GftId& r) {
    return of_port(r.port_id, [&](const auto& port) {
      if (port.types == ct::Fc4Types{}) return missing(Explanation::fc4_types_not_registered);
      return wire::bytes_of(ct::Fc4TypesAccept{.types = port.types});
    });
  }
  Reply operator()(const ct::GffId& r) {
    return of_port(r.port_id, [&](const auto& port) {
      if (port.features.empty()) return missing(Explanation::fc4_features_not_registered);
      ct::Fc4FeaturesAccept answer;
      for (const auto& [type, features] : port.features) answer.features.set(type, features);
      return wire::bytes_of(answer);
    });
  }
  Reply operator()(const ct::GcsId& r) {
    return of_port(r.port_id, [&](const auto& port) {
      if (port.classes_of_service == 0) return missing(Explanation::class_of_service_not_registered);
      return wire::bytes_of(ct::ClassesOfServiceAccept{.classes_of_service = port.classes_of_service});
    });
  }
  Reply operator()(const ct::GfpnId& r) {
    return of_port(r.port_id, [&](const auto& port) {
      return port.fabric_port_name.value == 0 ? missing(Explanation::fabric_port_name_not_registered)
                                              : name(port.fabric_port_name);
    });
  }
  Reply operator()(const ct::GptId& r) {
    return of_port(r.port_id, [&](const auto& port) {
      if (port.type == ct::PortType::unidentified) return missing(Explanation::port_type_not_registered);
      return wire::bytes_of(ct::PortTypeAccept{.port_type = port.type});
    });
  }
  Reply operator()(const ct::GidPt& r) {
    const bool any = r.port_type == ct::PortType::nx_port;
    return id_list(in_scope(r,
                            [&](const NameDatabase::Port& port) {
                              return any ? port.type <= ct::PortType::f_nl_port : port.type == r.port_type;
                            }),
                   Explanation::port_type_not_registered);
  }
  Reply operator()(const ct::GidFf& r) {
    return id_list(in_scope(r,
                            [&](const NameDatabase::Port& port) {
                              const auto found = port.features.find(r.type);
                              return found != port.features.end() && (found->second & r.features) != 0;
                            }),
                   Explanation::fc4_features_not_registered);
  }
  Reply operator()(const ct::GpnIpp& r) {
    return names_of(database_.ports_with(r.ip_address.normalized()), Explanation::ip_address_port_not_registered);
  }
  // Whoever lists the fabric this way begins at 0 and ends where the addresses begin again.
  Reply operator()(const ct::GaNxt& r) {
    const auto* next = database_.next_after(r.port_id);
    if (next == nullptr) return missing(Explanation::database_empty);
    const auto& [id, port] = *next;
    const auto& node = *database_.find_node(port.node_name);
    ct::NextPortAccept answer{
        .port_type = port.type, .port_id = id, .port_name = port.port_name, .node_name = port.node_name};
    answer.symbolic_port_name = ct::SymbolicNameField::of(port.symbolic_name);
    answer.symbolic_node_name = ct::SymbolicNameField::of(node.symbolic_name);
    if (!node.addresses.empty()) answer.node_ip_address = node.addresses.front();
    if (!port.addresses.empty()) answer.port_ip_address = port.addresses.front();
    answer.classes_of_service = port.classes_of_service;
    answer.types = port.types;
    answer.fabric_port_name = port.fabric_port_name;
    return wire::bytes_of(answer);
  }
  Reply operator()(const ct::GpnFt& r) { return names_of(of_type(r), Explanation::fc4_types_not_registered); }
  Reply operator()(const ct::GnnFt& r) {
    return names_of(of_type(r), Explanation::fc4_types_not_registered, &NameDatabase::Port::node_name);
  }

 private:
  Reply names_of(const std::vector<wire::FcId>& ids, Explanation if_empty,
                 wire::Wwn NameDatabase::Port::*name = &NameDatabase::Port::port_name) {
    ct::GpnFtAccept list;
    for (const wire::FcId id : ids)
      list.entries.push_back({.port_id = id, .world_wide_name = database_.find(id)->*name});
    return list.entries.empty() ? missing(if_empty) : wire::bytes_of(list);
  }
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
  template <class Request, class Predicate>
  [[nodiscard]] std::vector<wire::FcId> in_scope(const Request& r, Predicate matches) const {
    std::vector<wire::FcId> ids;
    for (const auto& [id, port] : database_.ports()) {
      const bool outside =
          r.domain_scope != 0 && (id.domain() != r.domain_scope || (r.area_scope != 0 && id.area() != r.area_scope));
      if (!outside && matches(port)) ids.push_back(id);
    }
    return ids;
  }
  template <class Request>
  [[nodiscard]] std::vector<wire::FcId> of_type(const Request& r) const {
    return in_scope(r, [&](const NameDatabase::Port& port) { return port.types.has(r.type); });
  }
  /// What `tell` says of a port, or that there is none.
  template <class Tell>
  Reply of_port(wire::FcId id, Tell tell) {
    const auto* port = database_.find(id);
    return port == nullptr ? missing(Explanation::n_port_id_not_registered) : tell(*port);
  }
  template <class Tell>
  Reply of_node(wire::Wwn node_name, Tell tell) {
    const auto* node = database_.find_node(node_name);
    return node == nullptr ? missing(Explanation::node_name_not_registered) : tell(*node);
  }

  NameDatabase& database_;
  AddressStandIn* stand_in_;
  const wire::FcId source_;
};

template <class Request>
Reply carry_out_as(Requests& requests, Bytes iu) {
  const auto request = Request::parse(iu);
  return request ? requests(*request) : reject(Reason::invalid_size);
}
}  // namespace

// What wire/ct has no message for is a command of FC-GS that this server does not know, or none at all.
Reply NameClerk::carry_out(ct::Command command, Bytes iu) {
  const auto code = static_cast<unsigned>(command);
  const bool of_name_server = code >= 0x0100 && code < 0x0400;  // FC-GS: get, register, deregister
  Reply answer = reject(of_name_server ? Reason::not_supported : Reason::invalid_command);
  Requests requests(database_, stand_in_, source_);
  wire::for_each_message<wire::CtRequests>([&]<class Request>(std::type_identity<Request>) {
    if (Request::command == command) answer = carry_out_as<Request>(requests, iu);
  });
  return answer;
}

}  // namespace fc2
