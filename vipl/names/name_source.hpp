// A place where names and addresses of hosts are looked for.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "wire/types.hpp"

namespace vipl {

/// Thread-safe, each of them. May block.
class NameSource {
 public:
  enum class Answer : std::uint8_t {
    Found,
    Unknown,      // the name, or the address
    Unavailable,  // nobody could be asked
  };

  virtual ~NameSource() = default;
  /// Found: at least one address, in the order of preference; a name that matches exactly comes before short ones.
  virtual Answer addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const = 0;
  virtual Answer name_of(const wire::IpAddress& address, std::string& found) const = 0;
};

}  // namespace vipl
