#include "streams/stream.hpp"

#include <boost/throw_exception.hpp>
#include <charconv>
#include <stdexcept>

namespace streams {

std::string to_string(const Address& address) {
  const std::string ip = wire::to_string(address.ip);
  return (address.ip.is_v4_mapped() ? ip : "[" + ip + "]") + ":" + std::to_string(address.port);
}

std::optional<Address> address_from_string(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view ip = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool in_brackets = ip.size() >= 2 && ip.front() == '[' && ip.back() == ']';
  if (in_brackets) ip = ip.substr(1, ip.size() - 2);
  Address address;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  const auto parsed = wire::IpAddress::from_string(ip);
  if (!parsed || error != std::errc{} || end != port.data() + port.size()) return std::nullopt;
  if (parsed->is_v4_mapped() == in_brackets) return std::nullopt;
  address.ip = *parsed;
  return address;
}

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::refused: return "refused";
    case Reason::unreachable: return "unreachable";
    case Reason::timed_out: return "timed out";
    case Reason::reset: return "reset";
    case Reason::address_in_use: return "address in use";
    case Reason::no_such_address: return "no such address";
    case Reason::not_permitted: return "not permitted";
    case Reason::no_resources: return "no resources";
    case Reason::failed: return "failed";
  }
  return "unknown";
}

void throw_exception_from_error(Reason reason, const boost::source_location& location) {
  boost::throw_with_location(std::logic_error("no listener: " + std::string(to_string(reason))), location);
}

}  // namespace streams
