#include "vitcp/read_responder.hpp"

#include <algorithm>
#include <cassert>

#include "state_machines/consistency.hpp"
#include "vi/nic.hpp"

namespace vitcp {
namespace rr = machines::vitcp_read_responder;
using wire::vitcp::SegmentType;

bool ReadResponder::is_consistent() const {
  const bool responds = machine_.is_any_of<rr::Responding, rr::Padding>();
  return requests_.size() <= channel_.terms.read_window && responds == (due_ != Due::nothing) &&
         (!responds || !requests_.empty());
}

template <class Event>
void ReadResponder::process(const Event& event) {
  due_ = Due::nothing;
  machine_.process(event, *this);
  FCVI_ASSERT_CONSISTENT(*this);
}

void ReadResponder::add(wire::vitcp::MessageNumber number, const wire::vitcp::RdmaHeader& rdma) {
  assert(has_room());
  if (requests_.full())
    requests_.set_capacity(std::min<std::size_t>(channel_.terms.read_window, 2 * requests_.capacity() + 2));
  requests_.push_back({number, rdma});
  channel_.listener.wants_to_send();
}

void ReadResponder::connection_ended() {
  process(rr::ConnectionEnded{});
  requests_.clear();
}

/// What is left of it may be read; nullptr: not, or not any more.
std::byte* ReadResponder::memory_of(const Request& request) const {
  const wire::vitcp::RdmaHeader& rdma = request.rdma;
  return channel_.vi->remote_memory(rdma.memory_handle, rdma.address + request.octets_sent, request.octets_left(),
                                    vi::Access::RemoteRead);
}

void ReadResponder::begin() {
  memory_of(requests_.front()) != nullptr ? process(rr::ReadGranted{}) : process(rr::ReadRefused{});
}

bool ReadResponder::add_segment(SegmentWriter& writer) {
  if (requests_.empty() || channel_.stopped) return false;
  if (rr::may_begin(machine_)) begin();
  const auto room = writer.payload_room(SegmentType::rdma_read_response);
  if (!room) return false;
  if (due_ == Due::segment && memory_of(requests_.front()) == nullptr) process(rr::SourceLost{});
  due_ == Due::segment ? add_data(writer, *room) : add_padding(writer, *room);
  return true;
}

void ReadResponder::begin_segment(SegmentWriter& writer, std::size_t octets, bool last) {
  const Request& request = requests_.front();
  wire::vitcp::SegmentHeader header = channel_.header(SegmentType::rdma_read_response, request.number);
  header.data_offset = request.octets_sent;
  header.end_of_message = last;
  header.transmit_error = due_ == Due::padding;
  writer.begin(header, nullptr, octets);
}

void ReadResponder::add_data(SegmentWriter& writer, std::size_t room) {
  Request& request = requests_.front();
  std::byte* const memory = memory_of(request);
  const std::size_t octets = std::min<std::size_t>(room, request.octets_left());
  const bool last = octets == request.octets_left();
  if (!writer.copies(octets) && !channel_.vi->nic().memory().is_there(memory, octets)) return process(rr::SourceLost{});
  begin_segment(writer, octets, last);
  if (!writer.copies(octets)) {
    writer.lend({memory, octets});
  } else if (!copy(writer, memory, octets)) {
    writer.drop();
    channel_.nop_owed = true;  // what its header told
    return process(rr::SourceLost{});
  }
  writer.end();
  segment_added(octets, last);
}

/// False: some of that memory is gone.
bool ReadResponder::copy(SegmentWriter& writer, const std::byte* memory, std::size_t octets) const {
  for (std::size_t here = 0; octets != 0; octets -= here, memory += here) {
    here = std::min(octets, SegmentWriter::copied_at_once);
    if (!channel_.vi->nic().memory().read(writer.copied_payload(here), memory)) return false;
  }
  return true;
}

/// Ruling V-18: a single segment without payload, or zeros to the response's length.
void ReadResponder::add_padding(SegmentWriter& writer, std::size_t room) {
  const Request& request = requests_.front();
  const bool nothing_sent = request.octets_sent == 0;
  const std::size_t octets =
      nothing_sent ? 0 : std::min({room, SegmentWriter::most_padding_octets, std::size_t{request.octets_left()}});
  const bool last = nothing_sent || octets == request.octets_left();
  begin_segment(writer, octets, last);
  writer.pad();
  writer.end();
  segment_added(octets, last);
}

void ReadResponder::segment_added(std::size_t octets, bool last) {
  requests_.front().octets_sent += static_cast<std::uint32_t>(octets);
  process(rr::SegmentSent{last});
}

void ReadResponder::finish_response() {
  requests_.pop_front();
  ++channel_.services.counters.messages_sent;
}

void ReadResponder::report_refusal() {
  channel_.vi->report(vi::ErrorCode::RdmaRProt, vi::ResourceCode::Vi, 0, vi::status::op_rdma_read);
}

void ReadResponder::unexpected(std::string_view, std::string_view, std::string_view) {
  ++channel_.services.counters.unexpected_events;
}

}  // namespace vitcp
