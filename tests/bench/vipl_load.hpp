// 64 KiB Sends from one process to another through libvipl, over FCoE between two interfaces without a fabric (VN2VN).
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/bench/raw_ethernet.hpp"
#include "vipl/vipl.h"

namespace bench {

inline constexpr std::uint64_t warm_up_messages = 500;
/// The receiver answers every so many messages, and the sender is never more than so many ahead of it: Ethernet without
/// flow control loses what a slower receiver has no room for, and Reliable Delivery ends with the first lost frame.
inline constexpr std::uint64_t messages_of_an_answer = 64, most_ahead = 4 * messages_of_an_answer;

/// A NIC of this process on an interface, and a VI with buffers.
class LoadedVi {
 public:
  static constexpr std::size_t slots = 1024, buffers = 32, answers = 8;
  LoadedVi(const char* interface, const char* node) {
    const std::string file =
        std::filesystem::temp_directory_path() / ("fcvi-bench-" + std::to_string(::getpid()) + ".yaml");
    std::ofstream(file) << "nics:\n- {name: VINIC, transport: fcoe, mode: vn2vn, interface: "
                        << interface << ", timeouts: {open: 30s}}\n";
    ::setenv("FCVI_CONFIG", file.c_str(), 1);
    ::setenv("FCVI_NODE", node, 1);
    opened_ = VipOpenNic("VINIC", &nic) == VIP_SUCCESS && VipNSInit(nic, nullptr) == VIP_SUCCESS && prepare();
    std::filesystem::remove(file);
  }
  [[nodiscard]] bool opened() const { return opened_; }
  /// The descriptor of a slot, over 64 KiB of one of the buffers.
  VIP_DESCRIPTOR* descriptor(std::size_t slot) {
    VIP_DESCRIPTOR* descriptor = &descriptors_[slot];
    std::memset(descriptor, 0, sizeof *descriptor);
    descriptor->CS.SegCount = 1;
    descriptor->CS.Length = message_bytes;
    descriptor->DS[0].Local.Data.Address = data_ + slot % buffers * message_bytes;
    descriptor->DS[0].Local.Handle = memory;
    descriptor->DS[0].Local.Length = message_bytes;
    return descriptor;
  }
  /// One of those without data.
  VIP_DESCRIPTOR* answer(std::uint64_t number) {
    VIP_DESCRIPTOR* descriptor = &descriptors_[slots + number % answers];
    std::memset(descriptor, 0, sizeof *descriptor);
    return descriptor;
  }
  void name(VIP_NET_ADDRESS& address, const char* node) {
    address.HostAddressLen = 16;
    char copy[64];
    std::strncpy(copy, node, sizeof copy - 1)[sizeof copy - 1] = '\0';
    if (VipNSGetHostByName(nic, copy, &address, 0) != VIP_SUCCESS) std::fprintf(stderr, "%s: unknown\n", node);
    address.DiscriminatorLen = 1;
    address.HostAddress[16] = 'b';
  }

  VIP_NIC_HANDLE nic = nullptr;
  VIP_VI_HANDLE vi = nullptr;
  VIP_MEM_HANDLE memory{};

