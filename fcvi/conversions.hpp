// Between the VI model's types and those of the wire (FC-VI 7.2, 7.3; rulings 16 and 21).
#pragma once
#include <optional>

#include "state_machines/connect_originator.hpp"
#include "state_machines/connect_responder.hpp"
#include "state_machines/peer_arbitration.hpp"
#include "vi/types.hpp"
#include "wire/fcvi/attributes.hpp"
#include "wire/fcvi/connect_payload.hpp"
#include "wire/fcvi/reason.hpp"

namespace fcvi {

/// Reliability level 1, 2, 4 in the API, 1, 2, 3 on the wire (ruling 16).
wire::fcvi::ReliabilityLevel to_wire(vi::ReliabilityLevel level);
/// Empty for a reserved value (FC-VI 7.3).
std::optional<vi::ReliabilityLevel> from_wire(wire::fcvi::ReliabilityLevel level);

wire::fcvi::Attributes to_wire(const vi::ViAttributes& attributes, std::uint32_t pipeline_depth, bool preference);
/// Empty when a value is reserved.
std::optional<vi::ViAttributes> from_wire(const wire::fcvi::Attributes& attributes);

wire::fcvi::NetAddress to_wire(const vi::NetAddress& address);

/// The caller's own discriminator lengths travel in the provider's connect info when the wire's at least 16 bytes
/// would hide them (ruling 21): "FCVI", version 1, local length, remote length.
std::optional<wire::fcvi::ConnectInfo> discriminator_lengths(const vi::NetAddress& local, const vi::NetAddress& remote);
/// The payload's local address with the length that its sender's caller gave.
vi::NetAddress local_address(const wire::fcvi::ConnectPayload& payload);
vi::NetAddress remote_address(const wire::fcvi::ConnectPayload& payload);

/// CONN_STS and Reason Code of a RESP1 or RESP3 (Table 12).
machines::connect_originator::Verdict verdict_of(const std::optional<wire::fcvi::ConnectionStatus>& status);
/// The same for the arbitration between peers, row by row of Table 2.
machines::peer_arbitration::Resp1 arbitrated(const std::optional<wire::fcvi::ConnectionStatus>& status,
                                             machines::connect_originator::Verdict verdict);
std::optional<wire::fcvi::ConnectionStatus> status_of(machines::connect_responder::Answer answer);

}  // namespace fcvi
