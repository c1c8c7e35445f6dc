#include "vitcp/connection.hpp"

#include <utility>

#include "state_machines/consistency.hpp"

namespace vitcp {
namespace ve = machines::vi_endpoint;
using wire::vitcp::SegmentType;

namespace {
constexpr int batches_at_once = 8, reads_at_once = 8;  // then others have their turn
}

vi::EndCause to_cause(Ended ended) {
  switch (ended) {
    case Ended::no: return {};
    case Ended::by_us: return {"VipDisconnect was called here"};
    case Ended::descriptor: return {"a descriptor of this VI failed, or a message had none here that fitted"};
    case Ended::protocol: return {"the peer broke a rule of VI/TCP"};
    case Ended::stalled: return {"the peer stopped inside a segment, and nothing more came of it (timeouts: segment)"};
    case Ended::transport: return {"a segment of the peer was damaged, or had not all its data (transport error)"};
    case Ended::remote: return {"the peer refused a message or an RDMA of ours"};
    case Ended::peer_left: return {"the peer ended the connection", true};
    case Ended::peer_gone: return {"the TCP connection broke", true};
  }
  return {};
}

Connection::Connection(const Services& services, ConnectionOwner& owner, vi::Vi& vi, Established established)
    : owner_(&owner), channel_{services, *this, &vi, established.terms},
      closing_(services, *this, std::move(established.stream)) {
  writer_.keep_first(std::move(established.unsent));
}

bool Connection::is_consistent() const {
  return writer_.is_consistent() && read_requester_.is_consistent() && read_responder_.is_consistent() &&
         sender_.is_consistent() && receiver_.is_consistent() && reader_.is_consistent() && closing_.is_consistent() &&
         (closing_.is_open() || channel_.stopped) && (!channel_.stopped || !closing_.is_open() || end_);
}

void Connection::start() {
  sender_.connection_established();
  receiver_.connection_established();
  closing_.stream().set_user(*this);
  closing_.stream().ask_readable();
  ++channel_.services.counters.connections;
  wants_to_send();
}

void Connection::receive_posted() {
  if (channel_.nop_due()) wants_to_send();
}

/// The first cause stays; but that a descriptor failed is said only where nothing says why.
void Connection::note(Ended cause) {
  if (ended_ == Ended::no || ended_ == Ended::descriptor) ended_ = cause;
}

// --- the end -------------------------------------------------------------------------------------------------------

void Connection::stopped() {
  note(Ended::descriptor);
  channel_.stopped = true;
  if (!end_) end_ = End::fail;
  wants_to_send();
}

void Connection::failed(Failure failure) {
  switch (failure) {
    case Failure::Protocol: note(Ended::protocol); break;
    case Failure::Transport: note(Ended::transport); break;
    case Failure::Local: note(Ended::descriptor); break;
    case Failure::Remote: note(Ended::remote); break;
  }
  channel_.stopped = true;
  if (!end_) end_ = End::fail;
  if (channel_.vi != nullptr && channel_.vi->state() == vi::State::Connected)
    channel_.vi->endpoint_event(ve::ConnectionLost{});
  wants_to_send();
}

void Connection::disconnect() {
  note(Ended::by_us);
  channel_.stopped = true;
  end_ = End::disconnect;
  wants_to_send();
}

void Connection::abandon(ConnectionOwner& heir) {
  owner_ = &heir;
  channel_.vi = nullptr;
  disconnect();
}

void Connection::carry_out_end() {
  if (!end_) return;
  switch (*std::exchange(end_, std::nullopt)) {
    case End::disconnect: return closing_.disconnect();
    case End::fail: return closing_.fail();
  }
}

void Connection::leave_connected() {
  channel_.stopped = true;
  sender_.connection_ended();
  receiver_.connection_ended();
  read_requester_.connection_ended();
  read_responder_.connection_ended();
  owner_->connection_left(*this);
}

void Connection::report_lost() {
  if (channel_.vi != nullptr && channel_.vi->state() == vi::State::Connected)
    channel_.vi->endpoint_event(ve::ConnectionLost{});
}

// --- out -----------------------------------------------------------------------------------------------------------

void Connection::wants_to_send() {
  runtime::Scheduler& scheduler = channel_.services.scheduler;
  if (!turn_.pending()) scheduler.schedule(turn_, scheduler.now());
}

/// May end with this object gone: the last thing it does is to tell its owner.
void Connection::turn() {
  if (is_over()) return;
  write();
  if (!channel_.stopped && receiver_.holds() && !read_responder_.has_work()) answer_reads();
  FCVI_ASSERT_CONSISTENT(*this);
  if (end_) {
    wants_to_send();  // what was owed may be sent already
    return carry_out_end();
  }
  const bool owes = writer_.is_blocked() || (channel_.ack_due && !writer_.is_cut());
  if (closing_.is_finishing() && !owes) closing_.output_finished();
}

void Connection::write() {
  streams::Stream& stream = closing_.stream();
  if (writer_.is_blocked()) writer_.write_kept(stream);
  for (int batches = 0; !writer_.is_blocked() && fill_batch(); ++batches) {
    flush();
    if (writer_.is_cut()) cut();
    if (batches == batches_at_once) return wants_to_send();
  }
  writer_.is_blocked() ? stream.ask_writable() : writer_.rest();
}

void Connection::flush() {
  writer_.flush(closing_.stream());
  if (!writer_.is_cut()) sender_.batch_flushed();
}

/// The peer must not take what is not there for data: its segment never ends, and nothing goes out behind it. What
/// stood before it does.
void Connection::cut() {
  if (writer_.cut_type() == SegmentType::rdma_read_response)
    channel_.vi->report(vi::ErrorCode::RdmaRProt, vi::ResourceCode::Vi, 0, vi::status::op_rdma_read);
  else
    sender_.memory_cut();
  failed(Failure::Local);
}

/// Read Responses and messages in turn (VI-TCP 2.2.2.2.3). False: there was nothing.
bool Connection::fill_batch() {
  if (writer_.is_cut()) return false;
  for (bool more = closing_.is_open(); more;) {
    more = read_responder_.add_segment(writer_);
    more = sender_.add_segment(writer_) || more;
  }
  const bool nop_due = closing_.is_open() ? channel_.nop_due() : closing_.is_finishing() && channel_.ack_due;
  if (writer_.is_empty() && nop_due) add_nop();
  return !writer_.is_empty();
}

void Connection::add_nop() {
  writer_.begin(channel_.header(SegmentType::nop, channel_.last_sent), nullptr, 0);
  writer_.end();
  ++channel_.services.counters.nops_sent;
}

// --- in ------------------------------------------------------------------------------------------------------------

void Connection::readable() {
  if (!closing_.is_open()) return closing_.read_and_drop();
  if (channel_.stopped) return;  // turn() comes
  read();
  FCVI_ASSERT_CONSISTENT(*this);
}

/// False: nothing came, and the stream has not ended.
bool Connection::read() {
  SegmentReader::Progress progress{.more = true};
  bool came = false;
  for (int reads = 0; progress.more && reads != reads_at_once && !channel_.stopped; ++reads) {
    progress = reader_.read(closing_.stream());
    came = came || progress.came || progress.end;
  }
  if (!channel_.stopped && progress.end && !reader_.waits()) {
    if (!reader_.is_at_boundary()) channel_.services.counters.refuse(Refusal::end_in_segment);
    note(Ended::peer_left);
    closing_.end_received();
  } else {
    read_on();
  }
  return came;
}

/// The time runs anew with whatever came of it. The timer stays where it is, for parts of large segments come one after
/// another: it looks again.
void Connection::watch_segment() {
  runtime::Scheduler& scheduler = channel_.services.scheduler;
  const runtime::TimeNs timeout = channel_.services.config.segment_timeout;
  if (timeout == runtime::never) return;
  if (!reader_.awaits_rest()) {
    if (segment_timeout_.pending()) scheduler.cancel(segment_timeout_);
    return;
  }
  rest_due_ = scheduler.now() + timeout;
  if (!segment_timeout_.pending()) scheduler.schedule(segment_timeout_, rest_due_);
}

/// A process that was stopped itself has this due before it has read: what is there came in time.
void Connection::segment_overdue() {
  runtime::Scheduler& scheduler = channel_.services.scheduler;
  if (!reader_.awaits_rest()) return;
  if (scheduler.now() < rest_due_) return scheduler.schedule(segment_timeout_, rest_due_);
  if (!read() && reader_.awaits_rest()) {
    if (!channel_.terms.crc) note(Ended::stalled);  // with it the segment counts as damaged
    reader_.give_up_rest();
  }
  FCVI_ASSERT_CONSISTENT(*this);
}

void Connection::read_on() {
  watch_segment();
  if (channel_.nop_due()) wants_to_send();
  if (!channel_.stopped && !reader_.waits()) closing_.stream().ask_readable();
}

/// All responses are with the stream, or copied: what came behind their requests may be looked at (VI-ARCH 6.3.1.1).
void Connection::answer_reads() {
  receiver_.reads_answered();
  if (!reader_.waits()) return;
  reader_.go_on();
  read_on();
}

void Connection::closed(streams::Reason) {
  note(Ended::peer_gone);
  closing_.stream_broken();
}

}  // namespace vitcp
