// A frame of FC-VI with its Device_Header, as far as it is there; and what one frame by itself can have wrong.
#pragma once
#include "tools/fcvi_sim/capture/conversation.hpp"
#include "tools/fcvi_sim/capture/frame.hpp"

namespace sim::capture {

struct IuFrame {
  wire::FcHeader header;
  wire::Bytes data;        // field, as far as captured
  std::size_t length = 0;  // of it on the wire
  bool is_cut = false;
  wire::Bytes raw;            // the first bytes of the frame: its headers
  std::size_t announced = 0;  // bytes of Device_Header by DF_CTL

  bool has_opcode = false;
  std::uint8_t opcode_byte = 0, flags = 0;
  const wire::fcvi::IuInfo* iu = nullptr;  // nullptr: an opcode that the standard does not have
  bool has_header = false;                 // the Device_Header is there as a whole; what follows counts only then
  wire::fcvi::DeviceHeader fields;
  std::size_t payload = 0;   // bytes behind the Device_Header, on the wire
  wire::Bytes payload_data;  // as far as captured

  [[nodiscard]] bool responder() const { return header.has(wire::f_ctl::exchange_responder); }
  [[nodiscard]] bool ends_sequence() const { return header.has(wire::f_ctl::end_sequence); }
  [[nodiscard]] bool last_sequence() const { return header.has(wire::f_ctl::last_sequence); }
  [[nodiscard]] bool gives_initiative() const { return header.has(wire::f_ctl::sequence_initiative); }
  [[nodiscard]] bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  /// FCVI_TOT_LEN or FCVI_CONNECTION_ID.
  [[nodiscard]] std::uint32_t last_word() const { return fields.tot_len_or_connection_id; }
  [[nodiscard]] wire::fcvi::Opcode opcode() const { return iu->opcode; }
  [[nodiscard]] bool carries_data() const { return iu->payload == wire::fcvi::Payload::message_data; }
  /// The flag of that name in this IU is set.
  [[nodiscard]] bool retry() const;
  [[nodiscard]] bool conn_info() const;
  [[nodiscard]] bool conn_sts() const;
  [[nodiscard]] bool resp_err() const;
  [[nodiscard]] bool aborts_setup() const;
};

/// Of a frame with a header.
[[nodiscard]] IuFrame iu_of(const Frame& frame);
/// Reads the Device_Header.
void read_device_header(IuFrame& iu);

namespace check {
/// What one frame says by itself. False: its fields are not to be trusted.
bool header(const IuFrame& iu, Record& record);
void f_ctl(const IuFrame& iu, Record& record);
/// `size`: of the whole payload of CONNECT_RQST or RESP1.
bool payload_length(const IuFrame& iu, std::size_t size, Record& record);
/// That payload; `bytes` has at least what is always there.
void connect(wire::Bytes bytes, const wire::fcvi::ConnectPayload& payload, Record& record);
}  // namespace check

}  // namespace sim::capture
