// Who is logged in at the FCF, on disk: one that is started anew, after a SIGKILL too, gives everybody the address that
// it had, so that exchanges go on (FC-VI 7.7.5).
#pragma once
#include <string>
#include <vector>

#include "fc2_fabric/fcoe/fcf.hpp"

namespace fabricd {

inline constexpr std::size_t max_kept_logins = 16'384;

/// One line each: interface, MAC address, number of the F_Port. Lines that are none are passed over and told in the
/// log; a file that is not there says nothing.
[[nodiscard]] std::vector<fc2::fcoe::FormerLogin> read_logins(const std::string& path);
/// The file is replaced as a whole. Empty, or what went wrong.
[[nodiscard]] std::string write_logins(const std::string& path, const std::vector<fc2::fcoe::FormerLogin>& logins);

}  // namespace fabricd
