#include "fc2_fabric/frame/ethernet_frame.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace fc2::fcoe {

EthernetFrame EthernetFrame::take(FramePool& pool) {
  EthernetFrame frame;
  frame.body = pool.take();
  return frame;
}

EthernetFrame EthernetFrame::of(FramePool& pool, wire::Bytes bytes) {
  assert(bytes.size() <= max_bytes);
  EthernetFrame frame = take(pool);
  frame.size_bytes = static_cast<std::uint16_t>(bytes.size());
  for (const wire::MutableBytes part : frame.parts(bytes.size())) {
    std::copy_n(bytes.begin(), part.size(), part.begin());
    bytes = bytes.subspan(part.size());
  }
  return frame;
}

EthernetFrame EthernetFrame::copy() const {
  EthernetFrame frame = take(*body->pool);
  frame.size_bytes = size_bytes;
  frame.vlan = vlan;
  const auto from = parts();
  const auto to = frame.parts(size_bytes);
  for (std::size_t i = 0; i < from.size(); ++i) std::copy(from[i].begin(), from[i].end(), to[i].begin());
  return frame;
}

std::array<wire::MutableBytes, 3> EthernetFrame::parts(std::size_t size) {
  assert(size <= max_bytes);
  const std::size_t in_head = std::min(size, head_bytes), in_body = std::min(size - in_head, body_bytes);
  return {wire::MutableBytes(head).first(in_head), wire::MutableBytes(body->bytes).first(in_body),
          wire::MutableBytes(tail).first(size - in_head - in_body)};
}

std::array<wire::Bytes, 3> EthernetFrame::parts() const {
  const std::size_t in_head = std::min<std::size_t>(size_bytes, head_bytes);
  const std::size_t in_body = std::min<std::size_t>(size_bytes - in_head, body_bytes);
  return {wire::Bytes(head).first(in_head), wire::Bytes(body->bytes).first(in_body),
          wire::Bytes(tail).first(size_bytes - in_head - in_body)};
}

std::vector<std::uint8_t> EthernetFrame::to_bytes() const {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(size_bytes);
  for (const wire::Bytes part : parts()) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

wire::MacAddress EthernetFrame::destination() const {
  wire::MacAddress address;
  std::copy_n(head.begin(), address.bytes.size(), address.bytes.begin());
  return address;
}

wire::MacAddress EthernetFrame::source() const {
  wire::MacAddress address;
  std::copy_n(head.begin() + 6, address.bytes.size(), address.bytes.begin());
  return address;
}

}  // namespace fc2::fcoe
