#include "iwarp/read_responder.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "state_machines/consistency.hpp"

namespace iwarp {
namespace rr = machines::rdmap_read_responder;
using wire::rdmap::Cause;
using wire::rdmap::ReadRequest;

bool ReadResponder::is_consistent() const {
  return requests_.size() <= ird_ && machine_.is<rr::Responding>() == due_ && (!due_ || !requests_.empty());
}

/// User is told last: it comes back with stream_ended().
template <class Event>
void ReadResponder::process(const Event& event) {
  due_ = due_ && !std::is_same_v<Event, rr::SegmentSent>;
  machine_.process(event, *this);
  due_ = due_ && machine_.is<rr::Responding>();
  FCVI_ASSERT_CONSISTENT(*this);
  if (std::exchange(failed_, false)) user_.responder_failed(error_);
}

boost::system::result<wire::MutableBytes, Denial> ReadResponder::memory_of(const ReadRequest& request,
                                                                           std::uint32_t octets) const {
  return services_.memory.reach(request.source_stag, who_, request.source_offset, octets, Right::remote_read);
}

void ReadResponder::request_received(const ReadRequest& request, const CapturedError& where) {
  const Request arriving{request, where};
  arriving_ = &arriving;
  const auto memory = memory_of(request, request.size_bytes);
  if (!memory) {
    capture(arriving, Cause::of(protection_error_of(memory.error())));
    return process(rr::RequestInvalid{});
  }
  process(rr::RequestDelivered{});
  if (due_) user_.response_due();
}

void ReadResponder::enqueue() {
  if (requests_.full()) requests_.set_capacity(std::max(2 * requests_.capacity(), PlacesAllocator<Request>::first));
  requests_.push_back(*arriving_);
}

void ReadResponder::finish_response() {
  requests_.pop_front();
  if (requests_.empty()) requests_.set_capacity(0);
}

void ReadResponder::capture(const Request& request, Cause cause) {
  error_ = request.where;
  error_.cause = cause;
  error_.read_request = request.header;
}

void ReadResponder::capture_no_buffer() {
  error_ = arriving_->where;
  error_.cause = Cause::of(wire::ddp::UntaggedError::no_buffer);
}

bool ReadResponder::add_segment(Framing& framing) {
  assert(due_ && framing.has_room());
  ReadRequest& request = requests_.front().header;
  const std::size_t most = framing.mulpdu() - wire::ddp::tagged_header_bytes;
  const auto octets = static_cast<std::uint32_t>(std::min<std::size_t>(most, request.size_bytes));
  const auto memory = memory_of(request, octets);
  if (!memory) {
    capture(requests_.front(), Cause::of(protection_error_of(memory.error())));
    process(rr::SourceLost{});
    return true;
  }
  const bool last = octets == request.size_bytes;
  const wire::ddp::Header header{
      .tagged = true,
      .last = last,
      .rsvd_ulp = wire::rdmap::Control{.opcode = wire::rdmap::Opcode::rdma_read_response}.to_rsvd_ulp(),
      .stag = request.sink_stag,
      .tagged_offset = request.sink_offset};
  std::array<std::uint8_t, wire::ddp::tagged_header_bytes> octets_of_header;
  header.write(octets_of_header);
  const wire::Bytes piece = *memory;
  framing.add(octets_of_header, std::span(&piece, 1));
  request.sink_offset += octets;
  request.source_offset += octets;
  request.size_bytes -= octets;
  process(rr::SegmentSent{last});
  return last;
}

void ReadResponder::stream_ended() { process(rr::StreamEnded{}); }

}  // namespace iwarp
