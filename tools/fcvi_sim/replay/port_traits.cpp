#include "tools/fcvi_sim/replay/port_traits.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "wire/ct/ripp_id.hpp"
#include "wire/ct/rnn_id.hpp"
#include "wire/ct/rsnn_nn.hpp"
#include "wire/ct/rspn_id.hpp"
#include "wire/describe.hpp"
#include "wire/els/farp.hpp"
#include "wire/els/login.hpp"
#include "wire/fcvi/connect_resp1.hpp"
#include "wire/fcvi/connect_rqst.hpp"

namespace sim::replay {
namespace {
namespace els = wire::els;
using wire::fcvi::Opcode;

class Survey {
 public:
  explicit Survey(PortTraits& traits) : traits_(traits) {
    traits_.resolver.register_state_changes = false;
    traits_.resolver.use_name_server = false;
  }
  void add(const CapturedFrame& frame);
  void finish();

 private:
  void add_els(const CapturedFrame& frame);
  void add_login(const els::Login& login);
  void add_ct(const CapturedFrame& frame);
  void add_connect(const wire::fcvi::ConnectPayload& payload);
  void add_fc_vi(const CapturedFrame& frame);
  void measure_iu(const CapturedFrame& frame);
  void add_address(const wire::IpAddress& address);
  void add_first_address(const wire::IpAddress& address);

