// Prints segments as wire/ writes them, a line each: a name and the octets. vitcp_bytes_test.py has the same ones.
#include <cstdio>
#include <string_view>
#include <vector>

#include "wire/vitcp/segment.hpp"

namespace {
using namespace wire::vitcp;  // NOLINT: of one file
constexpr std::array<std::uint8_t, 5> data{1, 2, 3, 4, 5};

void print(std::string_view name, const Segment& segment) {
  std::vector<std::uint8_t> octets(segment.size());
  segment.write(octets);
  std::printf("%.*s ", static_cast<int>(name.size()), name.data());
  for (const std::uint8_t octet : octets) std::printf("%02x", octet);
  std::printf("\n");
}

Segment with(SegmentType type, bool trailer) {
  Segment segment;
  segment.header = {.type = type,
                    .message_number = {0x11223344},
                    .message_ack = {0xFFFFFFFE},
                    .rx_descriptors_posted = 0x0506,
                    .remote_error = {.implementation_specific = 0x7F, .vi_descriptor_error = true}};
  segment.trailer = trailer;
  return segment;
}

Segment set_up(SegmentType type, Options options) {
  Segment segment = with(type, false);
  segment.ce.level = ReliabilityLevel::reliable_delivery;
  segment.ce.rdma_read_enable = segment.ce.peer_to_peer = true;
  segment.ce.mtu_size_bytes = 0x12345678;
  segment.ce.rdma_read_window = 9;
  segment.ce.calling = Discriminator::of(wire::Bytes(data));
  segment.ce.called = Discriminator::of(wire::Bytes(data).first(2));
  segment.ce.options = std::move(options);
  return segment;
}

void print_messages(bool trailer) {
  Segment send = with(SegmentType::send, trailer);
  send.header.end_of_message = false;
  send.header.data_offset = 0x01020304;
  send.header.immediate_data_valid = send.header.transmit_error = true;
  send.header.immediate_data = 0xCAFEF00D;
  send.payload = data;
  print("send", send);
  Segment write = with(SegmentType::rdma_write, trailer);
  write.rdma = {.address = 0x8877665544332211, .memory_handle = {0xABCD}, .length_bytes = 5};
  write.payload = data;
  print("write", write);
  write.header.type = SegmentType::rdma_read_request;
  write.payload = {};
  print("read", write);
  Segment response = with(SegmentType::rdma_read_response, trailer);
  response.payload = data;
  print("response", response);
  print("nop", with(SegmentType::nop, trailer));
  print("reject", with(SegmentType::connect_reject, trailer));
  print("no_match", with(SegmentType::connect_no_match, trailer));
}
}  // namespace

int main() {
  print_messages(false);
  print_messages(true);
  print("request", set_up(SegmentType::connect_request, {}));
  print("accept", set_up(SegmentType::connect_accept, {.crc = true, .urgent_marker = true, .other = {}, .end = true}));
}
