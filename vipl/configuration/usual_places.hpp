// Where the files of the user and of the system are.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace vipl {

/// A variable of the environment; empty: not set. In a set-user-ID program all are empty.
[[nodiscard]] std::string environment(const char* name);
/// fcvi/`name` under $XDG_CONFIG_HOME (~/.config) and each of $XDG_CONFIG_DIRS (/etc/xdg), then /etc/fcvi/`name`: the
/// first that exists counts.
[[nodiscard]] std::vector<std::string> usual_places(std::string_view name);

}  // namespace vipl
