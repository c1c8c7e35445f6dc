#include "vi/vi.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "vi/consumer_memory.hpp"
#include "vi/nic.hpp"

namespace vi {
namespace {

namespace endpoint = machines::vi_endpoint;

SendKind send_kind(std::uint16_t control) {
  switch (control & control::op_mask) {
    case control::op_rdma_write: return SendKind::RdmaWrite;
    case control::op_rdma_read: return SendKind::RdmaRead;
    default: return SendKind::Send;
  }
}

bool has_reserved_bits(const ControlSegment& segment) {
  return (segment.control & control::reserved) != 0 || segment.reserved != 0;
}

}  // namespace

// VI-ARCH 3.2.1: every reference is judged. As long as nothing was deregistered, by what the post found.
inline std::byte* Vi::descriptor_memory(const WorkQueue::Entry& entry, std::uint64_t length_bytes) const {
  if (entry.generation == nic_.memory().generation() && length_bytes <= entry.host_bytes) [[likely]]
    return entry.host;
  return translated_memory(entry, length_bytes);
}

Vi::Vi(Nic& nic, const ViAttributes& attributes, CompletionQueue* send_queue, CompletionQueue* receive_queue)
    : nic_(nic), attributes_(attributes), send_(send_queue, nic.limits().max_descriptors_per_queue),
      receive_(receive_queue, nic.limits().max_descriptors_per_queue) {
  nic_.memory().add_user(attributes_.ptag);
  for (CompletionQueue* queue : {send_queue, receive_queue})
    if (queue != nullptr) queue->attach();
}

Vi::~Vi() {
  for (CompletionQueue* queue : {send_.completion_queue(), receive_.completion_queue()})
    if (queue != nullptr) queue->detach();
  nic_.memory().remove_user(attributes_.ptag);
}

State Vi::state() const {
  if (endpoint_.is<endpoint::Connected>()) return State::Connected;
  if (endpoint_.is_any_of<endpoint::Error, endpoint::Disconnecting>()) return State::Error;
  return endpoint_.is<endpoint::Idle>() ? State::Idle : State::ConnectPending;
}

std::string_view Vi::endpoint_state_name() const {
  if (state() == State::Error) return fsm::name_of<endpoint::Error>();
  const std::string_view finer =
      state() == State::ConnectPending ? nic_.transport().pending_state_name(*this) : std::string_view{};
  return finer.empty() ? endpoint_.state_name() : finer;
}

bool Vi::is_consistent() const {
  const State now = state();
  const bool traffic = now == State::Connected        ? reception_enabled_ && transmission_enabled_
                       : now == State::ConnectPending ? !transmission_enabled_
                                                      : !reception_enabled_ && !transmission_enabled_;
  const bool stopped =
      now != State::Error || (send_.first_open() == send_.tail() && receive_.first_open() == receive_.tail());
  const bool reads = reads_open_ <= send_.size();
  return traffic && stopped && reads && send_.is_consistent() && receive_.is_consistent();
}

// --- consumer side ---------------------------------------------------------------------------------------

Return Vi::post_send(const PostedDescriptor& found) {
  if (post(send_, found)) send_posted();
  return Return::Success;
}

Return Vi::post_receive(const PostedDescriptor& found) {
  if (post(receive_, found)) receive_posted();
  return Return::Success;
}

void Vi::post_valid(bool receive_queue, const WorkQueue::Entry& entry) {
  (receive_queue ? receive_ : send_).push(entry);
  receive_queue ? receive_posted() : send_posted();
}

/// The last one of the queue.
void Vi::send_posted() {
  if (transmission_enabled_) [[likely]]
    nic_.transport().send_posted(*this);
  else
    fail_by_status(finish(send_, send_.tail() - 1, status::flushed, {}), 0);  // VI-ARCH 5.1, 5.2, 5.4, 6.2
  FCVI_ASSERT_CONSISTENT(*this);
}

void Vi::receive_posted() {
  if (!reception_enabled_ && state() == State::Error)  // VI-ARCH 5.4; nothing fails any more there
    finish(receive_, receive_.tail() - 1, status::flushed, {.length_bytes = 0});
  else
    nic_.transport().receive_posted(*this);
  FCVI_ASSERT_CONSISTENT(*this);
}

bool Vi::post(WorkQueue& queue, const PostedDescriptor& found) {
  const bool receive_queue = &queue == &receive_;
  const std::uint64_t taken = nic_.listener().taken_count(*this, receive_queue);
  const bool stands =
      found.valid && found.tag == attributes_.ptag && found.entry.generation == nic_.memory().generation();
  if (stands && queue.post(found.entry, taken)) [[likely]]
    return true;
  const auto [address, handle] = std::pair(found.entry.address, found.entry.handle);
  const PostRules rules{nic_.memory(), attributes_.ptag, nic_.limits().max_segments_per_descriptor};
  const PostedDescriptor anew = judge_post(rules, receive_queue, address, handle, queue.has_room(taken));
  if (anew.valid && queue.post(anew.entry, taken)) return true;
  report(anew.valid ? ErrorCode::ViOverrun : ErrorCode::PostDesc,
         anew.valid ? ResourceCode::Vi : ResourceCode::Descriptor, address, anew.entry.status);
  fail(anew.valid ? Failure::Nic : Failure::Unreadable);
  return false;
}

bool Vi::is_full(bool receive_queue) const {
  return !(receive_queue ? receive_ : send_).has_room(nic_.listener().taken_count(*this, receive_queue));
}

void Vi::fail_catastrophically() {
  report(ErrorCode::Catastrophic, ResourceCode::Nic);
  fail(Failure::Nic);
}

Return Vi::dequeue(WorkQueue& queue, std::uint64_t& address) {
  address = 0;
  if (queue.empty()) return Return::DescriptorError;  // VI-DG 3.5.2
  const WorkQueue::Entry* head = queue.completed_head();
  if (head == nullptr) return Return::NotDone;
  address = head->address;
  const bool error = (head->status & status::error_mask) != 0;
  queue.pop_head();
  return error ? Return::DescriptorError : Return::Success;
}

// --- connections -----------------------------------------------------------------------------------------

Return Vi::may_request(bool own, TimeNs timeout_ns) const {
  if (timeout_ns <= 0 || !own) return Return::InvalidParameter;
  return state() == State::Idle ? Return::Success : Return::InvalidState;
}

Return Vi::may_accept(const ViAttributes& remote) const {
  return state() == State::Idle ? conflict_between(attributes_, remote) : Return::InvalidState;
}

void Vi::disconnect() {
  if (endpoint_event(endpoint::DisconnectRequested{}).disconnect_requested)
    endpoint_event(endpoint::DisconnectAnswered{});
}

// --- early reception -------------------------------------------------------------------------------------

void Vi::receive_early() {
  assert(state() == State::ConnectPending);
  reception_enabled_ = true;
}

void Vi::withdraw_early_reception() {
  if (state() != State::ConnectPending) return;
  reception_enabled_ = false;
  receive_.rewind();
  FCVI_ASSERT_CONSISTENT(*this);
}

// --- sends -----------------------------------------------------------------------------------------------

std::optional<SendWork> Vi::begin_send() {
  while (transmission_enabled_ && send_.has_unprocessed()) {
    const auto index = send_.next_index();
    const bool first = send_.completed_before(index);
    if (reads_open_ != 0 && attributes_.reliability == ReliabilityLevel::ReliableReception)
      return std::nullopt;  // VI-ARCH 6.3.1.1
    WorkQueue::Entry& entry = send_.entry(index);
    SendWork work{.index = index};
    std::uint32_t error_bits = status::protection_error;
    if (ControlSegment segment; read_control_segment(entry, segment)) {
      if ((segment.control & control::queue_fence) != 0 && !first) return std::nullopt;  // VI-ARCH 6.3.1.2
      entry.status = send_op_code(segment.control);
      error_bits = read_send(entry, segment, work);
    }
    if (error_bits != 0 && !first) return std::nullopt;  // completions are FIFO (VI-ARCH 6.3.1.1)
    send_.take_next();
    if (error_bits == 0) {
      if (work.kind == SendKind::RdmaRead) ++reads_open_;
      return work;
    }
    fail_by_status(finish(send_, index, error_bits, {}), error_bits);
  }
  return std::nullopt;
}

// VI-DG 5.2 to 5.4. Error bits, or 0 and the work.
std::uint32_t Vi::read_send(const WorkQueue::Entry& entry, const ControlSegment& segment, SendWork& work) const {
  if (has_reserved_bits(segment) || (segment.control & control::op_mask) == control::op_mask)
    return status::format_error;
  work.kind = send_kind(segment.control);
  if (work.kind == SendKind::RdmaRead && !is_reliable(attributes_.reliability))
    return status::format_error;  // VI-ARCH 2.5.1
  if (segment.segment_count > nic_.limits().max_segments_per_descriptor) return status::length_error;
  const std::byte* host = whole_descriptor(entry, segment.segment_count);
  if (host == nullptr) return status::protection_error;

  std::uint64_t data_address = entry.address + sizeof(ControlSegment);
  std::uint32_t data_count = segment.segment_count;
  if (work.kind != SendKind::Send) {
    if (data_count == 0) return status::format_error;
    Segment remote;
    const std::byte* from = host + sizeof(ControlSegment);
    if (!nic_.memory().access(from, sizeof remote, [&] { return consumer_memory::load_segment(from, remote); }))
      return status::protection_error;
    if (remote.length_or_reserved != 0) return status::format_error;  // VI-DG 5.3
    work.remote_address = remote.address;
    work.remote_handle = wire::MemHandle{remote.handle};
    data_address += sizeof(Segment);
    --data_count;
  }
  if (segment.length_bytes > attributes_.max_transfer_size_bytes) return status::length_error;
  work.data = DataCursor(nic_.memory(), attributes_.ptag, entry.handle, data_address, data_count);
  std::uint64_t sum = 0;
  const Access access = work.kind == SendKind::RdmaRead ? Access::LocalWrite : Access::Local;
  work.data.begin(host + (data_address - entry.address), access);
  if (!work.data.check(sum, access)) return status::protection_error;
  if (sum != segment.length_bytes) return status::length_error;
  work.length_bytes = segment.length_bytes;
  work.has_immediate = work.kind != SendKind::RdmaRead && (segment.control & control::immediate) != 0;
  work.immediate_data = work.has_immediate ? segment.immediate_data : 0;
  return 0;
}

void Vi::complete_send(const SendWork& work, std::uint32_t error_bits) {
  if (!is_open(work)) return;  // flushed meanwhile
  assert((error_bits & ~status::error_mask) == 0);
  if (work.kind == SendKind::RdmaRead) --reads_open_;
  if (error_bits == 0) set_partly_sent(work, false);
  const Written written = error_bits == 0 ? Written{.length_bytes = work.length_bytes} : Written{};
  fail_by_status(finish(send_, work.index, error_bits, written), error_bits);
}

void Vi::set_partly_sent(const SendWork& work, bool partly) {
  if (!is_open(work)) return;
  std::uint32_t& status = send_.entry(work.index).status;
  status = partly ? status | status::partial_error : status & ~status::partial_error;
}

// --- receives --------------------------------------------------------------------------------------------

std::optional<ReceiveWork> Vi::claim_receive(std::uint64_t message_bytes) {
  if (!reception_enabled_ || !receive_.has_unprocessed()) return std::nullopt;
  ReceiveWork work{.index = receive_.take_next()};
  work.error_bits = read_receive(receive_.entry(work.index), message_bytes, work);
  return work;
}

void Vi::rewind_receive(ReceiveWork& work, std::uint64_t message_bytes) const {
  work.error_bits = read_receive(receive_.entry(work.index), message_bytes, work);
}

// VI-DG 5.2, 5.4. Error bits, or 0 and the rest of the work. Immediate and fence bits are ignored.
std::uint32_t Vi::read_receive(const WorkQueue::Entry& entry, std::uint64_t message_bytes, ReceiveWork& work) const {
  ControlSegment segment;
  if (!read_control_segment(entry, segment)) return status::protection_error;
  if (has_reserved_bits(segment) || (segment.control & control::op_mask) != control::op_send_receive)
    return status::format_error;
  if (segment.segment_count > nic_.limits().max_segments_per_descriptor) return status::length_error;
  const std::byte* host = whole_descriptor(entry, segment.segment_count);
  if (host == nullptr) return status::protection_error;
  work.data = DataCursor(nic_.memory(), attributes_.ptag, entry.handle, entry.address + sizeof(ControlSegment),
                         segment.segment_count);
  work.data.begin(host + sizeof(ControlSegment), Access::LocalWrite);
  if (message_bytes > attributes_.max_transfer_size_bytes) return status::length_error;  // VI-DG 5.2 bit 3
  switch (work.data.reach(message_bytes, Access::LocalWrite)) {
    case DataCursor::Reach::Allowed: return 0;
    case DataCursor::Reach::TooShort: return status::length_error;
    case DataCursor::Reach::Refused: break;
  }
  return status::protection_error;
}

bool Vi::read_control_segment(const WorkQueue::Entry& entry, ControlSegment& segment) const {
  const std::byte* host = descriptor_memory(entry, sizeof segment);
  return host != nullptr && nic_.memory().access(host, sizeof segment,
                                                 [&] { return consumer_memory::load_control_segment(host, segment); });
}

void Vi::complete_receive(const ReceiveWork& work, std::uint32_t error_bits, std::uint32_t op_code,
                          std::uint32_t length_bytes, std::optional<std::uint32_t> immediate) {
  if (!is_open(work)) return;  // flushed meanwhile
  assert((error_bits & ~status::error_mask) == 0);
  receive_.entry(work.index).status = op_code;
  if (error_bits != 0)
    return fail_by_status(finish(receive_, work.index, error_bits, {.length_bytes = 0}), error_bits);  // ruling 19
  const bool written = finish(receive_, work.index, immediate ? status::immediate : 0,
                              {.length_bytes = length_bytes, .immediate_data = immediate});
  fail_by_status(written, 0);
}

// --- completion ------------------------------------------------------------------------------------------

bool Vi::finish(WorkQueue& queue, WorkQueue::Index index, std::uint32_t status, Written written) {
  const WorkQueue::Entry& entry = queue.entry(index);
  std::uint32_t whole = entry.status | status::done | status;
  const bool writable = write_completion(entry, whole, written);
  if (!writable) {
    // VI-DG 3.8.1: deregistered before completion status was written.
    whole |= status::protection_error;
    report(ErrorCode::CompProt, ResourceCode::Descriptor, entry.address, entry.status);
  }
  announce(queue, queue.complete(index, whole));
  return writable;
}

bool Vi::write_completion(const WorkQueue::Entry& entry, std::uint32_t status, Written written) {
  std::byte* host = descriptor_memory(entry, sizeof(ControlSegment));
  if (host == nullptr) return false;
  return nic_.memory().access(host, sizeof(ControlSegment), [&] {
    return (!written.immediate_data || consumer_memory::store_immediate_data(host, *written.immediate_data)) &&
           (!written.length_bytes || consumer_memory::store_length(host, *written.length_bytes)) &&
           consumer_memory::store_status(host, status);
  });
}

void Vi::announce(WorkQueue& queue, std::uint32_t count) {
  for (WorkQueue::Index index = queue.first_open() - count; count != 0; --count, ++index) {
    const WorkQueue::Entry& entry = queue.entry(index);
    const bool error = (entry.status & status::error_mask) != 0;
    if (nic_.listener().completed(*this, &queue == &receive_, entry.address, error)) queue.pop_head();
  }
}

void Vi::flush(WorkQueue& queue) {
  const Written written = &queue == &receive_ ? Written{.length_bytes = 0} : Written{};
  while (queue.first_open() != queue.tail()) {
    const WorkQueue::Index index = queue.first_open();
    const bool truncated =
        &queue == &receive_ && queue.is_begun(index);  // some frames of its message came (VI-DG 5.2 bit 4)
    finish(queue, index, truncated ? status::flushed | status::partial_error : status::flushed, written);
  }  // all is stopped already: none of them fails the VI
}

void Vi::flush_descriptors() {
  flush(send_);
  flush(receive_);
  reads_open_ = 0;
}

std::byte* Vi::translated_memory(const WorkQueue::Entry& entry, std::uint64_t length_bytes) const {
  std::byte* host =
      nic_.memory().translate(entry.handle, entry.address, length_bytes, attributes_.ptag, Access::LocalWrite);
  return host != nullptr && consumer_memory::is_aligned(host) ? host : nullptr;
}

std::byte* Vi::whole_descriptor(const WorkQueue::Entry& entry, std::uint32_t segment_count) const {
  return descriptor_memory(entry, sizeof(ControlSegment) + std::uint64_t{segment_count} * sizeof(Segment));
}

// --- errors ----------------------------------------------------------------------------------------------

void Vi::fail_by_status(bool written, std::uint32_t error_bits) {
  if (!written) return fail(Failure::Unreadable);
  if (error_bits == 0 || !is_reliable(attributes_.reliability)) return;  // VI-ARCH 2.5.1
  fail((error_bits & status::transport_error) != 0 ? Failure::Transport : Failure::Descriptor);
}

void Vi::fail(Failure failure) {
  const State before = state();
  const bool early_traffic = before == State::ConnectPending && reception_enabled_;
  if (failure == Failure::Transport || early_traffic) {
    endpoint_event(endpoint::ConnectionLost{});
  } else if (failure == Failure::Descriptor) {
    endpoint_event(endpoint::LocalError{});
  } else {
    endpoint_event(endpoint::CatastrophicError{});
  }
  const auto cause = failure == Failure::Nic ? StopCause::Nic : StopCause::Descriptor;
  if (before == State::Error) return;
  assert(state() == State::Error);
  nic_.transport().stopped(*this, cause);
}

void Vi::report(ErrorCode error, ResourceCode resource, std::uint64_t descriptor_address, std::uint32_t op_code) {
  nic_.listener().asynchronous_error(this, nullptr, descriptor_address, op_code, resource, error);
}

std::byte* Vi::remote_memory(wire::MemHandle handle, std::uint64_t address, std::uint64_t length_bytes,
                             Access access) const {
  if (access == Access::RemoteWrite && !attributes_.enable_rdma_write) return nullptr;  // VI-ARCH 3.2.2.2
  if (access == Access::RemoteRead && !attributes_.enable_rdma_read) return nullptr;
  return nic_.memory().translate(handle, address, length_bytes, attributes_.ptag, access);
}

bool Vi::write_remote(wire::MemHandle handle, std::uint64_t address, std::span<const std::uint8_t> from) const {
  std::byte* host = remote_memory(handle, address, from.size(), Access::RemoteWrite);
  return host != nullptr && nic_.memory().write(host, from);
}

std::size_t Vi::write_remote_pieces(wire::MemHandle handle, std::uint64_t address,
                                    const MemoryTable::Pieces& from) const {
  std::byte* const host = remote_memory(handle, address, from.bytes * from.count, Access::RemoteWrite);
  return host == nullptr ? 0 : nic_.memory().write_pieces(host, from);
}

bool Vi::read_remote(wire::MemHandle handle, std::uint64_t address, std::span<std::uint8_t> to) const {
  const std::byte* host = remote_memory(handle, address, to.size(), Access::RemoteRead);
  return host != nullptr && nic_.memory().read(to, host);
}

// --- effects of the endpoint machine ---------------------------------------------------------------------

void Vi::tell_state() { nic_.listener().state_changed(*this); }

void Vi::on_row(const fsm::Row& row) { nic_.listener().row_fired(*this, row); }
void Vi::unexpected(std::string_view, std::string_view, std::string_view) { ++unexpected_events_; }

bool Vi::reliable() const { return is_reliable(attributes_.reliability); }

}  // namespace vi
