// RLS: read the Link Error Status Block of a port.
#pragma once
#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// RLS (FC-LS 4.2.13), 8 bytes
/// word | 31-24    | 23-0
///  0   | 0Fh      | 0
///  1   | reserved | N_Port_ID: whose Link Error Status Block
struct Rls {
  FcId n_port_id{};

  static constexpr std::string_view name = "RLS";
  static constexpr std::array<Command, 1> commands{Command::rls};
  static constexpr auto layout =
      codec::layout<8>(codec::constant<0, 1>(0x0F, "command"), codec::field<5, 3>(&Rls::n_port_id, "n_port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Rls> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Rls&, const Rls&) = default;
};

/// LS_ACC to RLS (FC-LS 4.2.13): the Link Error Status Block of FC-FS, 28 bytes
/// word | 31-0
///  0   | 02000000h
///  1   | Link Failure Count
///  2   | Loss-of-Synchronization Count
///  3   | Loss-of-Signal Count
///  4   | Primitive Sequence Protocol Error
///  5   | Invalid Transmission Word
///  6   | Invalid CRC Count
struct RlsAcc {
  std::uint32_t link_failures = 0;
  std::uint32_t losses_of_synchronization = 0;
  std::uint32_t losses_of_signal = 0;
  std::uint32_t primitive_sequence_errors = 0;
  std::uint32_t invalid_transmission_words = 0;
  std::uint32_t invalid_crcs = 0;

  static constexpr std::string_view name = "LS_ACC(RLS)";
  static constexpr auto layout = codec::layout<28>(
      codec::constant<0, 1>(0x02, "command"), codec::field<4, 4>(&RlsAcc::link_failures, "link_failures"),
      codec::field<8, 4>(&RlsAcc::losses_of_synchronization, "losses_of_synchronization"),
      codec::field<12, 4>(&RlsAcc::losses_of_signal, "losses_of_signal"),
      codec::field<16, 4>(&RlsAcc::primitive_sequence_errors, "primitive_sequence_errors"),
      codec::field<20, 4>(&RlsAcc::invalid_transmission_words, "invalid_transmission_words"),
      codec::field<24, 4>(&RlsAcc::invalid_crcs, "invalid_crcs"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RlsAcc> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RlsAcc&, const RlsAcc&) = default;
};

}  // namespace wire::els
