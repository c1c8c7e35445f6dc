// An N_Port: frames in and out, exchanges and sequences, link services and logins (FC-FS, FC-LS).
// Not thread-safe: the driver serialises all calls.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "fc2_fabric/link/channel.hpp"
#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/node/exchange.hpp"
#include "fc2_fabric/node/recovery_qualifiers.hpp"
#include "fc2_fabric/node/transmitter.hpp"
#include "wire/els/fan.hpp"
#include "wire/els/login.hpp"
#include "wire/els/ls_rjt.hpp"
#include "wire/types.hpp"

namespace fc2 {
class FabricLogin;
class FrameAcknowledger;
class LinkServices;
class RemotePort;
class RemotePorts;

struct NPortConfig {
  std::string name;  // in captures and traces
  wire::Wwn port_name{};
  wire::Wwn node_name{};
  std::uint16_t receive_data_field_bytes = max_data_field_bytes;  // multiple of 4, 256 to 2112
  wire::FcId fixed_id{};          // a fabric's own port with a well-known address: no fabric login
  std::uint16_t first_ox_id = 0;  // where OX_IDs start: a driver draws it from the seed
  // FC-VI 5.6: what a FC-VI Port advertises in PLOGI and its accept. Off to play a port that lacks it.
  bool continuously_increasing_seq_cnt = true;
  bool continuously_increasing_relative_offset = true;
  std::uint16_t end_to_end_credit =
      0;                        // class 2: frames that a peer may send before one is acknowledged; 0: class 3 only
  bool ack_0 = false;           // class 2: a whole sequence is acknowledged at once, where the peer does the same
  TimeNs e_d_tov = 2 * second;  // until a fabric login tells others
  TimeNs r_a_tov = 10 * second;
  bool in_order_without_fabric =
      true;                     // what a link without a fabric promises; a fabric tells it in its accept of FLOGI
  bool virtual_n_port = false;  // NPIV: logs in by FDISC, on the link of a port that logged in by FLOGI
  std::uint16_t max_exchanges = 4096;  // open at once, each way: ours cannot keep us from answering the peers'
  // Of link services, CT and connection IUs (message data is never assembled): the longest list that CT's sizes can
  // tell.
  std::size_t max_assembled_iu_bytes = 16 + 4 * 65535;
  std::size_t max_assembled_bytes = 16 << 20;  // of all that peers began and have not ended
  std::size_t max_waiting_frames = 16384;      // to be sent; from there on nothing is taken that asks for an answer
  // Known ones. For a PLOGI from one more the oldest that is not in use makes room; where all are, it is rejected.
  std::size_t max_remote_ports = 65536;
  int login_retries = 3;
  bool log_out_silent_ports = false;  // second-level recovery when two ABTS went unanswered (FC-VI C.3 rule 2 b)
};

/// Hears about logins. Calls come from inside NPort; a listener may originate exchanges, not destroy the port.
class PortListener {
 public:
  /// The port is online, n_port_id() is valid: the fabric login completed, or there is no fabric (NPort::has_fabric).
  virtual void fabric_logged_in() = 0;
  /// Once, until it succeeds or the link goes: the port asks on, R_A_TOV after each failure. Also where the N_Port at
  /// the far end has our Port_Name, so that neither assigns addresses; not where it has another and no fabric is needed
  /// (FC-LS).
  virtual void fabric_login_failed() = 0;
  virtual void remote_port_logged_in(RemotePort& port) = 0;
  virtual void remote_port_login_failed(RemotePort& port) = 0;
  /// Explicit or implicit logout: every exchange with that port has failed already (FC-VI 7.7.1, 8.4.2 g).
  virtual void remote_port_logged_out(RemotePort& port) = 0;

 protected:
  ~PortListener() = default;
};

/// Answers unsolicited ELS requests of some commands. True if it took the request (and released the exchange or will).
class ElsUser {
 public:
  virtual bool els_received(Exchange& exchange, const wire::FcHeader& header,
                            std::span<const std::uint8_t> payload) = 0;

 protected:
  ~ElsUser() = default;
};

class NPort final : public FrameReceiver {
 public:
  NPort(Scheduler& scheduler, FramePool& pool, NPortConfig config);
  ~NPort();
  NPort(const NPort&) = delete;
  NPort& operator=(const NPort&) = delete;

