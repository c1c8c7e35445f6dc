// The commands of fcvi-ctl: each asks the running service, prints its answer to stdout or an error to stderr, and
// returns the exit status.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "fc2_fabric/drivers/fabric_service.hpp"
#include "tools/fabricd/control_client.hpp"

namespace ctl {
using fabricd::ExitStatus;
using fc2::drivers::RuntimeDirectory;

/// `text`: YAML, which messages call `name`. It returns when all frames that are sent from then on are judged.
ExitStatus add_faults(const RuntimeDirectory& directory, const std::string& text, const std::string& name);
ExitStatus list_faults(const RuntimeDirectory& directory, bool as_json);
/// None given: all.
ExitStatus clear_faults(const RuntimeDirectory& directory, const std::vector<std::string>& ids);
/// `action`: down, up or reset.
ExitStatus set_link(const RuntimeDirectory& directory, const std::string& port, const std::string& action);
/// Every so many seconds, until SIGINT, SIGTERM or SIGHUP; also while no service runs.
ExitStatus watch_status(const RuntimeDirectory& directory, unsigned seconds, bool as_json);

}  // namespace ctl
