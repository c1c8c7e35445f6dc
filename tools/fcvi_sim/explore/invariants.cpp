#include "tools/fcvi_sim/explore/invariants.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "settings/units.hpp"
#include "tools/fcvi_sim/explore/program.hpp"
#include "tools/fcvi_sim/run/rdma_check.hpp"
#include "tools/fcvi_sim/scenario/status_text.hpp"
#include "vi/descriptor.hpp"

namespace sim::explore {
namespace {

using Violations = std::vector<Violation>;

constexpr std::string_view ends = "ends", agreement = "agreement", delivery = "delivery", once = "at most once",
                           calls_return = "calls return", completions = "completions", returned = "returned",
                           liveness = "new connection", expected = "no surprise", agrees = "consistency",
                           order = "order", cost = "cost";

std::string text_of(runtime::TimeNs time) { return settings::format_duration(time); }
bool succeeded(const Descriptor& descriptor) {
  return descriptor.completions == 1 && (descriptor.status & vi::status::error_mask) == 0;
}
constexpr std::string_view request_call = "VipConnectRequest", peer_request_call = "VipConnectPeerRequest",
                           disconnect_call = "VipDisconnect";
constexpr std::string_view side_names[] = {"client", "server"};

/// A DISCONNECT_RQST that overtakes earlier messages ends them. The far side's is heard at once where there is no
/// latency: what happens at that time may come of it.
runtime::TimeNs first_disconnect(const ConnectionRecord& connection, int side) {
  runtime::TimeNs first = runtime::never;
  for (const int each : {0, 1})
    for (const CallRecord& call : connection.ends[each].calls)
      if (call.name == disconnect_call) first = std::min(first, call.issued - (each == side ? 0 : 1));
  return first;
}

/// Where the fabric keeps no order: until a DISCONNECT_RQST may overtake what was sent before it (FC-VI 8.1, C.5.9.2).
runtime::TimeNs undisturbed_until(const Record& record, const ConnectionRecord& connection, int side) {
  return record.in_order ? runtime::never : first_disconnect(connection, side);
}

/// One connection's rules.
class Judge {
 public:
  Judge(const Record& record, const ConnectionRecord& connection, Violations& violations)
      : record_(record), connection_(connection), violations_(violations) {}
  void judge() {
    for (int side = 0; side < 2; ++side) {
      programs_end(side);
      calls_end(side);
      descriptors_complete(side);
      messages_arrive(side);
      promises_hold(side);
      memory_is_kept(side);
      answer_is_kept(side);
      one_fault_costs_little(side);
      if (nothing_disturbs())
        all_succeeds(liveness, side, runtime::never);
      else if (nothing_befell())
        calls_succeed(liveness, side, undisturbed_until(side));
      if (judges_order()) all_succeeds(order, side, first_disconnect(connection_, side));
    }
    one_loss_costs_one_message();
    endpoints_agree();
  }
  /// The faults did to frames only what the fabric may do, which harms no program.
  [[nodiscard]] bool judges_order() const { return only_overtaken() || only_late(); }

 private:
  [[nodiscard]] const End& end(int side) const { return connection_.ends[side]; }
  void fail(std::string_view invariant, int side, const std::string& what) {
    violations_.push_back({invariant, connection_.name + ", " + std::string(side_names[side]) + ": " + what});
  }

