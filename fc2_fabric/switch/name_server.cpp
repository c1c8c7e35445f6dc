#include "fc2_fabric/switch/name_server.hpp"

#include <algorithm>

#include "fc2_fabric/switch/fabric_directory.hpp"
#include "fc2_fabric/switch/name_clerk.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "wire/ct/reject.hpp"

namespace fc2 {
namespace ct = wire::ct;
using Reason = ct::RejectReason;
using Explanation = ct::RejectExplanation;

namespace {
using Bytes = std::span<const std::uint8_t>;

// The requester takes this many words at most, 0: any number; the rest is told as residual (FC-GS 4.3).
void limit(std::vector<std::uint8_t>& answer, std::uint16_t max_words) {
  const std::size_t words = (answer.size() - ct::CtHeader::size() + 3) / 4;
  if (max_words == 0 || words <= max_words) return;
  const std::size_t residual = std::min<std::size_t>(words - max_words, 0xFFFF);
  answer.resize(ct::CtHeader::size() + std::size_t{4} * max_words);
  wire::store_big<2>(std::span(answer), 10, static_cast<std::uint16_t>(residual));
}
}  // namespace

NameServer::NameServer(NPort& port) : port_(port) { port_.set_user(wire::Type::ct, *this); }

std::vector<std::uint8_t> NameServer::answer(wire::FcId source, Bytes iu) {
  const auto preamble = ct::CtHeader::parse(iu);
  if (!preamble) return reject(Reason::invalid_size);
  if (preamble->revision == 0) return reject(Reason::invalid_version);
  if (!preamble->is_name_server()) return reject(Reason::server_not_available);
  if (!is_logged_in(source)) return reject(Reason::unable_to_perform, Explanation::access_denied);
  std::vector<std::uint8_t> answer = carry_out(source, preamble->command, iu);
  limit(answer, preamble->max_residual_size);
  return answer;
}

// FC-GS: commands to get begin at 0100h, those to register and deregister at 0200h.
std::vector<std::uint8_t> NameServer::carry_out(wire::FcId source, ct::Command command, Bytes iu) {
  const bool registers = registry_ != nullptr && static_cast<unsigned>(command) >= 0x0200;
  NameDatabase& database = registers ? registry_->names() : *database_;
  std::vector<std::uint8_t> answer = NameClerk(database, stand_in_, source).carry_out(command, iu);
  if (registers) registry_->registered(source);
  return answer;
}

bool NameServer::is_logged_in(wire::FcId source) {
  const RemotePort* remote = port_.find_remote_port(source);
  return remote != nullptr && remote->logged_in();
}

void NameServer::sequence_received(Exchange& exchange, const wire::FcHeader& first, Bytes iu) {
  if (first.r_ctl != wire::RCtl::unsolicited_control || !exchange.has_initiative()) {
    port_.counters().discard(Discard::UnexpectedIu);
    return port_.release(exchange);
  }
  port_.send(exchange, wire::RCtl::solicited_control, {}, answer(exchange.peer(), iu),
             {.last_of_exchange = true, .transfer_initiative = true});
}

}  // namespace fc2
