// What VIPL programs of tests are made of: a NIC with registered memory, descriptors in it, connections.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include "vipl/api/simulation.hpp"
#include "vipl/vipl.h"

namespace support {

inline constexpr VIP_ULONG week_ms = 7UL * 24 * 3600 * 1000;

/// A network address with room for the longest.
struct Address {
  union {
    VIP_NET_ADDRESS net;
    std::uint8_t bytes[4 + 16 + 128];
  };
  Address() : bytes{} {}
  /// Host 0 is VINIC, host 1 is VINIC1.
  Address(unsigned host, std::string_view discriminator) : bytes{} {
    net.HostAddressLen = 16;
    net.DiscriminatorLen = static_cast<VIP_UINT16>(discriminator.size());
    const std::uint8_t address[16] = {0, 0, 0,    0,    0,  0, 0, 0,
                                      0, 0, 0xFF, 0xFF, 10, 0, 0, static_cast<std::uint8_t>(host + 1)};
    std::memcpy(bytes + 4, address, sizeof address);
    std::memcpy(bytes + 20, discriminator.data(), discriminator.size());
  }
  VIP_NET_ADDRESS* operator&() { return &net; }
  [[nodiscard]] std::string_view discriminator() const {
    return {static_cast<const char*>(static_cast<const void*>(bytes + 20)), net.DiscriminatorLen};
  }
};

inline VIP_VI_ATTRIBUTES attributes(VIP_RELIABILITY_LEVEL level = VIP_SERVICE_RELIABLE_DELIVERY, bool rdma = false) {
  VIP_VI_ATTRIBUTES result{};
  result.ReliabilityLevel = level;
  result.EnableRdmaWrite = rdma ? VIP_TRUE : VIP_FALSE;
  result.EnableRdmaRead = rdma && level != VIP_SERVICE_UNRELIABLE ? VIP_TRUE : VIP_FALSE;
  return result;
}

/// An open NIC with memory for 64 descriptors of three segments and 1 MiB of data.
class Node {
 public:
  static constexpr std::size_t descriptor_bytes = 128, descriptors = 64, data_bytes = 1u << 20;