  void programs_end(int side) {
    if (end(side).began && !end(side).ended) fail(ends, side, "its program waits for ever");
  }
  void calls_end(int side);
  void descriptors_complete(int side);
  void descriptors_complete(int side, const std::vector<Descriptor>& list, const char* which);
  void messages_arrive(int side);
  void reliable_arrival(int side, const std::vector<const Message*>& sent);
  void unreliable_arrival(int side, const std::vector<const Message*>& sent);
  void promises_hold(int side);
  void memory_is_kept(int side);
  void answer_is_kept(int side);
  void one_fault_costs_little(int side);
  void one_loss_costs_one_message();
  [[nodiscard]] bool hit(wire::fcvi::Opcode opcode) const;
  [[nodiscard]] bool lost_only(std::initializer_list<wire::fcvi::Opcode> opcodes) const;
  /// An octet of a stream is another one: TCP does not mend that, and what is wrong ends the connection (ruling V-19).
  [[nodiscard]] bool is_damaged() const {
    return std::ranges::any_of(record_.faults, [](const Fault& fault) { return fault.kind == Fault::Kind::Invert; });
  }
  /// Over TCP nothing comes any more: no timer of the draft finds that, but the patience of who waits does.
  [[nodiscard]] bool is_silenced() const {
    return std::ranges::any_of(record_.faults, [](const Fault& fault) { return fault.kind == Fault::Kind::Silence; });
  }
  /// The credit of a link is one, and that one frame is late for longer than anybody asks for an address.
  [[nodiscard]] bool stands_still() const {
    return std::ranges::any_of(record_.faults, [this](const Fault& fault) {
      return fault.kind == Fault::Kind::Delay && fault.delay >= record_.standstill;
    });
  }
  [[nodiscard]] bool cut_short(int side, const Descriptor& send) const;
  void descriptors_succeed(std::string_view invariant, int side, runtime::TimeNs until);
  void calls_succeed(std::string_view invariant, int side, runtime::TimeNs until);
  void all_succeeds(std::string_view invariant, int side, runtime::TimeNs until);
  void endpoints_agree();
  [[nodiscard]] bool nothing_disturbs() const;
  [[nodiscard]] bool nothing_befell() const {
    return record_.faults.empty() && !record_.port_befallen && !connection_.refuses_messages();
  }
  [[nodiscard]] runtime::TimeNs undisturbed_until(int side) const {
    return sim::explore::undisturbed_until(record_, connection_, side);
  }
  [[nodiscard]] bool logged_out() const;
  [[nodiscard]] bool only_overtaken() const;
  [[nodiscard]] bool only_late() const;
  [[nodiscard]] bool may_not_tell(int side, runtime::TimeNs since, runtime::TimeNs until) const;
  [[nodiscard]] bool is_message(const Descriptor& receive, const Message& message) const;

  const Record& record_;
  const ConnectionRecord& connection_;
  Violations& violations_;
};

// Every call returns, once, within what its time-out and the timers of FC-VI 8.3 allow.
void Judge::calls_end(int side) {
  for (const CallRecord& call : end(side).calls) {
    const std::string name(call.name);
    if (call.returns == 0) fail(calls_return, side, name + " never returns");
    if (call.returns > 1) fail(calls_return, side, name + " returns " + std::to_string(call.returns) + " times");
    if (call.returns != 0 && call.returned - call.issued > call.limit)
      fail(calls_return, side,
           name + " returns after " + text_of(call.returned - call.issued) + ", later than " + text_of(call.limit));
  }
}

void Judge::descriptors_complete(int side, const std::vector<Descriptor>& list, const char* which) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string name = which + std::string(" descriptor ") + std::to_string(i);
    if (list[i].completions != 1)
      fail(completions, side, name + " completes " + std::to_string(list[i].completions) + " times");
    else if ((list[i].status & vi::status::done) == 0)
      fail(completions, side, name + " is dequeued without the done bit");
  }
}

// Every descriptor completes exactly once, in the order of posting (VI-ARCH 6.3.1), and the model announces each.
void Judge::descriptors_complete(int side) {
  descriptors_complete(side, end(side).sends, "send");
  descriptors_complete(side, end(side).receives, "receive");
  const std::uint64_t posted = end(side).sends.size() + end(side).receives.size();
  if (end(side).signals != posted)
    fail(completions, side,
         std::to_string(end(side).signals) + " completions announced for " + std::to_string(posted) + " descriptors");
  if (end(side).strange_completions != 0) fail(completions, side, "descriptors come back in another order, or unasked");
}

bool Judge::is_message(const Descriptor& receive, const Message& message) const {
  const bool has_immediate = (receive.status & vi::status::immediate) != 0;
  if (has_immediate != message.immediate.has_value()) return false;
  if (has_immediate && receive.immediate_data != *message.immediate) return false;
  if (message.operation == Operation::RdmaWrite) return true;  // its bytes are elsewhere
  return receive.length_bytes == message.content.size() && receive.content.size() >= message.content.size() &&
         std::equal(message.content.begin(), message.content.end(), receive.content.begin());
}