  // --- link ----------------------------------------------------------------------------------------------------
  /// The link works, frames go out through `output`: the fabric login starts (unless the address is fixed).
  void link_up(FrameOutput& output);
  /// The link works and there is no fabric to log in to: the address is known otherwise (FIP claimed it for a VN2VN
  /// port, loop initialization left an AL_PA, a PLOGI assigned it). The port is online at once; others are found by
  /// FARP.
  void link_up_without_fabric(FrameOutput& output, wire::FcId own);
  /// The same on an arbitrated loop with a FL_Port, which assigns domain and area: by FLOGI, or, after a LIP that left
  /// the AL_PA, it says by FAN that all is as before (FC-VI 7.7.4). `login_required`: it said that it knows of no login
  /// (L_bit).
  void link_up_on_public_loop(FrameOutput& output, std::uint8_t al_pa, bool login_required = false);
  /// NOS, OLS or LIP: FC-VI IUs wait until one of the link_up...() has brought the port online again and addresses have
  /// proved to be what they were (FC-VI 7.7.3 to 7.7.5); else logins end, at the latest after R_A_TOV. Point-to-point
  /// they end at once (FC-VI 7.7.2). The output is not used again; `unsent` is a frame that it had not sent.
  void link_interrupted(FramePtr unsent = nullptr);
  /// The same where others may have lost their links with ours (a FCF went silent, or cleared them): a fabric that
  /// proves to be the same does not say that they are back where they were. Each is asked by ADISC, as after a LIP
  /// (FC-VI 7.7.1).
  void fabric_interrupted();
  /// The link takes no message data for that address until resume_output(), or until it is gone: one receiver that is
  /// slow stops nothing else. Of an address that is not known there is none.
  void pause_output(wire::FcId id);
  void resume_output(wire::FcId id);
  /// Every exchange fails, every login ends. The output is not used again.
  void link_down();
  void receive(FramePtr frame) override;
  /// Fabric logout; the answer ends the login.
  void log_out_of_fabric();

  [[nodiscard]] const NPortConfig& config() const { return config_; }
  [[nodiscard]] wire::FcId n_port_id() const { return n_port_id_; }
  [[nodiscard]] bool online() const { return online_; }
  /// Its N_Port_ID is a fabric's to assign. Not so on a link without one, nor for a fabric's own ports.
  [[nodiscard]] bool has_fabric() const {
    return attachment_ == Attachment::Fabric || attachment_ == Attachment::PublicLoop;
  }
  /// FLOGI was answered by another N_Port.
  [[nodiscard]] bool is_point_to_point() const { return attachment_ == Attachment::PointToPoint; }
  /// Between link_interrupted() and being online again.
  [[nodiscard]] bool interrupted() const { return interrupted_; }
  /// PLOGI, FLOGI and their accept, as this port says of itself (FC-VI 5.6).
  [[nodiscard]] wire::els::Login login_parameters(wire::els::Command command) const;
  /// Frames come in the order in which they were sent (FC-VI 8.1): the fabric said so when it accepted the FLOGI.
  [[nodiscard]] bool in_order() const { return in_order_; }
  /// Class 2 is offered here and by the fabric.
  [[nodiscard]] bool has_class_2() const { return class_2_; }
  /// Class 2: how the frame that is received is answered (see there).
  [[nodiscard]] FrameAcknowledger& acknowledger() { return *acknowledger_; }
  [[nodiscard]] TimeNs e_d_tov() const { return e_d_tov_; }
  [[nodiscard]] TimeNs r_a_tov() const { return r_a_tov_; }
  /// How long the answer to a link service or CT request is waited for that was sent `repeated` times before and may be
  /// sent `left` times more, each in an Exchange of its own. See ruling 221.
  [[nodiscard]] TimeNs answer_time(int repeated, int left) const;
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] Transmitter& transmitter() { return transmitter_; }
  [[nodiscard]] FramePool& pool() { return pool_; }

  // --- users ---------------------------------------------------------------------------------------------------
  void add_listener(PortListener& listener) { listeners_.push_back(&listener); }
  void remove_listener(PortListener& listener) { std::erase(listeners_, &listener); }
  /// Unsolicited IUs of a TYPE other than ELS.
  void set_user(wire::Type type, ExchangeUser& user);
  /// The FC-4 whose data frames bypass assembly; also gets its TYPE's unsolicited IUs.
  void set_data_user(wire::Type type, DataFrameUser& user);
  /// The user goes away; it has aborted its exchanges.
  void remove_data_user();
  /// Asked in the order of registration for ELS requests that the port does not answer itself.
  void add_els_user(ElsUser& user) { els_users_.push_back(&user); }
  void remove_els_user(ElsUser& user) { std::erase(els_users_, &user); }
  /// Answers on a responder exchange of an ELS and thereby ends it.
  void accept_els(Exchange& exchange, std::span<const std::uint8_t> payload);
  void reject_els(Exchange& exchange, wire::els::RejectReason reason, wire::els::RejectExplanation explanation);

