// FARP: from an IP address to an N_Port_ID, by broadcast (FC-VI 7.5, FC-LS 4.2.17).
#pragma once
#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// Match Address Code Points, bits.
namespace farp_match {
inline constexpr std::uint8_t port_name = 0x01;
inline constexpr std::uint8_t node_name = 0x02;
inline constexpr std::uint8_t ip_address = 0x04;  // the only one that FC-VI uses (FC-VI 7.5 item 1)
}  // namespace farp_match

/// Responder Action, bits.
namespace farp_action {
inline constexpr std::uint8_t login = 0x01;
inline constexpr std::uint8_t reply = 0x02;  // the only one that FC-VI uses (FC-VI 7.5 item 2)
}  // namespace farp_action

/// FARP-REQ and FARP-REPLY, 76 bytes. Both are requests: a reply opens an exchange of its own.
/// word  | 31-24            | 23-0
///  0    | 54h, 55h         | 0
///  1    | match code points | requesting N_Port_ID
///  2    | responder action  | responding N_Port_ID
///  3-4  | requesting Port_Name
///  5-6  | requesting Node_Name
///  7-8  | responding Port_Name
///  9-10 | responding Node_Name
///  11-14 | requesting IP address
///  15-18 | responding IP address
template <Command Code>
struct Farp {
  std::uint8_t match_code_points = farp_match::ip_address;
  FcId requesting_n_port_id{};
  std::uint8_t responder_action = farp_action::reply;
  FcId responding_n_port_id{};
  Wwn requesting_port_name{};
  Wwn requesting_node_name{};
  Wwn responding_port_name{};
  Wwn responding_node_name{};
  IpAddress requesting_ip{};
  IpAddress responding_ip{};

  static constexpr std::string_view name = Code == Command::farp_req ? "FARP-REQ" : "FARP-REPLY";
  static constexpr std::array<Command, 1> commands{Code};
  static constexpr auto layout =
      codec::layout<76>(codec::constant<0, 1>(static_cast<std::uint8_t>(Code), "command"),
                        codec::word<4, 4>(codec::part<31, 24>(&Farp::match_code_points, "match_code_points"),
                                          codec::part<23, 0>(&Farp::requesting_n_port_id, "requesting_n_port_id")),
                        codec::word<8, 4>(codec::part<31, 24>(&Farp::responder_action, "responder_action"),
                                          codec::part<23, 0>(&Farp::responding_n_port_id, "responding_n_port_id")),
                        codec::field<12, 8>(&Farp::requesting_port_name, "requesting_port_name"),
                        codec::field<20, 8>(&Farp::requesting_node_name, "requesting_node_name"),
                        codec::field<28, 8>(&Farp::responding_port_name, "responding_port_name"),
                        codec::field<36, 8>(&Farp::responding_node_name, "responding_node_name"),
                        codec::field<44, 16>(&Farp::requesting_ip, "requesting_ip"),
                        codec::field<60, 16>(&Farp::responding_ip, "responding_ip"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<Farp> parse(Bytes bytes) { return codec::parse<Farp>(bytes); }
  void write(MutableBytes to) const { codec::write(*this, to); }
  [[nodiscard]] std::string to_string() const { return codec::describe(*this); }
  friend bool operator==(const Farp&, const Farp&) = default;
};
using FarpRequest = Farp<Command::farp_req>;
using FarpReply = Farp<Command::farp_reply>;

}  // namespace wire::els
