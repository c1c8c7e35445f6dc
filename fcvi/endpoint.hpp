// What the parts of one connection share: MessageSender, MessageReceiver, ReadResponder and the two Disconnectors.
#pragma once
#include <cstdint>

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
  /// The data of all RDMA Reads are out.
  virtual void reads_answered() = 0;
  /// The receiver's R_A_TOV is over, or a logout made it needless.
  virtual void handle_released() = 0;
  virtual void disconnect_complete(DisconnectBy by, bool answered) = 0;
  virtual void disconnect_resp_received(const wire::fcvi::DisconnectResp& resp) = 0;

 protected:
  ~EndpointListener() = default;
};

/// One FCVI_HANDLE of ours, and what is known of the other end. The connection writes it; its parts read it, but for
/// `last_completed`, `answers_reads` and `end`.
struct Endpoint {
  /// The Connection Setup that is under way.
  enum class Setup : std::uint8_t { None, Originated, Received };

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
  Setup setup = Setup::None;
  bool clear_to_send = false;   // FC-VI C.5.5: RESP3 came, or we sent it
  bool connected_once = false;  // the endpoint was Connected
  bool stopped = false;         // the endpoint was in Error: nothing flows any more
  bool logged_out = false;      // the login that it had is over, and the peer's handle with it (7.7.1, 8.4.2 g)
  bool is_ending = false;       // the peer has disconnected; only answers to what was sent are waited for (ruling 128)
  bool answers_reads = false;   // read data is still to be sent; kept by ReadResponder
  bool completed_any = false;   // last_completed is of a message
  EndRecord end;
  wire::FcId peer_port{};
  wire::FcviHandle peer_handle = wire::FcviHandle::unassigned;
  wire::ConnectionId setup_id = wire::ConnectionId::unassigned;
  std::uint32_t window = 1;      // messages that may be open (7.3)
  wire::MsgId last_completed{};  // here, of the peer's messages (6.12.2); 0 before the first

  [[nodiscard]] bool is_reliable() const { return vi::is_reliable(reliability); }
  /// Messages that begin now go in class 2.
  [[nodiscard]] bool class_2() const;
  /// CS_CTL of every frame for a message (FC-VI 5.8.2).
  [[nodiscard]] std::uint8_t cs_ctl() const { return options.preference ? wire::cs_ctl_preference : std::uint8_t{0}; }
  /// RESP2 went, RESP3 did not come yet.
  [[nodiscard]] bool awaits_resp3() const { return setup == Setup::Originated && connected_once && !clear_to_send; }
  /// RESP1 accepts, RESP2 did not come yet.
  [[nodiscard]] bool awaits_resp2() const { return !clear_to_send && setup == Setup::Received; }

  /// A message of the peer is complete here; of an RDMA Read, its data are out.
  void message_completed(wire::MsgId id) {
    if (completed_any && !wire::serial_less(last_completed, id)) return;  // a Send may have passed a Read
    completed_any = true;
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
