#include "tools/faults/iu_flags.hpp"

#include <span>

#include "wire/fcvi/flags.hpp"
#include "wire/text.hpp"

namespace faults {
namespace {
namespace fcvi = wire::fcvi;

/// Set when the bits of `mask` are `value`.
struct Flag {
  std::string_view name;
  std::uint8_t mask, value;
  constexpr Flag(std::string_view flag, std::uint8_t bit) : name(flag), mask(bit), value(bit) {}
  constexpr Flag(std::string_view flag, std::uint8_t bits, fcvi::ConnectMode mode)
      : name(flag), mask(bits), value(static_cast<std::uint8_t>(mode)) {}
};

namespace rqst = fcvi::connect_request_flag;
namespace resp = fcvi::connect_response_flag;
namespace end = fcvi::disconnect_flag;
namespace status = fcvi::message_response_flag;
constexpr Flag message_request[] = {{"IMM_DATA", fcvi::message_request_flag::imm_data}};
constexpr Flag message_response[] = {{"TRANS_ERR", status::trans_err},
                                     {"PROT_ERR", status::prot_err},
                                     {"DESC_ERR", status::desc_err},
                                     {"RESP_ERR", status::resp_err}};
constexpr Flag connect_request[] = {{"RETRY", rqst::retry},
                                    {"CONN_INFO", rqst::conn_info},
                                    {"CLIENT_SERVER", rqst::mode_mask, fcvi::ConnectMode::client_server},
                                    {"PEER_TO_PEER", rqst::mode_mask, fcvi::ConnectMode::peer_to_peer}};
constexpr Flag connect_response[] = {
    {"RETRY", resp::retry}, {"CONN_INFO", resp::conn_info}, {"CONN_STS", resp::conn_sts}};
constexpr Flag disconnect[] = {
    {"CONN_SETUP_ABORT", end::conn_setup_abort}, {"VI_APP_DISCON", end::vi_app_discon}, {"CONN_STS", end::conn_sts}};

std::span<const Flag> flags_of(fcvi::Opcode opcode) {
  if (opcode == fcvi::Opcode::disconnect_rqst || opcode == fcvi::Opcode::disconnect_resp) return disconnect;
  const fcvi::IuInfo* row = fcvi::find_iu(opcode);
  if (row == nullptr) return {};
  switch (row->category) {
    case fcvi::Category::message_request: return message_request;
    case fcvi::Category::message_response: return message_response;
    case fcvi::Category::connect_request: return connect_request;
    case fcvi::Category::connect_response: return connect_response;
  }
  return {};
}

}  // namespace

std::vector<std::string_view> flag_names(fcvi::Opcode opcode) {
  std::vector<std::string_view> names;
  for (const Flag& flag : flags_of(opcode)) names.push_back(flag.name);
  return names;
}

std::vector<std::string> flags_set(fcvi::Opcode opcode, std::uint8_t flags) {
  std::vector<std::string> names;
  unsigned unnamed = flags;
  for (const Flag& flag : flags_of(opcode)) {
    if ((flags & flag.mask) != flag.value) continue;
    names.emplace_back(flag.name);
    unnamed &= ~unsigned{flag.value};
  }
  for (unsigned bit = 0; bit < 8; ++bit)
    if ((unnamed >> bit & 1) != 0) names.push_back("bit " + std::to_string(bit));
  return names;
}

std::optional<fcvi::Opcode> opcode_of(std::string_view message) {
  for (const fcvi::IuInfo& row : fcvi::iu_table)
    if (row.name == message) return row.opcode;
  return std::nullopt;
}

std::optional<fcvi::Reason> reason_of(fcvi::Opcode opcode, std::uint8_t flags, std::uint32_t parameter) {
  for (const std::string& flag : flags_set(opcode, flags))
    if (flag == "CONN_STS") return fcvi::ConnectionStatus::from_parameter(parameter).reason;
  return std::nullopt;
}

std::vector<std::string_view> reason_names() {
  std::vector<std::string_view> names;
  for (unsigned code = 0; code <= 0xFF; ++code)
    if (const auto name = to_string(static_cast<fcvi::Reason>(code)); name != wire::text::unknown)
      names.push_back(name);
  return names;
}

std::optional<fcvi::Reason> find_reason(std::string_view name) {
  for (unsigned code = 0; code <= 0xFF; ++code)
    if (to_string(static_cast<fcvi::Reason>(code)) == name && name != wire::text::unknown)
      return static_cast<fcvi::Reason>(code);
  return std::nullopt;
}

}  // namespace faults
