// GCS_ID: the classes of service of an N_Port_ID.
#pragma once
#include "wire/ct/preamble.hpp"

namespace wire::ct {

/// GCS_ID (FC-GS 5.2.5), 20 bytes, after the preamble:
/// word | 31-24    | 23-0
///  4   | reserved | N_Port_ID
struct GcsId {
  CtHeader preamble = CtHeader::of(Command::gcs_id);
  FcId port_id{};

  static constexpr std::string_view name = "GCS_ID";
  static constexpr Command command = Command::gcs_id;
  static constexpr auto layout =
      codec::layout<20>(codec::field<0, 16>(&GcsId::preamble, "preamble"), codec::check<8, 2>(0x0114, "command"),
                        codec::field<17, 3>(&GcsId::port_id, "port_id"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<GcsId> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const GcsId&, const GcsId&) = default;
};

/// Accept of GCS_ID, 20 bytes, after the preamble:
/// word | 31-0
///  4   | classes of service: bit n is class n, bit 0 class F
struct ClassesOfServiceAccept {
  CtHeader preamble = CtHeader::of(Command::accept);
  std::uint32_t classes_of_service = 0;

  static constexpr std::string_view name = "CT_ACC(CLASSES)";
  static constexpr auto layout = codec::layout<20>(
      codec::field<0, 16>(&ClassesOfServiceAccept::preamble, "preamble"), codec::check<8, 2>(0x8002, "command"),
      codec::field<16, 4>(&ClassesOfServiceAccept::classes_of_service, "classes_of_service"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<ClassesOfServiceAccept> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ClassesOfServiceAccept&, const ClassesOfServiceAccept&) = default;
};

}  // namespace wire::ct
