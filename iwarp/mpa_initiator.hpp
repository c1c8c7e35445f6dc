// The Initiator's end of MPA's start-up: asks, checks the answer, and hands the stream over (RFC 5044 7.1, RFC 6581).
#pragma once
#include "iwarp/mpa_startup.hpp"
#include "iwarp/startup.hpp"
#include "state_machines/mpa_initiator.hpp"
#include "state_machines/outbox.hpp"

namespace iwarp {

struct MpaRequest {
  streams::Address to{}, from{};
  std::vector<std::uint8_t> private_data{};  // at most 508 octets; 512 of revision 1
  MpaOptions options{};
  std::uint8_t revision = 2;
  /// Without what revision 2 adds the ULP can do.
  bool may_fall_back = true;
  /// The other end's ULP may send first (RFC 6581 9.2); with the RTR indications that this end offers.
  bool peer_to_peer = true;
  bool send_rtr = false, rdma_write_rtr = true, rdma_read_rtr = false;
  /// Between the Reply and the RTR indication: siw may miss one that comes at once (ruling M-5).
  runtime::TimeNs rtr_delay = 0;
};

/// What its machine asks for, to be done when it is at rest.
struct InitiatorEffect {
  enum class Kind : std::uint8_t { rtr, terminate, abort, connected, failed };
  Kind kind{};
  machines::iwarp::StartupError error{};
  machines::iwarp::Failure failure{};
};

class MpaInitiator final : public ActiveStartup,
                           private machines::mpa_initiator::Context,
                           private StartupStreamUser<wire::mpa::StartupFrame>,
                           private StartupHooks {
 public:
  /// `stream` has its queues, and gets the LLP stream when all is agreed. It outlives this.
  MpaInitiator(const Services& services, StartupListener& listener, RdmapStream& stream, const MpaRequest& request);
  ~MpaInitiator() override { stream_.set_startup(nullptr); }

  void start();
  void withdraw() override;
  [[nodiscard]] std::optional<streams::Reason> stream_failure() const override { return startup_.reason(); }
  [[nodiscard]] std::string_view state_name() const { return machine_.state_name(); }
  [[nodiscard]] bool is_consistent() const;

 private:
  template <class Event>
  void process(const Event& event);
  void time_expired();
  void send_rtr_later();
  void send_rtr_now();
  [[nodiscard]] wire::mpa::StartupFrame request_frame() const;
  [[nodiscard]] bool is_lower_revision(const wire::mpa::StartupFrame& reply) const;
  [[nodiscard]] machines::mpa_initiator::Agreement agreement_of(const wire::mpa::StartupFrame& reply) const;
  [[nodiscard]] std::optional<Operation> rtr_of(const wire::mpa::EnhancedData& reply) const;

  // StartupStreamUser
  void stream_established() override;
  void stream_refused() override;
  void frame_received(const wire::mpa::StartupFrame& frame) override;
  void frame_refused() override;
  void octets_unexpected() override {}
  void stream_ended() override;
  // StartupHooks
  bool first_fpdu_received() override { return false; }
  void rtr_sent() override;
  void connection_ended() override;

  // machines::mpa_initiator
  void start_timer() override { services_.scheduler.schedule_after(timer_, services_.config.startup_timeout); }
  void stop_timer() override { services_.scheduler.cancel(timer_); }
  void open_stream() override { startup_.connect(request_.to, request_.from); }
  void send_request() override;
  void fall_back() override { revision_ = 1; }
  void drop_stream() override { startup_.close(); }
  void exit_mpa() override { startup_.close(); }
  void enter_full_operation() override;
  void send_rtr() override { effects_.push({InitiatorEffect::Kind::rtr}); }
  void terminate(machines::iwarp::StartupError error) override;
  void abort_stream() override { effects_.push({InitiatorEffect::Kind::abort}); }
  void connected() override { effects_.push({InitiatorEffect::Kind::connected}); }
  void fail_connect(machines::iwarp::Failure failure) override;
  [[nodiscard]] bool may_fall_back() const override { return request_.may_fall_back && revision_ == 2; }
  void on_row(const fsm::Row& row) override { fsm::tell(services_.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override {
    ++services_.counters.unexpected_events;
  }

  /// False: this may be gone.
  bool carry_out(const InitiatorEffect& effect);

  const Services& services_;
  StartupListener& listener_;
  RdmapStream& stream_;
  const MpaRequest request_;
  StartupStream<wire::mpa::StartupFrame> startup_;
  machines::mpa_initiator::Machine machine_;
  fsm::Outbox<InitiatorEffect, 3> effects_;
  std::uint8_t revision_;
  wire::mpa::StartupFrame sent_{}, reply_{};
  runtime::Timer<MpaInitiator, &MpaInitiator::time_expired> timer_{*this};
  runtime::Timer<MpaInitiator, &MpaInitiator::send_rtr_now> rtr_{*this};
};

}  // namespace iwarp