// VI-ARCH 2.5.2, 2.5.3: at the reliable levels what arrives is what was sent, from the first on, each once, in order.
void Judge::reliable_arrival(int side, const std::vector<const Message*>& sent) {
  const std::vector<Descriptor>& receives = end(side).receives;
  bool over = false;
  for (std::size_t i = 0; i < receives.size(); ++i) {
    if (!succeeded(receives[i])) {
      over = true;
      continue;
    }
    if (over)
      fail(delivery, side, "receive " + std::to_string(i) + " succeeds after one that failed");
    else if (i >= sent.size() || !is_message(receives[i], *sent[i]))
      fail(delivery, side, "receive " + std::to_string(i) + " is not message " + std::to_string(i) + " of the peer");
  }
}

// VI-ARCH 2.5.1: lost or not, but never twice, and never other bytes than were sent.
void Judge::unreliable_arrival(int side, const std::vector<const Message*>& sent) {
  std::vector<bool> seen(sent.size());
  for (std::size_t i = 0; i < end(side).receives.size(); ++i) {
    const Descriptor& receive = end(side).receives[i];
    if (!succeeded(receive)) continue;
    std::size_t which = 0;  // of several that are alike the first that has not come yet
    bool again = false;
    for (; which < sent.size(); ++which) {
      if (!is_message(receive, *sent[which])) continue;
      if (!seen[which]) break;
      again = true;
    }
    if (which == sent.size() && again)
      fail(once, side, "receive " + std::to_string(i) + " is a message of the peer that came before");
    else if (which == sent.size())
      fail(delivery, side, "receive " + std::to_string(i) + " is no message of the peer");
    if (which < sent.size()) seen[which] = true;
  }
}

void Judge::messages_arrive(int side) {
  std::vector<const Message*> sent;
  for (const Message& message : end(1 - side).messages)
    if (message.takes_receive()) sent.push_back(&message);
  if (connection_.reliability == vi::ReliabilityLevel::UnreliableDelivery)
    unreliable_arrival(side, sent);
  else
    reliable_arrival(side, sent);
}

// What a success promises: on Reliable Reception the bytes are in the peer's memory (VI-ARCH 2.5.3); at both reliable
// levels an RDMA Read has its bytes, and a received message stands behind all RDMA Writes before it (6.3.1.1).
void Judge::promises_hold(int side) {
  if (connection_.reliability == vi::ReliabilityLevel::UnreliableDelivery) return;
  for (const Descriptor& send : end(side).sends) {
    const Operation operation = end(side).messages[send.message].operation;
    const bool promised =
        connection_.reliability == vi::ReliabilityLevel::ReliableReception || operation == Operation::RdmaRead;
    if (promised && succeeded(send) && !send.in_place)
      fail(delivery, side,
           std::string(to_string(operation)) + " " + std::to_string(send.message) +
               " succeeds, its bytes are not there");
    if (operation == Operation::RdmaRead && succeeded(send) && send.content_at_end != send.content)
      fail(delivery, side,
           "the target of RDMA Read " + std::to_string(send.message) + " changes after it was completed");
  }
  for (std::size_t i = 0; i < end(side).receives.size(); ++i)
    if (succeeded(end(side).receives[i]) && !end(side).receives[i].in_place)
      fail(delivery, side, "receive " + std::to_string(i) + " succeeds before an RDMA Write that was sent earlier");
}

// Nothing is written outside the buffers, into a buffer that was given back, or what the peer did not send.
void Judge::memory_is_kept(int side) {
  const End& own = end(side);
  if (own.stray_bytes != 0) fail(delivery, side, "bytes are written where nobody may write");
  for (std::size_t i = 0; i < own.receives.size(); ++i)
    if (succeeded(own.receives[i]) && own.receives[i].content_at_end != own.receives[i].content)
      fail(delivery, side, "the buffer of receive " + std::to_string(i) + " changes after it was completed");
  for (const Target& target : own.targets) {
    const std::vector<std::uint8_t>& sent = end(1 - side).messages[target.message].content;
    for (std::size_t i = 0; i < target.bytes.size(); ++i) {
      if (target.bytes[i] == untouched || (connection_.permits_write && target.bytes[i] == sent[i])) continue;
      fail(delivery, side, "RDMA Write " + std::to_string(target.message) + " leaves a wrong byte");
      break;
    }
  }
}

/// No new fault, and no login that a late PLOGI or LOGO ended: that ends connections too (FC-VI 7.7.1).
bool Judge::nothing_disturbs() const {
  if (connection_.phase == ConnectionRecord::Phase::Afterwards) return true;
  if (connection_.phase == ConnectionRecord::Phase::Faults) return false;
  return !logged_out();
}

