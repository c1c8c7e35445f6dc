#include "fc2_fabric/node/shared_link.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/frame/frame_header.hpp"

namespace fc2 {

// --- members -----------------------------------------------------------------------------------------------------

SharedLink::Member::Member(SharedLink& shared, NPort& n_port) : port(n_port), shared_(shared) {
  port.add_listener(*this);
}

SharedLink::Member::~Member() {
  link_down();
  port.remove_listener(*this);
}

void SharedLink::Member::link_up() {
  up_ = true;
  port.link_up(*this);
}

void SharedLink::Member::link_interrupted() {
  if (!std::exchange(up_, false)) return;
  port.link_interrupted(waiting_.empty() ? nullptr : waiting_.pop());  // no more than one: it paused then
  waiting_.clear();
  resume();
}

void SharedLink::Member::link_down() {
  up_ = false;
  port.link_down();
  waiting_.clear();
  resume();
}

void SharedLink::Member::send(FramePtr frame) {
  Channel& output = shared_.end_->output();
  if (output.paused()) {
    pause();
    return waiting_.push(std::move(frame));
  }
  output.send(std::move(frame));
  if (output.paused())
    pause();
  else
    free_at_ = output.free_at();
}

void SharedLink::Member::output_is_free() {
  while (!waiting_.empty() && !shared_.end_->output().paused()) shared_.end_->output().send(waiting_.pop());
  if (!shared_.end_->output().paused()) resume();
}

// FLOGI's accept tells the credit of the link; FDISC's says nothing new.
void SharedLink::Member::set_bb_credit(std::uint16_t of_far_end) {
  if (this == shared_.base_.get()) shared_.end_->output().set_bb_credit(of_far_end);
}

// --- the link ----------------------------------------------------------------------------------------------------

SharedLink::SharedLink(FramePool& pool, NPort& base) : pool_(pool), base_(std::make_unique<Member>(*this, base)) {}
SharedLink::~SharedLink() = default;

void SharedLink::add(NPort& port) {
  virtual_.push_back(std::make_unique<Member>(*this, port));
  if (active_ && base().online()) log_in_next();
}

void SharedLink::remove(NPort& port) {
  const auto found =
      std::find_if(virtual_.begin(), virtual_.end(), [&](const auto& member) { return &member->port == &port; });
  if (found == virtual_.end()) return;
  const bool was_logging_in = logging_in_ == found->get();
  virtual_.erase(found);
  if (!was_logging_in) return;
  logging_in_ = nullptr;
  log_in_next();
}

void SharedLink::log_out() {
  for (const auto& member : virtual_) member->link_down();
  logging_in_ = nullptr;
  base().log_out_of_fabric();
}

void SharedLink::link_active() {
  active_ = true;
  end_->output().set_listener(this);
  base_->link_up();
}

void SharedLink::link_offline() {
  if (!std::exchange(active_, false)) return;
  for (const auto& member : virtual_) member->link_interrupted();
  logging_in_ = nullptr;
  base_->link_interrupted();
  end_->output().set_listener(nullptr);
}

void SharedLink::link_down() {
  link_offline();
  for (const auto& member : virtual_) member->link_down();
  base_->link_down();
}

void SharedLink::output_resumed() {
  base_->output_is_free();
  for (const auto& member : virtual_) member->output_is_free();
}

// A FLOGI ends all logins of the link (FC-LS): whoever has an address asks for one anew. Who was interrupted does so
// anyway.
void SharedLink::login_ended(Member& member, bool logged_in) {
  if (&member == base_.get()) {
    for (const auto& other : virtual_)
      if (other->is_up()) other->link_down();
    logging_in_ = nullptr;
    if (!logged_in) return;
  } else if (logging_in_ == &member) {
    logging_in_ = nullptr;
  }
  log_in_next();
}

void SharedLink::log_in_next() {
  if (!active_ || logging_in_ != nullptr) return;
  const auto next = std::find_if(virtual_.begin(), virtual_.end(), [](const auto& member) { return !member->is_up(); });
  if (next == virtual_.end()) return;
  logging_in_ = next->get();
  logging_in_->link_up();
}

// --- frames ------------------------------------------------------------------------------------------------------

SharedLink::Member& SharedLink::addressee(wire::FcId d_id, wire::FcId s_id) {
  if (d_id == base().n_port_id()) return *base_;
  if (logging_in_ != nullptr && s_id == wire::well_known::f_port) return *logging_in_;
  for (const auto& member : virtual_)
    if ((member->port.online() || member->port.interrupted()) && member->port.n_port_id() == d_id) return *member;
  return logging_in_ != nullptr ? *logging_in_ : *base_;
}

// A broadcast of one of them comes back for the others.
void SharedLink::receive(FramePtr frame) {
  const wire::FcId d_id = d_id_of(*frame), s_id = s_id_of(*frame);
  if (d_id != wire::well_known::broadcast) return addressee(d_id, s_id).port.receive(std::move(frame));
  for (const auto& member : virtual_)
    if (member->is_up() && member->port.n_port_id() != s_id) member->port.receive(pool_.copy(*frame));
  if (base().n_port_id() != s_id) base().receive(std::move(frame));
}

}  // namespace fc2
