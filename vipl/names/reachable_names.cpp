#include "vipl/names/reachable_names.hpp"

#include <algorithm>

namespace vipl {

NameSource::Answer ReachableNames::addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const {
  std::vector<wire::IpAddress> all;
  if (const Answer answer = source_->addresses_of(name, all); answer != Answer::Found) return answer;
  const auto has_family = [&](bool v4) {
    return std::any_of(own_addresses_.begin(), own_addresses_.end(),
                       [&](const wire::IpAddress& own) { return own.is_v4_mapped() == v4; });
  };
  const bool first_family = own_addresses_.front().is_v4_mapped();
  for (const bool v4 : {first_family, !first_family})
    for (const wire::IpAddress& address : all)
      if (address.is_v4_mapped() == v4 && has_family(v4)) found.push_back(address);
  return found.empty() ? Answer::Unknown : Answer::Found;
}

}  // namespace vipl
