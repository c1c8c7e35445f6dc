#include "tools/fcvi_sim/explore/program.hpp"

#include <algorithm>

#include "tools/fcvi_sim/host/pace.hpp"
#include "tools/fcvi_sim/host/program.hpp"

namespace sim::explore {
namespace {

constexpr int disconnect_tries = 4;

/// The limits of a run in simulated time.
struct Limits {
  runtime::TimeNs ulp_timeout, r_a_tov;
  /// FC-VI C.5.4: RESP3 goes or T2, twice FCVI_ULP_TIMEOUT, expires; a retried set-up begins T2 anew (C.4.1).
  [[nodiscard]] runtime::TimeNs accept() const { return 5 * ulp_timeout + slack; }
  /// FC-VI D.1: twice FCVI_ULP_TIMEOUT.
  [[nodiscard]] runtime::TimeNs disconnect() const { return 2 * ulp_timeout + slack; }
  /// How long a message may be under way, with its response: a program that has got nothing by then gives up.
  [[nodiscard]] runtime::TimeNs patience() const { return 3 * (ulp_timeout + r_a_tov); }
  static constexpr runtime::TimeNs slack = runtime::second;
};

Limits limits_of(const World& world) { return {world.record().ulp_timeout, world.record().r_a_tov}; }

/// Until the VI is Idle again: an answer that does not come leaves it in Error, where the call may be
/// repeated (VI-DG 3.3.5).
Task<> disconnect(World& world, Probe& probe) {
  for (int tries = 0; tries < disconnect_tries; ++tries) {
    auto& call = world.begin_call<vi::Operation>(probe.record(), "VipDisconnect", limits_of(world).disconnect());
    probe.node().transport().disconnect(probe.vi(), call);
    co_await call.finished;
    if (call.record.result != vi::Return::NotReachable) co_return;
  }
}

bool disconnects(const WorkloadSpec& workload, Side side) {
  return workload.disconnect_by_both || workload.disconnect_by == side;
}

bool is_over(Probe& probe) { return probe.connection_lost() || probe.vi().state() != vi::State::Connected; }

std::uint64_t messages_in(const TransferSpec& transfer) { return transfer.message_count() * transfer.repeat; }

/// Of that transfer so many messages come to `side` that take a receive.
std::uint64_t arrivals_of(const TransferSpec& transfer, Side side) {
  const bool noticed = transfer.operation == Operation::Send ||
                       (transfer.operation == Operation::RdmaWrite && transfer.immediate.has_value());
  return (transfer.initiator == side ? transfer.reply_bytes.has_value() : noticed) ? messages_in(transfer) : 0;
}

/// Lets the messages of one transfer go when they are due; `arrived`: receives of what comes before their replies.
/// False: a reply did not come.
Task<bool> send_paced(World& world, const TransferSpec& transfer, Probe& probe, Pace pace, std::uint64_t arrived) {
  const std::uint64_t messages = messages_in(transfer);
  const bool closed = transfer.pace.loop == PaceSpec::Loop::Closed;
  for (std::uint64_t sent = 0; sent < messages && !is_over(probe); sent += transfer.pace.burst) {
    const auto answered = [&] {
      return probe.all_allowed_completed() && (!transfer.reply_bytes || probe.received() >= arrived + sent);
    };
    if (closed && sent != 0) {
      const bool in_time =
          co_await world.until([&] { return is_over(probe) || answered(); }, limits_of(world).patience());
      if (!in_time && transfer.reply_bytes) co_return false;
    }
    if (!closed || sent != 0) co_await world.driver().sleep(sent == 0 ? pace.first_gap() : pace.next_gap());
    if (!is_over(probe)) probe.allow_sends(std::min<std::uint64_t>(transfer.pace.burst, messages - sent));
  }
  co_return true;
}

/// A reply to each message of one transfer, behind `arrived` others. False: a message did not come, or the connection
/// is over.
Task<bool> reply(World& world, const TransferSpec& transfer, Probe& probe, std::uint64_t arrived) {
  for (std::uint64_t i = 1; i <= messages_in(transfer); ++i) {
    const bool came = co_await world.until([&] { return is_over(probe) || probe.received() >= arrived + i; },
                                           limits_of(world).patience());
    if (!came || is_over(probe)) co_return false;
    probe.allow_sends(1);
  }
  co_return true;
}

/// All of this side's messages and replies; returns when the last one may go. False: it gave up, for what should be
/// answered, or is the answer, did not come.
Task<bool> send_messages(World& world, const WorkloadSpec& workload, Probe& probe, Side side) {
  std::uint64_t number = 0, arrived = 0;
  for (const TransferSpec& transfer : workload.transfers) {
    if (transfer.initiator != side) {
      if (transfer.reply_bytes && !co_await reply(world, transfer, probe, arrived)) co_return false;
    } else if (transfer.pace.loop == PaceSpec::Loop::None) {
      probe.allow_sends(messages_in(transfer));
    } else {
      const std::string name = "pace " + workload.name + " " + std::to_string(number++);
      const Pace pace(transfer.pace, Random(world.seed(), name));
      if (!co_await send_paced(world, transfer, probe, pace, arrived)) co_return false;
    }
    arrived += arrivals_of(transfer, side);
  }
  co_return true;
}

/// Sends its messages, waits for what comes, disconnects.
Task<> use_connection(World& world, const WorkloadSpec& workload, Probe& probe, Side side) {
  const Limits limits = limits_of(world);
  const auto over = [&probe] { return is_over(probe); };
  if (co_await send_messages(world, workload, probe, side))
    co_await world.until([&] { return over() || (probe.all_allowed_completed() && probe.all_received()); },
                         limits.patience());
  if (disconnects(workload, side)) {
    probe.record().broken_off = co_await world.until(over, workload.hold) && !workload.disconnect_by_both;
  } else {
    co_await world.until(over, workload.hold + 2 * longest_disagreement(limits.ulp_timeout, limits.r_a_tov));
    if (workload.second_hold != 0) co_await world.driver().sleep(workload.second_hold);
  }
  co_await disconnect(world, probe);
}

/// The VI may be in Error after a set-up that failed; a program that does not clean up leaves it there.
Task<> leave(World& world, const WorkloadSpec& workload, Probe& probe, bool connected) {
  const bool left_in_error = !connected && !world.cleans_up(workload) && probe.vi().state() == vi::State::Error;
  if (!left_in_error) co_await disconnect(world, probe);
  co_await world.until([&] { return probe.all_sends_completed() && probe.all_receives_completed(); },
                       runtime::microsecond);
  probe.record().ended = true;
}

}  // namespace

runtime::TimeNs longest_disagreement(runtime::TimeNs ulp_timeout, runtime::TimeNs r_a_tov) {
  return 3 * ulp_timeout + r_a_tov + runtime::second;
}

Task<> disconnect_again(World& world, Probe& probe) { co_await disconnect(world, probe); }

Task<> client_program(World& world, const WorkloadSpec& workload, Probe& probe) {
  probe.record().began = true;
  probe.post_receives();
  auto& call = world.begin_call<vi::ConnectOperation>(probe.record(), "VipConnectRequest",
                                                      workload.connect_timeout + Limits::slack);
  probe.node().transport().connect_request(probe.vi(), address_of(workload, Side::Client),
                                           address_of(workload, Side::Server), workload.connect_timeout, call);
  co_await call.finished;
  const bool connected = call.record.result == vi::Return::Success;
  if (connected) co_await use_connection(world, workload, probe, Side::Client);
  co_await leave(world, workload, probe, connected);
}

Task<> server_program(World& world, const WorkloadSpec& workload, Probe& probe) {
  probe.record().began = true;
  probe.post_receives();
  auto& wait = world.begin_call<vi::ConnectWaitOperation>(probe.record(), "VipConnectWait",
                                                          workload.connect_timeout + Limits::slack);
  probe.node().transport().connect_wait(address_of(workload, Side::Server), workload.connect_timeout, wait);
  co_await wait.finished;
  bool connected = false;
  if (wait.record.result == vi::Return::Success) {
    auto& answer = world.begin_call<vi::Operation>(
        probe.record(), workload.reject ? "VipConnectReject" : "VipConnectAccept", limits_of(world).accept());
    if (workload.reject)
      probe.node().transport().connect_reject(wait.token, answer);
    else
      probe.node().transport().connect_accept(wait.token, probe.vi(), answer);
    co_await answer.finished;
    connected = !workload.reject && answer.record.result == vi::Return::Success;
    if (connected) co_await use_connection(world, workload, probe, Side::Server);
  }
  co_await leave(world, workload, probe, connected);
}

Task<> peer_program(World& world, const WorkloadSpec& workload, Probe& probe, Side side) {
  probe.record().began = true;
  probe.post_receives();
  auto& call = world.begin_call<vi::ConnectOperation>(probe.record(), "VipConnectPeerRequest",
                                                      workload.connect_timeout + Limits::slack);
  const vi::Return posted =
      probe.node().transport().connect_peer_request(probe.vi(), nameless_address_of(workload, side),
                                                    address_of(workload, other(side)), workload.connect_timeout, call);
  if (posted != vi::Return::Success) call.done(posted);
  co_await call.finished;
  const bool connected = call.record.result == vi::Return::Success;
  if (connected) co_await use_connection(world, workload, probe, side);
  co_await leave(world, workload, probe, connected);
}

}  // namespace sim::explore
