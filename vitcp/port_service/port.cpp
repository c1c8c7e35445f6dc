#include "vitcp/port_service/port.hpp"

#include <algorithm>

#include "vitcp/port_service/senders.hpp"

namespace vitcp::port_service {
using wire::vitcp::SegmentType;

struct Port::Entry {
  Entry(Port& of, ConnectionId stream, const Ends& ends, runtime::TimeNs now)
      : port(of), view{.stream = stream, .ends = ends, .since = now} {}
  void expired() { port.time_is_over(*this); }

  Port& port;
  HalfOpen view;
  wire::vitcp::CeHeader request{};  // of one that is held
  runtime::Timer<Entry, &Entry::expired> timer{*this};
};

namespace {
Fate fate_of(Finding finding) {
  switch (finding) {
    case Finding::incomplete:
    case Finding::connect_request: break;
    case Finding::other_version: return Fate::other_version;
    case Finding::bad_request: return Fate::bad_request;
    case Finding::other_segment: return Fate::other_segment;
    case Finding::no_segment: return Fate::no_segment;
    case Finding::bad_crc: return Fate::bad_crc;
  }
  return Fate::cut;
}
}  // namespace

std::string_view to_string(Fate fate) {
  switch (fate) {
    case Fate::handed_over: return "handed_over";
    case Fate::no_match: return "no_match";
    case Fate::other_version: return "other_version";
    case Fate::bad_request: return "bad_request";
    case Fate::other_segment: return "other_segment";
    case Fate::no_segment: return "no_segment";
    case Fate::bad_crc: return "bad_crc";
    case Fate::timed_out: return "timed_out";
    case Fate::cut: return "cut";
    case Fate::reset: return "reset";
    case Fate::evicted: return "evicted";
  }
  return wire::text::unknown;
}

std::string_view to_string(Port::Phase phase) {
  switch (phase) {
    case Port::Phase::incoming: return "incoming";
    case Port::Phase::held: return "held";
    case Port::Phase::closing: return "closing";
  }
  return wire::text::unknown;
}

Port::Port(runtime::Scheduler& scheduler, const PortLimits& limits, PortActions& actions)
    : scheduler_(scheduler), limits_(limits), actions_(actions) {}
Port::~Port() = default;

// --- coming and going ----------------------------------------------------------------------------------------------

void Port::accepted(ConnectionId stream, const Ends& ends) {
  ++counters_.accepted;
  add(stream, ends);
}

void Port::returned(ConnectionId stream, const Ends& ends) {
  ++counters_.returned;
  add(stream, ends);
}

void Port::add(ConnectionId stream, const Ends& ends) {
  if (entries_.size() >= limits_.half_open) make_room();
  auto entry = std::make_unique<Entry>(*this, stream, ends, scheduler_.now());
  scheduler_.schedule_after(entry->timer, limits_.request_time);
  entries_.emplace(stream, std::move(entry));
}

// One that was answered has what it needs.
void Port::make_room() {
  Senders senders;
  for (const auto& [stream, entry] : entries_) senders.add(entry->view.ends.from);
  const auto weight = [&](const Entry& entry) {
    return entry.view.phase == Phase::closing ? entries_.size() + 1 : senders.count_of(entry.view.ends.from);
  };
  const auto lighter = [&](const auto& left, const auto& right) {
    return weight(*left.second) < weight(*right.second);
  };
  const auto heaviest = std::max_element(entries_.begin(), entries_.end(), lighter);  // the first of equals
  if (heaviest != entries_.end()) close(*heaviest->second, Fate::evicted);
}

void Port::close(Entry& entry, Fate fate) {
  const ConnectionId stream = entry.view.stream;
  if (entry.view.phase != Phase::closing) count(fate);
  entries_.erase(stream);
  actions_.close(stream);
}

void Port::refuse(Entry& entry, Fate fate, SegmentType type) {
  count(fate);
  entry.view.phase = Phase::closing;
  scheduler_.schedule_after(entry.timer, limits_.closing_time);
  actions_.refuse(entry.view.stream, type);
}

void Port::time_is_over(Entry& entry) {
  if (entry.view.phase != Phase::held) return close(entry, Fate::timed_out);
  const wire::vitcp::CeHeader request = entry.request;  // it goes with the entry
  match(entry, request);
}

void Port::broken(ConnectionId stream) {
  if (const auto found = entries_.find(stream); found != entries_.end()) close(*found->second, Fate::reset);
}

void Port::drained(ConnectionId stream) {
  const auto found = entries_.find(stream);
  if (found != entries_.end() && found->second->view.phase == Phase::closing) close(*found->second, Fate::cut);
}

// --- what came, and who waits for it -------------------------------------------------------------------------------

std::optional<std::size_t> Port::arrived(ConnectionId stream, wire::Bytes so_far, bool ended) {
  const auto found = entries_.find(stream);
  if (found == entries_.end() || found->second->view.phase != Phase::incoming) return std::nullopt;
  Entry& entry = *found->second;
  entry.view.octets = so_far.size();
  const FirstSegment first = examine(so_far);
  if (first.finding == Finding::incomplete && !ended) return first.needed_octets;
  if (first.finding == Finding::connect_request && !ended)
    match(entry, first.request.ce);
  else
    judge(entry, first);
  return std::nullopt;
}

// Whoever has closed its side does not want the connection any more.
void Port::judge(Entry& entry, const FirstSegment& first) {
  const Fate fate = fate_of(first.finding);
  if (const auto answer = answer_to(first.finding)) return refuse(entry, fate, *answer);
  close(entry, fate);
}

Port::Offered Port::offer(Entry& entry, const wire::vitcp::CeHeader& request) {
  const ConnectionId stream = entry.view.stream;
  std::set<ClientId> cannot;
  while (const auto waiter = waiters_.first(request, entry.view.ends, cannot)) {
    if (actions_.hand_over(stream, *waiter)) {
      waiters_.remove(waiter->client, waiter->id);
      count(Fate::handed_over);
      entries_.erase(stream);
      return Offered::taken;
    }
    cannot.insert(waiter->client);
    if (entry.view.phase == Phase::incoming) ++counters_.not_taken;
  }
  return cannot.empty() ? Offered::to_nobody : Offered::in_vain;
}

void Port::match(Entry& entry, const wire::vitcp::CeHeader& request) {
  const Offered offered = offer(entry, request);
  if (offered == Offered::taken) return;
  const runtime::TimeNs now = scheduler_.now(), own = entry.view.since + limits_.request_time;
  const runtime::TimeNs until = offered == Offered::in_vain ? std::max(own, held_until_) : held_until_;
  if (now >= until) return refuse(entry, Fate::no_match, SegmentType::connect_no_match);
  entry.view.phase = Phase::held;
  entry.request = request;
  scheduler_.schedule(entry.timer, offered == Offered::in_vain ? std::min(until, now + limits_.offer_again) : until);
}

bool Port::wait(ClientId client, WaitId id, const Wanted& wanted) {
  if (!waiters_.add({client, id, wanted, scheduler_.now()})) return false;
  const auto meets = [&](const auto& entry) {
    return entry.second->view.phase == Phase::held && wanted.meets(entry.second->request, entry.second->view.ends);
  };
  const auto held = std::find_if(entries_.begin(), entries_.end(), meets);
  if (held == entries_.end()) return true;
  const wire::vitcp::CeHeader request = held->second->request;  // it goes with the entry
  match(*held->second, request);
  return true;
}

std::vector<Port::HalfOpen> Port::half_open() const {
  std::vector<HalfOpen> views;
  for (const auto& [stream, entry] : entries_) views.push_back(entry->view);
  return views;
}

}  // namespace vitcp::port_service
