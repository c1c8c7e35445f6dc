// RSCN: registered state change notification.
#pragma once
#include <vector>

#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// How much of the affected address counts.
enum class AddressFormat : std::uint8_t { port = 0, area = 1, domain = 2, fabric = 3 };
[[nodiscard]] std::string_view to_string(AddressFormat format);

/// Affected N_Port_ID page, 4 bytes
/// word | 31-30    | 29-26           | 25-24          | 23-0
///  0   | reserved | event qualifier | address format | affected address
struct RscnPage {
  std::uint8_t event_qualifier = 0;
  AddressFormat format{};
  FcId address{};

  static constexpr std::string_view name = "PAGE";
  static constexpr auto layout = codec::layout<4>(codec::word<0, 4>(
      codec::part<29, 26>(&RscnPage::event_qualifier, "event_qualifier"),
      codec::part<25, 24>(&RscnPage::format, "format"), codec::part<23, 0>(&RscnPage::address, "address")));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<RscnPage> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const RscnPage&, const RscnPage&) = default;
  /// The page covers `id`.
  [[nodiscard]] bool affects(FcId id) const;
};

/// RSCN (FC-LS 4.2.24), 4 + 4 n bytes
/// word | 31-24 | 23-16           | 15-0
///  0   | 61h   | page length 04h | payload length, bytes, this word included
///  1.. | affected N_Port_ID pages
struct Rscn {
  std::vector<RscnPage> pages;

  static constexpr std::string_view name = "RSCN";
  static constexpr std::array<Command, 1> commands{Command::rscn};
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] static Result<Rscn> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Rscn&, const Rscn&) = default;
};

}  // namespace wire::els