  // --- remote ports --------------------------------------------------------------------------------------------
  /// Known ports by address; made on first use. Stays valid while it is in use: see PortUse.
  RemotePort& remote_port(wire::FcId id);
  [[nodiscard]] RemotePort* find_remote_port(wire::FcId id);
  /// Logged in or not.
  [[nodiscard]] std::size_t known_ports() const;
  /// In order of N_Port_ID.
  [[nodiscard]] std::vector<wire::FcId> logged_in_ports() const;
  /// The same for ports that a login is under way with.
  [[nodiscard]] std::vector<wire::FcId> awaited_ports() const;
  /// It sent an FC-4 frame without a login: LOGO tells it so.
  void deny(wire::FcId id);

  // --- exchanges -----------------------------------------------------------------------------------------------
  /// nullptr when max_exchanges of ours are open.
  Exchange* originate(wire::FcId d_id, wire::Type type, ExchangeUser& user);
  /// A responder exchange for a data frame's exchange, to answer on. nullptr when max_exchanges of peers are open.
  Exchange* open_for_reply(const ReceivedFrame& frame, DataFrameUser& user);
  /// Sends one IU, split into frames; `device_header` (0, 16, 32 or 64 bytes) and `cs_ctl` stand in each. With
  /// `reply_timeout` > 0 the user hears exchange_failed(ReplyTimeout) unless an IU comes back in time.
  /// An exchange that thereby ended is released.
  void send(Exchange& exchange, wire::RCtl r_ctl, std::span<const std::uint8_t> device_header,
            std::span<const std::uint8_t> payload, SequenceEnd end, TimeNs reply_timeout = 0, std::uint8_t cs_ctl = 0);
  /// Shorthand for a one-IU request without device header.
  Exchange* request(wire::FcId d_id, wire::RCtl r_ctl, wire::Type type, std::span<const std::uint8_t> payload,
                    ExchangeUser& user, TimeNs reply_timeout);
  /// Forgets the user and ends the exchange with ABTS (BA_ACC awaited for R_A_TOV, then again: FC-FS recovery).
  void abort(Exchange& exchange);
  /// The same; `listener` hears abort_finished(), unless a logout ends the abort. forget_abort() takes that back.
  void abort_and_report(Exchange& exchange, ExchangeUser& listener);
  void forget_abort(const ExchangeUser& listener);
  /// Ends without a word: for exchanges whose last sequence went or came.
  void release(Exchange& exchange);
  /// All exchanges with one port fail (logout).
  void fail_exchanges(wire::FcId peer, ExchangeFailure failure);
  [[nodiscard]] std::size_t open_exchanges() const;
  /// Of IUs of several frames on exchanges of peers.
  [[nodiscard]] std::size_t assembled_bytes() const { return assembled_bytes_; }
  /// The peer gives an aborted exchange of its own free again before R_A_TOV (RRQ).
  void reinstate(wire::FcId peer, wire::OxId ox_id);

  [[nodiscard]] const Counters& counters() const { return counters_; }
  Counters& counters() { return counters_; }

 private:
  friend class Exchange;
  friend class FabricLogin;
  friend class LoginSession;
  friend class RemotePort;
  friend class LinkServices;
  friend class SequenceSender;
  using ResponderKey = std::uint64_t;  // S_ID << 16 | OX_ID
  static ResponderKey key(wire::FcId peer, wire::OxId ox_id) { return std::uint64_t{peer.value} << 16 | ox_id.value; }