bool Judge::logged_out() const {
  return std::any_of(record_.logouts.begin(), record_.logouts.end(),
                     [&](const Logout& logout) { return logout.at >= connection_.began; });
}

/// An out-of-order fabric reorders (FC-VI 8.1) and loses nothing; no login ends by it.
bool Judge::only_overtaken() const {
  return !record_.in_order && !record_.port_befallen && !connection_.rejected && !connection_.refuses_messages() &&
         connection_.phase == ConnectionRecord::Phase::Faults &&
         std::all_of(record_.faults.begin(), record_.faults.end(),
                     [](const Fault& fault) { return fault.kind == Fault::Kind::Reorder; });
}

/// It is neither of a set-up nor of a login, where a frame that is late may meet the end of a program's time, and makes
/// the next one late.
bool is_of_messages(const Hit& hit) {
  using wire::fcvi::Opcode;
  if (!hit.fc_vi) return false;
  constexpr Opcode set_up[] = {Opcode::connect_rqst, Opcode::connect_resp1, Opcode::connect_resp2,
                               Opcode::connect_resp3};
  return std::find(std::begin(set_up), std::end(set_up), hit.opcode) == std::end(set_up);
}

/// FC-VI 8.4.1 d), B.3.2.4: frames that arrive within R_A_TOV are processed, however many others they were overtaken
/// by. A block may hit a request and its answer.
bool Judge::only_late() const {
  if (record_.in_order || record_.port_befallen || connection_.rejected || connection_.refuses_messages() ||
      connection_.phase != ConnectionRecord::Phase::Faults)
    return false;
  runtime::TimeNs all = 0;
  bool by_seconds = false;
  for (const Fault& fault : record_.faults) {
    if (fault.kind == Fault::Kind::Lose || fault.kind == Fault::Kind::Duplicate) return false;
    const bool mixed = fault.kind == Fault::Kind::Reverse || fault.kind == Fault::Kind::Shuffle;
    all += (fault.count == 1 ? 1 : 2) * (mixed ? fault.count * runtime::millisecond : fault.delay);
    by_seconds = by_seconds || fault.delay != 0;
  }
  if (by_seconds && !std::all_of(record_.hits.begin(), record_.hits.end(), is_of_messages)) return false;
  return all < std::min(record_.frame_lifetime, record_.ulp_timeout);
}

// VI-DG 3.3.3: a rejected client is told so, or, with faults, nothing; never that it is connected.
void Judge::answer_is_kept(int side) {
  if (!connection_.rejected) return;
  for (const StateChange& change : end(side).states)
    if (change.state == vi::State::Connected) fail(expected, side, "is Connected though its request is rejected");
  for (const CallRecord& call : end(side).calls)
    if (call.name == request_call && call.result == vi::Return::Success)
      fail(expected, side, "a rejected request succeeds");
}

// Without a fault every call succeeds, but for a request that is rejected.
void Judge::calls_succeed(std::string_view invariant, int side, runtime::TimeNs until) {
  for (const CallRecord& call : end(side).calls) {
    const bool is_rejected = connection_.rejected && call.name == request_call;
    const vi::Return due = is_rejected ? vi::Return::Reject : vi::Return::Success;
    if (call.returns != 0 && call.returned <= until && call.result != due)
      fail(invariant, side, std::string(call.name) + " returns " + std::string(to_string(call.result)));
  }
  if (until == runtime::never && end(side).broken_off)
    fail(invariant, side, "the connection is lost before it disconnects");
}

bool Judge::hit(wire::fcvi::Opcode opcode) const {
  return std::any_of(record_.hits.begin(), record_.hits.end(),
                     [&](const Hit& each) { return each.fc_vi && each.opcode == opcode; });
}

/// One frame is lost, and is of one of these IUs.
bool Judge::lost_only(std::initializer_list<wire::fcvi::Opcode> opcodes) const {
  if (record_.faults.size() != 1 || record_.hits.size() != 1 || record_.port_befallen) return false;
  const Hit& hit = record_.hits.front();
  return hit.kind == Fault::Kind::Lose && hit.fc_vi &&
         std::find(opcodes.begin(), opcodes.end(), hit.opcode) != opcodes.end();
}

