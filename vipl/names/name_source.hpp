// A source of names and addresses of hosts.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "wire/types.hpp"

namespace vipl {

/// All calls are thread-safe and may block.
class NameSource {
 public:
  enum class Answer : std::uint8_t {
    Found,
    Unknown,      // the name, or the address
    Unavailable,  // no source could be asked
  };

  virtual ~NameSource() = default;
  /// Found: at least one address, in the order of preference; a name that matches exactly comes before short ones.
  virtual Answer addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const = 0;
  virtual Answer name_of(const wire::IpAddress& address, std::string& found) const = 0;
};

}  // namespace vipl
