// PRLI: process login, asked for by peers that speak FCP. Its accept has the same pages.
#pragma once
#include <vector>

#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// Service parameter page (FC-LS 6.3), 16 bytes
/// word | 31-24 | 23-16          | 15-0
///  0   | TYPE  | TYPE extension | flags; in an accept bits 11-8 are the response code
///  1   | originator process associator
///  2   | responder process associator
///  3   | service parameters of the FC-4
struct PrliPage {
  static constexpr std::uint16_t establish_image_pair = 0x2000;
  static constexpr std::uint16_t response_code_mask = 0x0F00;
  static constexpr std::uint16_t request_executed = 0x0100;

  std::uint8_t type = 0;
  std::uint8_t type_extension = 0;
  std::uint16_t flags = 0;
  std::uint32_t originator_process_associator = 0;
  std::uint32_t responder_process_associator = 0;
  std::uint32_t service_parameters = 0;

  static constexpr std::string_view name = "PAGE";
  static constexpr auto layout = codec::layout<16>(
      codec::field<0, 1>(&PrliPage::type, "type"), codec::field<1, 1>(&PrliPage::type_extension, "type_extension"),
      codec::field<2, 2>(&PrliPage::flags, "flags"),
      codec::field<4, 4>(&PrliPage::originator_process_associator, "originator_process_associator"),
      codec::field<8, 4>(&PrliPage::responder_process_associator, "responder_process_associator"),
      codec::field<12, 4>(&PrliPage::service_parameters, "service_parameters"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<PrliPage> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const PrliPage&, const PrliPage&) = default;
};

/// PRLI and LS_ACC to it (FC-LS 4.2.19), 4 + 16 n bytes
/// word | 31-24    | 23-16           | 15-0
///  0   | 20h, 02h | page length 10h | payload length, bytes, this word included
///  1.. | service parameter pages
struct Prli {
  Command command = Command::prli;  // ls_acc in the accept
  std::vector<PrliPage> pages;

  static constexpr std::string_view name = "PRLI";
  static constexpr std::array<Command, 1> commands{Command::prli};
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<Prli> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Prli&, const Prli&) = default;
};

}  // namespace wire::els