// FC-VI 8.5.4, D.1: set-ups and Disconnects are retried once: one fault makes nobody unreachable, and a request or
// RESP1 that is lost costs time only, if the program has it. Without a fault every message arrives.
void Judge::one_fault_costs_little(int side) {
  if (connection_.phase != ConnectionRecord::Phase::Faults || record_.faults.size() > 1 || connection_.rejected ||
      connection_.refuses_messages() || record_.port_befallen)
    return;
  if (nothing_befell()) descriptors_succeed(cost, side, undisturbed_until(side));
  const bool retried = lost_only({wire::fcvi::Opcode::connect_rqst, wire::fcvi::Opcode::connect_resp1});
  for (const CallRecord& call : end(side).calls) {
    if (call.returned > undisturbed_until(side)) continue;
    const bool accepts =
        call.name == peer_request_call && hit(wire::fcvi::Opcode::connect_resp2);  // T2 ends it (8.5.3 d)
    const bool connects = call.name == request_call || call.name == peer_request_call;
    const bool has_time = connects && call.limit > 3 * record_.ulp_timeout;
    const bool unreachable = !record_.faults.empty() && !accepts && !is_damaged() && !stands_still() &&
                             call.result == vi::Return::NotReachable && !logged_out();
    if (call.returns != 0 && (unreachable || (retried && has_time && call.result != vi::Return::Success)))
      fail(cost, side, "one fault, and " + std::string(call.name) + " returns " + std::string(to_string(call.result)));
  }
}

// VI-ARCH 2.5.1, FC-VI 8.4.2 d), B.2.5 rules 4a, 6c, 7a: at Unreliable Delivery the connection persists, and one lost
// frame errors one message, whether the fabric keeps the order or not.
void Judge::one_loss_costs_one_message() {
  if (connection_.phase != ConnectionRecord::Phase::Faults ||
      connection_.reliability != vi::ReliabilityLevel::UnreliableDelivery || connection_.rejected ||
      connection_.refuses_messages() || connection_.replies)
    return;
  if (!lost_only({wire::fcvi::Opcode::send_rqst, wire::fcvi::Opcode::write_rqst})) return;
  std::size_t missing = 0;
  for (int side = 0; side < 2; ++side) {
    missing += static_cast<std::size_t>(
        std::count_if(end(side).receives.begin(), end(side).receives.end(), [&](const Descriptor& receive) {
          return receive.completed <= undisturbed_until(side) && !succeeded(receive);
        }));
    if (end(side).broken_off) fail(cost, side, "one frame of a message is lost, and the connection with it");
  }
  if (missing > 1)
    fail(cost, 0, "one frame of a message is lost, and " + std::to_string(missing) + " messages are missing");
}

// After the faults, and also while late frames of dead connections arrive: everything that ends by then
// succeeds, at once.
void Judge::all_succeeds(std::string_view invariant, int side, runtime::TimeNs until) {
  calls_succeed(invariant, side, until);
  descriptors_succeed(invariant, side, until);
}

/// RDMA takes no receive: the peer's program does not know of it, and may disconnect meanwhile.
bool Judge::cut_short(int side, const Descriptor& send) const {
  if (end(side).messages[send.message].takes_receive()) return false;
  const auto& calls = end(1 - side).calls;
  return std::any_of(calls.begin(), calls.end(), [&](const CallRecord& call) {
    return call.name == disconnect_call && call.issued <= send.completed;
  });
}

void Judge::descriptors_succeed(std::string_view invariant, int side, runtime::TimeNs until) {
  for (const std::vector<Descriptor>* list : {&end(side).sends, &end(side).receives})
    for (const Descriptor& descriptor : *list)
      if (descriptor.completed <= until && !succeeded(descriptor) &&
          !(list == &end(side).sends && cut_short(side, descriptor)))
        fail(invariant, side, "a descriptor ends with " + status_text(descriptor.status & vi::status::error_mask));
}

