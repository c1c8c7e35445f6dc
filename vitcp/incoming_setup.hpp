// A stream that another host set up, from its first octet to the answer to its ConnectRequest (VI-TCP 4.3).
#pragma once
#include "state_machines/outbox.hpp"
#include "state_machines/vitcp_passive.hpp"
#include "vi/transport.hpp"
#include "vitcp/setup_owner.hpp"
#include "vitcp/setup_stream.hpp"

namespace vitcp {
class IncomingSetup;

class IncomingSetupOwner {
 public:
  /// Whether somebody waits for this request, and another offer has room. Called before offer().
  [[nodiscard]] virtual bool match(IncomingSetup& setup) = 0;
  /// VipConnectWait of who was matched returns, or its request answers. May decide it from within.
  virtual void offer(IncomingSetup& setup) = 0;
  /// It cannot be accepted or rejected any more.
  virtual void withdraw(IncomingSetup& setup) = 0;
  /// The answer is to arrive, and nothing else of the stream matters.
  virtual void close(std::unique_ptr<streams::Stream> stream, std::vector<std::uint8_t> unsent) = 0;
  /// It may be destroyed, not from within.
  virtual void over(IncomingSetup& setup) = 0;

 protected:
  ~IncomingSetupOwner() = default;
};

class IncomingSetup final : private SetupStreamUser, private machines::vitcp_passive::Context {
 public:
  /// `counted`: among the half-open streams, whose number is limited.
  IncomingSetup(const Services& services, IncomingSetupOwner& owner, bool counted)
      : services_(services), owner_(owner), counted_(counted), stream_(services, *this) {}

  void start(std::unique_ptr<streams::Stream> stream);
  /// A client that has given up, whose notice has not come yet: the offer is withdrawn.
  void look_for_end() { stream_.look(); }
  /// VipConnectAccept by this VI, which is Idle. Success: `established` is what it goes on with.
  /// InvalidReliabilityLevel: the request stays.
  [[nodiscard]] vi::Return accept(const vi::Vi& vi, Established& established);
  /// VipConnectReject, or a peer's request of another level.
  void reject();
  /// A peer's request, of which another is the one that makes the connection.
  void answer_no_match();
  /// Others need its place. Pre: is_half_open().
  void make_room();
  /// The connection that it made is over.
  void connection_ended();

  [[nodiscard]] const wire::vitcp::Segment& request() const { return request_; }
  [[nodiscard]] vi::NetAddress client() const;
  /// What the client asked for: where it connected to, and the Called Discriminator.
  [[nodiscard]] vi::NetAddress wanted() const;
  /// The other end of the stream.
  [[nodiscard]] const streams::Address& remote() const { return remote_; }
  vi::ConnectionToken token;  // the owner's, while it is offered
  [[nodiscard]] bool is_counted() const { return counted_; }
  /// Its ConnectRequest is not whole.
  [[nodiscard]] bool is_half_open() const { return machine_.is<machines::vitcp_passive::Incoming>(); }
  [[nodiscard]] bool is_over() const { return machine_.is<machines::vitcp_passive::Disconnected>(); }
  [[nodiscard]] bool is_consistent() const;

 private:
  template <class Event>
  void process(const Event& event);
  [[nodiscard]] wire::vitcp::Segment accept_segment();
  void send_refusal(wire::vitcp::SegmentType type);
  void request_overdue();

  // SetupStreamUser
  void segment_received(const wire::vitcp::Segment& segment) override;
  void segment_refused(wire::Bytes octets) override;
  void octets_unexpected() override;
  void stream_ended() override;
  // machines::vitcp_passive
  void start_request_timer() override;
  void stop_request_timer() override;
  void match() override { match_due_ = true; }
  void offer() override { offer_due_ = true; }
  void withdraw_offer() override { owner_.withdraw(*this); }
  void send_connect_accept() override;
  void send_connect_reject() override { send_refusal(wire::vitcp::SegmentType::connect_reject); }
  void send_connect_no_match() override { send_refusal(wire::vitcp::SegmentType::connect_no_match); }
  void close_stream() override;
  void drop_stream() override { stream_.close(); }
  void connected() override {}  // accept() goes on
  void complete_accept(machines::vitcp_passive::AcceptOutcome outcome) override { outcome_ = outcome; }
  void complete_reject() override {}
  [[nodiscard]] bool levels_match() const override;
  void on_row(const fsm::Row& row) override { fsm::tell(services_.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override;

  const Services& services_;
  IncomingSetupOwner& owner_;
  const bool counted_;
  SetupStream stream_;
  machines::vitcp_passive::Machine machine_;
  bool match_due_ = false, offer_due_ = false;
  std::optional<machines::vitcp_passive::AcceptOutcome> outcome_;
  const vi::Vi* accepting_ = nullptr;  // while VipConnectAccept runs
  streams::Address local_{}, remote_{};
  wire::vitcp::Segment request_, accept_;
  runtime::Timer<IncomingSetup, &IncomingSetup::request_overdue> timer_{*this};
};

}  // namespace vitcp
