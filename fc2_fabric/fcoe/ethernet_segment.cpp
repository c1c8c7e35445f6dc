#include "fc2_fabric/fcoe/ethernet_segment.hpp"

#include <utility>

namespace fc2::fcoe {

SegmentPort::SegmentPort(EthernetSegment& segment, EthernetInterface interface)
    : EthernetPort(std::move(interface)), segment_(segment) {
  set_up(true);
  listen(this->interface().mac);
}

void SegmentPort::send(EthernetFrame frame) {
  if (!up() || frame.size_bytes > wire::EthernetHeader::size() + interface().mtu) {
    ++counters_.send_drops;
    return;
  }
  ++counters_.frames_sent;
  if (tap_ != nullptr) tap_->ethernet_passed(segment_.scheduler().now(), frame, true);
  segment_.sent(*this, std::move(frame));
}

void SegmentPort::ignore(const wire::MacAddress& address) {
  const auto found = wanted_.find(address);
  if (found != wanted_.end() && --found->second == 0) wanted_.erase(found);
}

void SegmentPort::arrived(EthernetFrame frame) {
  if (!up()) return;
  if (tap_ != nullptr) tap_->ethernet_passed(segment_.scheduler().now(), frame, false);
  deliver(std::move(frame));
}

SegmentPort& EthernetSegment::add_port(EthernetInterface interface) {
  return *ports_.emplace_back(std::make_unique<SegmentPort>(*this, std::move(interface)));
}

void EthernetSegment::sent(SegmentPort& from, EthernetFrame frame) {
  if (fault_ != nullptr) return fault_->befall(*this, from, std::move(frame));
  carry(from, std::move(frame));
}

void EthernetSegment::carry(SegmentPort& from, EthernetFrame frame, TimeNs delay) {
  const TimeNs at = scheduler_.now() + latency_ + delay;
  flying_.emplace(at, Flight{&from, std::move(frame)});
  scheduler_.schedule(*this, flying_.begin()->first);
}

void EthernetSegment::inject(SegmentPort& to, wire::Bytes bytes) {
  if (bytes.size() > EthernetFrame::max_bytes) {
    ++to.counters_.over_long;
    return;
  }
  to.arrived(EthernetFrame::of(pool_, bytes));
}

void EthernetSegment::fire(TimeNs) {
  Flight flight = std::move(flying_.extract(flying_.begin()).mapped());
  if (!flying_.empty()) scheduler_.schedule(*this, flying_.begin()->first);
  land(*flight.from, std::move(flight.frame));
}

void EthernetSegment::land(SegmentPort& from, EthernetFrame frame) {
  if (!frame.has_header()) return;
  const wire::MacAddress destination = frame.destination();
  SegmentPort* latest = nullptr;  // gets the frame itself, those before it copies
  for (const auto& port : ports_) {
    if (port.get() == &from || !port->wants(destination)) continue;
    if (latest != nullptr) latest->arrived(frame.copy());
    latest = port.get();
  }
  if (latest != nullptr) latest->arrived(std::move(frame));
}

}  // namespace fc2::fcoe
