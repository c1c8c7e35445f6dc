#include "fc2_fabric/fcoe/fcf_link.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/switch/f_port.hpp"
#include "fc2_fabric/fcoe/fcf_interface.hpp"
#include "fc2_fabric/fcoe/fcf_table.hpp"
#include "wire/els/login.hpp"
#include "wire/els/logo.hpp"
#include "wire/els/ls_rjt.hpp"
#include "wire/fc_header.hpp"
#include "wire/header_fields.hpp"

namespace fc2::fcoe {
namespace fip = wire::fip;
namespace ff = machines::fip_forwarder;
using fip::DescriptorType;

namespace {
constexpr std::size_t max_pending = 16;  // requests of one ENode that its F_Port has not answered

std::uint8_t command_of(wire::Bytes fc_frame) { return fc_frame[frame_header_bytes]; }
bool is_accept(wire::Bytes fc_frame) {
  return command_of(fc_frame) == static_cast<std::uint8_t>(wire::els::Command::ls_acc);
}
}  // namespace

FcfLink::FcfLink(Scheduler& scheduler, FramePool& pool, FcfLinkUser& user, const FcfConfig& config,
                 const wire::MacAddress& e_node, std::uint16_t data_field_bytes)
    : scheduler_(scheduler), pool_(pool), user_(user), config_(config), e_node_(e_node),
      data_field_bytes_(data_field_bytes), link_(scheduler, *this, ingress_) {}

FcfLink::~FcfLink() {
  forget_vn_ports();
  if (f_port_ != nullptr) user_.detach_f_port(*f_port_);
}

void FcfLink::Ingress::receive(FramePtr frame) {
  if (link_.f_port_ != nullptr) link_.f_port_->receive(std::move(frame));
}

void FcfLink::unexpected(std::string_view, std::string_view, std::string_view) {
  ++user_.link_counters().unexpected_events;
}

/// It has an F_Port, logins and requests while it is not Idle. An answer of the F_Port waits for its event; one time
/// runs for an answer, one while the ENode is logged in.
bool FcfLink::is_consistent() const {
  const bool attached = idle() ? f_port_ == nullptr && vn_ports_.empty() && pending_.empty() : f_port_ != nullptr;
  const bool answer = settle_.pending() == !outcomes_.empty();
  const bool times = timer_.pending() == machine_.is_any_of<ff::LoginPending, ff::LogoutPending>() &&
                     supervision_.pending() == (config_.keep_alives && machine_.is<ff::LoggedIn>());
  return attached && answer && times && pending_.size() <= max_pending;
}

// --- from the ENode ----------------------------------------------------------------------------------------------

void FcfLink::els_received(const fip::EncapsulatedFrame& request) {
  settle();
  const wire::FcId s_id = wire::s_id_of(request.fc_frame);
  request_ = &request;
  const bool of_first = !vn_ports_.empty() && vn_ports_.front().id == s_id;
  if (request.type == DescriptorType::flogi) {
    if (idle() && f_port_ == nullptr) f_port_ = user_.attach_f_port(*this);
    process(ff::FlogiReceived{});
  } else if (request.type == DescriptorType::logo && of_first) {
    process(ff::LogoReceived{});
  } else {
    process(ff::VirtualRequestReceived{});
  }
  request_ = nullptr;
}

void FcfLink::frame_received(FramePtr frame) {
  heard_from();
  link_.from_wire.send(std::move(frame));
}

void FcfLink::keep_alive_received() {
  heard_from();
  process(ff::KeepAliveReceived{});
}

void FcfLink::vn_port_keep_alive_received(const fip::VnPort& sender) {
  const auto port = std::find_if(vn_ports_.begin(), vn_ports_.end(), [&](const FcfVnPort& known) {
    return known.id == sender.n_port_id && known.port_name == sender.port_name;
  });
  if (port == vn_ports_.end()) return user_.link_counters().discard(FcoeDiscard::UnexpectedFip);
  port->heard = scheduler_.now();
}

void FcfLink::clear(std::string_view why) {
  settle();
  why_cleared_ = why;
  process(ff::ClearRequested{});
}

bool FcfLink::log_out(wire::FcId id) {
  const auto port =
      std::find_if(vn_ports_.begin(), vn_ports_.end(), [&](const FcfVnPort& known) { return known.id == id; });
  if (port == vn_ports_.end()) return false;
  why_cleared_ = "by the fabric";
  if (port == vn_ports_.begin())
    clear();
  else
    end_virtual_login(*port);
  return true;
}

void FcfLink::set_paused(bool paused) {
  if (paused)
    link_.to_wire.pause();
  else
    link_.to_wire.resume();
}

// --- from the F_Port ---------------------------------------------------------------------------------------------

std::deque<FcfLink::Pending>::iterator FcfLink::pending_for(const Frame& frame) {
  const auto header = wire::FcHeader::parse(frame.content());
  const bool reply = header && header->s_id == wire::well_known::f_port && header->r_ctl == wire::RCtl::els_reply;
  if (!reply || frame.size_bytes <= frame_header_bytes) return pending_.end();
  return std::find_if(pending_.begin(), pending_.end(), [&](const Pending& one) { return one.ox_id == header->ox_id; });
}

void FcfLink::receive(FramePtr frame) {
  if (const auto pending = pending_for(*frame); pending != pending_.end()) {
    const Pending request = *pending;
    pending_.erase(pending);
    if (!request.ours) answered(*frame, request);
    return;
  }
  user_.link_sends(*this, std::move(frame));
}

void FcfLink::answered(const Frame& frame, const Pending& request) {
  const auto content = frame.content();
  fip::EncapsulatedFrame reply{request.type, {content.begin(), content.end()}};
  fip::FipMessage message{fip::Operation::link_service, fip::subcode::link_service_reply, fip::flag::fpma, {}, {}};
  const bool logout = request.type == DescriptorType::logo, accepted = is_accept(content);
  const wire::FcId id = logout ? request.s_id : d_id_of(frame);
  const bool of_first =
      logout ? !vn_ports_.empty() && vn_ports_.front().id == id : request.type == DescriptorType::flogi;
  if (accepted && !logout) take_login(request, id, reply);
  tell(request, id, content, accepted);
  if (logout && !of_first) remove_vn_port(id);
  message.descriptors.push_back(std::move(reply));
  if (accepted) message.descriptors.push_back(fip::Mac{wire::mac_of(id, config_.fc_map)});
  user_.link_replies(*this, message);
  if (!of_first) return;
  outcomes_.clear();  // a LOGO that was sent twice may be answered twice in an instant: the later answer counts
  outcomes_.push(logout ? Outcome::LoggedOut : accepted ? Outcome::LoginAccepted : Outcome::LoginRejected);
  scheduler_.schedule(settle_, scheduler_.now());
}

void FcfLink::tell(const Pending& request, wire::FcId id, wire::Bytes answer, bool accepted) {
  using Kind = FcfEvent::Kind;
  const bool logout = request.type == DescriptorType::logo;
  FcfEvent event{.kind = logout ? Kind::LoggedOut : Kind::LoggedIn,
                 .n_port_id = id,
                 .port_name = request.port_name,
                 .why = "LOGO"};
  if (!logout) event.why = request.type == DescriptorType::flogi ? "FLOGI" : "FDISC";
  for (const FcfVnPort& port : vn_ports_)
    if (logout && port.id == id) event.port_name = port.port_name;
  if (accepted) return user_.link_event(*this, event);
  const auto reject = wire::els::LsRjt::parse(answer.subspan(frame_header_bytes));
  event.kind = Kind::Rejected;
  event.n_port_id = {};
  event.why = reject ? to_string(reject->explanation) : "?";
  user_.link_event(*this, event);
}

// What the link carries may be less than what the switch takes.
void FcfLink::take_login(const Pending& request, wire::FcId id, fip::EncapsulatedFrame& reply) {
  add_vn_port(id, request.port_name);
  const wire::MutableBytes payload = wire::MutableBytes(reply.fc_frame).subspan(frame_header_bytes);
  auto login = wire::els::Login::parse(payload);
  if (!login || payload.size() < wire::els::Login::size()) return;
  login->receive_data_field_size = std::min(login->receive_data_field_size, data_field_bytes_);
  login->class_3.receive_data_field_size = std::min(login->class_3.receive_data_field_size, data_field_bytes_);
  login->class_2.receive_data_field_size = std::min(login->class_2.receive_data_field_size, data_field_bytes_);
  login->write(payload);
}

// The machine may detach the F_Port, which must not be inside a call of ours then.
void FcfLink::settle() {
  scheduler_.cancel(settle_);
  outcomes_.drain([this](Outcome outcome) { carry_out(outcome); });
}

void FcfLink::carry_out(Outcome outcome) {
  switch (outcome) {
    case Outcome::LoginAccepted: return process(ff::LoginAccepted{});
    case Outcome::LoginRejected: return process(ff::LoginRejected{});
    case Outcome::LoggedOut: return process(ff::LogoutAnswered{});
  }
}

// --- VN_Ports ----------------------------------------------------------------------------------------------------

void FcfLink::add_vn_port(wire::FcId id, wire::Wwn port_name) {
  remove_vn_port(id);
  vn_ports_.push_back({id, port_name, scheduler_.now()});
  user_.vn_port_added(*this, id);
}

void FcfLink::remove_vn_port(wire::FcId id) {
  if (std::erase_if(vn_ports_, [&](const FcfVnPort& port) { return port.id == id; }) != 0) user_.vn_port_removed(id);
}

// The F_Port hears a LOGO in its name, and RSCNs tell others.
void FcfLink::end_virtual_login(const FcfVnPort& port) {
  const FcfVnPort ended = port;
  user_.link_cleared(*this, &ended);
  wire::FcHeader header;
  header.r_ctl = wire::RCtl::els_request;
  header.type = wire::Type::els;
  header.d_id = wire::well_known::f_port;
  header.s_id = ended.id;
  header.f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative;
  header.ox_id = {static_cast<std::uint16_t>(0xFF00 | ended.id.port())};
  header.rx_id = wire::RxId::unassigned;
  FramePtr frame = pool_.take();
  header.write(frame->bytes);
  wire::els::Logo{.n_port_id = ended.id, .port_name = ended.port_name}.write(frame->data_field());
  frame->size_bytes = static_cast<std::uint16_t>(frame_header_bytes + wire::els::Logo::size());
  pass(std::move(frame), {DescriptorType::logo, header.ox_id, ended.id, ended.port_name, true});
  remove_vn_port(ended.id);
}

// --- machines::fip_forwarder -------------------------------------------------------------------------------------

void FcfLink::pass(FramePtr frame, Pending request) {
  if (pending_.size() == max_pending) pending_.pop_front();
  pending_.push_back(request);
  frame->sof = wire::Sof::i3;
  frame->eof = wire::Eof::t;
  link_.from_wire.send(std::move(frame));
}

void FcfLink::pass_request() {
  const wire::Bytes bytes(request_->fc_frame);
  const auto header = wire::FcHeader::parse(bytes);
  const auto login = wire::els::Login::parse(bytes.subspan(frame_header_bytes));
  if (request_->type == DescriptorType::flogi) pending_.clear();  // whatever came before it
  FramePtr frame = pool_.take();
  frame->size_bytes = static_cast<std::uint16_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), frame->bytes.begin());
  pass(std::move(frame), {request_->type, header->ox_id, header->s_id, login ? login->port_name : wire::Wwn{}});
}

