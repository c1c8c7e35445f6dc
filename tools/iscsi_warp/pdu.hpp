// iSCSI PDUs (RFC 7143 11) as far as this program speaks them: logins, SCSI commands and their data, R2T, logout.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace iscsi {

enum class Opcode : std::uint8_t {
  scsi_command = 0x01,
  login_request = 0x03,
  data_out = 0x05,
  logout_request = 0x06,
  scsi_response = 0x21,
  login_response = 0x23,
  data_in = 0x25,  // 45h in Appendix B of the draft (ruling W-10)
  logout_response = 0x26,
  r2t = 0x31,
  reject = 0x3F,
};

inline constexpr std::uint8_t final_bit = 0x80;                   // F, and T of a login
inline constexpr std::uint8_t read_bit = 0x40, write_bit = 0x20;  // of a SCSI Command
inline constexpr std::uint8_t status_bit = 0x01;                  // S of Data-In: it has the status
inline constexpr std::uint32_t no_tag = 0xFFFF'FFFF;

/// Octets of the Basic Header Segment.
namespace at {
inline constexpr std::size_t opcode = 0, flags = 1, response = 2, status = 3, data_length = 5, isid = 8, tsih = 14,
                             task_tag = 16, transfer_tag = 20, expected_length = 20, cid = 20, stat_sn = 24,
                             command_sn = 24, expected_command_sn = 28, max_command_sn = 32, cdb = 32, data_sn = 36,
                             status_class = 36, buffer_offset = 40, desired_length = 44;
}  // namespace at

/// A PDU: its header, and its data segment without the pad. No AHS, no digests.
struct Pdu {
  static constexpr std::size_t header_octets = 48;
  std::array<std::uint8_t, header_octets> header{};
  std::vector<std::uint8_t> data{};

  Pdu() = default;
  explicit Pdu(Opcode opcode, std::uint8_t flags = final_bit) {
    header[at::opcode] = static_cast<std::uint8_t>(opcode);
    header[at::flags] = flags;
  }
  [[nodiscard]] Opcode opcode() const { return static_cast<Opcode>(header[at::opcode] & 0x3F); }
  [[nodiscard]] std::uint8_t flags() const { return header[at::flags]; }
  [[nodiscard]] std::uint32_t word(std::size_t octet) const { return number(octet, 4); }
  void set_word(std::size_t octet, std::uint32_t value) { set_number(octet, 4, value); }
  [[nodiscard]] std::uint16_t half(std::size_t octet) const { return static_cast<std::uint16_t>(number(octet, 2)); }
  void set_half(std::size_t octet, std::uint16_t value) { set_number(octet, 2, value); }
  /// DataSegmentLength. Of a Data PDU over WARP: of what was written, and does not follow.
  [[nodiscard]] std::uint32_t data_length() const { return number(at::data_length, 3); }
  void set_data_length(std::size_t octets) { set_number(at::data_length, 3, static_cast<std::uint32_t>(octets)); }
  [[nodiscard]] std::uint32_t task_tag() const { return word(at::task_tag); }

 private:
  [[nodiscard]] std::uint32_t number(std::size_t octet, std::size_t octets) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < octets; ++i) value = value << 8 | header[octet + i];
    return value;
  }
  void set_number(std::size_t octet, std::size_t octets, std::uint32_t value) {
    for (std::size_t i = 0; i < octets; ++i)
      header[octet + i] = static_cast<std::uint8_t>(value >> (8 * (octets - 1 - i)));
  }
};

/// Login texts: KEY=VALUE, each with an octet 0 behind it (RFC 7143 6.1).
using Keys = std::map<std::string, std::string>;
[[nodiscard]] inline std::vector<std::uint8_t> text_of(const Keys& keys) {
  std::vector<std::uint8_t> text;
  for (const auto& [key, value] : keys) {
    const std::string one = key + "=" + value;
    text.insert(text.end(), one.begin(), one.end());
    text.push_back(0);
  }
  return text;
}
[[nodiscard]] inline Keys keys_of(std::span<const std::uint8_t> text) {
  Keys keys;
  std::string one;
  for (const std::uint8_t octet : text) {
    if (octet != 0) {
      one += static_cast<char>(octet);
      continue;
    }
    const std::size_t equals = one.find('=');
    if (equals != std::string::npos) keys[one.substr(0, equals)] = one.substr(equals + 1);
    one.clear();
  }
  return keys;
}

// What both ends of this program say, and hold to. One command at a time on a connection, so the Sends that one end may
// get before it takes them are at most those of one command: see Limits::receives of the WARP transport.
inline constexpr std::uint32_t block_octets = 512;
inline constexpr std::uint32_t first_burst_octets = 8'192;  // immediate data
inline constexpr std::uint32_t burst_octets = 1 << 20;      // of one R2T, and of one Data-In
inline constexpr std::uint32_t command_octets = 32 << 20;   // the most that a READ(10) or WRITE(10) moves here
inline constexpr std::uint16_t most_connections = 2;

enum class Status : std::uint8_t { good = 0x00, check_condition = 0x02 };
namespace scsi {
inline constexpr std::uint8_t test_unit_ready = 0x00, read_capacity_10 = 0x25, read_10 = 0x28, write_10 = 0x2A;
}

}  // namespace iscsi
