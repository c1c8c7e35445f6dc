// PLOGI, FLOGI, FDISC and their accepts: one payload.
#pragma once
#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// Common features: word 2 bits 31-16 of the payload, word 1 bits 31-16 of the common service parameters.
namespace feature {
inline constexpr std::uint16_t continuously_increasing_relative_offset = 0x8000;  // parameter word 1 bit 31 (ruling 12)
inline constexpr std::uint16_t r_a_tov_present = 0x8000;                          // in an FLOGI accept, the same bit
inline constexpr std::uint16_t random_relative_offset = 0x4000;
inline constexpr std::uint16_t valid_vendor_version = 0x2000;
inline constexpr std::uint16_t f_port = 0x1000;  // sent by the fabric, or by a VN2VN peer's accept: 0
inline constexpr std::uint16_t alternate_bb_credit = 0x0800;
inline constexpr std::uint16_t e_d_tov_ns = 0x0400;  // E_D_TOV in nanoseconds; otherwise milliseconds
inline constexpr std::uint16_t seq_cnt = 0x0002;     // parameter word 1 bit 17: continuously increasing SEQ_CNT
}  // namespace feature

/// Class service parameters, word 0 bits 31-16.
namespace class_option {
inline constexpr std::uint16_t valid = 0x8000;
inline constexpr std::uint16_t intermix = 0x4000;
inline constexpr std::uint16_t sequential_delivery = 0x0800;  // in-order delivery
}  // namespace class_option

/// Initiator control and recipient control of a class.
namespace class_control {
inline constexpr std::uint16_t initiator_ack_0 = 0x0800;  // ACK_0 is understood
inline constexpr std::uint16_t recipient_ack_0 = 0x8000;  // ACK_0 is sent
}  // namespace class_control

/// Service parameters of one class (FC-LS 6.6.5), 16 bytes
/// word | 31-16                       | 15-0
///  0   | service options             | initiator control
///  1   | recipient control           | receive data field size, bytes
///  2   | concurrent sequences        | end-to-end credit (class 1, 2)
///  3   | open sequences per exchange | class 6 multicast RX_ID
struct ClassParameters {
  std::uint16_t service_options = 0;
  std::uint16_t initiator_control = 0;
  std::uint16_t recipient_control = 0;
  std::uint16_t receive_data_field_size = 0;
  std::uint16_t concurrent_sequences = 0;
  std::uint16_t end_to_end_credit = 0;
  std::uint16_t open_sequences_per_exchange = 0;
  std::uint16_t multicast_rx_id = 0;

  static constexpr std::string_view name = "CLASS";
  static constexpr auto layout = codec::layout<16>(
      codec::field<0, 2>(&ClassParameters::service_options, "service_options"),
      codec::field<2, 2>(&ClassParameters::initiator_control, "initiator_control"),
      codec::field<4, 2>(&ClassParameters::recipient_control, "recipient_control"),
      codec::field<6, 2>(&ClassParameters::receive_data_field_size, "receive_data_field_size"),
      codec::field<8, 2>(&ClassParameters::concurrent_sequences, "concurrent_sequences"),
      codec::field<10, 2>(&ClassParameters::end_to_end_credit, "end_to_end_credit"),
      codec::field<12, 2>(&ClassParameters::open_sequences_per_exchange, "open_sequences_per_exchange"),
      codec::field<14, 2>(&ClassParameters::multicast_rx_id, "multicast_rx_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<ClassParameters> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ClassParameters&, const ClassParameters&) = default;
  [[nodiscard]] constexpr bool valid() const { return (service_options & class_option::valid) != 0; }
};

/// PLOGI, FLOGI, FDISC and LS_ACC to them (FC-LS 4.2.2, 4.2.6), 116 bytes
/// word  | 31-24      | 23-16    | 15-8        | 7-0
///  0    | command    | 0
///  1    | highest and lowest version | BB_Credit
///  2    | common features            | BB_SC_N (4), receive data field size (12), bytes
///  3    | PLOGI: total concurrent sequences, relative offset by category; FLOGI accept: R_A_TOV, ms
///  4    | E_D_TOV, ms or ns (feature::e_d_tov_ns)
///  5-6  | Port_Name
///  7-8  | Node_Name, or Fabric_Name
///  9-12, 13-16, 17-20, 21-24 | class 1, 2, 3, 4 parameters
///  25-28 | vendor version
struct Login {
  Command command = Command::plogi;  // plogi, flogi, fdisc; ls_acc in their accepts
  std::uint16_t version = 0x2020;
  std::uint16_t bb_credit = 0;
  std::uint16_t features = 0;
  std::uint8_t bb_sc_n = 0;
  std::uint16_t receive_data_field_size = 0;
  std::uint16_t total_concurrent_sequences = 0;
  std::uint16_t relative_offset_by_category = 0;
  std::uint32_t e_d_tov = 0;
  Wwn port_name{};
  Wwn node_name{};
  ClassParameters class_1{};
  ClassParameters class_2{};
  ClassParameters class_3{};
  ClassParameters class_4{};
  std::array<std::uint8_t, 16> vendor_version{};

  static constexpr std::string_view name = "LOGIN";
  static constexpr std::array<Command, 3> commands{Command::plogi, Command::flogi, Command::fdisc};
  static constexpr auto layout = codec::layout<116>(
      codec::choice<0, 1>(&Login::command, "command", Command::plogi, Command::flogi, Command::fdisc, Command::ls_acc),
      codec::field<4, 2>(&Login::version, "version"), codec::field<6, 2>(&Login::bb_credit, "bb_credit"),
      codec::field<8, 2>(&Login::features, "features"),
      codec::word<10, 2>(codec::part<15, 12>(&Login::bb_sc_n, "bb_sc_n"),
                         codec::part<11, 0>(&Login::receive_data_field_size, "receive_data_field_size")),
      codec::field<12, 2>(&Login::total_concurrent_sequences, "total_concurrent_sequences"),
      codec::field<14, 2>(&Login::relative_offset_by_category, "relative_offset_by_category"),
      codec::field<16, 4>(&Login::e_d_tov, "e_d_tov"), codec::field<20, 8>(&Login::port_name, "port_name"),
      codec::field<28, 8>(&Login::node_name, "node_name"), codec::field<36, 16>(&Login::class_1, "class_1"),
      codec::field<52, 16>(&Login::class_2, "class_2"), codec::field<68, 16>(&Login::class_3, "class_3"),
      codec::field<84, 16>(&Login::class_4, "class_4"),
      codec::field<100, 16>(&Login::vendor_version, "vendor_version"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Login> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Login&, const Login&) = default;

  [[nodiscard]] constexpr bool has(std::uint16_t feature_bits) const {
    return (features & feature_bits) == feature_bits;
  }
  /// Word 3 of an FLOGI accept, milliseconds.
  [[nodiscard]] constexpr std::uint32_t r_a_tov_ms() const {
    return std::uint32_t{total_concurrent_sequences} << 16 | relative_offset_by_category;
  }
  constexpr void set_r_a_tov_ms(std::uint32_t r_a_tov_ms) {
    total_concurrent_sequences = static_cast<std::uint16_t>(r_a_tov_ms >> 16);
    relative_offset_by_category = static_cast<std::uint16_t>(r_a_tov_ms);
  }
  /// Word 4, whichever unit it is in; less than 1 ms counts as 0.
  [[nodiscard]] constexpr std::uint32_t e_d_tov_ms() const {
    return has(feature::e_d_tov_ns) ? e_d_tov / 1'000'000 : e_d_tov;
  }
};

}  // namespace wire::els