void FcfLink::reject_request() { user_.link_rejects(*this, *request_); }
void FcfLink::start_login_timer() { scheduler_.schedule_after(timer_, config_.login_time); }

void FcfLink::time_out() {
  if (!outcomes_.empty()) return settle();  // the answer came in this instant
  process(ff::Timeout{});
}

void FcfLink::start_supervision() {
  heard_ = scheduler_.now();
  if (config_.keep_alives) watch();
}

void FcfLink::watch() {
  TimeNs next = heard_ + FcfTable::patience(config_.period);
  for (const FcfVnPort& port : vn_ports_)
    next = std::min(next, port.heard + FcfTable::patience(config_.vn_port_period));
  scheduler_.schedule(supervision_, next);
}

void FcfLink::supervise() {
  const TimeNs now = scheduler_.now(), patience = FcfTable::patience(config_.vn_port_period);
  const auto silent = [&](const FcfVnPort& port) { return now - port.heard >= patience; };
  const bool first_silent = vn_ports_.empty() || silent(vn_ports_.front());
  why_cleared_ = "silent for 2.5 keep-alive periods";
  if (first_silent || now - heard_ >= FcfTable::patience(config_.period)) return process(ff::SilenceDetected{});
  for (std::size_t i = vn_ports_.size() - 1; i > 0; --i)
    if (silent(vn_ports_[i])) end_virtual_login(vn_ports_[i]);
  watch();
}

void FcfLink::send_clear_virtual_links() { user_.link_cleared(*this, nullptr); }

void FcfLink::report_departure() {
  user_.link_event(*this, {.kind = FcfEvent::Kind::LoggedOut, .why = "no keep-alives, looks for an FCF anew"});
}

void FcfLink::forget_vn_ports() {
  for (const FcfVnPort& port : vn_ports_) user_.vn_port_removed(port.id);
  vn_ports_.clear();
}

void FcfLink::detach_f_port() {
  pending_.clear();
  if (f_port_ != nullptr) user_.detach_f_port(*std::exchange(f_port_, nullptr));
  link_.clear();
  link_.to_wire.resume();
  user_.link_idle();
}

}  // namespace fc2::fcoe
