#include "tools/fcvi_sim/parts/rank_exchange.hpp"

#include <sched.h>

namespace sim {
namespace {
constexpr auto channel = ranks::Channel::Fabric;
/// The first byte of each message.
enum class Kind : std::uint8_t { Standing, Failure };
}  // namespace

Exchange::Met RankExchange::meet(const Standing& own, std::vector<ByteString> messages) {
  for (std::size_t other = 0; other < parts(); ++other) {
    if (other == part()) continue;
    ByteWriter message;
    message.put(Kind::Standing);
    message.put(own);
    message.put_bytes(messages[other]);
    ranks_.send(static_cast<int>(other), channel, message.bytes());
  }
  Met met{std::vector<Standing>(parts()), std::vector<ByteString>(parts())};
  met.standings[part()] = own;
  met.messages[part()] = std::move(messages[part()]);
  for (std::size_t other = 0; other < parts(); ++other) {
    if (other == part()) continue;
    const ranks::Message message = wait_for(static_cast<int>(other));
    ByteReader reader(message.bytes);
    if (reader.get<Kind>() == Kind::Failure) throw PartLost(reader.get_text());
    met.standings[other] = reader.get<Standing>();
    const auto rest = std::span(message.bytes).subspan(sizeof(Kind) + sizeof(Standing));
    met.messages[other].assign(rest.begin(), rest.end());
  }
  return met;
}

std::vector<ByteString> RankExchange::gather(ByteString own) {
  std::vector<ByteString> messages(parts());
  messages[0] = std::move(own);
  Met met = meet({}, std::move(messages));
  return part() == 0 ? std::move(met.messages) : std::vector<ByteString>{};
}

void RankExchange::fail(const std::string& why) {
  ByteWriter message;
  message.put(Kind::Failure);
  message.put_text(why);
  for (std::size_t other = 0; other < parts(); ++other)
    if (other != part()) ranks_.send(static_cast<int>(other), channel, message.bytes());
}

/// On the processor, since most windows are short.
ranks::Message RankExchange::wait_for(int rank) {
  constexpr int tries_at_once = 200;
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    for (int tries = 0; tries < tries_at_once; ++tries)
      if (auto message = ranks_.take_from(rank, channel)) return std::move(*message);
    if (std::chrono::steady_clock::now() - begin > patience_)
      throw PartGone("rank " + std::to_string(rank) + " has not come to the end of its window for " +
                     std::to_string(patience_.count()) + " s: it died, stands still, or is that slow (--patience)");
    ::sched_yield();
  }
}

}  // namespace sim
