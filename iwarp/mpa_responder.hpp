// The Responder's end of MPA's start-up: one stream that was accepted (RFC 5044 7.1, RFC 6581).
#pragma once
#include "iwarp/mpa_startup.hpp"
#include "iwarp/startup.hpp"
#include "state_machines/mpa_responder.hpp"
#include "state_machines/outbox.hpp"

namespace iwarp {

/// What its machine asks for, to be done when it is at rest.
struct ResponderEffect {
  enum class Kind : std::uint8_t { offer, withdraw, permit, abort, connected, failed };
  Kind kind{};
  machines::iwarp::Failure failure{};
};

class MpaResponder final : public PassiveStartup,
                           private machines::mpa_responder::Context,
                           private StartupStreamUser<wire::mpa::StartupFrame>,
                           private StartupHooks {
 public:
  MpaResponder(const Services& services, PassiveStartupOwner& owner, std::unique_ptr<streams::Stream> stream,
               const MpaOptions& options);
  ~MpaResponder() override;

  void start();
  // PassiveStartup
  void accept(RdmapStream& stream, StartupListener& listener, std::vector<std::uint8_t> private_data) override;
  void reject(std::vector<std::uint8_t> private_data) override;
  void withdraw() override;
  [[nodiscard]] bool carries_private_data() const override { return true; }
  void make_place() override;
  [[nodiscard]] bool is_half_open() const override { return machine_.is<machines::mpa_responder::AwaitRequest>(); }
  [[nodiscard]] streams::Address local() const override { return startup_.stream()->local(); }
  [[nodiscard]] streams::Address remote() const override { return startup_.stream()->remote(); }
  [[nodiscard]] bool is_offered() const override { return machine_.is<machines::mpa_responder::AwaitDecision>(); }
  [[nodiscard]] bool is_over() const override { return machine_.is<machines::mpa_responder::Closed>(); }
  [[nodiscard]] bool is_consistent() const override;
  [[nodiscard]] std::string_view state_name() const { return machine_.state_name(); }

 private:
  template <class Event>
  void process(const Event& event);
  void time_expired();
  [[nodiscard]] wire::mpa::StartupFrame reply_frame(bool rejected) const;
  static void answer_rtr(wire::mpa::EnhancedData& data);

  // StartupStreamUser
  void frame_received(const wire::mpa::StartupFrame& frame) override;
  void frame_refused() override;
  void octets_unexpected() override;
  void all_sent() override;
  void stream_ended() override;
  // StartupHooks
  bool first_fpdu_received() override;
  void rtr_sent() override {}
  void connection_ended() override;

  // machines::mpa_responder
  void start_timer() override { services_.scheduler.schedule_after(timer_, services_.config.startup_timeout); }
  void stop_timer() override { services_.scheduler.cancel(timer_); }
  void offer() override { effects_.push({ResponderEffect::Kind::offer}); }
  void withdraw_offer() override { effects_.push({ResponderEffect::Kind::withdraw}); }
  void send_accept() override;
  void send_reject() override;
  void drop_stream() override { startup_.close(); }
  void exit_mpa() override { startup_.close(); }
  void enter_full_operation() override;
  void permit_sending() override { effects_.push({ResponderEffect::Kind::permit}); }
  void abort_stream() override { effects_.push({ResponderEffect::Kind::abort}); }
  void connected() override { effects_.push({ResponderEffect::Kind::connected}); }
  void fail_accept(machines::iwarp::Failure failure) override;
  [[nodiscard]] bool has_room() const override { return owner_.has_room(); }
  [[nodiscard]] bool peer_to_peer() const override { return request_.enhanced && request_.enhanced->peer_to_peer; }
  void on_row(const fsm::Row& row) override { fsm::tell(services_.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override {
    ++services_.counters.unexpected_events;
  }

  void carry_out(const ResponderEffect& effect);

  const Services& services_;
  PassiveStartupOwner& owner_;
  const MpaOptions options_;
  StartupStream<wire::mpa::StartupFrame> startup_;
  RdmapStream* stream_ = nullptr;
  StartupListener* listener_ = nullptr;
  machines::mpa_responder::Machine machine_;
  fsm::Outbox<ResponderEffect, 3> effects_;
  wire::mpa::StartupFrame request_{}, reply_{};
  std::vector<std::uint8_t> private_data_;
  runtime::Timer<MpaResponder, &MpaResponder::time_expired> timer_{*this};
};

}  // namespace iwarp
