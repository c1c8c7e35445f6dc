// Any text as an IP or MAC address: what parses prints to something that parses to the same.
#include "property.hpp"
#include "wire/ethernet.hpp"
#include "wire/types.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  if (const auto ip = wire::IpAddress::from_string(text))
    if (wire::IpAddress::from_string(to_string(*ip)) != ip) wire::fuzz::fail("does not parse what it printed", text);
  if (const auto mac = wire::MacAddress::from_string(text))
    if (wire::MacAddress::from_string(to_string(*mac)) != mac) wire::fuzz::fail("does not parse what it printed", text);
  return 0;
}
