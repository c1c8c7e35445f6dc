// Between the VI model's words and those of VI/TCP.
#pragma once
#include "vi/vi.hpp"
#include "vitcp/channel.hpp"
#include "wire/vitcp/segment.hpp"

namespace vitcp {

[[nodiscard]] wire::vitcp::ReliabilityLevel to_wire(vi::ReliabilityLevel level);
[[nodiscard]] vi::ReliabilityLevel from_wire(wire::vitcp::ReliabilityLevel level);

/// With the length that the consumer gave it; at most 64 octets (ruling V-14).
[[nodiscard]] wire::vitcp::Discriminator discriminator_of(const vi::NetAddress& address);
[[nodiscard]] vi::NetAddress address_of(const wire::IpAddress& host, const wire::vitcp::Discriminator& discriminator);
[[nodiscard]] bool fits(const vi::NetAddress& address);

/// The CE header of a ConnectRequest, or of the ConnectAccept that answers one, of a VI with these attributes. The
/// caller adds the discriminators, the MTU of an answer and the options.
[[nodiscard]] wire::vitcp::CeHeader ce_header(const ProviderConfig& config, const vi::ViAttributes& attributes);
/// Of the VI that sent it.
[[nodiscard]] vi::ViAttributes attributes_of(const wire::vitcp::CeHeader& ce);

/// What a set-up agreed: both connection segments, as the one that sent `ours` sees it.
[[nodiscard]] Terms terms_of(const wire::vitcp::Segment& ours, const wire::vitcp::Segment& theirs);

}  // namespace vitcp
