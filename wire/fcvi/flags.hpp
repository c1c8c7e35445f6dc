// FCVI_FLAGS (FC-VI 5.9.4). Bits that a table does not name are reserved: written 0, ignored on receipt (5.9.5).
#pragma once
#include <cstdint>
#include <string_view>

namespace wire::fcvi {

/// FC-VI Table 5: SEND_RQST and WRITE_RQST; never in READ_RQST.
namespace message_request_flag {
inline constexpr std::uint8_t imm_data = 0x01;  // FCVI_PARAMETER is Immediate Data
inline constexpr std::uint8_t all = imm_data;
}  // namespace message_request_flag

/// FC-VI Table 6.
namespace message_response_flag {
inline constexpr std::uint8_t trans_err = 0x08;  // Transport Error
inline constexpr std::uint8_t prot_err = 0x04;   // RDMA Protection Error
inline constexpr std::uint8_t desc_err = 0x02;   // Remote Descriptor Error
inline constexpr std::uint8_t resp_err = 0x01;   // the Message Transfer failed
inline constexpr std::uint8_t all = trans_err | prot_err | desc_err | resp_err;
}  // namespace message_response_flag

/// FC-VI Table 7 (ruling 4).
namespace connect_request_flag {
inline constexpr std::uint8_t retry = 0x10;      // retried Connection Setup
inline constexpr std::uint8_t conn_info = 0x08;  // 256 bytes of FC-VI Provider Connect Info are present
inline constexpr std::uint8_t mode_mask = 0x07;  // ConnectMode
inline constexpr std::uint8_t all = retry | conn_info | mode_mask;
}  // namespace connect_request_flag

/// FC-VI Table 9 (ruling 4).
namespace connect_response_flag {
inline constexpr std::uint8_t retry = 0x04;
inline constexpr std::uint8_t conn_info = 0x02;
inline constexpr std::uint8_t conn_sts = 0x01;  // FCVI_PARAMETER is a ConnectionStatus
inline constexpr std::uint8_t all = retry | conn_info | conn_sts;
}  // namespace connect_response_flag

/// FC-VI Table 10 (ruling 6).
namespace disconnect_flag {
inline constexpr std::uint8_t conn_setup_abort = 0x04;  // a Connection Setup is aborted, not a connection
inline constexpr std::uint8_t vi_app_discon = 0x02;     // asked for by the VI Application, not by the provider
inline constexpr std::uint8_t conn_sts = 0x01;          // FCVI_PARAMETER is a ConnectionStatus
inline constexpr std::uint8_t all = conn_setup_abort | vi_app_discon | conn_sts;
}  // namespace disconnect_flag

/// FC-VI Table 8; other values are reserved and kept as received.
enum class ConnectMode : std::uint8_t { client_server = 1, peer_to_peer = 2 };
[[nodiscard]] std::string_view to_string(ConnectMode mode);

}  // namespace wire::fcvi
