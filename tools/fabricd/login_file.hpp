// The logins of the FCF, on disk: an FCF that is started again, also after a SIGKILL, grants every ENode its former
// address, so that exchanges continue (FC-VI 7.7.5).
#pragma once
#include <string>
#include <vector>

#include "fc2_fabric/fcoe/fcf.hpp"

namespace fabricd {

inline constexpr std::size_t max_kept_logins = 16'384;

/// One line each: interface, MAC address, number of the F_Port. Malformed lines are skipped and logged; a missing file
/// counts as empty.
[[nodiscard]] std::vector<fc2::fcoe::FormerLogin> read_logins(const std::string& path);
/// Replaces the whole file. Empty, or what failed.
[[nodiscard]] std::string write_logins(const std::string& path, const std::vector<fc2::fcoe::FormerLogin>& logins);

}  // namespace fabricd
