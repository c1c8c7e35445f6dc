// What a control connection may ask for, besides captures (capture_request.hpp): the body of a Request record begins
// with one of these.
#pragma once
#include <cstddef>
#include <string_view>

namespace fabricd::control_word {

/// The answer is JSON.
inline constexpr std::string_view status = "status";
inline constexpr std::string_view stop = "stop";
/// Then a line that names the text in messages, and the text (fault_rules.hpp). The answer, when frames that are sent
/// from then on are judged: {"rules": [...], "passed_by": [...]}, in the latter the links that did not come so far.
inline constexpr std::string_view fault_add = "fault-add\n";
/// The answer: an array (fault_status.hpp).
inline constexpr std::string_view fault_list = "fault-list";
/// Then the numbers of rules, a line each; none: all. All of them are cleared, or none.
inline constexpr std::string_view fault_clear = "fault-clear\n";
/// Then a port, a line feed, and down, up or reset.
inline constexpr std::string_view link = "link\n";

/// The beginning of a request that is longer than a record: more comes in the next.
inline constexpr std::string_view part = "part\n";
inline constexpr std::size_t max_request_bytes = 128 * 1024;

}  // namespace fabricd::control_word
