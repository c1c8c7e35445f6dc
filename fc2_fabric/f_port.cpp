#include "fc2_fabric/f_port.hpp"

#include <utility>

#include "fc2_fabric/switch.hpp"

namespace fc2 {
using wire::els::RejectExplanation;
using wire::els::RejectReason;

namespace {
// The switch's name as NAA 2, which has 12 bits for the number of a port.
wire::Wwn f_port_name(wire::Wwn switch_name, std::size_t number) {
  constexpr std::uint64_t naa_2 = std::uint64_t{2} << 60, low_48 = (std::uint64_t{1} << 48) - 1;
  const std::uint64_t port = number + 1;
  return {naa_2 | (port & 0xFFF) << 48 | (((switch_name.value & low_48) + (port >> 12 << 24)) & low_48)};
}

NPortConfig controller_config(const SwitchConfig& config, std::size_t number) {
  NPortConfig controller;
  controller.name = config.name + " F_Port " + std::to_string(number);
  controller.port_name = f_port_name(config.switch_name, number);
  controller.node_name = config.fabric_name;
  controller.fixed_id = wire::well_known::f_port;
  controller.e_d_tov = config.e_d_tov;
  controller.r_a_tov = config.r_a_tov;
  controller.max_exchanges = 16;         // one N_Port asks, one thing at a time
  controller.max_remote_ports = 16;
  controller.max_assembled_iu_bytes = max_data_field_bytes;
  return controller;
}
}  // namespace

FPort::FPort(Switch& fabric, std::size_t number, wire::FcId address)
    : switch_(fabric), number_(number), address_(address),
      controller_(fabric.scheduler_, fabric.pool_, controller_config(fabric.config_, number)), controller_output_(*this),
      controller_channel_(fabric.scheduler_, LinkConfig{}, controller_output_) {
  controller_.add_els_user(*this);
}

// --- link --------------------------------------------------------------------------------------------------------

void FPort::link_up(FrameOutput& output) {
  output_ = &output;
  output.set_listener(this);
  frames_from_port_ = frames_to_port_ = 0;
  controller_.link_up(controller_channel_);
}

void FPort::connect(NPort& port, LinkConfig link) {
  link_.emplace(switch_.scheduler_, link, *this, BufferUse::UntilForwarded, port, BufferUse::UntilProcessed);
  n_port_.emplace(port, link_->b);
  link_->join(*this, *n_port_);
}

void FPort::connect(FrameOutput& output, FrameFeeder& feeder) {
  feeder_ = &feeder;
  link_up(output);
}

void FPort::link_down() {
  log_out();
  controller_.link_down();
  controller_channel_.clear();
  output_->set_listener(nullptr);
  output_ = nullptr;
  switch_.scheduler_.cancel(hold_timer_);
  waiting_.clear();
  stalled_ = false;
  release_held();
  if (held_by_ != nullptr) std::erase(std::exchange(held_by_, nullptr)->held_, this);
}

void FPort::disconnect() {
  if (output_ != nullptr) link_down();
  feeder_ = nullptr;
  tap_ = nullptr;
  if (!link_) return;
  link_->a.output().clear();
  link_->b.output().clear();
  n_port_->port().link_down();
  n_port_.reset();
  link_.reset();
}

void FPort::tap(FrameTap* tap) {
  if (!link_) {
    tap_ = tap;
    return;
  }
  link_->b.output().tap_sender(tap);
  link_->a.output().tap_receiver(tap);
}

void FPort::set_faults(FrameFault* from_port, FrameFault* to_port) {
  link_->b.output().set_fault(from_port);
  link_->a.output().set_fault(to_port);
}

void FPort::receive(FramePtr frame) {
  if (output_ == nullptr) return;
  ++frames_from_port_;
  if (tap_ != nullptr) tap_->frame_passed(switch_.scheduler_.now(), *frame, true);
  switch_.frame_from_port(*this, std::move(frame));
}

// --- frames to the port, and what happens when it takes none -----------------------------------------------------

void FPort::send(FramePtr frame, FPort* ingress) {
  if (output_ == nullptr) return;
  if (output_->paused() || !waiting_.empty()) return enqueue(std::move(frame), ingress);
  transmit(std::move(frame));
}

void FPort::transmit(FramePtr frame) {
  ++frames_to_port_;
  if (tap_ != nullptr) tap_->frame_passed(switch_.scheduler_.now(), *frame, false);
  output_->send(std::move(frame));
}

// Fibre Channel does not drop for lack of buffers: who sends here waits. What the switch itself has to say has a limit of
// its own, since nobody can be held back for it.
void FPort::enqueue(FramePtr frame, FPort* ingress) {
  const std::size_t limit = switch_.config_.egress_queue_frames;
  if (stalled_) return drop(*frame);
  if (ingress == nullptr && waiting_.size() >= 2 * limit) return switch_.counters_.discard(Discard::NoResources);
  const TimeNs now = switch_.scheduler_.now();
  if (waiting_.empty()) {
    last_progress_ = now;
    switch_.scheduler_.schedule_after(hold_timer_, switch_.config_.hold_time);
  }
  frame->arrival = now;
  waiting_.push(std::move(frame));
  if (ingress != nullptr && waiting_.size() >= limit) hold_back(*ingress);
}

void FPort::drop(const Frame& frame) {
  switch_.counters_.discard(Discard::HeldTooLong);
  switch_.answer_class_2(frame, wire::RCtl::f_bsy_data);
}

void FPort::hold_back(FPort& ingress) {
  if (ingress.held_by_ != nullptr) return;
  ingress.held_by_ = this;
  held_.push_back(&ingress);
  if (ingress.feeder_ != nullptr) ingress.feeder_->hold();
  else ingress.link_->b.output().pause();
}

// In turn, and only while there is room for more: each gets the same share.
void FPort::release_held() {
  while (!held_.empty() && waiting_.size() <= switch_.config_.egress_queue_frames / 2) {
    FPort& ingress = *held_.front();
    held_.pop_front();
    ingress.held_by_ = nullptr;
    if (ingress.feeder_ != nullptr) ingress.feeder_->proceed();
    else ingress.link_->b.output().resume();
  }
}

void FPort::output_resumed() {
  stalled_ = false;
  last_progress_ = switch_.scheduler_.now();
  while (!waiting_.empty() && !output_->paused()) transmit(waiting_.pop());
  if (waiting_.empty()) switch_.scheduler_.cancel(hold_timer_);
  release_held();
}

// A port that takes nothing at all for so long gets nothing any more until it takes frames again: one that hangs cannot
// stop those who also send to others.
void FPort::hold_time_over() {
  const TimeNs hold_time = switch_.config_.hold_time, now = switch_.scheduler_.now();
  stalled_ = now - last_progress_ >= hold_time;
  while (!waiting_.empty() && (stalled_ || now - waiting_.front()->arrival >= hold_time)) {
    drop(*waiting_.pop());
  }
  if (!waiting_.empty()) switch_.scheduler_.schedule(hold_timer_, waiting_.front()->arrival + hold_time);
  release_held();
}

// --- F_Port Controller -------------------------------------------------------------------------------------------

bool FPort::els_received(Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t> payload) {
  const auto command = static_cast<wire::els::Command>(payload[0]);
  if (command == wire::els::Command::flogi) {
    log_in(exchange, payload);
    return true;
  }
  if (command == wire::els::Command::logo) log_out();
  return false;  // link services answer; FDISC (N_Port_ID virtualization) is refused there
}

void FPort::log_in(Exchange& exchange, std::span<const std::uint8_t> payload) {
  const auto request = wire::els::Login::parse(payload);
  if (!request) {
    controller_.counters().discard(Discard::BadPayload);
    return controller_.reject_els(exchange, RejectReason::logical_error, RejectExplanation::invalid_payload_length);
  }
  if (!request->class_3.valid())
    return controller_.reject_els(exchange, RejectReason::logical_error, RejectExplanation::service_parameter_options);
  if (!switch_.admits_name(*this, request->port_name))
    return controller_.reject_els(exchange, RejectReason::logical_error, RejectExplanation::invalid_port_or_fabric_name);
  log_out();  // a FLOGI ends the login before it (FC-LS)
  login_ = *request;
  logged_in_ = true;
  output_->set_bb_credit(login_.bb_credit);
  exchange.redirect(address_);
  std::array<std::uint8_t, wire::els::Login::size()> accept;
  accept_parameters().write(accept);
  controller_.accept_els(exchange, accept);
  switch_.port_logged_in(*this);
}

void FPort::log_out() {
  if (std::exchange(logged_in_, false)) switch_.port_logged_out(*this);
}

wire::els::Login FPort::accept_parameters() const {
  namespace feature = wire::els::feature;
  const SwitchConfig& config = switch_.config_;
  wire::els::Login accept{.command = wire::els::Command::ls_acc, .bb_credit = output_->own_bb_credit(), .features = feature::f_port};
  accept.receive_data_field_size = config.receive_data_field_bytes;
  accept.set_r_a_tov_ms(static_cast<std::uint32_t>(config.r_a_tov / millisecond));
  const bool whole_ms = config.e_d_tov % millisecond == 0;
  if (!whole_ms) accept.features |= feature::e_d_tov_ns;
  accept.e_d_tov = static_cast<std::uint32_t>(whole_ms ? config.e_d_tov / millisecond : config.e_d_tov);
  accept.port_name = controller_.config().port_name;
  accept.node_name = config.fabric_name;
  accept.class_3.service_options = wire::els::class_option::valid;
  if (config.in_order) accept.class_3.service_options |= wire::els::class_option::sequential_delivery;
  accept.class_3.receive_data_field_size = config.receive_data_field_bytes;
  if (login_.class_2.valid()) accept.class_2 = accept.class_3;
  return accept;
}

}  // namespace fc2