 private:
  bool prepare() {
    void* room = nullptr;
    const std::size_t bytes = (slots + answers) * sizeof(VIP_DESCRIPTOR) + buffers * message_bytes;
    if (::posix_memalign(&room, VIP_DESCRIPTOR_ALIGNMENT, bytes) != 0) return false;
    std::memset(room, 1, bytes);
    descriptors_ = static_cast<VIP_DESCRIPTOR*>(room);
    data_ = static_cast<char*>(room) + (slots + answers) * sizeof(VIP_DESCRIPTOR);
    VIP_MEM_ATTRIBUTES plain{};
    VIP_VI_ATTRIBUTES wanted{};
    wanted.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
    wanted.MaxTransferSize = message_bytes;
    VipErrorCallback(nic, nullptr, [](VIP_PVOID, VIP_ERROR_DESCRIPTOR*) {});  // the other end says goodbye
    return VipRegisterMem(nic, room, bytes, &plain, &memory) == VIP_SUCCESS &&
           VipCreateVi(nic, &wanted, nullptr, nullptr, &vi) == VIP_SUCCESS;
  }
  bool opened_ = false;
  VIP_DESCRIPTOR* descriptors_ = nullptr;
  char* data_ = nullptr;
};

/// Room for an address with its discriminator.
union NetAddress {
  VIP_NET_ADDRESS net;
  char room[sizeof(VIP_NET_ADDRESS) + 32];
};

/// Takes all messages of one connection; returns when it ends.
inline void receive_messages(const char* interface) {
  LoadedVi here(interface, "bench-right");
  if (!here.opened()) return;
  for (std::size_t slot = 0; slot < LoadedVi::slots; ++slot) VipPostRecv(here.vi, here.descriptor(slot), here.memory);
  NetAddress own{}, theirs{};
  here.name(own.net, "bench-right");
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection = nullptr;
  if (VipConnectWait(here.nic, &own.net, 60'000, &theirs.net, &attributes, &connection) != VIP_SUCCESS ||
      VipConnectAccept(connection, here.vi) != VIP_SUCCESS)
    return;
  VIP_DESCRIPTOR *done = nullptr, *answered = nullptr;
  for (std::uint64_t count = 1;
       VipRecvWait(here.vi, VIP_INFINITE, &done) == VIP_SUCCESS && (done->CS.Status & VIP_STATUS_ERROR_MASK) == 0;
       ++count) {
    done->CS.Status = 0;
    done->CS.Length = message_bytes;
    VipPostRecv(here.vi, done, here.memory);
    if (count % messages_of_an_answer != 0) continue;
    VipPostSend(here.vi, here.answer(count / messages_of_an_answer), here.memory);
    while (VipSendDone(here.vi, &answered) == VIP_SUCCESS) {}
  }
}

class MessageSender {
 public:
  explicit MessageSender(const char* interface) : here_(interface, "bench-left") {
    NetAddress own{}, theirs{};
    if (!here_.opened()) return;
    here_.name(own.net, "bench-left");
    here_.name(theirs.net, "bench-right");
    VIP_VI_ATTRIBUTES attributes;
    for (int tries = 0; tries < 100 && !connected_; ++tries) {  // the other one may not be there yet
      for (std::uint64_t i = 0; i < LoadedVi::answers; ++i) VipPostRecv(here_.vi, here_.answer(i), here_.memory);
      connected_ = VipConnectRequest(here_.vi, &own.net, &theirs.net, 10'000, &attributes) == VIP_SUCCESS;
      if (!connected_) VipDisconnect(here_.vi);
      for (VIP_DESCRIPTOR* back = nullptr;
           !connected_ && VipRecvDone(here_.vi, &back) != VIP_NOT_DONE && back != nullptr;)
        back = nullptr;
      if (!connected_) ::usleep(100'000);
    }
  }
  ~MessageSender() {
    if (connected_) VipDisconnect(here_.vi);
  }
  MessageSender(const MessageSender&) = delete;
  MessageSender& operator=(const MessageSender&) = delete;
  [[nodiscard]] bool connected() const { return connected_; }
  /// All are on the wire.
  bool send(std::uint64_t messages) {
    std::uint64_t posted = 0;
    for (std::uint64_t done = 0; done < messages; ++done) {
      for (; posted < messages && posted - done < window && may_send(); ++posted, ++sent_)
        VipPostSend(here_.vi, here_.descriptor(posted % LoadedVi::slots), here_.memory);
      VIP_DESCRIPTOR* descriptor = nullptr;
      if (posted == done || VipSendWait(here_.vi, VIP_INFINITE, &descriptor) != VIP_SUCCESS ||
          (descriptor->CS.Status & VIP_STATUS_ERROR_MASK) != 0)
        return false;
    }
    return true;
  }

 private:
  /// Waits until the receiver is near enough. False: the connection has ended.
  bool may_send() {
    while (sent_ - answered_ * messages_of_an_answer >= most_ahead) {
      VIP_DESCRIPTOR* descriptor = nullptr;
      if (VipRecvWait(here_.vi, VIP_INFINITE, &descriptor) != VIP_SUCCESS ||
          (descriptor->CS.Status & VIP_STATUS_ERROR_MASK) != 0)
        return false;
      ++answered_;
      VipPostRecv(here_.vi, here_.answer(answered_ - 1), here_.memory);
    }
    return true;
  }

  std::uint64_t sent_ = 0, answered_ = 0;
  static constexpr std::uint64_t window = 32;
  LoadedVi here_;
  bool connected_ = false;
};

}  // namespace bench