  enum class Attachment : std::uint8_t { Fabric, PublicLoop, None, PointToPoint, Fixed };
  /// What is known of others' addresses when an interruption ends.
  enum class Mappings : std::uint8_t { Same, Ask, Changed };
  [[nodiscard]] bool is_fixed() const { return config_.fixed_id != wire::FcId{}; }
  void begin_link(FrameOutput& output, Attachment attachment);
  void log_in_to_fabric();
  void use_own_parameters();
  void fabric_login_accepted(wire::FcId id, const wire::els::Login& accept);
  [[nodiscard]] bool is_same_fabric(wire::Wwn port_name, wire::Wwn fabric_name) const;
  void fabric_login_ended();
  void go_online(wire::FcId id, Mappings mappings);
  void begin_point_to_point(wire::Wwn other);
  void leave_fabric();
  /// A PLOGI would tell the address.
  [[nodiscard]] bool may_be_assigned() const;
  void address_assigned(wire::FcId id);
  /// From another N_Port.
  void fabric_login_received(const wire::els::Login& login);
  void link_is_gone();
  [[nodiscard]] bool keeps_login(wire::FcId peer) const;
  void keep(FramePtr frame);
  void validate_logins(Mappings mappings);
  void end_interruption();
  void fan_received(const wire::els::Fan& fan);
  void fan_overdue();
  void fabric_changed();
  void set_offline();
  void log_out_of_self();
  void take_timeouts(const wire::els::Login& fabric);
  [[nodiscard]] Discard admits(const ReceivedFrame& frame) const;  // Discard::Count: it is for us
  void basic_link_service(const ReceivedFrame& frame);
  void abts_received(const wire::FcHeader& header);
  void link_control(const wire::FcHeader& header);
  void control_frame(const ReceivedFrame& frame);
  void open_exchange(const ReceivedFrame& frame);
  void sort_frame(const ReceivedFrame& frame, bool message_data);
  Exchange* find_exchange(const wire::FcHeader& header);
  Exchange* find_responder(wire::FcId peer, wire::OxId ox_id);
  Exchange* accept_exchange(const wire::FcHeader& header, ExchangeUser* user, bool for_reply);
  [[nodiscard]] bool may_open(std::size_t opened_by_peer) const;
  [[nodiscard]] bool is_logged_in(wire::FcId peer);
  [[nodiscard]] bool too_much_waits(const wire::FcHeader& header);
  [[nodiscard]] bool is_message_data(const wire::FcHeader& header) const;
  Exchange* take_exchange(bool originator);
  void recycle(Exchange& exchange);
  ExchangeUser* user_of(wire::Type type) { return users_[static_cast<std::uint8_t>(type)]; }
  void send_basic(const wire::FcHeader& header, std::span<const std::uint8_t> payload);
  void send_ba_acc(const wire::FcHeader& abts);

  Scheduler& scheduler_;
  FramePool& pool_;
  NPortConfig config_;
  Counters counters_;
  Transmitter transmitter_;
  wire::FcId n_port_id_{};
  bool online_ = false;
  FrameOutput* output_ = nullptr;  // while the link works
  bool link_up_ = false;
  Attachment attachment_;
  bool interrupted_ = false;            // n_port_id_ is the former one
  bool others_may_have_moved_ = false;  // ... and the fabric was interrupted with us
  bool other_n_port_ = false;           // a FLOGI came: there is no fabric
  bool awaits_fan_ = false;
  bool fabric_has_changed_ = false;  // whatever FLOGI says now
  std::uint8_t al_pa_ = 0;           // on a loop with a fabric
  wire::Wwn fabric_port_name_{}, fabric_name_{};
  bool in_order_ = true;
  bool class_2_ = false;
  TimeNs e_d_tov_, r_a_tov_;

  std::vector<PortListener*> listeners_;
  std::vector<ElsUser*> els_users_;
  std::array<ExchangeUser*, 256> users_{};
  DataFrameUser* data_user_ = nullptr;
  wire::Type data_type_{};

  std::vector<std::unique_ptr<Exchange>> exchanges_;  // by slot; OX_ID (originator) and RX_ID (responder) name the slot
  Exchange* longest_free_ = nullptr;                  // a list: ids rest before they come round again
  Exchange* latest_free_ = nullptr;
  std::size_t free_exchanges_ = 0;
  std::array<std::size_t, 2> open_exchanges_{};  // [0] of peers, [1] of ours
  std::size_t assembled_bytes_ = 0;
  std::size_t opened_by_strangers_ = 0;  // ... of peers that are not known
  boost::unordered_flat_map<ResponderKey, Exchange*> responders_;
  RecoveryQualifiers recovery_qualifiers_;
  std::unique_ptr<RemotePorts> remote_ports_;
  std::uint8_t next_seq_id_ = 0;  // for sequences to ports that are not known
  std::unique_ptr<FrameAcknowledger> acknowledger_;
  std::unique_ptr<FabricLogin> fabric_login_;
  std::unique_ptr<LinkServices> link_services_;
  Timer<NPort, &NPort::end_interruption> interruption_timer_{*this};
  Timer<NPort, &NPort::fan_overdue> fan_timer_{*this};
};

}  // namespace fc2
