#include "tools/fcvi_sim/run/merged_result.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "tools/fcvi_sim/parts/byte_stream.hpp"

namespace sim {

std::string_view constant(const std::string& text) {
  static std::set<std::string, std::less<>> all;
  return *all.insert(text).first;
}

namespace {

// --- of workloads

constexpr std::array completion_lists = {&WorkloadResult::client_sends, &WorkloadResult::client_receives,
                                         &WorkloadResult::server_sends, &WorkloadResult::server_receives};

void put(ByteWriter& to, const TransferResult& transfer) {
  to.put(transfer.begun);
  to.put(transfer.ended);
  to.put(transfer.different);
  to.put(transfer.lost);
  to.put(transfer.messages);
  to.put(transfer.bytes);
  to.put(transfer.duration);
  to.put(transfer.traffic);
  to.put(transfer.unexpected_status);
  to.put(transfer.digest);
}

TransferResult transfer_of(ByteReader& from) {
  TransferResult transfer;
  transfer.begun = from.get<std::uint32_t>();
  transfer.ended = from.get<std::uint32_t>();
  transfer.different = from.get<std::uint32_t>();
  transfer.lost = from.get<std::uint64_t>();
  transfer.messages = from.get<std::uint64_t>();
  transfer.bytes = from.get<std::uint64_t>();
  transfer.duration = from.get<runtime::TimeNs>();
  transfer.traffic = from.get<Traffic>();
  transfer.unexpected_status = from.get<std::optional<std::uint32_t>>();
  transfer.digest = from.get<Sha256>();
  return transfer;
}

/// What is no list.
struct Ends {
  std::optional<vi::Return> connect, accept, disconnect, server_disconnect;
  vi::State client_state, server_state;
  bool client_ended, server_ended;
  runtime::TimeNs setup_duration, accept_duration, broken_at;
  Traffic traffic;
  std::uint64_t log_expected, log_count, log_bytes;
  runtime::TimeNs log_first, log_last_due, log_end;
};

void put(ByteWriter& to, const WorkloadResult& one) {
  to.put(Ends{one.connect, one.accept, one.disconnect, one.server_disconnect, one.client_state, one.server_state,
              one.client_ended, one.server_ended, one.setup_duration, one.accept_duration, one.broken_at, one.traffic,
              one.log.expected, one.log.count, one.log.bytes, one.log.first, one.log.last_due, one.log.end});
  for (const auto list : completion_lists) to.put_list(one.*list);
  to.put(one.transfers.size());
  for (const TransferResult& transfer : one.transfers) put(to, transfer);
  to.put_list(one.log.messages);
  to.put_text(one.broken);
  to.put_list(one.sent);
  to.put_list(one.spans);
  for (const auto* states : {&one.client_states, &one.server_states}) {
    to.put(states->size());
    for (const std::string_view state : *states) to.put_text(state);
  }
}

WorkloadResult workload_of(ByteReader& from) {
  WorkloadResult one;
  const auto ends = from.get<Ends>();
  one.connect = ends.connect;
  one.accept = ends.accept;
  one.disconnect = ends.disconnect;
  one.server_disconnect = ends.server_disconnect;
  one.client_state = ends.client_state;
  one.server_state = ends.server_state;
  one.client_ended = ends.client_ended;
  one.server_ended = ends.server_ended;
  one.setup_duration = ends.setup_duration;
  one.accept_duration = ends.accept_duration;
  one.broken_at = ends.broken_at;
  one.traffic = ends.traffic;
  one.log = {{}, ends.log_expected, ends.log_count, ends.log_bytes, ends.log_first, ends.log_last_due, ends.log_end};
  for (const auto list : completion_lists) one.*list = from.get_list<SeenCompletion>();
  for (auto left = from.get<std::size_t>(); left != 0; --left) one.transfers.push_back(transfer_of(from));
  one.log.messages = from.get_list<MessageTime>();
  one.broken = from.get_text();
  one.sent = from.get_list<WorkloadResult::SentFrame>();
  one.spans = from.get_list<WorkloadResult::Span>();
  for (auto* states : {&one.client_states, &one.server_states})
    for (auto left = from.get<std::size_t>(); left != 0; --left) states->push_back(constant(from.get_text()));
  return one;
}

/// What the far side sent during each repetition of this side.
void add_traffic(WorkloadResult& to, const std::vector<WorkloadResult::Span>& spans,
                 const std::vector<WorkloadResult::SentFrame>& sent_by_far) {
  const auto after = [](runtime::TimeNs at, const WorkloadResult::SentFrame& frame) { return at < frame.at; };
  for (const WorkloadResult::Span& span : spans) {
    Traffic& traffic = to.transfers[span.transfer].traffic;
    const auto begin = std::upper_bound(sent_by_far.begin(), sent_by_far.end(), span.begin, after),
               end = std::upper_bound(begin, sent_by_far.end(), span.end, after);
    traffic.frames += static_cast<std::uint64_t>(end - begin);
    traffic.ius += static_cast<std::uint64_t>(std::count_if(begin, end, [](const auto& frame) { return frame.first; }));
  }
}

void add(MessageLog& to, const MessageLog& from) {
  const auto middle = static_cast<std::ptrdiff_t>(to.messages.size());
  to.messages.insert(to.messages.end(), from.messages.begin(), from.messages.end());
  std::inplace_merge(to.messages.begin(), to.messages.begin() + middle, to.messages.end(),
                     [](const MessageTime& a, const MessageTime& b) { return a.at < b.at; });
  to.messages.resize(std::min(to.messages.size(), MessageLog::most));
  to.count += from.count;
  to.bytes += from.bytes;
  to.first = std::min(to.first, from.first);
  to.last_due = std::max(to.last_due, from.last_due);
  to.end = std::max(to.end, from.end);
}

/// Each side knows its own; the initiator of a transfer what became of it.
WorkloadResult both_sides(const WorkloadSpec& spec, WorkloadResult client, WorkloadResult server) {
  for (std::size_t i = 0; i < spec.transfers.size(); ++i) {
    TransferResult& mine = client.transfers[i];
    TransferResult& theirs = server.transfers[i];
    const std::uint32_t different = mine.different + theirs.different;
    if (spec.transfers[i].initiator == Side::Server) std::swap(mine, theirs);
    mine.different = different;
    mine.lost = std::max(mine.lost, theirs.lost);
  }
  add_traffic(client, client.spans, server.sent);
  add_traffic(client, server.spans, client.sent);
  client.accept = server.accept;
  client.server_disconnect = server.server_disconnect;
  client.server_state = server.server_state;
  client.server_ended = server.server_ended;
  client.server_states = std::move(server.server_states);
  client.accept_duration = server.accept_duration;
  client.server_sends = std::move(server.server_sends);
  client.server_receives = std::move(server.server_receives);
  client.traffic.ius += server.traffic.ius;
  client.traffic.frames += server.traffic.frames;
  if (!server.broken.empty()) client.give_up(server.broken, server.broken_at);
  add(client.log, server.log);
  return client;
}

// --- of the run

struct Sums {
  std::uint64_t iu_count, frame_count, byte_count, discards, background_discards, unexpected_events;
  runtime::TimeNs duration;
};

/// Of port or switch, what it discarded.
using Discarded = std::pair<std::size_t, std::string>;

/// What all parts know together.
class Merger {
 public:
  Merger(const Scenario& scenario, const std::vector<std::size_t>& part_of_switch)
      : scenario_(scenario), part_of_switch_(part_of_switch), clients_(scenario.workloads.size()),
        servers_(scenario.workloads.size()) {
    result_.kept_bytes.resize(scenario.ports.size());
    result_.pool_refusals.resize(scenario.ports.size());
    result_.faults.resize(scenario.faults.size());
    result_.background.resize(scenario.background.size());
    result_.fault_matches.resize(scenario.faults.size());
  }
  void add(std::size_t part, ByteReader from);
  RunResult take();

