// A DDP Stream Session of an SCTP association, at either end, from its first chunk to its last (RFC 5043 5.2, 6).
//
// It outlives the start-up and the RDMAP stream that use it, until no chunk of it is outstanding: its association has
// it. To DdpStream it is the LLP stream.
#pragma once
#include <deque>

#include "iwarp/chunk_order.hpp"
#include "iwarp/rdmap_stream.hpp"
#include "iwarp/sctp_framing.hpp"
#include "iwarp/startup_listener.hpp"
#include "state_machines/sctp_session.hpp"
#include "wire/iwarp/sctp/session_control.hpp"

namespace iwarp {
class SctpSession;
class SessionPort;

/// The association, as its sessions have it. None of these calls the session.
class SessionAssociation {
 public:
  /// One message; copied. False: there is no room now, SctpSession::room_again() follows.
  virtual bool send(std::uint16_t identifier, std::uint32_t protocol, wire::Bytes chunk) = 0;
  /// SctpSession::acknowledged() follows, once all that was sent until now is.
  virtual void ask_acknowledged(SctpSession& session) = 0;
  [[nodiscard]] virtual std::size_t max_message() const = 0;
  [[nodiscard]] virtual streams::Address local() const = 0;
  [[nodiscard]] virtual streams::Address remote() const = 0;
  /// Where requests of the other end go; nullptr: nobody listens.
  [[nodiscard]] virtual SessionPort* port() const = 0;
  /// is_over() may hold now.
  virtual void session_over() = 0;

 protected:
  ~SessionAssociation() = default;
};

/// The start-up at this end, as long as there is one. The session may be told anything from within.
class SessionFront {
 public:
  /// The request is gone.
  virtual void session_withdrawn() {}
  /// Either of these is the last that it is told.
  virtual void session_connected(const PeerOffer& peer) = 0;
  virtual void session_failed(machines::iwarp::Failure failure, const PeerOffer& peer) = 0;

 protected:
  ~SessionFront() = default;
};

/// Where requests go.
class SessionPort {
 public:
  /// The session has a front when this returns, or has none for ever.
  virtual void session_offered(SctpSession& session, const PeerOffer& offer) = 0;
  [[nodiscard]] virtual bool takes_session() const = 0;

 protected:
  ~SessionPort() = default;
};

/// What its machine asks for, to be done when it is at rest.
struct SessionEffect {
  enum class Kind : std::uint8_t { offer, withdraw, enter, terminate, connected, failed, end, lost };
  Kind kind{};
  machines::iwarp::Failure failure{};
  machines::iwarp::StartupError error{};
};

class SctpSession final : private machines::sctp_session::Context, private SegmentChannel {
 public:
  /// They outlive it.
  SctpSession(const Services& services, SessionAssociation& association, WaitingOctets& waiting,
              std::uint16_t identifier);
  ~SctpSession();

  // --- the start-up
  /// The active side. `stream` outlives `front`. Not enhanced: IRD and ORD do not travel (RFC 6581 7).
  void connect(SessionFront& front, RdmapStream& stream, std::vector<std::uint8_t> private_data, bool enhanced);
  /// session_failed() follows from within.
  void withdraw();
  void set_front(SessionFront& front) { front_ = &front; }
  /// It hears nothing more. Of a start-up that is not over: given up, or rejected.
  void leave_front();
  // The passive side. Pre: it was offered, and is not decided.
  void accept(RdmapStream& stream, std::vector<std::uint8_t> private_data);
  void reject(std::vector<std::uint8_t> private_data);
  [[nodiscard]] streams::Address local() const { return association_.local(); }
  [[nodiscard]] streams::Address remote() const { return association_.remote(); }

  // --- the association
  /// All User Data of one DATA chunk, in any order.
  void chunk_received(std::uint32_t protocol, wire::Bytes octets);
  void room_again();
  void acknowledged();
  void association_lost();
  [[nodiscard]] bool waits_for_room() const { return !kept_.empty(); }
  /// To be destroyed.
  [[nodiscard]] bool is_over() const;
  /// Another session may have the identifier then.
  [[nodiscard]] bool releases_identifier() const { return !retired_; }

  [[nodiscard]] std::string_view state_name() const { return machine_.state_name(); }
  [[nodiscard]] bool is_consistent() const;

 private:
  class LlpStream;
  template <class Event>
  void process(const Event& event);
  void carry_out(const SessionEffect& effect);
  void time_expired();

