#include "fc2_fabric/switch/switch.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "fc2_fabric/node/class_2.hpp"
#include "fc2_fabric/switch/f_port.hpp"
#include "fc2_fabric/switch/fabric_controller.hpp"
#include "fc2_fabric/switch/fabric_directory.hpp"
#include "fc2_fabric/switch/fabric_service.hpp"
#include "fc2_fabric/switch/inter_switch_link.hpp"
#include "fc2_fabric/switch/name_server.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "fc2_fabric/node/shared_link.hpp"
#include "wire/bytes.hpp"
#include "wire/els/ls_rjt.hpp"
#include "fc2_fabric/frame/frame_header.hpp"

namespace fc2 {
namespace {
namespace well_known = wire::well_known;

// The two addresses where they stand in the frame: all that routing reads.

// As an N_Port may send it, in a class that there is.
bool is_delimited(const Frame& frame) {
  return wire::class_of_service(frame.sof) != 0 && (frame.eof == wire::Eof::n || frame.eof == wire::Eof::t);
}

// Addresses of a domain: area 0 stays free.
constexpr std::size_t areas = 255, address_numbers = areas * 256;

NPortConfig service_config(const SwitchConfig& config, const char* name, wire::FcId id) {
  NPortConfig service;
  service.name = config.name + " " + name;
  service.rows = config.rows;
  service.port_name = {config.switch_name.value + (id.value & 0xFF)};
  service.node_name = config.switch_name;
  service.fixed_id = id;
  service.e_d_tov = config.e_d_tov;
  service.r_a_tov = config.r_a_tov;
  service.max_exchanges = 0xFFFE;                         // every port may have one open
  service.max_assembled_iu_bytes = max_data_field_bytes;  // requests are short
  service.max_waiting_frames = 4 * service.max_exchanges;
  return service;
}

// An ELS request in class 3, whole in one frame: its sender waits for an answer.
bool asks_for_service(const wire::FcHeader& header, const Frame& frame) {
  constexpr std::uint32_t whole_request =
      wire::f_ctl::first_sequence | wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative;
  return header.r_ctl == wire::RCtl::els_request && header.has(whole_request) && frame.sof == wire::Sof::i3 &&
         wire::is_of_fabric(header.d_id) && header.d_id != well_known::broadcast;
}

// As the service would say that was asked.
FramePtr rejection_of(const wire::FcHeader& request, FramePool& pool) {
  wire::FcHeader header = request;
  header.r_ctl = wire::RCtl::els_reply;
  std::swap(header.d_id, header.s_id);
  header.f_ctl = wire::f_ctl::single_frame_reply;
  const wire::els::LsRjt payload{.reason = wire::els::RejectReason::not_supported,
                                 .explanation = wire::els::RejectExplanation::request_not_supported};
  FramePtr frame = pool.take();
  header.write(frame->bytes);
  payload.write(frame->data_field());
  frame->size_bytes = static_cast<std::uint16_t>(frame_header_bytes + wire::els::LsRjt::size());
  frame->sof = wire::Sof::i3;
  frame->eof = wire::Eof::t;
  return frame;
}
}  // namespace

// --- services ----------------------------------------------------------------------------------------------------

FabricService::FabricService(Switch& fabric, const char* name, wire::FcId id)
    : switch_(fabric), port_(fabric.scheduler_, fabric.pool_, service_config(fabric.config_, name, id)),
      output_(fabric.scheduler_, LinkConfig{}, *this) {
  port_.link_up(output_);
}

void FabricService::receive(FramePtr frame) { switch_.frame_from_service(std::move(frame)); }

void FabricService::restart() {
  port_.link_down();
  output_.clear();
  port_.link_up(output_);
}

void FabricService::port_logged_out(wire::FcId id) {
  if (RemotePort* remote = port_.find_remote_port(id)) remote->implicit_logout();
}

// --- a switch by itself, or one of a Fabric ----------------------------------------------------------------------

Switch::Switch(Scheduler& scheduler, FramePool& pool, SwitchConfig config, Multipath multipath, const PathAges* ages)
    : SwitchServices(scheduler, pool, std::move(config)), routes_(multipath), ages_(ages),
      name_service_(std::make_unique<FabricService>(*this, "Name Server", well_known::name_server)),
      controller_service_(std::make_unique<FabricService>(*this, "Fabric Controller", well_known::fabric_controller)),
      name_server_(std::make_unique<NameServer>(name_service_->port())),
      fabric_controller_(std::make_unique<FabricController>(controller_service_->port(), config_.state_change_delay)) {
  assert(config_.domain >= 1 && config_.domain <= max_domain && config_.max_ports <= address_numbers);
}

Switch::Switch(Scheduler& scheduler, FramePool& pool, SwitchConfig config)
    : Switch(scheduler, pool, std::move(config), Multipath::PortPair, nullptr) {
  own_directory_ = std::make_unique<FabricDirectory>(scheduler_, config_.state_change_delay);
  set_directory(*own_directory_);
  go_online(config_.domain, config_.fabric_name);
}

Switch::~Switch() { go_offline(); }

void Switch::set_directory(FabricDirectory& directory) {
  directory_ = &directory;
  directory.add_controller(*fabric_controller_);
  fabric_controller_->set_directory(own_directory());
  name_server_->set_database(directory.names());
}

void Switch::keep_own_directory(DirectoryListener& listener) {
  own_directory_ = std::make_unique<FabricDirectory>(scheduler_, config_.state_change_delay);
  own_directory_->set_listener(listener);
  name_server_->set_registry(*own_directory_);
}

void Switch::go_online(std::uint8_t domain, wire::Wwn fabric_name) {
  fabric_name_ = fabric_name;
  if (std::exchange(domain_, domain) != 0) return;  // it was
  for (const auto& port : f_ports_)
    if (port->connected()) port->switch_online();
}

void Switch::go_offline() {
  if (!online()) return;
  for (const auto& port : f_ports_) port->switch_offline();
  name_service_->restart();
  controller_service_->restart();
  fabric_controller_->forget_all();
  routes_.clear();
  domain_ = 0;
}

bool Switch::is_consistent() const {
  return name_service_->is_consistent() && controller_service_->is_consistent() &&
         std::all_of(f_ports_.begin(), f_ports_.end(),
                     [](const auto& port) { return port->is_consistent_throughout(); });
}

NPort& Switch::service_port(wire::FcId id) {
  assert(id == well_known::name_server || id == well_known::fabric_controller);
  return id == well_known::name_server ? name_service_->port() : controller_service_->port();
}

// --- addresses ---------------------------------------------------------------------------------------------------

// Area by area, so that a small fabric's addresses read 010100h, 010200h, ...; then port by port.
wire::FcId Switch::id_of(AddressNumber number) const {
  const std::size_t area = number % areas + 1, port = number / areas;
  return {static_cast<std::uint32_t>(std::size_t{domain_} << 16 | area << 8 | port)};
}

wire::FcId Switch::address_of(const FPort& port) const { return id_of(f_port_addresses_[port.number()]); }

namespace {
std::size_t address_number(wire::FcId id) { return id.port() * areas + id.area() - 1; }
}  // namespace

FPort* Switch::find(wire::FcId id) const {
  if (id.domain() != domain_ || id.area() == 0) return nullptr;
  const AddressNumber number = address_number(id);
  return number < logged_in_.size() ? logged_in_[number] : nullptr;
}

void Switch::take_address_number(AddressNumber number) {
  if (number >= taken_.size()) taken_.resize(number + 1);
  taken_[number] = true;
}

wire::FcId Switch::take_address(const FPort& port) {
  for (AddressNumber number = f_port_addresses_[port.number()] % areas; number < address_numbers; number += areas) {
    if (number < taken_.size() && taken_[number]) continue;
    take_address_number(number);
    return id_of(number);
  }
  return {};
}

void Switch::give_back_address(wire::FcId id) { taken_[address_number(id)] = false; }

FPort* Switch::take_f_port(std::deque<std::size_t>& from, std::deque<std::size_t>::iterator at) {
  FPort* port = f_ports_[*at].get();
  from.erase(at);
  return port;
}

FPort* Switch::take_f_port(std::size_t number) {
  for (std::deque<std::size_t>* from : {&set_aside_, &free_f_ports_})
    if (const auto found = std::find(from->begin(), from->end(), number); found != from->end())
      return take_f_port(*from, found);
  return nullptr;
}

FPort* Switch::take_f_port() {
  if (!free_f_ports_.empty()) return take_f_port(free_f_ports_, free_f_ports_.begin());
  if (FPort* made = make_f_port()) return made;
  return set_aside_.empty() ? nullptr : take_f_port(set_aside_, set_aside_.begin());
}

FPort* Switch::make_f_port() {
  AddressNumber& number = next_f_port_address_;
  while (number < taken_.size() && taken_[number]) ++number;
  if (f_ports_.size() == config_.max_ports || number == address_numbers) return nullptr;
  take_address_number(number);
  f_port_addresses_.push_back(number);
  return f_ports_.emplace_back(std::make_unique<FPort>(static_cast<SwitchServices&>(*this), f_ports_.size())).get();
}

bool Switch::take_area(const FPort& port) {
  const AddressNumber own = f_port_addresses_[port.number()];
  if (own >= areas) return false;
  for (AddressNumber number = own + areas; number < taken_.size(); number += areas)
    if (taken_[number]) return false;
  // Downwards: the table grows once.
  for (auto number = own + address_numbers - areas; number > own; number -= areas) take_address_number(number);
  return true;
}

void Switch::give_back_area(const FPort& port) {
  for (AddressNumber number = f_port_addresses_[port.number()] + areas; number < address_numbers; number += areas)
    taken_[number] = false;
}

// --- links -------------------------------------------------------------------------------------------------------

bool Switch::attach(NPort& port, LinkConfig link) { return attach(port, port, link); }
bool Switch::attach(SharedLink& ports, LinkConfig link) { return attach(ports.base(), ports, link); }

template <class Ports>
bool Switch::attach(NPort& base, Ports& ports, const LinkConfig& link) {
  assert(!is_attached(base));
  FPort* f_port = take_f_port();
  if (f_port == nullptr) return false;
  links_[&base] = f_port;
  f_port->connect(ports, link);
  return true;
}

void Switch::detach(NPort& port) {
  const auto found = links_.find(&port);
  if (found == links_.end()) return;
  FPort* f_port = found->second;
  links_.erase(found);
  unplug(*f_port);
}

bool Switch::replug(NPort& port) {
  assert(is_attached(port));
  FPort* other = take_f_port();
  if (other == nullptr) return false;
  FPort* former = std::exchange(links_[&port], other);
  former->move_to(*other);
  free_f_ports_.push_back(former->number());
  return true;
}

FPort* Switch::attach(FrameOutput& output, FrameFeeder& feeder) {
  FPort* f_port = take_f_port();
  if (f_port != nullptr) f_port->connect(output, &feeder);
  return f_port;
}

FPort* Switch::attach(FrameOutput& output, std::optional<std::size_t> former) {
  FPort* f_port = former ? take_f_port(*former) : nullptr;
  if (f_port == nullptr) f_port = take_f_port();
  if (f_port != nullptr) f_port->connect(output, nullptr);
  return f_port;
}

void Switch::set_aside(std::size_t number) {
  while (f_ports_.size() <= number) {
    const FPort* made = make_f_port();
    if (made == nullptr) return;
    free_f_ports_.push_back(made->number());
  }
  const auto free = std::find(free_f_ports_.begin(), free_f_ports_.end(), number);
  if (free == free_f_ports_.end()) return;
  free_f_ports_.erase(free);
  set_aside_.push_back(number);
}

void Switch::release_set_aside() {
  free_f_ports_.insert(free_f_ports_.end(), set_aside_.begin(), set_aside_.end());
  set_aside_.clear();
}

FPort* Switch::attach(Loop& loop) { return attach(loop, LoopPlace{}); }

FPort* Switch::attach(Loop& loop, const LoopPlace& place) {
  FPort* f_port = take_f_port();
  if (f_port == nullptr) return nullptr;
  if (!take_area(*f_port)) {
    free_f_ports_.push_back(f_port->number());
    return nullptr;
  }
  f_port->connect(loop, place);
  return f_port;
}

void Switch::detach(FPort& port) {
  assert(port.connected());
  unplug(port);
}

void Switch::unplug(FPort& port) {
  if (port.on_loop()) give_back_area(port);
  port.disconnect();
  free_f_ports_.push_back(port.number());
}

void Switch::tap(NPort& port, FrameTap* tap) {
  const auto found = links_.find(&port);
  assert(found != links_.end());
  found->second->tap(tap);
}

void Switch::set_faults(NPort& port, FrameFault* sent, FrameFault* received) {
  const auto found = links_.find(&port);
  assert(found != links_.end());
  found->second->set_faults(sent, received);
}

FrameReceiver* Switch::ingress_of(const NPort& port) {
  const auto found = links_.find(&port);
  return found == links_.end() ? nullptr : found->second;
}

Link* Switch::link_of(const NPort& port) {
  const auto found = links_.find(&port);
  return found == links_.end() ? nullptr : found->second->link();
}

std::size_t Switch::frames_for(const NPort& port) const {
  const auto found = links_.find(&port);
  return found == links_.end() ? 0 : found->second->waiting();
}

// --- logins ------------------------------------------------------------------------------------------------------

std::size_t Switch::logged_in_ports() const { return directory_->logged_in_ports(); }

// Of two ports with one name, the one that was there first stays: a name that moves logs out before.
bool Switch::admits_name(wire::Wwn port_name, wire::FcId id) const {
  const auto found = address_of_name(port_name);
  return port_name.value != 0 && (!found || *found == id);
}

void Switch::port_logged_in(FPort& port, wire::FcId id, const wire::els::Login& login) {
  const AddressNumber number = address_number(id);
  if (number >= logged_in_.size()) logged_in_.resize(number + 1);
  logged_in_[number] = &port;
  own_directory().logged_in(id, login, port.name());
}

void Switch::port_logged_out(wire::FcId id, wire::Wwn port_name) {
  logged_in_[address_number(id)] = nullptr;
  fabric_controller_->forget(id);
  name_service_->port_logged_out(id);
  controller_service_->port_logged_out(id);
  own_directory().logged_out(id, port_name);
}

// --- routing -----------------------------------------------------------------------------------------------------

Discard Switch::admits(const FPort& ingress, const Frame& frame) const {
  if (frame.crc_error) return Discard::BadCrc;
  if (frame.size_bytes < frame_header_bytes) return Discard::Truncated;
  if (!is_delimited(frame)) return Discard::BadHeader;
  const wire::FcId s_id = s_id_of(frame);
  if (ingress.logged_in() && s_id == ingress.address()) return Discard::Count;
  if (ingress.virtual_ports() != 0 && find(s_id) == &ingress) return Discard::Count;
  const bool before_login = ingress.may_log_in(s_id) && d_id_of(frame) == well_known::f_port;
  return before_login ? Discard::Count : Discard::WrongAddress;
}

void Switch::frame_from_port(FPort& ingress, FramePtr frame) {
  ++counters_.frames_received;
  if (const Discard reason = admits(ingress, *frame); reason != Discard::Count) {
    if (reason == Discard::BadCrc) ingress.count_bad_crc();
    return discard(*frame, reason);
  }
  const wire::FcId d_id = d_id_of(*frame);
  if (FPort* egress = find(d_id)) [[likely]] {  // the usual way, as short as can be
    ++frames_forwarded_;
    return egress->send(std::move(frame), &ingress);
  }
  if (d_id == well_known::f_port)
    ingress.receive_control(std::move(frame));
  else
    forward(std::move(frame), &ingress);
}

namespace {
// A Sequence by itself in class 3, as most are.
bool is_delimited_as_usual(const Frame& frame) {
  return (frame.sof == wire::Sof::i3 && frame.eof == wire::Eof::t) || is_delimited(frame);
}

// An address fills its word but for the first octet. Pre: the frame has a header.
wire::FcId address_in_word(const Frame& frame, std::size_t word) {
  constexpr std::uint32_t address = 0xFFFFFF;
  return {wire::load_big<4>(frame.bytes, 4 * word) & address};
}
}  // namespace

// The usual way of frame_from_port().
std::size_t Switch::run_from_port(FPort& ingress, const FrameRun& run) {
  const Frame& first = run.first;
  const bool usual = !first.crc_error && first.size_bytes >= frame_header_bytes && is_delimited_as_usual(first) &&
                     ingress.logged_in() && address_in_word(first, 1) == ingress.address();
  if (!usual && admits(ingress, first) != Discard::Count) return 0;
  FPort* const egress = find(address_in_word(first, 0));
  if (egress == nullptr) return 0;
  const std::size_t taken = egress->send_run(run);
  counters_.frames_received += taken;
  frames_forwarded_ += taken;
  return taken;
}

void Switch::leave_services(wire::FcId id) {
  fabric_controller_->forget(id);
  name_service_->port_logged_out(id);
  controller_service_->port_logged_out(id);
}

// Of its own ports a switch knows more than the common directory.
std::optional<wire::FcId> Switch::address_of_name(wire::Wwn port_name) const {
  const auto own = own_directory().find(port_name), common = directory_->find(port_name);
  const bool is_own = &own_directory() == directory_ || own || (common && common->domain() == domain_);
  return is_own ? own : common;
}

void Switch::frame_from_service(FramePtr frame) { forward(std::move(frame), nullptr); }

bool Switch::deliver(FramePtr& frame, wire::FcId d_id, SwitchPort* ingress) {
  FPort* egress = find(d_id);
  if (egress == nullptr) return false;
  ++frames_forwarded_;
  egress->send(std::move(frame), ingress);
  return true;
}

void Switch::forward(FramePtr frame, SwitchPort* ingress) {
  const wire::FcId d_id = d_id_of(*frame);
  if (deliver(frame, d_id, ingress)) return;
  if (d_id == well_known::name_server) return name_service_->port().receive(std::move(frame));
  if (d_id == well_known::fabric_controller) return controller_service_->port().receive(std::move(frame));
  if (ages_ != nullptr) enter_fabric(*frame);
  if (d_id == well_known::broadcast) return broadcast(std::move(frame), ingress);
  pass_on(std::move(frame), d_id, ingress);
}

void Switch::undeliverable(const Frame& frame) {
  discard(frame, Discard::Unroutable);
  const auto header = wire::FcHeader::parse(frame.content());
  if (header && asks_for_service(*header, frame)) return forward(rejection_of(*header, pool_), nullptr);
  answer_class_2(frame, wire::RCtl::f_rjt);
}

/// In class 2 the fabric reports a data frame that it did not deliver (FC-FS): F_RJT if no port has the address, F_BSY
/// if the port takes no frames; the latter for an ACK too.
void Switch::answer_class_2(const Frame& frame, wire::RCtl r_ctl) {
  const auto header = wire::FcHeader::parse(frame.content());
  if (wire::class_of_service(frame.sof) != 2 || !header) return;
  const bool ack = header->r_ctl == wire::RCtl::ack_1 || header->r_ctl == wire::RCtl::ack_0;
  if (wire::is_link_control(header->r_ctl) && !(ack && r_ctl == wire::RCtl::f_bsy_data)) return;
  const wire::LinkReject reject{.action = wire::RejectAction::non_retryable,
                                .reason = wire::LinkRejectReason::n_port_not_available_permanently};
  const std::uint32_t parameter = r_ctl == wire::RCtl::f_rjt ? reject.to_parameter() : 0;
  if (!ack) return forward(make_link_control(pool_, *header, r_ctl, parameter), nullptr);
  forward(make_link_control(pool_, *header, wire::RCtl::f_bsy_link, header->parameter,
                            header->f_ctl & wire::f_ctl::abort_condition_mask),
          nullptr);
}

// --- between switches --------------------------------------------------------------------------------------------

void Switch::enter_fabric(Frame& frame) const {
  frame.path_age = ages_->now;
  frame.entered = scheduler_.now();
}

void Switch::pass_on(FramePtr frame, wire::FcId d_id, SwitchPort* ingress) {
  EPort* hop = routes_.first_hop(*frame, d_id, s_id_of(*frame));
  if (hop == nullptr) return undeliverable(*frame);
  if (!hop->is_up()) return discard(*frame, Discard::Unroutable);  // the fabric has not noticed yet
  ++frames_forwarded_;
  hop->send(std::move(frame), ingress);
}

Discard Switch::admits(const Frame& frame) const {
  if (frame.crc_error) return Discard::BadCrc;
  if (frame.size_bytes < frame_header_bytes) return Discard::Truncated;
  if (!is_delimited(frame)) return Discard::BadHeader;
  // FC-FS: R_A_TOV is E_D_TOV and twice the longest time that a frame may be in the fabric.
  if (scheduler_.now() - frame.entered > std::max(config_.r_a_tov - config_.e_d_tov, config_.r_a_tov / 5) / 2)
    return Discard::HeldTooLong;
  if (!online()) return Discard::Unroutable;
  const wire::FcId d_id = d_id_of(frame);
  if (d_id == well_known::broadcast) return frame.path_age < ages_->tree ? Discard::PathChanged : Discard::Count;
  // Where order is promised, a frame that took the path of before may not come behind one that took that of now.
  const bool late = config_.in_order && frame.path_age < ages_->of(s_id_of(frame).domain(), d_id.domain());
  return late ? Discard::PathChanged : Discard::Count;
}

void Switch::frame_from_link(EPort& ingress, FramePtr frame) {
  ++counters_.frames_received;
  if (const Discard reason = admits(*frame); reason != Discard::Count) return discard(*frame, reason);
  const wire::FcId d_id = d_id_of(*frame);
  if (deliver(frame, d_id, &ingress)) return;
  if (d_id == well_known::broadcast) return broadcast(std::move(frame), &ingress);
  if (d_id.domain() == domain_) return undeliverable(*frame);
  pass_on(std::move(frame), d_id, &ingress);
}

void Switch::broadcast(FramePtr frame, SwitchPort* ingress) {
  for (const auto& port : f_ports_) {
    // To the others on that link; a loop has taken it to all of its own.
    const bool goes_back = port.get() == ingress && port->virtual_ports() != 0 && !port->on_loop();
    if (!port->has_logins() || port->is_away(port->address()) || (port.get() == ingress && !goes_back)) continue;
    ++frames_forwarded_;
    port->send(pool_.copy(*frame), ingress);
  }
  for (EPort* link : routes_.tree()) {
    if (link == ingress || !link->is_up()) continue;
    ++frames_forwarded_;
    link->send(pool_.copy(*frame), ingress);
  }
}

}  // namespace fc2