  explicit Node(unsigned number = 0) : number_(number), memory(descriptor_bytes * descriptors + data_bytes + 64) {
    const std::string name = "VINIC" + std::to_string(number);
    EXPECT_EQ(VipOpenNic(name.c_str(), &nic), VIP_SUCCESS);
    VIP_MEM_ATTRIBUTES all{nullptr, VIP_TRUE, VIP_TRUE};
    EXPECT_EQ(VipRegisterMem(nic, memory.data(), memory.size(), &all, &handle), VIP_SUCCESS);
  }
  ~Node() {
    if (nic != nullptr) close();
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  void close() {
    EXPECT_EQ(VipCloseNic(nic), VIP_SUCCESS);
    nic = nullptr;
  }

  VIP_VI_HANDLE make_vi(VIP_RELIABILITY_LEVEL level = VIP_SERVICE_RELIABLE_DELIVERY, VIP_CQ_HANDLE send_queue = nullptr,
                        VIP_CQ_HANDLE receive_queue = nullptr) {
    VIP_VI_ATTRIBUTES wanted = attributes(level, true);
    VIP_VI_HANDLE vi = nullptr;
    EXPECT_EQ(VipCreateVi(nic, &wanted, send_queue, receive_queue, &vi), VIP_SUCCESS);
    return vi;
  }
  std::uint8_t* data(std::size_t offset = 0) { return aligned() + descriptor_bytes * descriptors + offset; }
  VIP_DESCRIPTOR* at(std::size_t index) {
    return static_cast<VIP_DESCRIPTOR*>(static_cast<void*>(aligned() + index * descriptor_bytes));
  }
  /// One data segment at data(offset).
  VIP_DESCRIPTOR* simple(std::size_t index, std::size_t offset, std::uint32_t length) {
    VIP_DESCRIPTOR* made = new (at(index)) VIP_DESCRIPTOR{};
    made->CS.SegCount = 1;
    made->CS.Length = length;
    made->DS[0].Local = {{.Address = data(offset)}, handle, length};
    return made;
  }
  VIP_DESCRIPTOR* rdma(std::size_t index, VIP_UINT16 operation, std::size_t offset, std::uint32_t length, Node& target,
                       std::size_t target_offset) {
    VIP_DESCRIPTOR* made = simple(index, 0, length);
    made->CS.SegCount = 2;
    made->CS.Control = operation;
    made->DS[0].Remote = {{.Address = target.data(target_offset)}, target.handle, 0};
    made->DS[1].Local = {{.Address = data(offset)}, handle, length};
    return made;
  }
  void post_receive(VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
    EXPECT_EQ(VipPostRecv(vi, descriptor, handle), VIP_SUCCESS);
  }
  void post_send(VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
    EXPECT_EQ(VipPostSend(vi, descriptor, handle), VIP_SUCCESS);
  }

  VIP_RETURN request(VIP_VI_HANDLE vi, unsigned host, std::string_view discriminator,
                     VIP_ULONG timeout_ms = VIP_INFINITE) {
    Address local(number_, "client"), remote(host, discriminator);
    VIP_VI_ATTRIBUTES ignored;
    return VipConnectRequest(vi, &local, &remote, timeout_ms, &ignored);
  }
  VIP_RETURN wait(std::string_view discriminator, VIP_CONN_HANDLE& connection, VIP_ULONG timeout_ms = VIP_INFINITE) {
    Address local(number_, discriminator), remote;
    VIP_VI_ATTRIBUTES ignored;
    return VipConnectWait(nic, &local, timeout_ms, &remote, &ignored, &connection);
  }
  void connect(VIP_VI_HANDLE vi, unsigned host, std::string_view discriminator = "service") {
    const auto not_there_yet = [](VIP_RETURN result) { return result == VIP_NO_MATCH || result == VIP_NOT_REACHABLE; };
    VIP_RETURN result;
    while (not_there_yet(result = request(vi, host, discriminator))) rest(1);  // as programs do
    EXPECT_EQ(result, VIP_SUCCESS);
  }
  void accept(VIP_VI_HANDLE vi, std::string_view discriminator = "service") {
    VIP_CONN_HANDLE connection = nullptr;
    ASSERT_EQ(wait(discriminator, connection), VIP_SUCCESS);
    EXPECT_EQ(VipConnectAccept(connection, vi), VIP_SUCCESS);
  }
  /// Lets time pass, in a simulation too.
  void rest(VIP_ULONG ms) {
    VIP_CQ_HANDLE queue = nullptr;
    VIP_VI_HANDLE vi;
    VIP_BOOLEAN receive;
    EXPECT_EQ(VipCreateCQ(nic, 1, &queue), VIP_SUCCESS);
    EXPECT_EQ(VipCQWait(queue, ms, &vi, &receive), VIP_TIMEOUT);
    EXPECT_EQ(VipDestroyCQ(queue), VIP_SUCCESS);
  }

 private:
  std::uint8_t* aligned() {
    const auto first = reinterpret_cast<std::uintptr_t>(memory.data());
    return memory.data() + (64 - first % 64) % 64;
  }
  unsigned number_;

 public:
  VIP_NIC_HANDLE nic = nullptr;
  VIP_MEM_HANDLE handle = 0;
  std::vector<std::uint8_t> memory;
};

inline VIP_VI_STATE state_of(VIP_VI_HANDLE vi) {
  VIP_VI_STATE state{};
  VIP_VI_ATTRIBUTES ignored;
  VIP_BOOLEAN send_empty, receive_empty;
  EXPECT_EQ(VipQueryVi(vi, &state, &ignored, &send_empty, &receive_empty), VIP_SUCCESS);
  return state;
}

/// Runs programs in virtual time; none may hang.
inline vipl::TimeNs simulate(const std::vector<std::function<void()>>& programs) {
  const vipl::SimulationResult result = vipl::simulate(programs);
  EXPECT_FALSE(result.deadlocked);
  return result.elapsed_ns;
}

}  // namespace support
