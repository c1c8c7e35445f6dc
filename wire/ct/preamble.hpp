// The 16 bytes that every CT_IU begins with.
#pragma once
#include "wire/codec.hpp"
#include "wire/ct/command.hpp"

namespace wire::ct {

inline constexpr std::uint8_t gs_type_directory = 0xFC;
inline constexpr std::uint8_t gs_subtype_name_server = 0x02;

/// CT_IU preamble (FC-GS 4.3), 16 bytes
/// word | 31-24           | 23-16       | 15-8        | 7-0
///  0   | revision        | IN_ID
///  1   | GS_Type         | GS_Subtype  | options     | reserved
///  2   | command or response code      | maximum or residual size, words
///  3   | fragment ID     | reason      | explanation | vendor specific
struct CtHeader {
  std::uint8_t revision = 1;
  FcId in_id{};
  std::uint8_t gs_type = gs_type_directory;
  std::uint8_t gs_subtype = gs_subtype_name_server;
  std::uint8_t options = 0;
  Command command{};
  std::uint16_t max_residual_size = 0;
  std::uint8_t fragment_id = 0;
  RejectReason reason{};
  RejectExplanation explanation{};
  std::uint8_t vendor_specific = 0;

  static constexpr std::string_view name = "CT";
  static constexpr auto layout = codec::layout<16>(
      codec::word<0, 4>(codec::part<31, 24>(&CtHeader::revision, "revision"),
                        codec::part<23, 0>(&CtHeader::in_id, "in_id")),
      codec::field<4, 1>(&CtHeader::gs_type, "gs_type"), codec::field<5, 1>(&CtHeader::gs_subtype, "gs_subtype"),
      codec::field<6, 1>(&CtHeader::options, "options"), codec::field<8, 2>(&CtHeader::command, "command"),
      codec::field<10, 2>(&CtHeader::max_residual_size, "max_residual_size"),
      codec::field<12, 1>(&CtHeader::fragment_id, "fragment_id"), codec::field<13, 1>(&CtHeader::reason, "reason"),
      codec::field<14, 1>(&CtHeader::explanation, "explanation"),
      codec::field<15, 1>(&CtHeader::vendor_specific, "vendor_specific"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<CtHeader> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const CtHeader&, const CtHeader&) = default;

  /// The preamble of a name server request, accept or (reason, explanation) reject.
  [[nodiscard]] static constexpr CtHeader of(Command command) {
    CtHeader header;
    header.command = command;
    return header;
  }
  /// A name server request or answer.
  [[nodiscard]] constexpr bool is_name_server() const {
    return gs_type == gs_type_directory && gs_subtype == gs_subtype_name_server;
  }
};

/// A name server request: knows its command.
template <class Message>
concept Request = requires {
  Message::command;
};

}  // namespace wire::ct
