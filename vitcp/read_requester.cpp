#include "vitcp/read_requester.hpp"

#include <algorithm>

#include "state_machines/consistency.hpp"
#include "vi/nic.hpp"
#include "vitcp/memory_pieces.hpp"

namespace vitcp {
namespace rr = machines::vitcp_read_requester;
namespace status = vi::status;

bool ReadRequester::is_consistent() const {
  const bool open = machine_.is_any_of<rr::Receiving, rr::Discarding>();
  return reads_.size() <= channel_.terms.peer_read_window && (!open || !reads_.empty());
}

void ReadRequester::add(const vi::SendWork& work, wire::vitcp::MessageNumber number) {
  if (reads_.full())
    reads_.set_capacity(std::min<std::size_t>(channel_.terms.peer_read_window, 2 * reads_.capacity() + 2));
  reads_.push_back({work, number});
}

bool ReadRequester::response_begun(const wire::vitcp::SegmentHeader& header, std::size_t payload_octets) {
  if (reads_.empty()) return false;
  Read& read = reads_.front();
  const std::uint64_t end = std::uint64_t{read.octets} + payload_octets;
  const bool whole = end == read.work.length_bytes;
  if (header.message_number != read.number || header.data_offset != read.octets || end > read.work.length_bytes)
    return false;
  if (header.end_of_message != whole && !(header.end_of_message && header.transmit_error)) return false;
  if (header.transmit_error) read.note(Verdict::TransmitError);
  return true;
}

std::size_t ReadRequester::response_room(std::size_t octets, std::span<wire::MutableBytes> pieces) const {
  const Read& read = reads_.front();
  if (read.verdict != Verdict::Good || !rr::places(machine_)) return 0;
  return memory_pieces(channel_.vi->nic().memory(), read.work.data, octets, pieces);
}

void ReadRequester::response_placed(std::size_t octets) {
  Read& read = reads_.front();
  read.octets += static_cast<std::uint32_t>(octets);
  if (!read.work.data.skip(octets)) read.note(Verdict::Protection);
}

void ReadRequester::response_received(wire::Bytes octets) {
  Read& read = reads_.front();
  const bool placed = read.verdict == Verdict::Good && rr::places(machine_);
  if (placed && !read.work.data.scatter(octets)) read.note(Verdict::Protection);
  read.octets += static_cast<std::uint32_t>(octets.size());
}

void ReadRequester::response_ended(const wire::vitcp::SegmentHeader& header) {
  process({reads_.front().verdict, header.end_of_message});
}

bool ReadRequester::response_damaged(const wire::vitcp::SegmentHeader& header, std::size_t payload_octets) {
  if (reads_.empty()) return false;
  Read& read = reads_.front();
  read.note(Verdict::CrcWrong);
  read.octets += static_cast<std::uint32_t>(payload_octets);
  process({Verdict::CrcWrong, header.end_of_message});
  return true;
}

void ReadRequester::process(const rr::ResponseReceived& event) {
  machine_.process(event, *this);
  FCVI_ASSERT_CONSISTENT(*this);
}

void ReadRequester::connection_ended() {
  machine_.process(rr::ConnectionEnded{}, *this);
  reads_.clear();
  FCVI_ASSERT_CONSISTENT(*this);
}

void ReadRequester::complete_read(Verdict verdict) {
  std::uint32_t bits = 0;
  switch (verdict) {
    case Verdict::CrcWrong: bits = status::transport_error; break;
    case Verdict::TransmitError: bits = status::rdma_protection_error; break;
    case Verdict::Protection: bits = status::protection_error; break;
    case Verdict::Good: break;
  }
  channel_.vi->complete_send(reads_.front().work, bits);
}

void ReadRequester::release_window() {
  reads_.pop_front();
  user_->read_completed();
}

/// Ruling V-30: the peer's message that is open or due is named; all before it are there.
void ReadRequester::report_error() {
  channel_.ack = channel_.due;
  channel_.remote_error.unrecoverable_transport_error = true;
  channel_.ack_due = true;
}

void ReadRequester::unexpected(std::string_view, std::string_view, std::string_view) {
  ++channel_.services.counters.unexpected_events;
}

}  // namespace vitcp
