#include "tools/fcvi_sim/capture/lanes.hpp"

#include <algorithm>

#include "tools/fcvi_sim/capture/printer.hpp"
#include "wire/codec.hpp"
#include "wire/ct/ripp_id.hpp"
#include "wire/els/farp.hpp"
#include "wire/els/login.hpp"
#include "wire/header_fields.hpp"

namespace sim::capture {
namespace {

namespace els = wire::els;

bool is_ip(const wire::IpAddress& address) { return !address.is_unspecified(); }

/// FC-BB: the last three bytes of a fabric's or a VN2VN's MAC address are the N_Port_ID.
std::optional<wire::FcId> id_in(const wire::MacAddress& address) {
  const std::uint32_t map = wire::load_big<3>(address.bytes.data());
  if (map != wire::default_fc_map && map != wire::vn2vn_fc_map) return std::nullopt;
  return wire::FcId{wire::load_big<3>(address.bytes.data() + 3)};
}

}  // namespace

void Lanes::learn_names(const Seen& seen) {
  const wire::Bytes data = seen.data_field();
  const wire::FcHeader& header = seen.header;
  if (seen.record->payload && is_ip(seen.record->payload->local_address.host))
    addresses_[header.s_id.value].ip = to_string(seen.record->payload->local_address.host);
  if (header.type == wire::Type::ct) {
    if (const auto name = wire::ct::RippId::parse(data); name && header.r_ctl == wire::RCtl::unsolicited_control)
      addresses_[name->port_id.value].ip = to_string(name->ip_address);
    return;
  }
  if (header.type != wire::Type::els || data.empty()) return;
  const els::Command command = els::command_of(data);
  if (command == els::Command::farp_req) {
    if (const auto farp = els::FarpRequest::parse(data); farp && is_ip(farp->requesting_ip))
      addresses_[header.s_id.value].ip = to_string(farp->requesting_ip);
    return;
  }
  const bool login =
      command == els::Command::flogi || command == els::Command::plogi || command == els::Command::ls_acc;
  if (!login || data.size() != els::Login::size()) return;
  wire::FcId id = header.s_id;
  if (id == wire::well_known::unidentified)
    if (const auto granted = granted_.find(seen.exchange->index); granted != granted_.end()) id = granted->second;
  addresses_[id.value].port_name = to_string(wire::codec::read<els::Login>(data.data()).port_name);
}

/// Whose MAC address is whose: an FCF advertises, a login is granted, a VN2VN port claims.
void Lanes::learn_fip(const Seen& seen) {
  const wire::fip::FipMessage& fip = *seen.frame.fip;
  const wire::EthernetHeader& ethernet = *seen.frame.ethernet;
  if (const auto* port = fip.find<wire::fip::VnPort>()) macs_[ethernet.source] = port->n_port_id;
  if (fip.find<wire::fip::Fabric>() != nullptr) macs_[ethernet.source] = wire::well_known::f_port;
  const auto* encapsulated = fip.find<wire::fip::EncapsulatedFrame>();
  const auto inner = encapsulated == nullptr ? wire::Result<wire::FcHeader>(wire::ParseError{})
                                             : wire::FcHeader::parse(encapsulated->fc_frame);
  if (!inner || inner->s_id != wire::well_known::f_port) return;
  macs_[ethernet.source] = wire::well_known::f_port;
  macs_[ethernet.destination] = inner->d_id;
}

void Lanes::learn(const Seen& seen) {
  if (!seen.packet.comments.empty()) has_comments_ = true;
  if (seen.frame.fip) learn_fip(seen);
  const auto is_segment = [](const TcpPacket::Vi& vi) { return vi.segment.has_value(); };
  if (seen.tcp && std::ranges::any_of(seen.tcp->segments, is_segment)) vitcp_connections_.insert(seen.tcp->connection);
  if (!seen.frame.header) return;
  const wire::FcHeader& header = *seen.frame.header;
  if (seen.packet.direction == Direction::sent && header.s_id != wire::well_known::unidentified)
    addresses_[header.s_id.value].interface = seen.packet.interface;
  if (seen.frame.by_responder() && header.s_id == wire::well_known::f_port && seen.exchange->originator == 0)
    granted_[seen.exchange->index] = header.d_id;
  if (seen.frame.trouble.empty()) learn_names(seen);
}

wire::FcId Lanes::id_of(const wire::MacAddress& address) const {
  if (const auto found = macs_.find(address); found != macs_.end()) return found->second;
  if (address.is_group()) return wire::well_known::broadcast;
  return id_in(address).value_or(wire::well_known::unidentified);
}

std::optional<Lanes::Ends> Lanes::ends_of(const Seen& seen) const {
  if (seen.frame.fip) return Ends{id_of(seen.frame.ethernet->source), id_of(seen.frame.ethernet->destination)};
  if (!seen.frame.header) return std::nullopt;
  Ends ends{seen.frame.header->s_id, seen.frame.header->d_id};
  if (ends.from != wire::well_known::unidentified) return ends;
  if (const auto granted = granted_.find(seen.exchange->index); granted != granted_.end()) ends.from = granted->second;
  return ends;
}

void Lanes::use_id(wire::FcId id, std::uint64_t number) {
  if (wire::is_of_fabric(id)) return;
  Address& address = addresses_[id.value];
  address.first = address.first == 0 ? number : std::min(address.first, number);
  address.last = std::max(address.last, number);
}

// Whose a FLOGI or a MAC address is may become known only later.
void Lanes::use(const Seen& seen) {
  const std::uint64_t number = seen.packet.number;
  if (seen.frame.fip) {
    for (const wire::MacAddress& mac : {seen.frame.ethernet->source, seen.frame.ethernet->destination})
      macs_used_.try_emplace(mac, number, number).first->second.second = number;
    return;
  }
  if (seen.tcp) {
    TcpPacket packet = *seen.tcp;
    packet.segments.clear();
    packets_used_.try_emplace(packet.connection, std::move(packet));
    return;
  }
  const auto ends = ends_of(seen);
  if (!ends) return;
  if (ends->from != wire::well_known::unidentified) use_id(ends->from, number);
  use_id(ends->to, number);
}

std::vector<std::pair<wire::FcId, Lanes::Address>> Lanes::used() const {
  std::vector<std::pair<wire::FcId, Address>> list;
  for (const auto& [id, address] : addresses_)
    if (address.first != 0) list.emplace_back(wire::FcId{id}, address);
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  return list;
}

/// The lane of the interface at which the port sends, where its addresses follow one another; else one of its own.
void Lanes::add_lane(std::vector<Made>& lanes, wire::FcId id, const Address& address,
                     const std::vector<Interface>& interfaces) const {
  const bool named = address.interface && !interfaces[*address.interface].name.empty();
  const std::size_t interface = named ? *address.interface : no_interface;
  const auto same =
      std::find_if(lanes.begin(), lanes.end(), [&](const Made& made) { return made.interface == interface; });
  if (named && same != lanes.end() && same->last < address.first) {
    same->lane.subtitle += "  " + to_string(id);
    same->last = address.last;
    same->ids.push_back(id);
  } else if (named && same == lanes.end()) {
    const std::string subtitle = address.ip + (address.ip.empty() ? "" : "  ") + to_string(id);
    lanes.push_back({{printable(interfaces[interface].name), subtitle}, interface, address.last, {id}});
  } else {
    const std::string& about = address.ip.empty() ? address.port_name : address.ip;
    lanes.push_back({{to_string(id), about}, no_interface, address.last, {id}});
  }
}

std::pair<Lanes::Host, Lanes::Host> Lanes::hosts_of(const TcpPacket& packet) {
  const bool same = packet.from.ip == packet.to.ip;
  const auto port_of = [same](const TcpPacket::End& end, bool listens) {
    return static_cast<std::uint16_t>(same && listens ? end.port : 0);
  };
  return {{packet.from.ip, port_of(packet.from, !packet.by_connector)},
          {packet.to.ip, port_of(packet.to, packet.by_connector)}};
}

std::optional<std::pair<std::size_t, std::size_t>> Lanes::lanes_of(const TcpPacket& packet) const {
  if (!vitcp_connections_.contains(packet.connection)) return std::nullopt;
  const auto [from, to] = hosts_of(packet);
  const auto first = hosts_.find(from), second = hosts_.find(to);
  if (first == hosts_.end() || second == hosts_.end()) return std::nullopt;
  return std::pair{first->second, second->second};
}

/// Behind `first` lanes of ports: a lane for each end of connections of VI over TCP, in their order.
std::vector<Ladder::Lane> Lanes::host_lanes(std::size_t first) {
  std::vector<Ladder::Lane> lanes;
  const auto add = [&](const Host& host, const TcpPacket::End& end, bool listens) {
    const auto [place, is_new] = hosts_.try_emplace(host, first + lanes.size());
    if (is_new) lanes.push_back({to_string(host.first), {}});
    std::string& subtitle = lanes[place->second - first].subtitle;
    if (listens && subtitle.empty()) subtitle = "port " + std::to_string(end.port);
  };
  for (const auto& [connection, packet] : packets_used_) {
    if (!vitcp_connections_.contains(connection)) continue;
    const auto [from, to] = hosts_of(packet);
    add(from, packet.from, !packet.by_connector);
    add(to, packet.to, packet.by_connector);
  }
  return lanes;
}

Ladder Lanes::make(const std::vector<Interface>& interfaces) {
  for (const auto& [mac, frames] : macs_used_)
    for (const std::uint64_t number : {frames.first, frames.second}) use_id(id_of(mac), number);
  std::vector<Made> lanes;
  for (const auto& [id, address] : used()) add_lane(lanes, id, address, interfaces);
  std::stable_sort(lanes.begin(), lanes.end(), [](const Made& a, const Made& b) { return a.interface < b.interface; });
  std::vector<Ladder::Lane> ports;
  for (const Made& made : lanes) ports.push_back(made.lane);
  for (Ladder::Lane& lane : host_lanes(ports.size())) ports.push_back(std::move(lane));
  Ladder ladder(std::move(ports), has_comments_);
  for (std::size_t i = 0; i < lanes.size(); ++i)
    for (const wire::FcId id : lanes[i].ids) ladder.place(id, i);
  return ladder;
}

}  // namespace sim::capture
