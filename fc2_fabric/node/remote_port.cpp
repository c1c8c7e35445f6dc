#include "fc2_fabric/node/remote_port.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "fc2_fabric/frame/frame_header.hpp"

namespace fc2 {
bool RemotePort::supports(const Fc4& fc4) const { return logged_in() && peer_parameters_.has(fc4.login_features()); }

std::size_t RemotePort::send_data_field_bytes() const {
  const std::size_t own = port_.config().receive_data_field_bytes;
  if (!logged_in()) return own;
  const std::size_t peers =
      peer_parameters_.class_3.receive_data_field_size;  // a login without class 3 is not accepted
  assert(min_data_field_bytes <= own && own <= max_data_field_bytes && peers >= min_data_field_bytes);
  return std::min(own, peers & ~std::size_t{3});
}

bool RemotePort::supports_class_2() const {
  return logged_in() && port_.has_class_2() && peer_parameters_.class_2.valid() &&
         peer_parameters_.class_2.end_to_end_credit != 0;
}

bool RemotePort::uses_ack_0() const {
  return port_.config().ack_0 &&
         (peer_parameters_.class_2.recipient_control & wire::els::class_control::recipient_ack_0) != 0;
}

void RemotePort::give_back_credit(std::uint32_t count) {
  credit_in_use_ -= count;
  send_waiting();
  if (has_credit()) port_.transmitter().resume();
}

void RemotePort::send_waiting() {
  while (!waiting_.empty()) {
    const bool counts = peer_parameters_.class_2.end_to_end_credit != 0;  // who grants none counts none
    if (counts && !has_credit()) return;
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    if (suspended_ && !next.is_link_service()) {
      held_.push_back(std::move(next));
      continue;
    }
    if (counts) take_credit();
    next.exchange->frame_sent(counts);
    port_.transmitter().send(std::move(next.frame));
  }
}

void RemotePort::send_on_credit(FramePtr frame, CreditUser& exchange) {
  const bool counts = logged_in() && !uses_ack_0();
  if (!counts) {
    exchange.frame_sent(false);
    return port_.transmitter().send(std::move(frame));
  }
  waiting_.push_back({std::move(frame), &exchange});
  send_waiting();
}

void RemotePort::forget_waiting(const CreditUser& exchange) {
  for (std::deque<Waiting>* queue : {&waiting_, &held_})
    std::erase_if(*queue, [&](const Waiting& waiting) { return waiting.exchange == &exchange; });
}

bool RemotePort::Waiting::is_link_service() const { return type_of(*frame) == wire::Type::els; }

bool RemotePort::in_use() const {
  namespace pl = machines::port_login;
  assert(waiting_.empty() || users_ != 0);  // their exchanges count on it
  if (!machine_.is_any_of<pl::Offline, pl::LoggedOut, pl::LoggedIn>()) return true;
  if (users_ != 0 || exchanges_opened != 0 || open_sequences_ != 0) return true;
  return wire::is_of_fabric(peer_) || peer_ == port_.n_port_id();
}

/// A frame that waits belongs to an exchange, which counts on the port.
bool RemotePort::is_consistent() const {
  return LoginSession::is_consistent() && open_sequences_ == seq_ids_.count() &&
         open_sequences_ <= max_open_sequences && (waiting_.empty() || users_ != 0);
}

bool RemotePort::may_be_denied() {
  const TimeNs now = port_.scheduler().now();
  if (now < next_denial_) return false;
  next_denial_ = now + port_.e_d_tov();
  return true;
}

wire::SeqId RemotePort::next_free() {
  while (seq_ids_.test(next_seq_id_)) ++next_seq_id_;
  return {next_seq_id_++};
}

std::optional<wire::SeqId> RemotePort::take_seq_id() {
  if (!has_free_seq_id()) return std::nullopt;
  const wire::SeqId id = next_free();
  seq_ids_.set(id.value);
  ++open_sequences_;
  return id;
}

void RemotePort::give_back_seq_id(wire::SeqId id) {
  seq_ids_.reset(id.value);
  --open_sequences_;
  port_.transmitter().resume();
}

wire::SeqId RemotePort::control_seq_id() { return next_free(); }

wire::els::Login RemotePort::own_parameters(wire::els::Command command) const {
  return services_.owner.login_parameters(command);
}

void RemotePort::release_held() {
  while (!held_.empty()) {
    Waiting next = std::move(held_.front());
    held_.pop_front();
    if (next.exchange != nullptr)
      send_on_credit(std::move(next.frame), *next.exchange);
    else
      port_.transmitter().send(std::move(next.frame));
  }
}

void RemotePort::resumed_now() {
  suspended_ = false;
  release_held();
  port_.transmitter().resume();
}

void RemotePort::logged_in_now() {
  next_denial_ = 0;  // it learned of the last one
  owner_.remote_port_logged_in(*this);
}

void RemotePort::login_failed_now() { owner_.remote_port_login_failed(*this); }

void RemotePort::logged_out_now() {
  forget_suspension();
  // What one exchange gives back is not for the next that ends. Link services go on without a login.
  std::erase_if(waiting_, [](const Waiting& waiting) { return !waiting.is_link_service(); });
  owner_.remote_port_logged_out(*this);
}

}  // namespace fc2
