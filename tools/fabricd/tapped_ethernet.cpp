#include "tools/fabricd/tapped_ethernet.hpp"

#include <utility>

namespace fabricd {
using fc2::fcoe::EthernetFrame;

TappedEthernet::TappedEthernet(runtime::Scheduler& scheduler, Recorder& recorder,
                               std::unique_ptr<fc2::fcoe::EthernetPort> port)
    : EthernetPort(port->interface()), scheduler_(scheduler), recorder_(recorder),
      number_(recorder.add_port({.text = interface().name, .name = interface().name})), port_(std::move(port)) {
  port_->attach(this);
  set_up(port_->up());
}

void TappedEthernet::set_cut(bool cut) {
  cut_ = cut;
  set_up(port_->up() && !cut_);
}

void TappedEthernet::block(const wire::MacAddress& station, bool blocked) {
  if (blocked)
    blocked_.insert(station);
  else
    blocked_.erase(station);
}

void TappedEthernet::send(EthernetFrame frame) {
  if (cut_) return;
  recorder_.ethernet_passed(number_, scheduler_.now(), frame, true);
  port_->send(std::move(frame));
  if (port_->paused()) pause();
}

void TappedEthernet::ethernet_received(EthernetFrame frame) {
  if (cut_ || (!blocked_.empty() && frame.has_header() && blocked_.contains(frame.source()))) return;
  recorder_.ethernet_passed(number_, scheduler_.now(), frame, false);
  deliver(std::move(frame));
}

}  // namespace fabricd
