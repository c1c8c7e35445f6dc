// A stream of messages over each connection, one way or both, until the receiver has said that it has all.
#include <algorithm>
#include <vector>

#include "tools/fcvi_perf/phases.hpp"

namespace perf {
namespace {

/// The two directions of one connection. VI has no flow control for receives: who receives posts rx_depth of them,
/// tells every quarter of that how many came (Credit), and who sends keeps that window.
struct Flow {
  std::uint64_t limit = 0;  ///< messages to send
  std::uint64_t sent = 0, done = 0;
  std::uint64_t received = 0;  ///< by this end
  std::uint64_t told = 0;      ///< of them, to the peer
  std::uint64_t credited = 0;  ///< of `sent`, by the peer
  bool end_posted = false, answered = false, end_received = false, answer_posted = false, finished = false;
};

class Stream {
 public:
  Stream(Endpoint& end, const Job& job, const Phase& phase, Role role)
      : end_(end), job_(job), phase_(phase), role_(role), sends_(role == Role::Client || job.both_directions != 0),
        receives_(role == Role::Server || job.both_directions != 0),
        credit_every_(std::max<std::uint64_t>(1, job.rx_depth / 4)), flows_(job.connections) {
    for (std::uint64_t i = 0; i < flows_.size() && sends_; ++i) flows_[i].limit = share_of(i);
  }

  Tally run() {
    const std::uint64_t begun = now_ns(), cpu_begun = cpu_ns();
    deadline_ = phase_.duration_ns == 0 ? ~0ULL : begun + phase_.duration_ns;
    unanswered_ = sends_ ? flows_.size() : 0;
    unfinished_ = flows_.size();
    for (std::uint64_t i = 0; i < flows_.size(); ++i) advance(i);
    while (unfinished_ != 0) {
      // Where there is no completion queue, an end that waits sends or receives.
      const Event event = end_.next(!sends_ || end_.data_under_way(0) == 0 || window_is_closed(flows_[0]));
      if (event.received)
        on_received(event);
      else if (end_.is_data(event))
        on_sent(event);
      advance(event.connection);
    }
    Tally tally{0, (sends_ ? all_answered_ns_ : now_ns()) - begun, cpu_ns() - cpu_begun, errors_};
    for (const Flow& flow : flows_) tally.sent += flow.sent;
    return tally;
  }

 private:
  [[nodiscard]] std::uint64_t share_of(std::uint64_t connection) const {
    if (phase_.iterations == 0) return ~0ULL;
    return phase_.iterations / flows_.size() + (connection < phase_.iterations % flows_.size() ? 1 : 0);
  }
  [[nodiscard]] bool has_window() const { return job_.consumes_receives(); }
  [[nodiscard]] bool window_is_closed(const Flow& flow) const {
    return has_window() && flow.sent - flow.credited >= job_.rx_depth;
  }

  void send_data(std::uint64_t connection) {
    Flow& flow = flows_[connection];
    while (flow.sent < flow.limit && flow.sent - flow.done < job_.tx_depth && !window_is_closed(flow)) {
      if (phase_.duration_ns != 0 && flow.sent % 16 == 15 && now_ns() >= deadline_) {
        flow.limit = flow.sent;
        return;
      }
      if (job_.check != 0 && job_.operation != Operation::Read)
        fill_pattern(end_.at(end_.layout().source(connection, flow.sent)), phase_.bytes, connection, flow.sent, role_);
      end_.post_data(connection, flow.sent++, phase_.bytes);
    }
  }

  /// Does what has become possible.
  void advance(std::uint64_t connection) {
    Flow& flow = flows_[connection];
    if (sends_) send_data(connection);
    // An RDMA Read is over when its data is here; the peer sees nothing of it. Others arrive before what follows them.
    const bool may_end = job_.operation == Operation::Read ? flow.done == flow.sent : true;
    if (sends_ && !flow.end_posted && flow.sent == flow.limit && may_end)
      flow.end_posted = end_.post_notice(connection, Notice::End, flow.sent);
    if (flow.end_received && !flow.answer_posted)
      flow.answer_posted = end_.post_notice(connection, Notice::Answer, flow.received);
    if (has_window() && flow.received - flow.told >= credit_every_ &&
        end_.post_notice(connection, Notice::Credit, flow.received))
      flow.told = flow.received;
    finish(flow);
  }

  void finish(Flow& flow) {
    if (flow.finished || (sends_ && (!flow.answered || flow.done != flow.sent)) || (receives_ && !flow.answer_posted))
      return;
    flow.finished = true;
    --unfinished_;
  }

  void on_sent(const Event& event) {
    Flow& flow = flows_[event.connection];
    if (job_.check != 0 && job_.operation == Operation::Read) {
      const std::uint8_t* at = end_.at(end_.layout().target(event.connection, flow.done));
      if (!has_pattern(at, phase_.bytes, event.connection, flow.done % job_.buffers, other(role_))) ++errors_;
    }
    ++flow.done;
  }

  void on_received(const Event& event) {
    const VIP_CONTROL_SEGMENT& control = event.descriptor->CS;
    const bool immediate = (control.Status & VIP_STATUS_IMMEDIATE) != 0;
    const Notice notice = immediate ? notice_of(control.ImmediateData) : Notice::Data;
    Flow& flow = flows_[event.connection];
    switch (notice) {
      case Notice::Data: on_data(event, flow); break;
      case Notice::Credit: flow.credited += (control.ImmediateData - flow.credited) & notice_count_mask; break;
      case Notice::End: on_end(event.connection, flow, control.ImmediateData & notice_count_mask); break;
      case Notice::Answer: on_answer(flow); break;
    }
    end_.repost(event);
  }

  void on_data(const Event& event, Flow& flow) {
    if (job_.check != 0 && job_.operation == Operation::Send) {
      const std::uint8_t* at = end_.at(end_.layout().target(event.connection, end_.receive_number(event)));
      if (event.descriptor->CS.Length != phase_.bytes ||
          !has_pattern(at, phase_.bytes, event.connection, flow.received, other(role_)))
        ++errors_;
    }
    ++flow.received;
  }

  void on_end(std::uint64_t connection, Flow& flow, std::uint64_t count) {
    flow.end_received = true;
    if (job_.operation == Operation::Send && flow.received != count) ++errors_;
    if (job_.check == 0 || job_.operation != Operation::Write) return;
    // What was written last into each buffer.
    for (std::uint64_t number = count - std::min(count, job_.buffers); number < count; ++number)
      if (!has_pattern(end_.at(end_.layout().target(connection, number)), phase_.bytes, connection, number,
                       other(role_)))
        ++errors_;
  }

  void on_answer(Flow& flow) {
    flow.answered = true;
    if (--unanswered_ == 0) all_answered_ns_ = now_ns();
  }

  Endpoint& end_;
  const Job& job_;
  const Phase& phase_;
  const Role role_;
  const bool sends_, receives_;
  const std::uint64_t credit_every_;
  std::vector<Flow> flows_;
  std::uint64_t deadline_ = 0, unanswered_ = 0, unfinished_ = 0, all_answered_ns_ = 0, errors_ = 0;
};

}  // namespace

Tally run_bandwidth(Endpoint& end, const Job& job, const Phase& phase, Role role) {
  return Stream(end, job, phase, role).run();
}

}  // namespace perf
