#include "vipl/names/name_service.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "vipl/configuration/node_identity.hpp"

namespace vipl {
namespace {

/// What hosts can have, each once, in the order given.
std::vector<wire::IpAddress> distinct_host_addresses(const std::vector<wire::IpAddress>& found,
                                                     const std::vector<wire::IpAddress>& own) {
  std::vector<wire::IpAddress> list;
  for (const wire::IpAddress& address : found)
    if (is_reachable(address, own) && std::find(list.begin(), list.end(), address) == list.end())
      list.push_back(address);
  return list;
}

bool is_loopback_text(const std::string& name) {
  const auto address = wire::IpAddress::from_string(name);
  return address && !address->is_unspecified() && !is_host_address(*address) &&
         (address->is_v4_mapped() ? address->bytes[12] == 127 : address->bytes[0] == 0);
}

}  // namespace

NameSource::Answer HostNameSource::addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const {
  if (match(name, host_name_) == NameMatch::None) return Answer::Unknown;
  found = own_addresses_;
  return Answer::Found;
}

NameSource::Answer DerivedNames::addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const {
  if (!is_node_name(name)) return Answer::Unknown;
  found = {default_address(name)};
  return Answer::Found;
}

NameService::NameService(std::string own_name, std::vector<wire::IpAddress> own_addresses,
                         std::vector<std::unique_ptr<const NameSource>> sources)
    : own_name_(std::move(own_name)), own_addresses_(std::move(own_addresses)), sources_(std::move(sources)) {}

bool NameService::means_own_host(const std::string& name) const {
  const bool among_others = is_loopback_address(own_addresses_.front());  // a NIC whose own address is one of them
  return match(name, own_name_) != NameMatch::None || short_name(name) == "localhost" ||
         (!among_others && is_loopback_text(name));
}

NameService::Answer NameService::addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const {
  Answer answer = Answer::Unknown;
  for (const auto& source : sources_) {
    std::vector<wire::IpAddress> addresses;
    const Answer its_answer = source->addresses_of(name, addresses);
    if (its_answer == Answer::Unavailable) answer = its_answer;
    if (its_answer != Answer::Found) continue;
    found = distinct_host_addresses(addresses, own_addresses_);
    if (!found.empty()) return Answer::Found;
  }
  return answer;
}

NameService::Answer NameService::find_address(const std::string& name, std::size_t index,
                                              wire::IpAddress& found) const {
  std::vector<wire::IpAddress> addresses;
  if (means_own_host(name)) {
    addresses = own_addresses_;
  } else if (const Answer answer = addresses_of(name, addresses); answer != Answer::Found) {
    return answer;
  }
  if (index >= addresses.size()) return Answer::Unknown;
  found = addresses[index];
  return Answer::Found;
}

NameService::Answer NameService::find_name(const wire::IpAddress& address, std::string& found) const {
  if (std::find(own_addresses_.begin(), own_addresses_.end(), address) != own_addresses_.end()) {
    found = own_name_;
    return Answer::Found;
  }
  if (!is_reachable(address, own_addresses_)) return Answer::Unknown;
  Answer answer = Answer::Unknown;
  for (const auto& source : sources_) {
    const Answer its_answer = source->name_of(address, found);
    if (its_answer == Answer::Found) return its_answer;
    if (its_answer == Answer::Unavailable) answer = its_answer;
  }
  return answer;
}

}  // namespace vipl
