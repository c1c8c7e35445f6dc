// The adaption indications of IFT, at either end: node A begins, node B answers (draft-williams-iwarp-ift-01 4).
#pragma once
#include "iwarp/ift_framing.hpp"
#include "iwarp/startup.hpp"
#include "iwarp/startup_stream.hpp"
#include "state_machines/ift_adaption.hpp"
#include "state_machines/outbox.hpp"

namespace iwarp {

/// What this end tells and takes.
struct IftOptions {
  wire::ift::VTag vtag{};  // of this end; drawn by the caller
  bool header_crc = true, payload_crc = true;
  bool ignores_header_crc = false, ignores_payload_crc = false;
  /// The other end must send both CRCs and check ours (ruling I-7).
  bool requires_crcs = true;
  /// SP: the other end may place speculatively what this one sends.
  bool permits_speculation = false;
  /// This end does so if the other one's SP permits it, its streams show early segments (Stream::early_octets), and
  /// its MemoryTable keeps track of writes. Its applications must not rely on octets of a buffer that were not written
  /// (IFT 8.3).
  bool places_speculatively = false;
};

/// The framing that follows from both indications.
[[nodiscard]] IftTerms terms_of(const wire::ift::AdaptionIndication& ours, const wire::ift::AdaptionIndication& theirs,
                                std::size_t emss);

/// What its machine asks for, to be done when it is at rest.
struct AdaptionEffect {
  enum class Kind : std::uint8_t { offer, withdraw, connected, failed };
  Kind kind{};
  machines::iwarp::Failure failure{};
};

/// One TCP connection. Private data, IRD and ORD are the ULPs' own business (ruling I-14).
class IftAdaption final : public ActiveStartup,
                          public PassiveStartup,
                          private machines::ift_adaption::Context,
                          private StartupStreamUser<wire::ift::AdaptionIndication>,
                          private StartupHooks {
 public:
  IftAdaption(const Services& services, const IftOptions& options)
      : services_(services), options_(options), startup_(services, *this) {}
  ~IftAdaption() override;

  /// Node A. The listener may destroy this from within what it is told. `stream` outlives this.
  void connect(const streams::Address& to, const streams::Address& from, RdmapStream& stream,
               StartupListener& listener);
  [[nodiscard]] std::optional<streams::Reason> stream_failure() const override { return startup_.reason(); }
  /// Node B: on a stream that was accepted.
  void await(std::unique_ptr<streams::Stream> stream, PassiveStartupOwner& owner);

  void withdraw() override;
  // PassiveStartup
  void accept(RdmapStream& stream, StartupListener& listener, std::vector<std::uint8_t> private_data) override;
  void reject(std::vector<std::uint8_t> private_data) override;
  [[nodiscard]] bool carries_private_data() const override { return false; }
  [[nodiscard]] streams::Address local() const override { return startup_.stream()->local(); }
  [[nodiscard]] streams::Address remote() const override { return startup_.stream()->remote(); }
  void make_place() override;
  [[nodiscard]] bool is_half_open() const override { return machine_.is<machines::ift_adaption::AwaitPhase0>(); }
  [[nodiscard]] bool is_offered() const override { return machine_.is<machines::ift_adaption::AwaitDecision>(); }
  [[nodiscard]] bool is_over() const override { return machine_.is<machines::ift_adaption::Closed>(); }
  [[nodiscard]] bool is_consistent() const override;

 private:
  template <class Event>
  void process(const Event& event);
  /// False: this may be gone.
  bool carry_out(const AdaptionEffect& effect);
  void time_expired();
  void send(bool phase_1);
  [[nodiscard]] machines::ift_adaption::Verdict verdict() const;
  void adopt(RdmapStream& stream, StartupListener& listener);

  // StartupStreamUser
  void stream_established() override;
  void stream_refused() override;
  void frame_received(const wire::ift::AdaptionIndication& indication) override;
  void frame_refused() override;
  void octets_unexpected() override;
  void stream_ended() override;
  // StartupHooks
  bool first_fpdu_received() override { return false; }
  void rtr_sent() override {}
  void connection_ended() override;

  // machines::ift_adaption
  void start_timer() override { services_.scheduler.schedule_after(timer_, services_.config.startup_timeout); }
  void stop_timer() override { services_.scheduler.cancel(timer_); }
  void open_stream() override { startup_.connect(to_, from_); }
  void send_phase_0() override;
  void send_phase_1() override { send(true); }
  void offer() override { effects_.push({AdaptionEffect::Kind::offer, {}}); }
  void withdraw_offer() override { effects_.push({AdaptionEffect::Kind::withdraw, {}}); }
  void drop_stream() override { startup_.close(); }
  void enter_rddp_mode() override;
  void connected() override { effects_.push({AdaptionEffect::Kind::connected, {}}); }
  void fail_adaption(machines::iwarp::Failure failure) override {
    effects_.push({AdaptionEffect::Kind::failed, failure});
  }
  [[nodiscard]] bool has_room() const override { return owner_->has_room(); }
  void on_row(const fsm::Row& row) override { fsm::tell(services_.row_listener, row); }
  void unexpected(std::string_view, std::string_view, std::string_view) override {
    ++services_.counters.unexpected_events;
  }

  const Services& services_;
  const IftOptions options_;
  streams::Address to_{}, from_{};
  StartupStream<wire::ift::AdaptionIndication> startup_;
  PassiveStartupOwner* owner_ = nullptr;  // of node B
  RdmapStream* stream_ = nullptr;
  StartupListener* listener_ = nullptr;
  machines::ift_adaption::Machine machine_;
  fsm::Outbox<AdaptionEffect, 3> effects_;
  wire::ift::AdaptionIndication sent_{}, received_{};
  runtime::Timer<IftAdaption, &IftAdaption::time_expired> timer_{*this};
};

}  // namespace iwarp
