// FCVI_FLAGS by name, as in FC-VI Tables 5 to 10, and the reason codes of Table 12.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/fcvi/opcode.hpp"
#include "wire/fcvi/reason.hpp"

namespace faults {

/// The names of an IU's flags; CONN_MODE as CLIENT_SERVER or PEER_TO_PEER.
[[nodiscard]] std::vector<std::string_view> flag_names(wire::fcvi::Opcode opcode);
/// The flags that are set, in the order of flag_names(); bits without a name as "bit 7".
[[nodiscard]] std::vector<std::string> flags_set(wire::fcvi::Opcode opcode, std::uint8_t flags);
/// The IU with that name.
[[nodiscard]] std::optional<wire::fcvi::Opcode> opcode_of(std::string_view message);
/// The connection status in FCVI_PARAMETER. nullopt: the IU has none.
[[nodiscard]] std::optional<wire::fcvi::Reason> reason_of(wire::fcvi::Opcode opcode, std::uint8_t flags,
                                                          std::uint32_t parameter);
[[nodiscard]] std::vector<std::string_view> reason_names();
[[nodiscard]] std::optional<wire::fcvi::Reason> find_reason(std::string_view name);

}  // namespace faults
