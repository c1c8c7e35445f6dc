// An N_Port (FC-FS, FC-LS): an attachment to the fabric, a table of exchanges, a table of logins, and a sorter that
// brings each frame to one of them.
// Not thread-safe: the driver serialises all calls.
#pragma once
#include <memory>
#include <vector>

#include "fc2_fabric/frame/counters.hpp"
#include "fc2_fabric/frame/frame_receiver.hpp"
#include "fc2_fabric/node/exchange.hpp"
#include "fc2_fabric/node/n_port_config.hpp"
#include "fc2_fabric/node/one_frame_exchange.hpp"
#include "fc2_fabric/node/port_listener.hpp"
#include "fc2_fabric/node/port_services.hpp"
#include "fc2_fabric/node/transmitter.hpp"
#include "wire/els/login.hpp"
#include "wire/els/ls_rjt.hpp"
#include "wire/types.hpp"

namespace fc2 {
class FrameAcknowledger;

class NPort final : public FrameReceiver, private PortListener, private AttachmentListener {
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
  [[nodiscard]] std::size_t receive_run(const FrameRun& run) override;
  /// Fabric logout; the answer ends the login.
  void log_out_of_fabric();

  [[nodiscard]] const NPortConfig& config() const { return config_; }
  /// See NPortConfig::rows: of the rows that fire from now on.
  void set_row_listener(fsm::RowListener* rows) { config_.rows = rows; }
  [[nodiscard]] wire::FcId n_port_id() const { return state_.n_port_id; }
  [[nodiscard]] bool online() const { return state_.online; }
  /// Its N_Port_ID is a fabric's to assign. Not so on a link without one, nor for a fabric's own ports.
  [[nodiscard]] bool has_fabric() const;
  /// FLOGI was answered by another N_Port.
  [[nodiscard]] bool is_point_to_point() const;
  /// Between link_interrupted() and being online again.
  [[nodiscard]] bool interrupted() const;
  /// PLOGI, FLOGI and their accept, as this port says of itself (FC-LS).
  [[nodiscard]] wire::els::Login login_parameters(wire::els::Command command) const;
  /// Frames come in the order in which they were sent (FC-VI 8.1): the fabric said so when it accepted the FLOGI.
  [[nodiscard]] bool in_order() const { return state_.in_order; }
  /// Class 2 is offered here and by the fabric.
  [[nodiscard]] bool has_class_2() const { return state_.class_2; }
  /// Class 2: how the frame that is received is answered (see there).
  [[nodiscard]] FrameAcknowledger& acknowledger();
  [[nodiscard]] TimeNs e_d_tov() const { return state_.e_d_tov; }
  [[nodiscard]] TimeNs r_a_tov() const { return state_.r_a_tov; }
  /// How long the answer to a link service or CT request is waited for that was sent `repeated` times before and may be
  /// sent `left` times more, each in an Exchange of its own. See ruling 221.
  [[nodiscard]] TimeNs answer_time(int repeated, int left) const { return services_.answer_time(repeated, left); }
  [[nodiscard]] Scheduler& scheduler() const { return services_.scheduler(); }
  /// Frames to be sent that the link has not taken yet.
  [[nodiscard]] std::size_t waiting_frames() const { return transmitter_.waiting(); }
  [[nodiscard]] Transmitter& transmitter() { return transmitter_; }
  [[nodiscard]] FramePool& pool() const { return services_.pool(); }

  // --- users ---------------------------------------------------------------------------------------------------
  void add_listener(PortListener& listener) { listeners_.push_back(&listener); }
  void remove_listener(PortListener& listener) { std::erase(listeners_, &listener); }
  /// Unsolicited IUs of a TYPE other than ELS: a service of the fabric. Its exchanges go by FC-FS alone.
  void set_user(wire::Type type, ExchangeUser& user);
  /// An FC-4: its TYPE's unsolicited IUs, and exchanges by its rules from now on. The port offers it to others.
  void set_user(const Fc4& fc4, ExchangeUser& user);
  /// The same of one whose data frames bypass assembly.
  void set_data_user(const Fc4& fc4, DataFrameUser& user);
  /// The user of that TYPE, of whichever kind, goes away; it has aborted its exchanges. Nothing where there is none.
  /// One that is destroyed before the port must say so.
  void remove_user(wire::Type type);
  /// TYPEs of the FC-4s, ascending. What others are told of the port where a name server does not say it (FIP).
  [[nodiscard]] const std::vector<wire::Type>& fc4_types() const;
  [[nodiscard]] bool has_fc4(wire::Type type) const;
  /// Asked in the order of registration for ELS requests that the port does not answer itself.
  void add_els_user(ElsUser& user);
  void remove_els_user(ElsUser& user);
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
  /// For a whole exchange of one data frame to that port: see there.
  std::optional<OneFrameExchange> begin_one_frame_exchange(RemotePort& remote);
  /// A responder exchange for a data frame's exchange, to answer on. nullptr when max_exchanges of peers are open.
  Exchange* open_for_reply(const ReceivedFrame& frame, DataFrameUser& user);
  /// Sends one IU, split into frames; `cs_ctl` stands in each, `device_header` (0, 16, 32 or 64 bytes) in each or in
  /// the first, as the FC-4 has it (Fc4::repeats_device_header). With `reply_timeout` > 0 the user hears
  /// exchange_failed(ReplyTimeout) unless an IU comes back in time. An exchange that thereby ended is released.
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
  [[nodiscard]] std::size_t assembled_bytes() const;
  /// The peer gives an aborted exchange of its own free again before R_A_TOV (RRQ).
  void reinstate(wire::FcId peer, wire::OxId ox_id);

  /// Of all its parts, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;
  [[nodiscard]] const Counters& counters() const { return counters_; }
  Counters& counters() { return counters_; }

 private:
  struct Parts;
  // PortListener: of each remote port
  void remote_port_logged_in(RemotePort& port) override;
  void remote_port_login_failed(RemotePort& port) override;
  void remote_port_logged_out(RemotePort& port) override;
  // PortListener, AttachmentListener
  void fabric_logged_in() override;
  void fabric_login_failed() override;
  void own_address_lost(wire::FcId own) override;

  NPortConfig config_;
  Counters counters_;
  Transmitter transmitter_;
  PortState state_;
  const PortServices services_;
  std::vector<PortListener*> listeners_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fc2
