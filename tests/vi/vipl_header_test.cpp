// vipl.h and the model say the same: layouts (VI-DG 5) and values (VI-DG 4).
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "vi/descriptor.hpp"
#include "vi/types.hpp"
#include "vipl/vipl.h"

namespace vi {
namespace {

// --- layout
static_assert(sizeof(VIP_DESCRIPTOR) == 64 && sizeof(Descriptor) == 64);
static_assert(sizeof(VIP_CONTROL_SEGMENT) == sizeof(ControlSegment));
static_assert(sizeof(VIP_DESCRIPTOR_SEGMENT) == sizeof(Segment));
static_assert(sizeof(VIP_ADDRESS_SEGMENT) == 16 && sizeof(VIP_DATA_SEGMENT) == 16 && sizeof(VIP_PVOID64) == 8);
static_assert(offsetof(VIP_DESCRIPTOR, CS) == offsetof(Descriptor, control_segment));
static_assert(offsetof(VIP_DESCRIPTOR, DS) == offsetof(Descriptor, segments));
static_assert(offsetof(VIP_DESCRIPTOR, Control) == offsetof(VIP_DESCRIPTOR, CS));
static_assert(offsetof(VIP_DESCRIPTOR, Data) == offsetof(VIP_DESCRIPTOR, DS));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Next) == offsetof(ControlSegment, next));
static_assert(offsetof(VIP_CONTROL_SEGMENT, NextHandle) == offsetof(ControlSegment, next_handle));
static_assert(offsetof(VIP_CONTROL_SEGMENT, SegCount) == offsetof(ControlSegment, segment_count));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Control) == offsetof(ControlSegment, control));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Reserved) == offsetof(ControlSegment, reserved));
static_assert(offsetof(VIP_CONTROL_SEGMENT, ImmediateData) == offsetof(ControlSegment, immediate_data));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Length) == offsetof(ControlSegment, length_bytes));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Status) == offsetof(ControlSegment, status));
static_assert(offsetof(VIP_DATA_SEGMENT, Handle) == offsetof(Segment, handle));
static_assert(offsetof(VIP_DATA_SEGMENT, Length) == offsetof(Segment, length_or_reserved));
static_assert(offsetof(VIP_ADDRESS_SEGMENT, Handle) == offsetof(Segment, handle));
static_assert(offsetof(VIP_ADDRESS_SEGMENT, Reserved) == offsetof(Segment, length_or_reserved));
static_assert(offsetof(VIP_NET_ADDRESS, HostAddress) == 4);
static_assert(VIP_DESCRIPTOR_ALIGNMENT == descriptor_alignment_bytes);
static_assert(std::is_same_v<VIP_MEM_HANDLE, VIP_UINT32> && sizeof(VIP_UINT64) == 8 && sizeof(VIP_UINT32) == 4 &&
              sizeof(VIP_UINT16) == 2 && sizeof(VIP_UINT8) == 1);

// --- control and status
static_assert(VIP_CONTROL_OP_SENDRECV == control::op_send_receive &&
              VIP_CONTROL_OP_RDMAWRITE == control::op_rdma_write);
static_assert(VIP_CONTROL_OP_RDMAREAD == control::op_rdma_read && VIP_CONTROL_OP_MASK == control::op_mask);
static_assert(VIP_CONTROL_IMMEDIATE == control::immediate && VIP_CONTROL_QFENCE == control::queue_fence);
static_assert(VIP_CONTROL_OPENCE == VIP_CONTROL_QFENCE && VIP_CONTROL_RESERVED == control::reserved);
static_assert(VIP_STATUS_DONE == status::done && VIP_STATUS_FORMAT_ERROR == status::format_error);
static_assert(VIP_STATUS_PROTECTION_ERROR == status::protection_error &&
              VIP_STATUS_LENGTH_ERROR == status::length_error);
static_assert(VIP_STATUS_PARTIAL_ERROR == status::partial_error && VIP_STATUS_DESC_FLUSHED_ERROR == status::flushed);
static_assert(VIP_STATUS_TRANSPORT_ERROR == status::transport_error);
static_assert(VIP_STATUS_RDMA_PROT_ERROR == status::rdma_protection_error);
static_assert(VIP_STATUS_REMOTE_DESC_ERROR == status::remote_descriptor_error);
static_assert(VIP_STATUS_ERROR_MASK == status::error_mask && VIP_STATUS_OP_MASK == status::op_mask);
static_assert(VIP_STATUS_OP_SEND == status::op_send && VIP_STATUS_OP_RECEIVE == status::op_receive);
static_assert(VIP_STATUS_OP_RDMA_WRITE == status::op_rdma_write && VIP_STATUS_OP_RDMA_READ == status::op_rdma_read);
static_assert(VIP_STATUS_OP_REMOTE_RDMA_WRITE == status::op_remote_rdma_write);
static_assert(VIP_STATUS_IMMEDIATE == status::immediate);
static_assert((VIP_STATUS_DONE | VIP_STATUS_ERROR_MASK | VIP_STATUS_OP_MASK | VIP_STATUS_IMMEDIATE |
               VIP_STATUS_RESERVED) == 0xFFFFFFFF);  // ruling 17: each bit is one or the other

