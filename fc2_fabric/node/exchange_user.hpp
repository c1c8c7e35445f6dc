// What the parts of an N_Port and its users tell each other about exchanges and frames.
#pragma once
#include <cstdint>
#include <span>

#include "fc2_fabric/frame/frame_run.hpp"
#include "wire/fc_header.hpp"

namespace fc2 {
class Exchange;
struct ReceivedFrame;

/// Why an exchange ended that its user had not finished.
enum class ExchangeFailure : std::uint8_t {
  ReplyTimeout,   // no reply within the time that request() was given; ABTS was sent
  AbortedByPeer,  // ABTS received
  SequenceError,  // a frame of an IU is missing or out of order; ABTS was sent (originator) or the IU discarded
  PortLoggedOut,  // implicit or explicit logout, link down
  // Class 2 (FC-VI B.2.6.1 rules 8a, 8c, 8d, 8e); ABTS was sent
  Busy,             // F_BSY or P_BSY on an in-order fabric
  Rejected,         // F_RJT or P_RJT
  AbortDemanded,    // ACK with "Abort Sequence, Perform ABTS"
  NotAcknowledged,  // no ACK within E_D_TOV
};
const char* to_string(ExchangeFailure failure);

/// Who uses exchanges: a FC-4, link services, one remote port's login. Calls come from NPort::receive or a timer; a
/// user may originate, send on and release exchanges inside them.
class ExchangeUser {
 public:
  /// A whole IU of up to NPort's limit: the optional device header, then the payload. `exchange` may be a new one.
  virtual void sequence_received(Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) = 0;
  /// The exchange is over for the user; it is released after this call.
  virtual void exchange_failed(Exchange& exchange, ExchangeFailure failure) = 0;
  /// Class 2: the sequence that was sent last is closed (FC-VI 5.5). The exchange may be over with it.
  virtual void sequence_acknowledged(Exchange& /*exchange*/) {}
  /// An abort that asked for it is over: answered, or given up (NPort::abort_and_report). The exchange is not the
  /// user's.
  virtual void abort_finished() {}

 protected:
  ~ExchangeUser() = default;
};

/// An FC-4 whose data frames go straight to it, one by one (FC-VI 5.1: "specialized data transfer hardware assists").
/// Its IUs go from one port to one other that is logged in (none to all), and a Device_Header is the only optional
/// header that a frame of it may have.
class DataFrameUser : public ExchangeUser {
 public:
  /// An in-range frame of R_CTL 01h, 06h or 07h. No exchange is opened for it; see NPort::open_for_reply.
  virtual void data_frame_received(const ReceivedFrame& frame) = 0;
  /// The first frame of a run of such frames, of whose data field only the Device_Header is there. See
  /// FrameReceiver::receive_run.
  [[nodiscard]] virtual std::size_t data_run_received(const ReceivedFrame& /*first*/, const FrameRun& /*run*/) {
    return 0;
  }
  /// A frame of class 3 to this port that is a Sequence by itself, as it stands there with its header; nothing of it
  /// was looked at but addresses and TYPE. False: nothing has happened, data_frame_received() gets it.
  [[nodiscard]] virtual bool whole_frame_received(const Frame& /*frame*/) { return false; }
  /// ABTS for an exchange that only the FC-4 knows (its data frames come here). True if it was one.
  virtual bool abort_received(wire::FcId source, wire::OxId ox_id) = 0;

 protected:
  ~DataFrameUser() = default;
};

/// A frame as data_frame_received gets it: header parsed, fill bytes taken off.
struct ReceivedFrame {
  wire::FcHeader header;
  std::span<const std::uint8_t> data_field;
  bool first_of_sequence = false;  // SOFi3, SOFi2
  bool last_of_sequence = false;   // EOFt; class 2: End_Sequence
  bool class_2 = false;
  FramePtr* owner = nullptr;  // who must keep the frame takes it from here, and makes it leave its place
};

/// What a sequence does to its exchange (FC-FS F_CTL 20, 16).
struct SequenceEnd {
  bool last_of_exchange = false;
  bool transfer_initiative = false;
};

}  // namespace fc2