/// It could not tell its peer, from `since` to `until`: its VipDisconnect was not answered, both times (FC-VI 8.6.3),
/// until the next one; or its FIN stood behind octets of a stream that a fault stalled until the faults healed, which
/// nobody times in Connected (vi-tcp 4); or the peer's login ended here, which ends the connection without a word
/// (7.7.1, 8.4.2 g), until the peer's program has lost its patience.
bool Judge::may_not_tell(int side, runtime::TimeNs since, runtime::TimeNs until) const {
  const runtime::TimeNs limit = longest_disagreement(record_.ulp_timeout, record_.r_a_tov);
  if (is_silenced() && until - since <= 4 * limit + connection_.holds) return true;
  if (record_.stalled_until != 0 && until <= record_.stalled_until + limit) return true;
  for (const Logout& logout : record_.logouts)
    if (logout.at >= connection_.began && logout.at <= until && logout.port == end(side).port &&
        logout.peer == end(1 - side).port && until - logout.at <= 4 * limit + connection_.holds)
      return true;
  for (const CallRecord& call : end(side).calls)
    if (call.name == disconnect_call && call.result == vi::Return::NotReachable && since <= call.returned &&
        until - call.returned <= limit)
      return true;
  return false;
}

vi::State state_at(const End& end, runtime::TimeNs time) {
  vi::State state = vi::State::Idle;
  for (const StateChange& change : end.states)
    if (change.at <= time) state = change.state;
  return state;
}

// One end Connected and the other not: only as long as the timers of FC-VI 8.3 allow.
void Judge::endpoints_agree() {
  const runtime::TimeNs limit = longest_disagreement(record_.ulp_timeout, record_.r_a_tov);
  std::vector<runtime::TimeNs> times;
  for (const End& each : connection_.ends)
    for (const StateChange& change : each.states) times.push_back(change.at);
  std::sort(times.begin(), times.end());
  runtime::TimeNs since = -1;
  for (const runtime::TimeNs time : times) {
    const bool first = state_at(end(0), time) == vi::State::Connected,
               second = state_at(end(1), time) == vi::State::Connected;
    if (first == second)
      since = -1;
    else if (since < 0)
      since = time;
    if (since < 0) continue;
    const auto next = std::upper_bound(times.begin(), times.end(), time);
    const int connected = first ? 0 : 1;
    if (next != times.end() && *next - since > limit && !may_not_tell(1 - connected, since, *next)) {
      fail(agreement, connected, "Connected for " + text_of(*next - since) + " while its peer is not");
      return;
    }
    if (next == times.end()) fail(agreement, connected, "Connected at the end, its peer is not");
  }
}

bool is_harmed(const Record& record, const ConnectionRecord& connection, int side) {
  const runtime::TimeNs until = undisturbed_until(record, connection, side);
  const End& end = connection.ends[side];
  return end.broken_off || std::any_of(end.calls.begin(), end.calls.end(), [until](const CallRecord& call) {
           return call.result != vi::Return::Success && call.returned <= until;
         });
}

/// One stream of RDMA's rules: RFC 5040 5.5, 6.2.1, 7.1; RFC 5044 7.1.2.
class RdmaJudge {
 public:
  RdmaJudge(const Record& record, const RdmaRecord& stream, Violations& violations)
      : record_(record), stream_(stream), violations_(violations) {}
  void judge() {
    const RdmaResult& got = stream_.result;
    if (!got.ended) return fail(ends, "its programs wait for ever");
    if (got.ends.client.start == rdma_no_start) fail(calls_return, "the start-up is not answered");
    if (got.strange_completions != 0) fail(completions, "something completes twice");
    if (got.open_operations != 0) fail(completions, std::to_string(got.open_operations) + " operations never complete");
    if (got.stray_octets != 0) fail(delivery, std::to_string(got.stray_octets) + " octets are where none belong");
    for (const Side side : {Side::Client, Side::Server})
      if (got.ends.of(side).times_told > 1) fail(once, "two Terminate Messages come");
    for (std::size_t i = 0; i < got.operations.size(); ++i) data_arrive(stream_.spec->operations[i], got.operations[i]);
    if (stream_.phase != ConnectionRecord::Phase::Faults || record_.faults.empty()) as_expected();
  }

 private:
  void fail(std::string_view invariant, const std::string& what) {
    violations_.push_back({invariant, stream_.name + ": " + what});
  }
  /// What completes where its data belong, has them.
  void data_arrive(const RdmaOperationSpec& spec, const RdmaOperationResult& got) {
    const bool there = (spec.action == RdmaAction::RdmaRead && got.begun != 0 && got.ended == spec.repeat) ||
                       (spec.action == RdmaAction::Send && got.received == spec.repeat);
    if (there && spec.to && spec.outcome == RdmaOutcome::Success && spec.placed == RdmaPlaced::Yes && !got.all_equal)
      fail(delivery, "a " + std::string(to_string(spec.action)) + " completes with other octets");
  }
  void as_expected() {
    check_rdma(stream_.name, *stream_.spec, stream_.result, [this](bool held, const std::string& what, auto, auto got) {
      if (!held) violations_.push_back({liveness, what + ": " + std::string(got)});
    });
  }
  const Record& record_;
  const RdmaRecord& stream_;
  Violations& violations_;
};

