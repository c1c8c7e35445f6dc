#include "wire/fcvi/net_address.hpp"

#include <algorithm>

namespace wire::fcvi {

Result<NetAddress> NetAddress::parse(Bytes bytes) { return codec::parse<NetAddress>(bytes); }

void NetAddress::write(MutableBytes to) const { codec::write(*this, to); }

std::string NetAddress::to_string() const {
  const std::size_t length = std::min<std::size_t>(discriminator_length, discriminator.size());
  return wire::to_string(host) + "/" + text::bytes(Bytes(discriminator).first(length));
}

NetAddress NetAddress::of(const IpAddress& host, Bytes discriminator) {
  assert(discriminator.size() <= max_discriminator_length);
  NetAddress address;
  address.host = host;
  const std::size_t length = std::max<std::size_t>(discriminator.size(), min_discriminator_length);
  address.discriminator_length = static_cast<std::uint8_t>(length);
  std::copy(discriminator.begin(), discriminator.end(), address.discriminator.begin());
  return address;
}

}  // namespace wire::fcvi
