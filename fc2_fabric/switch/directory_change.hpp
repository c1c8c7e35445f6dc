// What a switch learned of one of its ports, for the directories of others.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "fc2_fabric/frame/time.hpp"
#include "fc2_fabric/switch/name_database.hpp"
#include "wire/types.hpp"

namespace fc2 {

struct DirectoryChange {
  enum class Kind : std::uint8_t {
    LoggedIn,    // with its record
    Registered,  // the record is another; none: the port took it back
    LoggedOut,
    Reported,  // the port reported a change itself (RSCN)
  };
  Kind kind{};
  wire::FcId id{};
  wire::Wwn port_name{};  // of the login
  std::optional<NameDatabase::Port> record = {};
  // of its node, with `record`: they add up with what other switches know of it
  std::string node_symbolic_name = {};
  std::vector<wire::IpAddress> node_addresses = {};
};

/// Hears of changes in a directory, inside the core.
class DirectoryListener {
 public:
  virtual void directory_changed(DirectoryChange change) = 0;

 protected:
  ~DirectoryListener() = default;
};

}  // namespace fc2
