// Another port as an N_Port knows it: its login, its parameters, the SEQ_IDs in use with it.
#pragma once
#include <bitset>
#include <deque>
#include <optional>
#include <utility>

#include <boost/intrusive/list_hook.hpp>

#include "fc2_fabric/node/fc4.hpp"
#include "fc2_fabric/node/login_session.hpp"
#include "fc2_fabric/node/port_listener.hpp"

namespace fc2 {

/// An exchange as its frames see it that wait for end-to-end credit.
class CreditUser : public Event {
 public:
  /// It went; `takes_credit`: until it is acknowledged.
  virtual void frame_sent(bool takes_credit) = 0;
};

/// RemotePorts finds it in its queues by the hook, which leaves them with it.
class RemotePort final
    : public LoginSession,
      public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  RemotePort(const LoginServices& services, PortListener& owner, wire::FcId peer)
      : LoginSession(services, peer), owner_(owner) {}

  /// Logged in, and it advertised then what the FC-4 asks for.
  [[nodiscard]] bool supports(const Fc4& fc4) const;
  /// What a data field to this port may have, Device_Header included: a multiple of 4, at most 2112.
  [[nodiscard]] std::size_t send_data_field_bytes() const;

  /// Class 2 between the two ports: both offer it, and the fabric.
  [[nodiscard]] bool supports_class_2() const;
  [[nodiscard]] bool uses_ack_0() const;
  /// End-to-end credit: frames that may go before an ACK_1 comes (FC-FS).
  [[nodiscard]] bool has_credit() const { return credit_in_use_ < peer_parameters_.class_2.end_to_end_credit; }
  void take_credit() { ++credit_in_use_; }
  void give_back_credit(std::uint32_t count);
  /// A frame of an answer goes as soon as there is credit for it, before message data; its exchange hears when.
  void send_on_credit(FramePtr frame, CreditUser& exchange);
  /// It was given up.
  void forget_waiting(const CreditUser& exchange);

  /// Exchanges that the peer opened here.
  std::size_t exchanges_opened = 0;

  /// FC-VI 7.7: it may have moved, nothing but link services goes to it until it is validated. A frame for it waits
  /// here.
  [[nodiscard]] bool suspended() const { return suspended_; }
  void hold(FramePtr frame, CreditUser* exchange = nullptr) { held_.push_back({std::move(frame), exchange}); }
  [[nodiscard]] std::size_t held() const { return held_.size(); }
  /// For the port itself, which needs no login.
  void suspend() { suspended_ = true; }
  void resume() { resumed_now(); }
  void forget_suspension() {
    suspended_ = false;
    held_.clear();
  }
  /// The link takes no message data for it now (NPort::pause_output).
  [[nodiscard]] bool output_paused() const { return output_paused_; }
  void set_output_paused(bool paused) { output_paused_ = paused; }
  /// FC-VI 7.7.3: ADISC.
  void validate() { discover_address(); }

  /// Somebody counts on it: an exchange, a PortUse, a login or logout under way, the fabric's services, ourselves. No
  /// other is kept where the table is full.
  [[nodiscard]] bool in_use() const;

  /// Between its members, whenever none of its functions runs; its login's included.
  [[nodiscard]] bool is_consistent() const;

  /// Once per E_D_TOV: it is told that it has no login here (NPort::deny).
  [[nodiscard]] bool may_be_denied();

  /// For a sequence of message data. Empty when all but the reserve are open (FC-VI 4.1).
  std::optional<wire::SeqId> take_seq_id();
  [[nodiscard]] bool has_free_seq_id() const { return open_sequences_ != max_open_sequences; }
  void give_back_seq_id(wire::SeqId id);
  /// For a sequence that is sent whole before anything else: open and closed at once (class 3).
  wire::SeqId control_seq_id();

 private:
  [[nodiscard]] wire::els::Login own_parameters(wire::els::Command command) const override;
  [[nodiscard]] wire::els::Command login_command() const override { return wire::els::Command::plogi; }
  void logged_in_now() override;
  void login_failed_now() override;
  void logged_out_now() override;
  void suspended_now() override { suspend(); }
  void resumed_now() override;

  // FC-VI 4.1: at most 255 open sequences between two ports, one of them kept for management.
  static constexpr unsigned max_open_sequences = 254;
  friend class PortUse;
  PortListener& owner_;
  std::size_t users_ = 0;
  void release_held();
  void send_waiting();
  wire::SeqId next_free();
  std::bitset<256> seq_ids_;
  unsigned open_sequences_ = 0;
  std::uint32_t credit_in_use_ = 0;  // each exchange gives back what it took; a login changes only what is granted
  struct Waiting {
    FramePtr frame;
    CreditUser* exchange;
    [[nodiscard]] bool is_link_service() const;
  };
  std::deque<Waiting> waiting_;  // for credit
  std::deque<Waiting> held_;     // while it is suspended; exchange: of class 2
  bool suspended_ = false;
  bool output_paused_ = false;
  TimeNs next_denial_ = 0;
  std::uint8_t next_seq_id_ = 0;
};

/// Held by whoever counts on what is known of a port, its login above all.
class PortUse {
 public:
  PortUse() = default;
  explicit PortUse(RemotePort& port) : port_(&port) { ++port.users_; }
  PortUse(PortUse&& other) noexcept : port_(std::exchange(other.port_, nullptr)) {}
  PortUse& operator=(PortUse&& other) noexcept {
    std::swap(port_, other.port_);
    return *this;
  }
  ~PortUse() {
    if (port_ != nullptr) --port_->users_;
  }
  [[nodiscard]] RemotePort* operator->() const { return port_; }
  [[nodiscard]] RemotePort* get() const { return port_; }

 private:
  RemotePort* port_ = nullptr;
};

}  // namespace fc2
