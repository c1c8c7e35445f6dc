#include "vipl/devices/fcoe_link.hpp"

#include <algorithm>

#include "fc2_fabric/node/remote_port.hpp"
#include "vipl/devices/nic_status.hpp"

namespace vipl {
namespace {

// Each process and NIC needs one of its own: several share an interface. Locally administered, no group; the lower bits
// of a Port_Name are a hash.
wire::MacAddress mac_of(wire::Wwn port_name) {
  wire::MacAddress mac{{0x02}};
  for (std::size_t i = 1; i < mac.bytes.size(); ++i)
    mac.bytes[i] = static_cast<std::uint8_t>(port_name.value >> 8 * (5 - i));
  return mac;
}

// FIP VLAN discovery: where somebody said that there are FCFs.
std::string other_vlans(const fc2::fcoe::ENode& node) {
  std::string text;
  for (const std::uint16_t vlan : node.vlans())
    text += (text.empty() ? ", neither on VLAN " : ", ") + std::to_string(vlan);
  return text.empty() ? text : text + ", where FCoE is said to be offered";
}

std::string on_vlan(std::uint16_t vlan) { return vlan == 0 ? std::string() : " on VLAN " + std::to_string(vlan); }

}  // namespace

FcoeLink::FcoeLink(const fc2::drivers::CoreAccess& access, const FcoeChoices& choices, wire::Wwn port_name)
    : access_(access), choices_(choices) {
  const auto name = fc2::drivers::EthernetName::parse(choices.interface);
  auto opened = fc2::drivers::open_ethernet(
      access, *name, {choices.mac.value_or(mac_of(port_name)), choices.mtu, choices.ethernet_priority});
  failure_ = std::move(opened.error);
  ethernet_ = std::move(opened.port);
}

void FcoeLink::limit(fc2::NPortConfig& config) const {
  if (ethernet_ != nullptr) config.receive_data_field_bytes = fc2::fcoe::data_field_bytes(ethernet_->interface().mtu);
}

void FcoeLink::attach(fc2::NPort& port) {
  port_ = &port;
  if (choices_.mode == FcoeMode::Vn2vn) {
    fc2::fcoe::Vn2vnConfig config;
    config.seed = port.config().port_name.value;
    config.vlan = choices_.vlan;
    vn2vn_node_ = std::make_unique<fc2::fcoe::Vn2vnNode>(access_.scheduler, access_.pool, *ethernet_, port, config);
  } else {
    fc2::fcoe::ENodeConfig config;
    config.switch_name = choices_.fcf;
    config.vlan = choices_.vlan;
    config.discover_vlans = choices_.vlan == 0;
    e_node_ = std::make_unique<fc2::fcoe::ENode>(access_.scheduler, access_.pool, *ethernet_, port, config);
  }
  tell_status();
}

// Not having it is no reason for a NIC not to work.
void FcoeLink::tell_status() {
  std::string ignored;
  const auto directory = runtime::drivers::RuntimeDirectory::open({}, ignored);
  if (!directory) return;
  status_ = std::make_unique<runtime::drivers::StatusSocket>(access_.io, access_.guard, *directory, "nic", [this] {
    return describe(NicView{*port_, *ethernet_, e_node_.get(), vn2vn_node_.get(), access_.scheduler.now()});
  });
}

std::string FcoeLink::trouble() const {
  const std::string& name = choices_.interface;
  if (!failure_.empty()) return failure_;
  if (!ethernet_->up()) return name + ": no carrier";
  if (port_->online()) return {};
  return e_node_ != nullptr
             ? fabric_trouble(*e_node_)
             : name + ": no N_Port_ID could be claimed (VN2VN, " + std::string(vn2vn_node_->state_name()) + ")";
}

std::string FcoeLink::fabric_trouble(const fc2::fcoe::ENode& node) const {
  const std::string& name = choices_.interface;
  const auto& known = node.known_fcfs();
  if (node.fcf() != nullptr)
    return name + ": FCF " + to_string(node.fcf()->mac) + " of switch " + to_string(node.fcf()->switch_name) +
           " grants no login";
  if (known.empty() && choices_.fcf.value != 0)
    return name + ": FCF " + to_string(choices_.fcf) + " does not show itself" + on_vlan(choices_.vlan);
  if (known.empty())
    return name + ": no FCF shows itself" + on_vlan(choices_.vlan) + " (fcvi-fabricd --fcoe, or a switch)" +
           other_vlans(node);
  if (std::none_of(known.begin(), known.end(), [](const auto& fcf) { return fcf.available; }))
    return name + ": no FCF takes logins";
  return name + ": frames of " + std::to_string(ethernet_->interface().mtu) +
         " bytes from the FCF do not come through; is the MTU the same everywhere?";
}

// The fabric tells the others. Where there is none they would ask a host that has gone until their exchanges time out.
void FcoeLink::say_goodbye() {
  status_.reset();
  if (port_ == nullptr || !port_->online()) return;
  if (e_node_ != nullptr) return port_->log_out_of_fabric();
  for (const wire::FcId id : port_->logged_in_ports()) port_->remote_port(id).log_out();
}

}  // namespace vipl
