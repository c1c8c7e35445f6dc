#include "fc2_fabric/fcoe/ethernet_port.hpp"

#include <utility>

namespace fc2::fcoe {

void EthernetPort::deliver(EthernetFrame frame) {
  if (frame.size_bytes > wire::EthernetHeader::size() + interface_.mtu) {
    ++counters_.over_long;
    return;
  }
  ++counters_.frames_received;
  if (receiver_ != nullptr) receiver_->ethernet_received(std::move(frame));
}

void EthernetPort::set_up(bool up) {
  if (std::exchange(up_, up) != up && receiver_ != nullptr) receiver_->ethernet_link_changed(up);
}

void EthernetPort::resume() {
  if (std::exchange(paused_, false) && receiver_ != nullptr) receiver_->ethernet_resumed();
}

}  // namespace fc2::fcoe