// FC-VI 8.4.2, 8.5.3: what is lost is one connection's; the others do not notice.
void check_bystanders(const Record& record, Violations& violations) {
  const bool one_loss = !record.port_befallen && record.faults.size() == 1 && record.hits.size() == 1 &&
                        record.hits[0].kind == Fault::Kind::Lose && record.hits[0].fc_vi;
  const auto harmed =
      std::count_if(record.connections.begin(), record.connections.end(), [&](const ConnectionRecord& connection) {
        return connection.phase == ConnectionRecord::Phase::Faults && !connection.rejected &&
               !connection.refuses_messages() && (is_harmed(record, connection, 0) || is_harmed(record, connection, 1));
      });
  if (one_loss && harmed > 1)
    violations.push_back({cost, "one frame of one connection is lost, and " + std::to_string(harmed) + " are harmed"});
}

void check_holdings(const Record& record, Violations& violations) {
  const auto fail = [&](const std::string& what) { violations.push_back({returned, what}); };
  for (const Holdings& port : record.holdings)
    for (const HostTransport::Held& kind : port.held)
      if (kind.count != 0) fail(port.port + " holds " + std::to_string(kind.count) + " " + std::string(kind.what));
  if (record.frames_held != 0) fail(std::to_string(record.frames_held) + " frame buffers are not given back");
  if (record.timers_after > record.timers_before)
    fail(std::to_string(record.timers_after - record.timers_before) + " timers still run");
}

}  // namespace

bool ConnectionRecord::refuses_messages() const {
  return std::any_of(std::begin(ends), std::end(ends), [this](const End& end) {
    return std::any_of(end.messages.begin(), end.messages.end(), [this](const Message& message) {
      return (message.operation == Operation::RdmaWrite && !permits_write) ||
             (message.operation == Operation::RdmaRead && !permits_read);
    });
  });
}

const std::vector<Invariant>& invariants() {
  static const std::vector<Invariant> all{{ends, "every program comes to an end"},
                                          {agreement, "no two endpoints disagree for longer than the timers allow"},
                                          {delivery,
                                           "no byte is delivered twice, out of order, to the wrong VI or changed at a "
                                           "reliable level; a success keeps its promise"},
                                          {once, "Unreliable Delivery delivers at most once"},
                                          {calls_return, "every call returns, once and in time"},
                                          {completions, "every descriptor completes exactly once"},
                                          {returned, "every handle, exchange, timer and buffer is returned"},
                                          {liveness, "after the faults a new connection succeeds"},
                                          {order,
                                           "on an out-of-order fabric, frames that are overtaken or late by less than "
                                           "R_A_TOV do no harm before a program disconnects"},
                                          {cost,
                                           "one fault costs no more than it must: a retry recovers, one lost frame "
                                           "errors one unreliable message; none costs nothing"},
                                          {expected, "no state machine meets an event that it has no row for"},
                                          {agrees, "no owner contradicts itself after an event"}};
  return all;
}

bool judges_order(const Record& record) {
  Violations none;
  return std::any_of(record.connections.begin(), record.connections.end(), [&](const ConnectionRecord& connection) {
    return Judge(record, connection, none).judges_order();
  });
}

std::vector<Violation> check_invariants(const Record& record) {
  Violations violations;
  if (!record.came_to_an_end) violations.push_back({ends, "the run comes to no end"});
  for (const ConnectionRecord& connection : record.connections) Judge(record, connection, violations).judge();
  for (const RdmaRecord& stream : record.rdma) RdmaJudge(record, stream, violations).judge();
  check_bystanders(record, violations);
  if (record.came_to_an_end) check_holdings(record, violations);
  if (record.unexpected_events != 0)
    violations.push_back({expected, std::to_string(record.unexpected_events) + " events without a row"});
  if (!record.inconsistent.empty())
    violations.push_back({agrees, "an owner of " + record.inconsistent + " contradicts itself (is_consistent)"});
  return violations;
}

}  // namespace sim::explore
