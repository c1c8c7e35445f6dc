// A connection that we ask for (VI-TCP 4.2): VipConnectRequest.
#pragma once
#include "state_machines/outbox.hpp"
#include "state_machines/vitcp_active.hpp"
#include "vitcp/setup_owner.hpp"
#include "vitcp/setup_stream.hpp"

namespace vitcp {

using machines::vitcp_active::ConnectFailure;

/// May destroy the set-up from within.
class ActiveSetupOwner {
 public:
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
  };
  ActiveSetup(const Services& services, ActiveSetupOwner& owner, const vi::Vi& vi, const Request& request);

  /// VipConnectRequest. The owner hears of the outcome later, not from within.
  void start();
  /// VipDisconnect, or the VI goes: the owner hears of it from within.
  void disconnect();
  /// The connection that it made is over.
  void connection_ended();
  [[nodiscard]] bool is_consistent() const;

 private:
  enum class Effect : std::uint8_t { Connected, Failed };

  template <class Event>
  void process(const Event& event);
  [[nodiscard]] wire::vitcp::Segment request_segment();
  [[nodiscard]] bool is_suitable(const wire::vitcp::Segment& accept) const;
  void retry_due();
  void time_expired();

  // SetupStreamUser
  void stream_established() override;
  void stream_refused(streams::Reason reason) override;
  void segment_received(const wire::vitcp::Segment& segment) override;
  void segment_refused(const wire::ParseError& error) override;
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
  [[nodiscard]] bool peer_to_peer() const override { return false; }
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
  bool nobody_listens_ = false;  // the last TCP set-up was refused
  wire::vitcp::Segment sent_, answer_;
  runtime::TimeNs retry_delay_;
  runtime::Timer<ActiveSetup, &ActiveSetup::time_expired> timeout_{*this};
  runtime::Timer<ActiveSetup, &ActiveSetup::retry_due> retry_{*this};
};

}  // namespace vitcp
