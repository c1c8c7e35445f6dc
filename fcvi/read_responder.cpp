#include "fcvi/read_responder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "state_machines/consistency.hpp"
#include "wire/fcvi/message_status.hpp"
#include "wire/header_fields.hpp"

namespace fcvi {
using wire::fcvi::DeviceHeader;
using wire::fcvi::Opcode;

ReadResponder::~ReadResponder() = default;

/// An exchange is open for the first response alone, a sequence within an exchange.
bool ReadResponder::is_consistent() const {
  return responses_.size() <= max_waiting && (exchange_ == nullptr || is_busy()) &&
         (!sequence_.is_open() || exchange_ != nullptr);
}

bool ReadResponder::add(const fc2::ReceivedFrame& frame, const DeviceHeader& request) {
  if (responses_.size() == max_waiting) return false;
  if (responses_.full()) responses_.set_capacity(std::max(first_capacity, 2 * responses_.capacity()));
  responses_.push_back({frame.header, request, frame.class_2});
  services().message_exchanges.opened(endpoint_.peer_port, frame.header.ox_id, endpoint_.handle);
  services().port.transmitter().submit(*this);
  return true;
}

void ReadResponder::clear() {
  sequence_.abandon();
  responses_.clear();
  if (exchange_ != nullptr) services().port.abort(*std::exchange(exchange_, nullptr));
  FCVI_ASSERT_CONSISTENT(*this);
}

/// A read that failed has failed at its originator, too: the connection breaks (FC-VI 8.4.2 e), and what waited for its
/// data has no effect (VI-ARCH 6.3.1.1). A logout tells by itself.
void ReadResponder::exchange_failed(fc2::ExchangeFailure failure) {
  sequence_.abandon();
  exchange_ = nullptr;
  if (failure != fc2::ExchangeFailure::PortLoggedOut) fail();
}

/// VI-DG 3.8.1: no descriptor of ours takes part.
void ReadResponder::fail() {
  if (vi::Vi* vi = endpoint_.vi; vi != nullptr)
    vi->report(vi::ErrorCode::RdmaTransport, vi::ResourceCode::Vi, 0, vi::status::op_rdma_read);
  endpoint_.listener.failed(wire::fcvi::Reason::remote_rdma_transport_error);
}

bool ReadResponder::abort_received(wire::OxId ox_id) {
  const auto found =
      std::find_if(responses_.begin(), responses_.end(), [&](const Response& r) { return r.frame.ox_id == ox_id; });
  if (found == responses_.end()) return false;
  // The one that is being sent has an exchange, which tells of its end.
  if (found != responses_.begin() || exchange_ == nullptr) fail();
  return true;
}

fc2::FrameSource::Next ReadResponder::next_frame(fc2::Frame& frame) {
  if (responses_.empty()) return Next::Exhausted;
  if (!sequence_.is_open() && !begin_sequence()) return Next::Blocked;
  if (!sequence_.may_send()) return Next::Blocked;
  if (fill(frame)) finish_first();
  return Next::Made;
}

/// Its last frame is on its way. What ends the connection goes behind it (FC-VI 5.3.5, 8.4.2 e).
void ReadResponder::finish_first() {
  const Response done = responses_.front();
  if (exchange_->is_class_2()) exchange_->context = nullptr;  // its ACKs are not ours to wait for
  exchange_ = nullptr;
  responses_.pop_front();
  FCVI_ASSERT_CONSISTENT(*this);
  if (!done.lost) {
    endpoint_.message_completed(done.request.msg_id);
    return is_busy() ? void() : endpoint_.listener.reads_answered();
  }
  endpoint_.vi->report(vi::ErrorCode::RdmaRProt, vi::ResourceCode::Vi, 0,
                       vi::status::op_rdma_read);  // as if it were refused at once
  endpoint_.listener.failed(wire::fcvi::Reason::remote_rdma_read_protection_error,
                            machines::message_responder::ReceiveError::Protection);
}

void ReadResponder::retry() { services().port.transmitter().submit(*this); }

bool ReadResponder::open_exchange() {
  const Response& response = responses_.front();
  exchange_ = services().port.open_for_reply({.header = response.frame, .data_field = {}, .class_2 = response.class_2},
                                             services().replies);
  if (exchange_ != nullptr)
    exchange_->context = this;
  else
    services().scheduler.schedule_after(retry_, exchange_retry_ns);  // all are in use
  return exchange_ != nullptr;
}

bool ReadResponder::begin_sequence() {
  if (exchange_ == nullptr && !open_exchange()) return false;
  const Response& response = responses_.front();
  if (!sequence_.begin(*exchange_, wire::RCtl::solicited_data, wire::df_ctl::device_header_32, endpoint_.cs_ctl()))
    return false;
  DeviceHeader header = response.request;
  header.handle = endpoint_.peer_handle;
  header.opcode = Opcode::read_resp;
  header.flags = 0;
  header.parameter = 0;
  header.write(device_header_);
  const std::uint64_t frame_bytes = sequence_.data_field_bytes() - device_header_.size();
  const std::uint64_t configured = services().config.max_iu_bytes;
  const std::uint64_t most = 65536 * frame_bytes;  // FC-VI 5.6
  iu_bytes_left_ = configured == 0 ? most : std::clamp(configured / frame_bytes * frame_bytes, frame_bytes, most);
  return true;
}

/// True when the response is complete with this frame.
bool ReadResponder::fill(fc2::Frame& frame) {
  Response& response = responses_.front();
  const DeviceHeader& request = response.request;
  const std::uint64_t left = request.tot_len_or_connection_id - response.bytes_sent;
  const std::uint64_t room = sequence_.data_field_bytes() - device_header_.size();
  auto size = static_cast<std::size_t>(std::min({room, iu_bytes_left_, left}));
  const std::span<std::uint8_t> data_field = frame.data_field();
  std::memcpy(data_field.data(), device_header_.data(), device_header_.size());
  const bool lost = response.lost = !endpoint_.vi->read_remote(
      request.rmt_va_handle, request.rmt_va + response.bytes_sent,
      data_field.subspan(device_header_.size(), size));  // one frame more, without payload, says so (ruling 18)
  if (lost) {
    wire::fcvi::set_flags(data_field, wire::fcvi::MessageStatus{.resp_err = true, .prot_err = true}.to_flags());
    size = 0;
  }
  const bool last = lost || size == left;
  iu_bytes_left_ -= size;
  const fc2::SequenceEnd end{.last_of_exchange = last};
  const auto offset = static_cast<std::uint32_t>(response.bytes_sent);
  sequence_.stamp(frame, device_header_.size() + size, offset, last || iu_bytes_left_ == 0 ? &end : nullptr);
  response.bytes_sent += size;
  ProviderCounters& counters = services().counters;
  ++counters.data_frames_sent;
  counters.data_bytes_sent += size;
  if (last || iu_bytes_left_ == 0) ++counters.ius_sent;
  return last;
}

}  // namespace fcvi
