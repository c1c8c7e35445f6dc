// A connection that we ask for (VI-TCP 4.2): VipConnectRequest.
#pragma once
#include "state_machines/outbox.hpp"
#include "state_machines/vitcp_active.hpp"
#include "vitcp/setup_owner.hpp"
#include "vitcp/setup_stream.hpp"

namespace vitcp {

using machines::vitcp_active::ConnectFailure;

[[nodiscard]] vi::Return return_of(ConnectFailure failure);

/// May destroy the set-up from within.
class ActiveSetupOwner {
 public:
  /// The ConnectRequest is out: it may be answered from now on.
  virtual void request_sent() {}
  /// It is not any more, and is to be sent again.
  virtual void request_ended() {}
  virtual void setup_established(Established established) = 0;
  virtual void setup_failed(ConnectFailure failure) = 0;

 protected:
  ~ActiveSetupOwner() = default;
};

class ActiveSetup final : private SetupStreamUser, private machines::vitcp_active::Context {
 public:
  struct Request {
    vi::NetAddress local, remote;
    runtime::TimeNs timeout;
    bool peer_to_peer = false;  // VipConnectPeerRequest
  };
  ActiveSetup(const Services& services, ActiveSetupOwner& owner, const vi::Vi& vi, const Request& request);

  /// VipConnectRequest. The owner hears of the outcome later, not from within.
  void start();
  /// VipDisconnect, or the VI goes: the owner hears of it from within.
  void disconnect();
  /// The peer's request makes the connection: the owner hears nothing any more.
  void supersede();
  /// The connection that it made is over.
  void connection_ended();
  /// The ConnectRequest that was sent last.
  [[nodiscard]] const wire::vitcp::Segment& sent() const { return sent_; }
  /// Of our end, if there is a stream.
  [[nodiscard]] std::optional<streams::Address> stream_address() const { return stream_.local(); }
  [[nodiscard]] bool is_consistent() const;

 private:
  enum class Effect : std::uint8_t { RequestSent, RequestEnded, Connected, Failed };

  template <class Event>
  void process(const Event& event);
  void carry_out(Effect effect, Established& established);
  [[nodiscard]] runtime::TimeNs next_retry_delay();
  [[nodiscard]] wire::vitcp::Segment request_segment();
  [[nodiscard]] bool is_suitable(const wire::vitcp::Segment& accept) const;
  void retry_due();
  void time_expired();

  // SetupStreamUser
  void stream_established() override;
  void stream_refused(streams::Reason reason) override;
  void segment_received(const wire::vitcp::Segment& segment) override;
  void segment_refused(wire::Bytes octets) override;
  void octets_unexpected() override {}
  void stream_ended() override;
  // machines::vitcp_active
  void start_timeout() override;
  void stop_timeout() override;
  void open_stream() override;
  void send_connect_request() override;
  void drop_stream() override { stream_.close(); }
  void schedule_retry() override;
  void cancel_retry() override;
  void connected() override { effects_.push(Effect::Connected); }
  void fail_request(ConnectFailure failure) override;
  [[nodiscard]] bool peer_to_peer() const override { return request_.peer_to_peer; }
  void on_row(const fsm::Row& row) override { fsm::tell(services_.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  const Services& services_;
  ActiveSetupOwner& owner_;
  const vi::Vi& vi_;
  const Request request_;
  SetupStream stream_;
  machines::vitcp_active::Machine machine_;
  fsm::Outbox<Effect, 1> effects_;
  ConnectFailure failure_{};
  std::optional<streams::Reason> refused_;  // why the last TCP set-up failed
  wire::vitcp::Segment sent_, answer_;
  runtime::TimeNs retry_delay_;
  runtime::Timer<ActiveSetup, &ActiveSetup::time_expired> timeout_{*this};
  runtime::Timer<ActiveSetup, &ActiveSetup::retry_due> retry_{*this};
};

}  // namespace vitcp
