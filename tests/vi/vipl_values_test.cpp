// The values and layouts that VI-DG 4 and 5 print, as numbers: programs that were built against another vendor's header
// have them compiled in.
#include <gtest/gtest.h>

#include <cstddef>

#include "vipl/vipl.h"

namespace {

// VI-DG 4.1.
TEST(ViplValues, generic_types) {
  EXPECT_EQ(VIP_TRUE, 1);
  EXPECT_EQ(VIP_FALSE, 0);
  EXPECT_EQ(VIP_DESCRIPTOR_ALIGNMENT, 64);
  EXPECT_EQ(sizeof(VIP_UINT64), 8u);
  EXPECT_EQ(sizeof(VIP_UINT32), 4u);
  EXPECT_EQ(sizeof(VIP_UINT16), 2u);
  EXPECT_EQ(sizeof(VIP_UINT8), 1u);
  EXPECT_EQ(sizeof(VIP_BOOLEAN), sizeof(int));
  EXPECT_EQ(sizeof(VIP_ULONG), sizeof(unsigned long));
  EXPECT_EQ(sizeof(VIP_PVOID), sizeof(void*));
}

// VI-DG 4.2: the order of the declaration, from 0.
TEST(ViplValues, return_codes) {
  int value = 0;
  for (const VIP_RETURN code :
       {VIP_SUCCESS, VIP_NOT_DONE, VIP_INVALID_PARAMETER, VIP_ERROR_RESOURCE, VIP_TIMEOUT, VIP_REJECT,
        VIP_INVALID_RELIABILITY_LEVEL, VIP_INVALID_MTU, VIP_INVALID_QOS, VIP_INVALID_PTAG, VIP_INVALID_RDMAREAD,
        VIP_DESCRIPTOR_ERROR, VIP_INVALID_STATE, VIP_ERROR_NAMESERVICE, VIP_NO_MATCH, VIP_NOT_REACHABLE})
    EXPECT_EQ(static_cast<int>(code), value++);
}

// VI-DG 4.3, ruling 17: the Control field.
TEST(ViplValues, control_field) {
  EXPECT_EQ(VIP_CONTROL_OP_SENDRECV, 0x0000);
  EXPECT_EQ(VIP_CONTROL_OP_RDMAWRITE, 0x0001);
  EXPECT_EQ(VIP_CONTROL_OP_RDMAREAD, 0x0002);
  EXPECT_EQ(VIP_CONTROL_OP_RESERVED, 0x0003);
  EXPECT_EQ(VIP_CONTROL_OP_MASK, 0x0003);
  EXPECT_EQ(VIP_CONTROL_IMMEDIATE, 0x0004);
  EXPECT_EQ(VIP_CONTROL_QFENCE, 0x0008);
  EXPECT_EQ(VIP_CONTROL_RESERVED, 0xFFF0);
}

// VI-DG 4.3, ruling 17: the Status field.
TEST(ViplValues, status_field) {
  EXPECT_EQ(VIP_STATUS_DONE, 0x00000001);
  EXPECT_EQ(VIP_STATUS_FORMAT_ERROR, 0x00000002);
  EXPECT_EQ(VIP_STATUS_PROTECTION_ERROR, 0x00000004);
  EXPECT_EQ(VIP_STATUS_LENGTH_ERROR, 0x00000008);
  EXPECT_EQ(VIP_STATUS_PARTIAL_ERROR, 0x00000010);
  EXPECT_EQ(VIP_STATUS_DESC_FLUSHED_ERROR, 0x00000020);
  EXPECT_EQ(VIP_STATUS_TRANSPORT_ERROR, 0x00000040);
  EXPECT_EQ(VIP_STATUS_RDMA_PROT_ERROR, 0x00000080);
  EXPECT_EQ(VIP_STATUS_REMOTE_DESC_ERROR, 0x00000100);
  EXPECT_EQ(VIP_STATUS_ERROR_MASK, 0x000001FE);
  EXPECT_EQ(VIP_STATUS_OP_SEND, 0x00000000);
  EXPECT_EQ(VIP_STATUS_OP_RECEIVE, 0x00010000);
  EXPECT_EQ(VIP_STATUS_OP_RDMA_WRITE, 0x00020000);
  EXPECT_EQ(VIP_STATUS_OP_REMOTE_RDMA_WRITE, 0x00030000);
  EXPECT_EQ(VIP_STATUS_OP_RDMA_READ, 0x00040000);
  EXPECT_EQ(VIP_STATUS_OP_MASK, 0x00070000);
  EXPECT_EQ(VIP_STATUS_IMMEDIATE, 0x00080000);
  EXPECT_EQ(VIP_STATUS_RESERVED, 0xFFF0FE00);
}

// VI-DG 4.4: resource codes and error codes, in the order of their declarations.
TEST(ViplValues, error_descriptor) {
  int value = 0;
  for (const VIP_RESOURCE_CODE code : {VIP_RESOURCE_NIC, VIP_RESOURCE_VI, VIP_RESOURCE_CQ, VIP_RESOURCE_DESCRIPTOR})
    EXPECT_EQ(static_cast<int>(code), value++);
  value = 0;
  for (const VIP_ERROR_CODE code :
       {VIP_ERROR_POST_DESC, VIP_ERROR_CONN_LOST, VIP_ERROR_RECVQ_EMPTY, VIP_ERROR_VI_OVERRUN, VIP_ERROR_RDMAW_PROT,
        VIP_ERROR_RDMAW_DATA, VIP_ERROR_RDMAW_ABORT, VIP_ERROR_RDMAR_PROT, VIP_ERROR_COMP_PROT,
        VIP_ERROR_RDMA_TRANSPORT, VIP_ERROR_CATASTROPHIC})
    EXPECT_EQ(static_cast<int>(code), value++);
}

// VI-DG 4.6, 4.8: reliability levels are bits; states in the order of their declaration.
TEST(ViplValues, levels_and_states) {
  EXPECT_EQ(VIP_SERVICE_UNRELIABLE, 0x01);
  EXPECT_EQ(VIP_SERVICE_RELIABLE_DELIVERY, 0x02);
  EXPECT_EQ(VIP_SERVICE_RELIABLE_RECEPTION, 0x04);
  EXPECT_EQ(sizeof(VIP_RELIABILITY_LEVEL), sizeof(unsigned short));
  int value = 0;
  for (const VIP_VI_STATE state : {VIP_STATE_IDLE, VIP_STATE_CONNECTED, VIP_STATE_CONNECT_PENDING, VIP_STATE_ERROR})
    EXPECT_EQ(static_cast<int>(state), value++);
}

// VI-DG 4.9, Figure 3: two lengths, then the host address, then the discriminator.
TEST(ViplValues, net_address) {
  EXPECT_EQ(offsetof(VIP_NET_ADDRESS, HostAddressLen), 0u);
  EXPECT_EQ(offsetof(VIP_NET_ADDRESS, DiscriminatorLen), 2u);
  EXPECT_EQ(offsetof(VIP_NET_ADDRESS, HostAddress), 4u);
}

// VI-DG 5.1, Figures 4 and 5, 5.2, 5.3, 5.4: where the fields of a descriptor stand, little-endian.
TEST(ViplValues, descriptor) {
  alignas(64) VIP_DESCRIPTOR descriptor{};
  const auto* bytes = static_cast<const unsigned char*>(static_cast<const void*>(&descriptor));
  descriptor.CS.Next.AddressBits = 0x01;
  descriptor.CS.NextHandle = 0x02;
  descriptor.CS.SegCount = 0x03;
  descriptor.CS.Control = 0x04;
  descriptor.CS.Reserved = 0x05;
  descriptor.CS.ImmediateData = 0x06;
  descriptor.CS.Length = 0x07;
  descriptor.CS.Status = 0x08;
  descriptor.DS[0].Remote = {{.AddressBits = 0x09}, 0x0A, 0x0B};
  descriptor.DS[1].Local = {{.AddressBits = 0x0C}, 0x0D, 0x0E};
  constexpr std::size_t places[] = {0, 8, 12, 14, 16, 20, 24, 28, 32, 40, 44, 48, 56, 60};
  unsigned char mark = 1;
  for (const std::size_t place : places) EXPECT_EQ(bytes[place], mark++) << place;
  EXPECT_EQ(sizeof descriptor, 64u);
}

}  // namespace
