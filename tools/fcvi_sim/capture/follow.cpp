#include <algorithm>

#include "settings/units.hpp"
#include "tools/fcvi_sim/capture/selection.hpp"
#include "tools/fcvi_sim/capture/words.hpp"
#include "wire/text.hpp"

namespace sim::capture {
namespace {

struct Word {
  std::string_view name;
  Follow what;
};
constexpr Word followable[] = {
    {"connection", Follow::connection}, {"exchange", Follow::exchange}, {"message", Follow::message}};

std::string connection_words(const Connection& connection) {
  std::string text = end_words(connection.originator) + " > " + end_words(connection.responder);
  if (connection.responder != nullptr && connection.responder->address)
    text += ", " + shown_text(connection.responder->address->discriminator);
  const std::string level = level_words(connection);
  return level.empty() ? text : text + ", " + level;
}

/// The one that began it comes first.
std::string connection_words(const TcpPacket& packet) {
  const TcpPacket::End& one = packet.by_connector ? packet.from : packet.to;
  const TcpPacket::End& other = packet.by_connector ? packet.to : packet.from;
  return to_string(one) + " > " + to_string(other) + ", TCP";
}

std::string exchange_words(const ExchangeFacts& exchange) {
  return to_string(wire::FcId{exchange.originator}) + " > " + to_string(wire::FcId{exchange.responder}) + ", OX_ID " +
         wire::text::hex_h(exchange.ox_id, 4) + ", " +
         (exchange.name.empty() ? "begun before the capture" : exchange.name);
}

std::string message_words(const Message& message) {
  return "connection " + std::to_string(message.to->connection->index) + ", " + std::string(message.iu->name) +
         " msg " + std::to_string(message.id) + ", " + settings::format_bytes(message.total);
}

std::uint64_t count_of(Follow what, const Reading& reading) {
  switch (what) {
    case Follow::connection:
      return std::max<std::uint64_t>(reading.tracker().connections().size(), reading.tcp_connection_count());
    case Follow::exchange: return reading.exchange_count();
    case Follow::message: return reading.tracker().message_count();
    case Follow::everything: break;
  }
  return 0;
}

}  // namespace

std::string unknown_number(FollowOption option, const Reading& reading) {
  const std::uint64_t count = count_of(option.what, reading);
  if (option.what == Follow::everything || option.index <= count) return {};
  const auto* const word = std::find_if(std::begin(followable), std::end(followable),
                                        [&](const Word& one) { return one.what == option.what; });
  const std::string name(word->name);
  const std::string has = count == 0 ? "it has none" : "it has " + settings::format_count(count);
  return "--follow: no " + name + " " + std::to_string(option.index) + "; " + has +
         (count == 0 ? std::string() : ", which decode --follow " + name + " which lists");
}

std::string parse_follow(const std::vector<std::string>& words, FollowOption& option) {
  if (words.empty()) return {};
  const auto what = std::find_if(std::begin(followable), std::end(followable),
                                 [&](const Word& word) { return word.name == words.front(); });
  if (what == std::end(followable))
    return "--follow: expected connection, exchange or message, got \"" + words.front() + "\"";
  option.what = what->what;
  option.index = 0;
  if (words.size() < 2 || words[1] == "which") return {};
  const auto index = settings::parse_number(words[1]);
  if (!index || *index == 0) return "--follow: expected a number from 1, or which, got \"" + words[1] + "\"";
  option.index = *index;
  return {};
}

void Follower::offer_to_connection(Seen& seen) {
  if (seen.tcp && seen.tcp->connection == option_.index) return emit_(seen);
  if (!seen.record) return;
  const Connection* connection = seen.record->connection_of();
  const Setup* setup = seen.record->setup.get();
  if (connection == nullptr && setup != nullptr) {
    auto kept = std::make_shared<Seen>(std::move(seen));
    pending_[setup].push_back(std::move(kept));
    return;
  }
  const bool wanted = connection != nullptr && connection->index == option_.index;
  if (const auto found = pending_.find(setup); setup != nullptr && found != pending_.end()) {
    if (wanted)
      for (const auto& kept : found->second) emit_(*kept);
    pending_.erase(found);
  }
  if (wanted) emit_(seen);
}

void Follower::offer(Seen& seen) {
  switch (option_.what) {
    case Follow::everything: return emit_(seen);
    case Follow::connection: return offer_to_connection(seen);
    case Follow::exchange:
      if (seen.exchange && seen.exchange->index == option_.index) emit_(seen);
      return;
    case Follow::message:
      if (seen.record && seen.record->message && seen.record->message->index == option_.index) emit_(seen);
      return;
  }
}

void Census::add(Tally& tally, const Seen& seen, const std::function<std::string()>& words) {
  if (tally.frames++ == 0) {
    tally.first = seen.packet.number;
    tally.words = words();
  }
  tally.last = seen.packet.number;
  if (seen.record) tally.violations += seen.record->notes.size();
}

void Census::count_of_connection(const Seen& seen) {
  const auto& setup = seen.record->setup;
  const auto no_words = [] { return std::string(); };
  const Connection* const connection = seen.record->connection_of();
  if (connection == nullptr) {
    if (setup) add(pending_[setup], seen, no_words);
    return;
  }
  Tally& tally = tallies_[connection->index];
  if (const auto before = pending_.find(setup); setup && before != pending_.end()) {
    if (tally.frames == 0 || before->second.first < tally.first) tally.first = before->second.first;
    tally.frames += before->second.frames;
    tally.violations += before->second.violations;
    pending_.erase(before);
  }
  add(tally, seen, no_words);
}

void Census::count(const Seen& seen) {
  if (seen.tcp && what_ == Follow::connection)
    add(of_tcp_[seen.tcp->connection], seen, [&] { return connection_words(*seen.tcp); });
  if (!seen.record) return;
  const Record& record = *seen.record;
  switch (what_) {
    case Follow::connection: return count_of_connection(seen);
    case Follow::exchange:
      if (seen.exchange) add(tallies_[seen.exchange->index], seen, [&] { return exchange_words(*seen.exchange); });
      return;
    case Follow::message:
      if (record.message) add(tallies_[record.message->index], seen, [&] { return message_words(*record.message); });
      return;
    case Follow::everything: return;
  }
}

std::string Census::line_of(std::uint64_t index, const std::string& words, const Tally& tally) {
  std::string line = std::to_string(index) + ": " + words + ", " + settings::format_count(tally.frames) +
                     (tally.frames == 1 ? " frame, " : " frames, ") + std::to_string(tally.first) + " to " +
                     std::to_string(tally.last);
  if (tally.violations > 0)
    line += ", " + settings::format_count(tally.violations) + (tally.violations == 1 ? " violation" : " violations");
  return line + "\n";
}

std::string Census::text(const Tracker& tracker) const {
  std::string text;
  for (const auto& [index, tally] : tallies_) {
    // What is known of a connection at the end, not at its first frame.
    const std::string words =
        what_ == Follow::connection ? connection_words(tracker.connections()[index - 1]) : tally.words;
    text += line_of(index, words, tally);
  }
  for (const auto& [index, tally] : of_tcp_) text += line_of(index, tally.words, tally);
  return text;
}

}  // namespace sim::capture
