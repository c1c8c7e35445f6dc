// What a user can choose of RDMA over TCP: a YAML file, named by IWARP_CONFIG. Without it all is at its default.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "iwarp/services.hpp"
#include "settings/tree.hpp"

namespace verbs {

/// What carries DDP, over TCP or, of sctp, in SCTP. Nothing negotiates it: both ends of a port have the same (IFT 4,
/// ruling W-8).
enum class Framing : std::uint8_t { mpa, ift, sctp };

/// How connections are set up.
struct Terms {
  Framing framing = Framing::mpa;
  bool crc = true;            // of MPA one end is enough (ruling M-2); of IFT both say the same (I-7); SCTP has its own
  bool markers = false;       // in what this end receives (ruling M-1); MPA alone has them (I-11)
  std::uint8_t revision = 2;  // in requests of this end: 1 or 2; of SCTP 2 is the enhanced one (RFC 6581 7)
  bool immediate_data = false;           // of RFC 7306: the other end has it, too (ruling M-10)
  bool peer_to_peer = true;              // requests offer an RTR indication, a zero-length RDMA Write (ruling M-4)
  runtime::TimeNs first_fpdu_delay = 0;  // of the program's first one, at the end that asks: siw may miss it (M-5);
                                         // and at the other end, if it does not wait: siw refuses it (M-28)
  bool await_first_fpdu = true;          // at the end that is asked without RTR; siw asks so, and waits, too (M-28)
  runtime::TimeNs refused_retry = 0;     // a connection that is refused is tried again for so long
};

/// Terms of some connections: of those to a peer, or at a local port.
struct Rule {
  std::optional<wire::IpAddress> peer{};
  std::optional<std::uint16_t> port{};  // where the accepting side listens
  Terms terms{};
};

struct Configuration {
  Terms terms{};
  std::vector<Rule> rules{};              // the first one that fits counts
  std::vector<std::string> interfaces{};  // those that become devices; empty: all
  iwarp::Config startup{};                // time-outs, half-open start-ups; emss is the interface's
  std::size_t depth = 16'384;             // most work requests of a queue
  std::size_t reads = 64;                 // most RDMA Reads at once, in each direction

  [[nodiscard]] const Terms& terms_for(const wire::IpAddress& peer, std::uint16_t port) const;
  [[nodiscard]] bool has_interface(const std::string& name) const;
};

[[nodiscard]] settings::Result<Configuration> parse_configuration(const std::string& text, const std::string& name);
/// As IWARP_CONFIG says. What is wrong goes to the standard error output once, and the defaults hold.
[[nodiscard]] Configuration configuration_of_environment();

}  // namespace verbs
