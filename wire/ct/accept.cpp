#include "wire/ct/accept.hpp"

namespace wire::ct {
namespace {
constexpr std::size_t port_id_entry_size = 4;
constexpr std::size_t ip_address_size = sizeof(IpAddress::bytes);

Result<CtHeader> parse_accept(Bytes bytes) {
  const auto accept = CtAccept::parse(bytes);
  if (!accept) return accept.error();
  return accept->preamble;
}

// The requester did not want more: the end of the list is missing, in the middle of an entry perhaps (FC-GS 4.3).
template <class Entries>
bool is_cut(const CtHeader& preamble, const Entries& entries) {
  return preamble.max_residual_size != 0 && !entries.empty();
}
}  // namespace

std::size_t PortIdListAccept::size() const { return CtHeader::size() + port_ids.size() * port_id_entry_size; }

Result<PortIdListAccept> PortIdListAccept::parse(Bytes bytes) {
  const auto preamble = parse_accept(bytes);
  if (!preamble) return preamble.error();
  PortIdListAccept accept{*preamble, {}};
  for (std::size_t at = CtHeader::size(); at + port_id_entry_size <= bytes.size(); at += port_id_entry_size) {
    accept.port_ids.push_back(FcId{load_big<3>(bytes.data() + at + 1)});
    if ((bytes[at] & PortEntry::last_entry) != 0) return accept;
  }
  if (is_cut(accept.preamble, accept.port_ids)) return accept;
  return ParseError{ParseCode::truncated, "port_ids"};
}

void PortIdListAccept::write(MutableBytes to) const {
  assert(!port_ids.empty() && to.size() >= size());
  preamble.write(to);
  std::uint8_t* at = to.data() + CtHeader::size();
  for (const FcId id : port_ids) {
    store_big<4>(at, id.value);
    at += port_id_entry_size;
  }
  if (preamble.max_residual_size == 0) at[-static_cast<std::ptrdiff_t>(port_id_entry_size)] = PortEntry::last_entry;
}

std::string PortIdListAccept::to_string() const {
  std::string line(name);
  for (const FcId id : port_ids) text::append(line, "port_id", wire::to_string(id));
  return line;
}

std::size_t IpAddressListAccept::size() const { return CtHeader::size() + ip_addresses.size() * ip_address_size; }

Result<IpAddressListAccept> IpAddressListAccept::parse(Bytes bytes) {
  const auto preamble = parse_accept(bytes);
  if (!preamble) return preamble.error();
  const Bytes list = bytes.subspan(CtHeader::size());
  if (list.empty() || list.size() % ip_address_size != 0) return ParseError{ParseCode::truncated, "ip_addresses"};
  IpAddressListAccept accept{*preamble, std::vector<IpAddress>(list.size() / ip_address_size)};
  const std::uint8_t* at = list.data();
  for (IpAddress& address : accept.ip_addresses) {
    std::memcpy(address.bytes.data(), at, ip_address_size);
    at += ip_address_size;
  }
  return accept;
}

void IpAddressListAccept::write(MutableBytes to) const {
  assert(!ip_addresses.empty() && to.size() >= size());
  preamble.write(to);
  std::uint8_t* at = to.data() + CtHeader::size();
  for (const IpAddress& address : ip_addresses) {
    std::memcpy(at, address.bytes.data(), ip_address_size);
    at += ip_address_size;
  }
}

std::string IpAddressListAccept::to_string() const {
  std::string line(name);
  for (const IpAddress& address : ip_addresses) text::append(line, "ip_address", wire::to_string(address));
  return line;
}

std::size_t GpnFtAccept::size() const { return CtHeader::size() + entries.size() * PortEntry::size(); }

Result<GpnFtAccept> GpnFtAccept::parse(Bytes bytes) {
  const auto preamble = parse_accept(bytes);
  if (!preamble) return preamble.error();
  GpnFtAccept accept{*preamble, {}};
  for (std::size_t at = CtHeader::size(); at + PortEntry::size() <= bytes.size(); at += PortEntry::size()) {
    accept.entries.push_back(codec::read<PortEntry>(bytes.data() + at));
    if ((accept.entries.back().control & PortEntry::last_entry) != 0) return accept;
  }
  if (is_cut(accept.preamble, accept.entries)) return accept;
  return ParseError{ParseCode::truncated, "entries"};
}

void GpnFtAccept::write(MutableBytes to) const {
  assert(!entries.empty() && to.size() >= size());
  preamble.write(to);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    PortEntry entry = entries[i];
    constexpr auto last = PortEntry::last_entry;
    if (i + 1 != entries.size())
      entry.control = static_cast<std::uint8_t>(entry.control & ~last);
    else if (preamble.max_residual_size == 0)
      entry.control = static_cast<std::uint8_t>(entry.control | last);
    entry.write(to.subspan(CtHeader::size() + i * PortEntry::size()));
  }
}

std::string GpnFtAccept::to_string() const {
  std::string line(name);
  for (const PortEntry& entry : entries)
    text::append(line, wire::to_string(entry.port_id), wire::to_string(entry.world_wide_name));
  return line;
}

}  // namespace wire::ct
