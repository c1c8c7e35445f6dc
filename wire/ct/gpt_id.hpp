// GPT_ID: the port type of an N_Port_ID. Accept: PortTypeAccept.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GPT_ID (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
struct GptId {
  CtHeader preamble = CtHeader::of(Command::gpt_id);
  FcId port_id{};

  static constexpr std::string_view name = "GPT_ID";
  static constexpr Command command = Command::gpt_id;
  static constexpr auto layout =
      codec::layout<20>(codec::field<0, 16>(&GptId::preamble, "preamble"), codec::check<8, 2>(0x011A, "command"),
                        codec::field<17, 3>(&GptId::port_id, "port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GptId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GptId&, const GptId&) = default;
};

}  // namespace wire::ct