  // what comes
  void consider(std::uint32_t protocol, wire::Bytes octets);
  void consider_segment(wire::Bytes segment);
  void consider_control(const wire::sctp::SessionControl& message);
  void accept_received(const wire::sctp::SessionControl& message);
  void reject_received(const wire::sctp::SessionControl& message);
  [[nodiscard]] machines::sctp_session::Agreement agreement_of(const wire::sctp::SessionControl& accept) const;
  void tell_readable();
  void tell_writable();
  void enter();

  // what goes
  void send(std::uint32_t protocol, wire::Bytes chunk);
  void send_control(wire::sctp::FunctionCode function, const std::optional<wire::mpa::EnhancedData>& enhanced);
  [[nodiscard]] wire::mpa::EnhancedData answer_depths() const;
  void ask_if_all_is_sent();

  // SegmentChannel
  [[nodiscard]] std::size_t max_chunk() const override { return association_.max_message(); }
  void send_segment(wire::MutableBytes chunk) override;
  void send_kept() override;
  [[nodiscard]] bool is_blocked() const override { return !kept_.empty(); }
  [[nodiscard]] wire::Bytes take_segment() override;
  [[nodiscard]] bool has_ended() const override { return ended_ && unread_.empty(); }

  // machines::sctp_session
  void start_timer() override;
  void stop_timer() override { services_.scheduler.cancel(timer_); }
  void send_initiate() override;
  void send_accept() override;
  void send_reject() override;
  void send_terminate() override { send_control(wire::sctp::FunctionCode::terminate, std::nullopt); }
  void await_acknowledgement() override;
  void offer() override { effects_.push({.kind = SessionEffect::Kind::offer}); }
  void withdraw_offer() override { effects_.push({.kind = SessionEffect::Kind::withdraw}); }
  void enter_session() override { effects_.push({.kind = SessionEffect::Kind::enter}); }
  void terminate(machines::iwarp::StartupError error) override {
    effects_.push({.kind = SessionEffect::Kind::terminate, .error = error});
  }
  void connected() override { effects_.push({.kind = SessionEffect::Kind::connected}); }
  void fail_connect(machines::iwarp::Failure failure) override {
    effects_.push({.kind = SessionEffect::Kind::failed, .failure = failure});
  }
  void end_received() override { effects_.push({.kind = SessionEffect::Kind::end}); }
  void lost() override { effects_.push({.kind = SessionEffect::Kind::lost}); }
  void drop_chunk() override { ++services_.counters.stale; }
  void release_identifier() override {}
  void retire_identifier() override { retired_ = true; }
  [[nodiscard]] bool has_room() const override {
    const SessionPort* const port = association_.port();
    return port != nullptr && port->takes_session();
  }
  void on_row(const fsm::Row& row) override { fsm::tell(services_.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override {
    ++services_.counters.unexpected_events;
  }

  struct Kept {
    std::uint32_t protocol = 0;
    std::vector<std::uint8_t> chunk{};
  };
  const Services& services_;
  SessionAssociation& association_;
  const std::uint16_t identifier_;
  machines::sctp_session::Machine machine_;
  fsm::Outbox<SessionEffect, 6> effects_;
  SessionFront* front_ = nullptr;
  RdmapStream* stream_ = nullptr;        // from connect() or accept() until it has the session as its LLP stream
  LlpStream* llp_ = nullptr;             // as long as DdpStream has it
  streams::StreamUser* user_ = nullptr;  // of llp_
  bool enhanced_ = false, retired_ = false, asked_ = false, awaits_ = false;
  bool asks_readable_ = false, asks_writable_ = false, ended_ = false;
  std::uint16_t next_ssn_ = 0;
  std::vector<std::uint8_t> private_data_{};  // of this end, until it is sent
  wire::sctp::SessionControl received_{};     // the other end's Initiate, Accept or Reject
  ChunkOrder order_;
  std::deque<Kept> kept_{};                         // what SCTP has not taken
  std::deque<std::vector<std::uint8_t>> unread_{};  // segments that DdpStream has not asked for
  std::vector<std::uint8_t> reading_{};             // the one that it reads
  wire::Bytes segment_{};                           // that is due, while it is considered
  runtime::Timer<SctpSession, &SctpSession::time_expired> timer_{*this};
  runtime::Timer<SctpSession, &SctpSession::tell_readable> readable_{*this};
  runtime::Timer<SctpSession, &SctpSession::tell_writable> writable_{*this};
};

}  // namespace iwarp