// --- enumerations
static_assert(VIP_SUCCESS == static_cast<int>(Return::Success) && VIP_NOT_DONE == static_cast<int>(Return::NotDone));
static_assert(VIP_INVALID_PARAMETER == static_cast<int>(Return::InvalidParameter));
static_assert(VIP_ERROR_RESOURCE == static_cast<int>(Return::ErrorResource));
static_assert(VIP_TIMEOUT == static_cast<int>(Return::Timeout) && VIP_REJECT == static_cast<int>(Return::Reject));
static_assert(VIP_INVALID_RELIABILITY_LEVEL == static_cast<int>(Return::InvalidReliabilityLevel));
static_assert(VIP_INVALID_MTU == static_cast<int>(Return::InvalidMtu));
static_assert(VIP_INVALID_QOS == static_cast<int>(Return::InvalidQos));
static_assert(VIP_INVALID_PTAG == static_cast<int>(Return::InvalidPtag));
static_assert(VIP_INVALID_RDMAREAD == static_cast<int>(Return::InvalidRdmaRead));
static_assert(VIP_DESCRIPTOR_ERROR == static_cast<int>(Return::DescriptorError));
static_assert(VIP_INVALID_STATE == static_cast<int>(Return::InvalidState));
static_assert(VIP_ERROR_NAMESERVICE == static_cast<int>(Return::ErrorNameservice));
static_assert(VIP_NO_MATCH == static_cast<int>(Return::NoMatch));
static_assert(VIP_NOT_REACHABLE == static_cast<int>(Return::NotReachable) && VIP_NOT_REACHABLE == 15);
static_assert(VIP_ERROR_NOT_SUPPORTED == 16 && VIP_ERROR == VIP_DESCRIPTOR_ERROR && VIP_ERROR == 11);
static_assert(VIP_STATE_IDLE == static_cast<int>(State::Idle) && VIP_STATE_ERROR == static_cast<int>(State::Error));
static_assert(VIP_STATE_CONNECTED == static_cast<int>(State::Connected));
static_assert(VIP_STATE_CONNECT_PENDING == static_cast<int>(State::ConnectPending));
static_assert(VIP_ERROR_POST_DESC == static_cast<int>(ErrorCode::PostDesc));
static_assert(VIP_ERROR_CONN_LOST == static_cast<int>(ErrorCode::ConnLost));
static_assert(VIP_ERROR_RECVQ_EMPTY == static_cast<int>(ErrorCode::RecvQEmpty));
static_assert(VIP_ERROR_VI_OVERRUN == static_cast<int>(ErrorCode::ViOverrun));
static_assert(VIP_ERROR_RDMAW_PROT == static_cast<int>(ErrorCode::RdmaWProt));
static_assert(VIP_ERROR_RDMAW_DATA == static_cast<int>(ErrorCode::RdmaWData));
static_assert(VIP_ERROR_RDMAW_ABORT == static_cast<int>(ErrorCode::RdmaWAbort));
static_assert(VIP_ERROR_RDMAR_PROT == static_cast<int>(ErrorCode::RdmaRProt));
static_assert(VIP_ERROR_COMP_PROT == static_cast<int>(ErrorCode::CompProt));
static_assert(VIP_ERROR_RDMA_TRANSPORT == static_cast<int>(ErrorCode::RdmaTransport));
static_assert(VIP_ERROR_CATASTROPHIC == static_cast<int>(ErrorCode::Catastrophic));
static_assert(VIP_RESOURCE_NIC == static_cast<int>(ResourceCode::Nic) &&
              VIP_RESOURCE_VI == static_cast<int>(ResourceCode::Vi));
static_assert(VIP_RESOURCE_CQ == static_cast<int>(ResourceCode::Cq));
static_assert(VIP_RESOURCE_DESCRIPTOR == static_cast<int>(ResourceCode::Descriptor));
static_assert(VIP_SERVICE_UNRELIABLE == static_cast<int>(ReliabilityLevel::UnreliableDelivery));
static_assert(VIP_SERVICE_RELIABLE_DELIVERY == static_cast<int>(ReliabilityLevel::ReliableDelivery));
static_assert(VIP_SERVICE_RELIABLE_RECEPTION == static_cast<int>(ReliabilityLevel::ReliableReception));

TEST(ViplHeader, both_spellings_same_bytes) {
  // wild, Headers: CS/DS and Control/Data name the same descriptor.
  VIP_DESCRIPTOR descriptor{};
  descriptor.CS.SegCount = 2;
  descriptor.Data[0].Handle = 5;
  descriptor.Data[0].Data.AddressBits = 4;
  descriptor.DS[1].Local.Length = 6;
  EXPECT_EQ(descriptor.Control.SegCount, 2);
  EXPECT_EQ(descriptor.DS[0].Remote.Handle, 5u);
  EXPECT_EQ(descriptor.DS[0].Local.Data.AddressBits, 4u);
  EXPECT_EQ(descriptor.Data[1].Length, 6u);
  descriptor.CS.Next.Descriptor = &descriptor;
  EXPECT_EQ(descriptor.Control.Next.Address, &descriptor);
}

}  // namespace
}  // namespace vi
