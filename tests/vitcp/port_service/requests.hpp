// ConnectRequests as octets.
#pragma once
#include <string_view>
#include <vector>

#include "vitcp/port_service/waiters.hpp"
#include "wire/vitcp/segment.hpp"

namespace vitcp::port_service::test {

inline wire::vitcp::Discriminator named(std::string_view text) {
  const std::vector<std::uint8_t> octets(text.begin(), text.end());
  return wire::vitcp::Discriminator::of(octets);
}

inline wire::vitcp::Segment request_for(std::string_view called, std::string_view calling = "client") {
  wire::vitcp::Segment segment{.header = {.type = wire::vitcp::SegmentType::connect_request}};
  segment.ce.mtu_size_bytes = 65'536;
  segment.ce.called = named(called);
  segment.ce.calling = named(calling);
  return segment;
}

inline std::vector<std::uint8_t> octets_of(const wire::vitcp::Segment& segment) {
  std::vector<std::uint8_t> octets(segment.size());
  segment.write(octets);
  return octets;
}
inline std::vector<std::uint8_t> octets_for(std::string_view called) { return octets_of(request_for(called)); }

}  // namespace vitcp::port_service::test
