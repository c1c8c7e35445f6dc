// What the parts of one connection share: MessageSender, MessageReceiver, ReadResponder and the two Disconnectors.
#pragma once
#include <cstdint>
#include <optional>

#include "fcvi/end_record.hpp"
#include "fcvi/services.hpp"
#include "vi/vi.hpp"
#include "wire/fcvi/device_header.hpp"
#include "wire/fcvi/disconnect_resp.hpp"

namespace fcvi {

/// Whose Disconnect it is (VI_APP_DISCON, FC-VI 5.9.4.6).
enum class DisconnectBy : bool { Application, Provider };

/// What the parts of a connection report to it. All may end the connection before they return.
class EndpointListener {
 public:
  /// A message failed here, and with it the connection: VI to Error, if it is not there yet, and the peer is told why
  /// (FC-VI 8.4.2 e, 5.3.5, Table 12).
  virtual void failed(wire::fcvi::Reason reason) = 0;
  /// The same, by what the receiver met.
  virtual void failed(wire::fcvi::Reason reason, machines::message_responder::ReceiveError cause) = 0;
  /// To an open message, while Endpoint::is_ending: what waits for all of them may go on.
  virtual void answers_came() = 0;
  /// An RDMA Read is to be answered. False: there are more than any window admits.
  [[nodiscard]] virtual bool read_granted(const fc2::ReceivedFrame& frame, const wire::fcvi::DeviceHeader& request) = 0;
  /// Read data is still to be sent.
  [[nodiscard]] virtual bool answers_reads() const = 0;
  /// The data of all RDMA Reads are out.
  virtual void reads_answered() = 0;
  /// The receiver's R_A_TOV is over, or a logout made it needless.
  virtual void handle_released() = 0;
  /// The cause that the DISCONNECT_RQST tells (D.1 rules 1 a, 2 a); without one it has no CONN_STS.
  [[nodiscard]] virtual std::optional<wire::fcvi::Reason> reason_told(DisconnectBy by) const = 0;
  virtual void disconnect_complete(DisconnectBy by, bool answered) = 0;
  virtual void disconnect_resp_received(const wire::fcvi::DisconnectResp& resp) = 0;

 protected:
  ~EndpointListener() = default;
};

/// One FCVI_HANDLE of ours, and what is known of the other end. The connection writes it; its parts read it, but for
/// `last_completed` and `end`.
struct Endpoint {
  /// What the Connection Setup has brought; it remains when the set-up, and its machine with it, is gone. A step is
  /// never taken back.
  enum class Reached : std::uint8_t {
    Nothing,
    Connected,    // the endpoint was Connected
    ClearToSend,  // FC-VI C.5.5: besides, RESP3 came, or we sent it
  };

  Endpoint(const Services& given, EndpointListener& told, vi::Vi& bound, wire::FcviHandle own,
           const ConnectionOptions& chosen)
      : services(given), listener(told), vi(&bound), handle(own), reliability(bound.attributes().reliability),
        options(chosen) {}

  const Services& services;
  EndpointListener& listener;
  vi::Vi* vi;  // nullptr once it is gone
  const wire::FcviHandle handle;
  const vi::ReliabilityLevel reliability;
  const ConnectionOptions options;
  Reached reached = Reached::Nothing;
  // The endpoint was in Error: nothing flows any more. The handle stays so when its VI is gone, or Idle again.
  bool stopped = false;
  // The login that it had is over, and the peer's handle with it (7.7.1, 8.4.2 g), though the port may log in again.
  bool logged_out = false;
  // The peer has disconnected, and was answered; the VI is Connected until the answers to what was sent came (ruling
  // 128).
  bool is_ending = false;
  EndRecord end;
  wire::FcId peer_port{};
  wire::FcviHandle peer_handle = wire::FcviHandle::unassigned;
  wire::ConnectionId setup_id = wire::ConnectionId::unassigned;
  std::uint32_t window = 1;                   // messages that may be open (7.3)
  std::optional<wire::MsgId> last_completed;  // here, of the peer's messages (6.12.2)

  [[nodiscard]] bool is_reliable() const { return vi::is_reliable(reliability); }
  /// Messages that begin now go in class 2.
  [[nodiscard]] bool class_2() const;
  /// CS_CTL of every frame for a message (FC-VI 5.8.2).
  [[nodiscard]] std::uint8_t cs_ctl() const { return options.preference ? wire::cs_ctl_preference : std::uint8_t{0}; }
  [[nodiscard]] bool was_connected() const { return reached != Reached::Nothing; }
  [[nodiscard]] bool clear_to_send() const { return reached == Reached::ClearToSend; }
  /// RESP2 went, RESP3 did not come yet. Who receives RESP2 sends RESP3 at once, and is never so.
  [[nodiscard]] bool awaits_resp3() const { return reached == Reached::Connected; }
  /// Of an endpoint that receives: RESP1 accepts, RESP2 did not come yet. Who sends RESP2 receives from there on only.
  [[nodiscard]] bool awaits_resp2() const { return reached == Reached::Nothing; }

  /// A message of the peer is complete here; of an RDMA Read, its data are out.
  void message_completed(wire::MsgId id) {
    if (last_completed && !wire::serial_less(*last_completed, id)) return;  // a Send may have passed a Read
    last_completed = id;
  }

  /// A descriptor, or an asynchronous error, is about to tell of this: it ends the connection (VI-ARCH 2.5.2), and who
  /// asks in the signals that follow hears it as end_cause(). Unreliable Delivery goes on (2.5.1).
  void note_failure(wire::fcvi::Reason reason) {
    if (is_reliable()) end.note_here(reason);
  }
  void note_failure(machines::message_responder::ReceiveError cause) {
    if (is_reliable()) end.note(ended_by(cause));
  }
};

}  // namespace fcvi