 private:
  void note_not_ready(const std::string& not_ready, const std::string& awaited);
  void add_faults(ByteReader& from);
  void add_background(ByteReader& from);
  void add_ports(ByteReader& from);
  void add_workloads(std::size_t part, ByteReader& from);

  const Scenario& scenario_;
  const std::vector<std::size_t>& part_of_switch_;
  RunResult result_;
  std::vector<Discarded> discarded_;
  std::set<runtime::TimeNs> moments_;              // of faults
  std::vector<WorkloadResult> clients_, servers_;  // as the part of that side knows them
  std::size_t not_ready_ = ~std::size_t{0};
};

void put_ports(ByteWriter& to, const Share& share, const Scenario& scenario, const RunResult& own) {
  for (std::size_t port = 0; port < scenario.ports.size(); ++port) {
    if (!share.has(scenario.ports[port])) continue;
    to.put(port);
    to.put(own.kept_bytes[port]);
    to.put(own.pool_refusals[port]);
  }
  to.put(~std::size_t{0});
}

bool is_here(const Share& share, const Scenario& scenario, const WorkloadSpec& workload) {
  return share.has(scenario.ports[workload.client]) || share.has(scenario.ports[workload.server]);
}

ByteString bytes_of(const Scenario& scenario, const Share& share, const RunResult& own) {
  ByteWriter to;
  to.put(own.outcome);
  to.put(Sums{own.iu_count, own.frame_count, own.byte_count, own.discards, own.background_discards,
              own.unexpected_events, own.duration});
  to.put(own.ius.size());
  for (const auto& [name, times] : own.ius) {
    to.put_text(name);
    to.put(times);
  }
  to.put(own.discard_reasons.size());
  for (std::size_t i = 0; i < own.discard_reasons.size(); ++i) {
    to.put(own.discard_places[i]);
    to.put_text(own.discard_reasons[i]);
  }
  to.put_list(own.errors);
  to.put_text(own.inconsistent);
  to.put_text(own.not_ready);
  to.put_text(own.awaited);
  to.put_list(own.faults);
  to.put_list(own.fault_matches);
  to.put_list(own.fault_moments);
  to.put_list(own.background);
  put_ports(to, share, scenario, own);
  for (std::size_t i = 0; i < scenario.workloads.size(); ++i)
    if (is_here(share, scenario, scenario.workloads[i])) {
      to.put(i);
      put(to, own.workloads[i]);
    }
  return to.take();
}

void Merger::add(std::size_t part, ByteReader from) {
  result_.outcome = from.get<Driver::Outcome>();
  const Sums sums = from.get<Sums>();
  result_.iu_count += sums.iu_count;
  result_.frame_count += sums.frame_count;
  result_.byte_count += sums.byte_count;
  result_.discards += sums.discards;
  result_.background_discards += sums.background_discards;
  result_.unexpected_events += sums.unexpected_events;
  result_.duration = std::max(result_.duration, sums.duration);
  for (auto left = from.get<std::size_t>(); left != 0; --left) {
    const std::string_view name = constant(from.get_text());
    result_.ius[name] += from.get<std::uint64_t>();
  }
  for (auto left = from.get<std::size_t>(); left != 0; --left) {
    const auto place = from.get<std::size_t>();
    discarded_.emplace_back(place, from.get_text());
  }
  const auto errors = from.get_list<SeenError>();
  result_.errors.insert(result_.errors.end(), errors.begin(), errors.end());
  if (const std::string text = from.get_text(); result_.inconsistent.empty()) result_.inconsistent = text;
  const std::string not_ready = from.get_text(), awaited = from.get_text();
  note_not_ready(not_ready, awaited);
  add_faults(from);
  add_background(from);
  add_ports(from);
  add_workloads(part, from);
}

void Merger::add_faults(ByteReader& from) {
  const auto times = from.get_list<std::uint64_t>();
  const auto matches = from.get_list<FaultMatches>();
  for (std::size_t i = 0; i < result_.faults.size(); ++i) {
    result_.faults[i] += times.at(i);
    FaultMatches& sum = result_.fault_matches[i];
    sum.fired += matches.at(i).fired;
    sum.matched += matches[i].matched;
    sum.nearest.add(matches[i].nearest);
  }
  for (const runtime::TimeNs moment : from.get_list<runtime::TimeNs>()) moments_.insert(moment);
}

/// Each flow is made by one part.
void Merger::add_background(ByteReader& from) {
  const auto flows = from.get_list<BackgroundResult>();
  for (std::size_t i = 0; i < result_.background.size(); ++i) {
    result_.background[i].sent += flows.at(i).sent;
    result_.background[i].without_login += flows[i].without_login;
    result_.background[i].behind += flows[i].behind;
  }
}

/// The first port that was not ready, of all, is what the run waited for.
void Merger::note_not_ready(const std::string& not_ready, const std::string& awaited) {
  for (std::size_t port = 0; !not_ready.empty() && port < std::min(not_ready_, scenario_.ports.size()); ++port) {
    if (scenario_.ports[port].name != not_ready) continue;
    not_ready_ = port;
    result_.not_ready = not_ready;
    result_.awaited = constant(awaited);
  }
}

void Merger::add_ports(ByteReader& from) {
  for (auto port = from.get<std::size_t>(); port != ~std::size_t{0}; port = from.get<std::size_t>()) {
    result_.kept_bytes.at(port) = from.get<std::uint64_t>();
    result_.pool_refusals.at(port) = from.get<std::uint64_t>();
  }
}

void Merger::add_workloads(std::size_t part, ByteReader& from) {
  const auto has = [&](std::size_t port) { return part_of_switch_[scenario_.ports[port].at_switch] == part; };
  while (!from.at_end()) {
    const auto index = from.get<std::size_t>();
    const WorkloadSpec& spec = scenario_.workloads.at(index);
    WorkloadResult one = workload_of(from);
    if (!has(spec.client))
      servers_[index] = std::move(one);
    else
      clients_[index] = std::move(one);
  }
}

RunResult Merger::take() {
  std::stable_sort(discarded_.begin(), discarded_.end(),
                   [](const Discarded& a, const Discarded& b) { return a.first < b.first; });
  for (auto& [place, text] : discarded_) {
    result_.discard_places.push_back(place);
    result_.discard_reasons.push_back(std::move(text));
  }
  std::sort(result_.errors.begin(), result_.errors.end(),
            [](const SeenError& a, const SeenError& b) { return std::tuple(a.at, a.port) < std::tuple(b.at, b.port); });
  result_.asynchronous_errors = result_.errors.size();
  result_.fault_moments.assign(moments_.begin(), moments_.end());
  for (std::size_t i = 0; i < scenario_.workloads.size(); ++i) {
    const WorkloadSpec& spec = scenario_.workloads[i];
    const auto part = [&](std::size_t port) { return part_of_switch_[scenario_.ports[port].at_switch]; };
    result_.workloads.push_back(part(spec.client) == part(spec.server)
                                    ? std::move(clients_[i])
                                    : both_sides(spec, std::move(clients_[i]), std::move(servers_[i])));
  }
  return std::move(result_);
}

}  // namespace

RunResult merged(const Scenario& scenario, const Share& share, RunResult own, Exchange& exchange) {
  const std::vector<ByteString> all = exchange.gather(bytes_of(scenario, share, own));
  if (all.empty()) return own;
  Merger merger(scenario, share.part_of_switch);
  for (std::size_t part = 0; part < all.size(); ++part) merger.add(part, ByteReader(all[part]));
  return merger.take();
}

}  // namespace sim