  PortTraits& traits_;
  bool has_login_ = false, has_handle_ = false, has_connection_id_ = false;
  /// Bytes of the IU under way, by message: where the next one begins, those before were cut there.
  struct Cut {
    std::uint8_t seq_id = 0;
    std::uint64_t bytes = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint16_t>, Cut> cuts_;
};

void Survey::add_login(const els::Login& login) {
  if (!std::exchange(has_login_, true)) {  // a later one that says otherwise differs from it
    traits_.port.port_name = login.port_name;
    traits_.port.node_name = login.node_name;
    traits_.port.receive_data_field_bytes = login.receive_data_field_size;
  }
  traits_.alternate_bb_credit = login.has(els::feature::alternate_bb_credit);
  if (traits_.bb_credit == 0) traits_.bb_credit = login.bb_credit;
  if (!login.class_2.valid()) return;
  traits_.port.end_to_end_credit = std::max(traits_.port.end_to_end_credit, login.class_2.end_to_end_credit);
  traits_.port.ack_0 = (login.class_2.recipient_control & els::class_control::recipient_ack_0) != 0;
}

void Survey::add_els(const CapturedFrame& frame) {
  if (const auto login = els::Login::parse(frame.message); login) add_login(*login);
  if (const auto farp = els::FarpReply::parse(frame.message)) {
    add_address(farp->responding_ip);
    traits_.port.port_name = farp->responding_port_name;
    traits_.port.node_name = farp->responding_node_name;
  }
  if (const auto farp = els::FarpRequest::parse(frame.message)) add_first_address(farp->requesting_ip);
  const std::string_view name = wire::message_name(frame.message_header, frame.message);
  if (name == "SCR") traits_.resolver.register_state_changes = true;
}

void Survey::add_ct(const CapturedFrame& frame) {
  if (const auto ripp = wire::ct::RippId::parse(frame.message)) add_address(ripp->ip_address);
  if (const auto name = wire::ct::RsnnNn::parse(frame.message))
    traits_.resolver.symbolic_node_name = name->symbolic_name;
  if (const auto name = wire::ct::RspnId::parse(frame.message))
    traits_.resolver.symbolic_port_name = name->symbolic_name;
}

void Survey::add_address(const wire::IpAddress& address) {
  auto& own = traits_.resolver.own_addresses;
  if (std::find(own.begin(), own.end(), address) == own.end()) own.push_back(address);
}

/// The one that a port asks with is its first.
void Survey::add_first_address(const wire::IpAddress& address) {
  auto& own = traits_.resolver.own_addresses;
  if (std::find(own.begin(), own.end(), address) == own.end()) own.insert(own.begin(), address);
}

void Survey::add_connect(const wire::fcvi::ConnectPayload& payload) {
  add_address(payload.local_address.host);
  if (payload.handle == wire::FcviHandle::unassigned || has_handle_) return;
  has_handle_ = true;
  traits_.provider.first_handle = payload.handle.value;
  traits_.provider.pipeline_depth = payload.local_attributes.qos.pipeline_depth;
}

void Survey::add_fc_vi(const CapturedFrame& frame) {
  if (const auto request = wire::fcvi::ConnectRqst::parse(frame.message)) {
    if (!has_connection_id_) traits_.provider.first_connection_id = request->connection_id.value;
    has_connection_id_ = true;
    add_connect(request->payload);
  }
  if (const auto answer = wire::fcvi::ConnectResp1::parse(frame.message)) add_connect(answer->payload);
  measure_iu(frame);
}

void Survey::measure_iu(const CapturedFrame& frame) {
  const std::size_t announced = frame.header.device_header_size(), size = frame.data_field().size();
  if (frame.header.r_ctl != wire::RCtl::solicited_data || size < announced) return;
  Cut& cut = cuts_[{frame.header.d_id.value, frame.header.ox_id.value}];
  if (frame.header.parameter == 0) cut = {frame.header.seq_id.value, 0};
  if (cut.seq_id != frame.header.seq_id.value) {
    if (cut.bytes != 0 && traits_.provider.max_iu_bytes == 0) traits_.provider.max_iu_bytes = cut.bytes;
    cut = {frame.header.seq_id.value, 0};
  }
  cut.bytes += size - announced;
}

void Survey::add(const CapturedFrame& frame) {
  if (frame.header.d_id == wire::well_known::name_server) traits_.resolver.use_name_server = true;
  if (frame.is_fc_vi()) return add_fc_vi(frame);
  if (frame.message.empty()) return;
  if (frame.header.type == wire::Type::els) add_els(frame);
  if (frame.header.type == wire::Type::ct) add_ct(frame);
}

void Survey::finish() {
  if (traits_.resolver.own_addresses.empty()) traits_.resolver.own_addresses.emplace_back();
  auto& provider = traits_.provider;
  provider.address = traits_.resolver.own_addresses.front();
  provider.more_addresses.assign(traits_.resolver.own_addresses.begin() + 1, traits_.resolver.own_addresses.end());
}

/// Such have no domain.
bool is_without_fabric(wire::FcId id) { return id.domain() == 0 && id != wire::well_known::unidentified; }

std::string why_not(const Conversation& conversation, const CapturedFrame* first) {
  const std::string port = conversation.port.to_string();
  if (first == nullptr) return "port " + port + " sent no frame";
  const std::string_view name = wire::message_name(first->message_header, first->message);
  if (name == "FLOGI" || is_without_fabric(first->header.s_id)) return {};
  return "the first frame that port " + port + " sent, " + std::to_string(first->number) + ", is " + std::string(name) +
         ": a replay needs the capture from its fabric login (FLOGI) on";
}

}  // namespace

PortTraits traits_of(const Conversation& conversation) {
  PortTraits traits;
  const auto first = std::find_if(conversation.frames.begin(), conversation.frames.end(),
                                  [](const CapturedFrame& frame) { return frame.sent; });
  traits.error = why_not(conversation, first == conversation.frames.end() ? nullptr : &*first);
  if (!traits.error.empty()) return traits;
  traits.port.name = conversation.port.to_string();
  traits.port.first_ox_id = first->header.ox_id.value;
  traits.port.log_out_silent_ports = true;  // as the library and the simulator do (ruling 282)
  if (is_without_fabric(first->header.s_id)) traits.own_id = first->header.s_id;
  traits.public_loop = traits.own_id && first->header.d_id == wire::well_known::f_port;
  Survey survey(traits);
  for (const CapturedFrame& frame : conversation.frames)
    if (frame.sent) survey.add(frame);
  survey.finish();
  return traits;
}

}  // namespace sim::replay
