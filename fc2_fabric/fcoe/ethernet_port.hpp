// One Ethernet interface as the core sees it: simulated (EthernetSegment), a packet socket, or UDP datagrams.
#pragma once
#include <cstdint>
#include <string>

#include "fc2_fabric/frame/ethernet_frame.hpp"
#include "fc2_fabric/frame/frame_receiver.hpp"

namespace fc2::fcoe {

struct EthernetInterface {
  std::string name;           // "eth0": for people
  wire::MacAddress mac{};     // the interface's own address, or the one that its user chose
  std::uint16_t mtu = 1500;   // bytes after the Ethernet header
  std::uint8_t priority = 3;  // 802.1p, 0 to 7: 3 is where FCoE usually has its own, without loss (802.1Qbb)
};

/// The user of a port. Called inside the core; may send, listen() and ignore() in the call.
class EthernetReceiver {
 public:
  /// A frame with EtherType FCoE or FIP, of any VLAN; the receiver checks whether it is the destination.
  virtual void ethernet_received(EthernetFrame frame) = 0;
  /// The carrier came or went.
  virtual void ethernet_link_changed(bool up) = 0;
  /// The port takes frames again.
  virtual void ethernet_resumed() = 0;

 protected:
  ~EthernetReceiver() = default;
};

struct EthernetCounters {
  std::uint64_t frames_sent = 0, frames_received = 0;
  std::uint64_t send_drops = 0;  // the link was down, or no buffers although the port had paused
  std::uint64_t over_long = 0;   // received, longer than max_bytes or the MTU: lost
};

/// Frames go out in order. A port whose buffers fill up pauses: FCoE senders then wait (Fibre Channel does not drop
/// frames for lack of buffers); FIP senders do not, and their frames may be lost.
class EthernetPort {
 public:
  virtual ~EthernetPort() = default;
  EthernetPort(const EthernetPort&) = delete;
  EthernetPort& operator=(const EthernetPort&) = delete;

  virtual void send(EthernetFrame frame) = 0;
  /// Also receive frames to this address: a VN_Port's MAC, or a group. Counted: as many calls of ignore() end it.
  virtual void listen(const wire::MacAddress& address) = 0;
  virtual void ignore(const wire::MacAddress& address) = 0;
  /// Also receive frames of this VLAN, and be ready to send them; untagged ones are always received.
  virtual void use_vlan(std::uint16_t) {}

  [[nodiscard]] const EthernetInterface& interface() const { return interface_; }
  [[nodiscard]] const EthernetCounters& counters() const { return counters_; }
  /// Received frames for which no buffer below the port had room.
  [[nodiscard]] virtual std::uint64_t kernel_drops() { return 0; }
  [[nodiscard]] bool up() const { return up_; }
  [[nodiscard]] bool paused() const { return paused_; }
  /// One at a time; nullptr removes it. Without a receiver frames are lost.
  void attach(EthernetReceiver* receiver) { receiver_ = receiver; }

 protected:
  explicit EthernetPort(EthernetInterface interface) : interface_(std::move(interface)) {}
  void deliver(EthernetFrame frame);
  void set_up(bool up);
  void pause() { paused_ = true; }
  void resume();

  EthernetInterface interface_;
  EthernetCounters counters_;

 private:
  EthernetReceiver* receiver_ = nullptr;
  bool up_ = false;
  bool paused_ = false;
};

}  // namespace fc2::fcoe
