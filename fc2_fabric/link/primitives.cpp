#include "fc2_fabric/link/primitives.hpp"

#include <algorithm>

namespace fc2 {

std::string_view to_string(Primitive primitive) {
  switch (primitive) {
    case Primitive::RRdy: return "R_RDY";
    case Primitive::Idle: return "Idle";
    case Primitive::Lr: return "LR";
    case Primitive::Lrr: return "LRR";
    case Primitive::Ols: return "OLS";
    case Primitive::Nos: return "NOS";
  }
  return "?";
}

void PrimitiveLine::send(Primitive primitive) {
  ++sent_[static_cast<std::size_t>(primitive)];
  if (cut_ || (fault_ != nullptr && fault_->loses(primitive, scheduler_.now()))) return;
  carry(primitive, scheduler_.now() + latency_ns_);
}

void PrimitiveLine::carry(Primitive primitive, TimeNs arrival) {
  if (flying_.full()) flying_.set_capacity(std::max<std::size_t>(2 * flying_.capacity(), 8));
  flying_.push_back({arrival, primitive});
  if (!pending()) come_at(flying_.front().arrival);
}

void PrimitiveLine::come_at(TimeNs arrival) {
  if (rank_ != 0) return scheduler_.schedule_first(*this, arrival, rank_);
  scheduler_.schedule(*this, arrival);
}

void PrimitiveLine::cut() {
  cut_ = true;
  flying_.clear();
  scheduler_.cancel(*this);
}

void PrimitiveLine::fire(TimeNs) {
  const Primitive primitive = flying_.front().primitive;
  flying_.pop_front();
  if (!flying_.empty()) come_at(flying_.front().arrival);
  receiver_->primitive_received(primitive);
}

}  // namespace fc2
