#include "fcvi/request_terms.hpp"

#include <algorithm>
#include <array>

#include <boost/container/static_vector.hpp>

namespace fcvi {
namespace {
using wire::fcvi::Attributes;
using wire::fcvi::ConnectRqst;
using wire::fcvi::NetAddress;

constexpr std::size_t terms_bytes = 1 + 2 * NetAddress::size() + Attributes::size();
/// Two counts stand before at least two bytes, but at the beginning and at the end.
constexpr std::size_t most_packed_bytes = 2 * terms_bytes + 2;
using Packed = boost::container::static_vector<std::uint8_t, most_packed_bytes>;

std::array<std::uint8_t, terms_bytes> terms_of(const ConnectRqst& request) {
  std::array<std::uint8_t, terms_bytes> bytes{};
  const std::span<std::uint8_t> all(bytes);
  bytes[0] = static_cast<std::uint8_t>(request.mode);
  request.payload.local_address.write(all.subspan(1, NetAddress::size()));
  request.payload.remote_address.write(all.subspan(1 + NetAddress::size(), NetAddress::size()));
  request.payload.local_attributes.write(all.last(Attributes::size()));
  return bytes;
}

/// How many of `bytes` from the first on are zero, or are not; a count of one byte.
std::uint8_t run_of(std::span<const std::uint8_t> bytes, bool zero) {
  const auto end = std::find_if(bytes.begin(), bytes.end(), [zero](std::uint8_t byte) { return (byte == 0) != zero; });
  return static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(end - bytes.begin(), 255));
}

/// Again and again: a count of zeros, a count of other bytes, these.
Packed packed(std::span<const std::uint8_t> bytes) {
  Packed result;
  while (!bytes.empty()) {
    const std::uint8_t zeros = run_of(bytes, true);
    bytes = bytes.subspan(zeros);
    const std::uint8_t others = run_of(bytes, false);
    result.insert(result.end(), {zeros, others});
    result.insert(result.end(), bytes.begin(), bytes.begin() + others);
    bytes = bytes.subspan(others);
  }
  return result;
}
}  // namespace

RequestTerms::RequestTerms(const ConnectRqst& request) {
  const Packed bytes = packed(terms_of(request));
  packed_ = std::make_unique<std::uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), packed_.get());
  size_ = static_cast<std::uint16_t>(bytes.size());
}

bool RequestTerms::are_of(const ConnectRqst& request) const {
  const Packed bytes = packed(terms_of(request));
  return std::equal(bytes.begin(), bytes.end(), packed_.get(), packed_.get() + size_);
}

}  // namespace fcvi
